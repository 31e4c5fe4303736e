/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The record of a driven run: each event that the engine heard of, and each decision of the policy,
 * in the order in which they happened. It goes to the database when the run ends, or when there are
 * many notes, and `--replay` reads it back. */
#ifndef GSIM_APP_RECORD_H
#define GSIM_APP_RECORD_H

#include "gsim/arena.h"
#include "gsim/policy.h"

enum gsim_note_kind {
#define GSIM_NOTE(name, text, help) GSIM_NOTE_##name,
#include "sim/app/drive/notes.def"
#undef GSIM_NOTE
    GSIM_NOTE_COUNT
};

enum { GSIM_NOTE_DETAIL = 160 /* bytes */, GSIM_NOTE_NO_JOB = -1 };

struct gsim_note {
    int64_t time_ns, value;
    int64_t job; /* its place in the trace, or GSIM_NOTE_NO_JOB */
    enum gsim_note_kind kind;
    /* Of a decision: where, or how. A text that does not fit ends with a sum of all of it, so that
     * equal details are those of equal decisions. */
    char detail[GSIM_NOTE_DETAIL];
    uint32_t sum; /* of the whole text */
    uint16_t n_shown; /* the bytes before that sum; 0: the text fits */
};

/* Notes that are not in the database yet. */
struct gsim_record {
    struct gsim_note *list;
    uint32_t n, capacity;
};

const char *gsim_note_text(enum gsim_note_kind kind);
/* GSIM_NOTE_COUNT: no note has this text. */
enum gsim_note_kind gsim_note_kind(const char *text);
bool gsim_note_is_decision(enum gsim_note_kind kind);

/* The new note, of which the caller fills in what it has; valid until the next one. NULL: no
 * memory. */
struct gsim_note *gsim_record_add(struct gsim_record *record, struct gsim_arena *arena,
                                  enum gsim_note_kind kind, int64_t job, int64_t time_ns);

/* --- what a decision says --------------------------------------------------------------------- */

/* "queued, on 0,1": where the job comes from, and its GPUs; "on 0/2": an instance of one, the
 * second. */
void gsim_note_place(struct gsim_note *note, enum gsim_state from, const struct gsim_unit *units,
                     uint32_t n_units);
/* "iteration, storage": when it stops, and where its memory goes. */
void gsim_note_stop(struct gsim_note *note, enum gsim_stop stop, enum gsim_keep keep);
/* "0, 3g.71gb+2g": the GPU and its instances; "0, whole". */
void gsim_note_partition(struct gsim_note *note, uint32_t gpu, const char *layout);
/* "0,1; caps 0,0; lanes 0,1": the GPUs, the cap of each lane in ppm, and the lane of each job. */
void gsim_note_arrangement(struct gsim_note *note, const struct gsim_unit *units, uint32_t n_units,
                           const struct gsim_arrangement *arrangement);

#endif
