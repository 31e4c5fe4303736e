/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/after.h"

#include <string.h>

static int64_t line_of(const struct gsim_builder *b, uint32_t i) {
    return b->line ? b->line[i] : b->first_line + i;
}

/* For each name of the column the job that has it as its id; -1: none. */
static int64_t *find_jobs(struct gsim_builder *b) {
    const struct gsim_names *names = &b->names[GSIM_COL_AFTER];
    uint32_t n_names = names->n;
    int64_t *job_of = gsim_arena_array(b->arena, n_names + 1u, sizeof *job_of);
    for (uint32_t i = 0; job_of && i < n_names; i++)
        job_of[i] = -1;
    for (uint32_t job = 0; job_of && job < b->n; job++) {
        const char *id = b->id_text + b->id_at[job];
        int64_t name = gsim_build_intern(b, GSIM_COL_AFTER, id, strlen(id));
        if (name < 0)
            return NULL;
        if (name < n_names)
            job_of[name] = job;
    }
    return job_of;
}

static enum gsim_status put_jobs(struct gsim_builder *b, const int64_t *job_of, bool may_miss) {
    int64_t *after = b->column[GSIM_COL_AFTER];
    enum gsim_status status = GSIM_OK;
    uint32_t n_missed = 0;
    for (uint32_t job = 0; job < b->n; job++) {
        int64_t name = after[job];
        if (name < 0)
            continue;
        after[job] = job_of[name];
        n_missed += after[job] < 0;
        if (after[job] < 0 && !may_miss)
            status = gsim_fail(b->log, GSIM_BAD_INPUT, b->path, line_of(b, job),
                               "column 'after': the trace has no job '%.64s'",
                               b->names[GSIM_COL_AFTER].name[name]);
    }
    if (n_missed > 0 && may_miss)
        gsim_warn(b->log, b->path, 0,
                  "%u job%s after a job that is not there: submitted when the trace says", n_missed,
                  n_missed == 1 ? " comes" : "s come");
    return status;
}

/* Follows each job back to a job that comes after none. A job that the walk meets again before it
 * gets there waits for itself. */
static enum gsim_status find_circles(struct gsim_builder *b) {
    const int64_t *after = b->column[GSIM_COL_AFTER];
    uint32_t *walk_of = gsim_arena_array(b->arena, b->n, sizeof *walk_of);
    if (!walk_of)
        return gsim_no_memory(b->log, "reading a trace");
    for (uint32_t job = 0; job < b->n; job++) {
        int64_t at = job;
        for (; at >= 0 && walk_of[at] == 0; at = after[at])
            walk_of[at] = job + 1;
        if (at >= 0 && walk_of[at] == job + 1)
            return gsim_fail(b->log, GSIM_BAD_INPUT, b->path, line_of(b, (uint32_t)at),
                             "column 'after': job '%.64s' would wait for its own end",
                             b->id_text + b->id_at[at]);
    }
    return GSIM_OK;
}

enum gsim_status gsim_after_link(struct gsim_builder *b, bool may_miss) {
    if (!b->is_used[GSIM_COL_AFTER])
        return GSIM_OK;
    const int64_t *job_of = find_jobs(b);
    if (!job_of)
        return gsim_no_memory(b->log, "reading a trace");
    enum gsim_status status = put_jobs(b, job_of, may_miss);
    b->names[GSIM_COL_AFTER] = (struct gsim_names){0};
    return status == GSIM_OK ? find_circles(b) : status;
}
