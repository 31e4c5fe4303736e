/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/drive/record.h"

#include <stdio.h>
#include <string.h>

static const char *const texts[GSIM_NOTE_COUNT] = {
#define GSIM_NOTE(name, text, help) text,
#include "sim/app/drive/notes.def"
#undef GSIM_NOTE
};

const char *gsim_note_text(enum gsim_note_kind kind) {
    return texts[kind];
}

enum gsim_note_kind gsim_note_kind(const char *text) {
    int kind = 0;
    while (kind < GSIM_NOTE_COUNT && strcmp(texts[kind], text) != 0)
        kind++;
    return (enum gsim_note_kind)kind;
}

bool gsim_note_is_decision(enum gsim_note_kind kind) {
    return kind >= GSIM_NOTE_START && kind <= GSIM_NOTE_WATCH;
}

struct gsim_note *gsim_record_add(struct gsim_record *record, struct gsim_arena *arena,
                                  enum gsim_note_kind kind, int64_t job, int64_t time_ns) {
    struct gsim_note *list =
        gsim_arena_room(arena, record->list, record->n, &record->capacity, sizeof *list);
    if (!list)
        return NULL;
    record->list = list;
    struct gsim_note *note = &record->list[record->n++];
    *note = (struct gsim_note){.time_ns = time_ns, .job = job, .kind = kind};
    return note;
}

/* --- what a decision says --------------------------------------------------------------------- */

enum { SUM_BYTES = sizeof "~01234567", SUM_PRIME = 16777619 /* FNV-1a, 32 bits */ };

static void append(struct gsim_note *note, const char *text) {
    size_t n = strlen(note->detail);
    for (const char *p = text; *p; p++)
        note->sum = (note->sum ^ (uint8_t)*p) * SUM_PRIME;
    bool fits = note->n_shown == 0 && n + strlen(text) + SUM_BYTES < sizeof note->detail;
    if (fits) {
        memcpy(note->detail + n, text, strlen(text) + 1);
        return;
    }
    note->n_shown = note->n_shown > 0 ? note->n_shown : (uint16_t)n;
    (void)snprintf(note->detail + note->n_shown, SUM_BYTES, "~%08x", (unsigned)note->sum);
}

static void append_number(struct gsim_note *note, const char *before, uint32_t number) {
    char text[48];
    (void)snprintf(text, sizeof text, "%s%u", before, number);
    append(note, text);
}

static void append_units(struct gsim_note *note, const struct gsim_unit *units, uint32_t n_units) {
    for (uint32_t u = 0; u < n_units; u++) {
        append_number(note, u ? "," : "", units[u].gpu);
        if (units[u].slot > 0)
            append_number(note, "/", units[u].slot);
    }
}

void gsim_note_place(struct gsim_note *note, enum gsim_state from, const struct gsim_unit *units,
                     uint32_t n_units) {
    append(note, from == GSIM_PAUSED ? "paused" : from == GSIM_HELD ? "held" : "queued");
    append(note, ", on ");
    append_units(note, units, n_units);
}

void gsim_note_partition(struct gsim_note *note, uint32_t gpu, const char *layout) {
    append_number(note, "", gpu);
    append(note, ", ");
    append(note, *layout ? layout : "whole");
}

void gsim_note_stop(struct gsim_note *note, enum gsim_stop stop, enum gsim_keep keep) {
    static const char *const keeps[GSIM_KEEP_COUNT] = {
        [GSIM_KEEP_RESIDENT] = "resident", [GSIM_KEEP_PAGEABLE] = "pageable",
        [GSIM_KEEP_HOST] = "host",         [GSIM_KEEP_STORAGE] = "storage",
        [GSIM_KEEP_IMAGE] = "image",       [GSIM_KEEP_DISCARD] = "discard",
        [GSIM_KEEP_SPILT] = "spilt",       [GSIM_KEEP_IMAGE_SPILT] = "image spilt"};
    append(note, stop == GSIM_STOP_ITERATION ? "iteration, " : "kernel, ");
    append(note, keeps[keep]);
}

void gsim_note_arrangement(struct gsim_note *note, const struct gsim_unit *units, uint32_t n_units,
                           const struct gsim_arrangement *arrangement) {
    append_units(note, units, n_units);
    for (uint32_t i = 0; i < arrangement->n_lanes; i++)
        append_number(note, i ? "," : "; caps ", arrangement->lanes[i].cap_ppm);
    for (uint32_t i = 0; i < arrangement->n_entries; i++)
        append_number(note, i ? "," : "; lanes ", arrangement->entries[i].lane);
}
