/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What became of the rows of a file: a job, a job without a part of its row, or no job. Rows are
 * counted by reason, with the first line of each, and may be listed one by one. */
#ifndef GSIM_TRACES_FATES_H
#define GSIM_TRACES_FATES_H

#include <stdio.h>

#include "gsim/arena.h"
#include "gsim/status.h"

/* The first line of a list. */
#define GSIM_FATES_HEADER "line,job_id,became,why,text"

enum gsim_fate {
    GSIM_FATE_JOB = 0,
    GSIM_FATE_LESS, /* a job, without something that the row says */
    GSIM_FATE_LEFT_OUT, /* no job, since it is none for this simulator */
    GSIM_FATE_BAD, /* no job, since the row cannot be read */
};

/* Rows with one fate for one reason. */
struct gsim_reason {
    enum gsim_fate fate;
    const char *why;
    const char *example; /* the text that stands in the first such row; NULL: none */
    uint32_t n;
    int64_t first_line;
};

struct gsim_fates {
    struct gsim_arena *arena;
    struct gsim_reason *reason;
    uint32_t n_reasons, capacity;
    FILE *list; /* a row for each row of the file; NULL: none */
    bool is_headed;
    bool is_failed; /* no memory for a reason */
};

/* Counts a row, and lists it. The texts need not stay; the id may be empty, example NULL. */
void gsim_fates_add(struct gsim_fates *fates, enum gsim_fate fate, int64_t line, const char *id,
                    const char *why, const char *example);
/* Lists a row that became a job with all that it says. */
void gsim_fates_add_job(struct gsim_fates *fates, int64_t line, const char *id);
/* The rows that are no jobs, by reason: "12 rows (they had not ended yet), 1 row (...)"; empty:
 * there are none, NULL: no memory. */
const char *gsim_fates_left_out(const struct gsim_fates *fates, struct gsim_arena *arena);
/* Warns of each reason; returns the number of rows that are no jobs. */
uint32_t gsim_fates_say(const struct gsim_fates *fates, const char *path, struct gsim_log *log);

#endif
