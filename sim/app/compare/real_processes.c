/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the processes of a driven run took until they computed, and to end, by its record, and the
 * trace in which they take as long to begin in the simulation too. */
#include "sim/app/compare/real.h"

#include <string.h>

/* A job that lost its GPUs before it computed has no start that is known: -1. */
static void take_starts(struct gsim_real *r, int64_t *placed_ns) {
    enum { NOT_PLACED = -1, NOT_KNOWN = -2 };
    uint32_t n_jobs = r->setup->trace.n_jobs;
    for (uint32_t job = 0; job < n_jobs; job++)
        placed_ns[job] = NOT_PLACED;
    for (const struct gsim_note *note = r->notes; note < r->notes + r->n_notes; note++) {
        if (note->job < 0 || note->job >= (int64_t)n_jobs)
            continue;
        int64_t *at_ns = &placed_ns[note->job], *startup_ns = &r->startup_ns[note->job];
        if (note->kind == GSIM_NOTE_START)
            *at_ns = *at_ns == NOT_PLACED ? note->time_ns : NOT_KNOWN;
        if (note->kind != GSIM_NOTE_COMPUTES)
            continue;
        if (*at_ns >= 0 && note->time_ns > *at_ns)
            *startup_ns = note->time_ns - *at_ns;
        *at_ns = NOT_KNOWN; /* what comes later is no first start */
    }
}

/* A job tells its end by its own clock; of one that does not, the time counts at which `drive`
 * heard of it. */
static void take_ends(struct gsim_real *r, int64_t *told_ns) {
    enum { NOT_TOLD = -1 };
    uint32_t n_jobs = r->setup->trace.n_jobs;
    for (uint32_t job = 0; job < n_jobs; job++)
        told_ns[job] = NOT_TOLD;
    for (const struct gsim_note *note = r->notes; note < r->notes + r->n_notes; note++) {
        if (note->job < 0 || note->job >= (int64_t)n_jobs)
            continue;
        int64_t *at_ns = &told_ns[note->job];
        if (note->kind == GSIM_NOTE_TOLD_END)
            *at_ns = note->value > 0 ? note->value : note->time_ns;
        if (note->kind == GSIM_NOTE_ENDED && *at_ns != NOT_TOLD)
            r->ending_ns[note->job] = note->time_ns - *at_ns;
    }
}

static bool is_arranged(const struct gsim_real *r) {
    for (const struct gsim_note *note = r->notes; note < r->notes + r->n_notes; note++)
        if (note->kind == GSIM_NOTE_ARRANGE || note->kind == GSIM_NOTE_PARTITION)
            return true;
    return false;
}

/* A job on a part of a GPU that came beside another one there; -1: none did. on: by job, where it
 * is, as the note of its start says. */
static int64_t find_part_job(const struct gsim_real *r, const char **on) {
    const struct gsim_trace *trace = &r->setup->trace;
    for (const struct gsim_note *note = r->notes; note < r->notes + r->n_notes; note++) {
        if (note->job < 0 || note->job >= (int64_t)trace->n_jobs)
            continue;
        uint32_t job = (uint32_t)note->job;
        if (note->kind == GSIM_NOTE_STOP || note->kind == GSIM_NOTE_COMPLETED)
            on[job] = NULL;
        if (note->kind != GSIM_NOTE_START || gsim_trace_share(trace, job) == GSIM_PPM)
            continue;
        on[job] = strstr(note->detail, "on ");
        for (uint32_t other = 0; on[job] && other < trace->n_jobs; other++)
            if (other != job && on[other] && strcmp(on[other], on[job]) == 0)
                return job;
    }
    return -1;
}

/* Without an arrangement the processes had time slices, and the simulation has each as if alone. */
static enum gsim_status warn_of_parts(const struct gsim_real *r) {
    const struct gsim_trace *trace = &r->setup->trace;
    if (is_arranged(r))
        return GSIM_OK;
    const char **on = gsim_arena_array(r->cli->arena, trace->n_jobs, sizeof *on);
    if (!on)
        return gsim_no_memory(r->cli->log, "comparing");
    int64_t job = find_part_job(r, on);
    if (job >= 0)
        gsim_warn(
            r->cli->log, trace->path, gsim_trace_line(trace, (uint32_t)job),
            "job '%s' was on a part of a GPU beside another job, and policy '%s' says nothing "
            "of how they share it: the driver gave them time slices, in which they take "
            "longer, and the simulation has each run as if alone",
            gsim_trace_id(trace, (uint32_t)job), r->run.policy);
    return GSIM_OK;
}

enum gsim_status gsim_real_read_processes(struct gsim_real *r, struct gsim_db *db) {
    struct gsim_arena *arena = r->cli->arena;
    uint32_t n_jobs = r->setup->trace.n_jobs;
    int64_t *last_ns = gsim_arena_array(arena, n_jobs, sizeof *last_ns);
    r->startup_ns = gsim_arena_array(arena, n_jobs, sizeof *r->startup_ns);
    r->ending_ns = gsim_arena_array(arena, n_jobs, sizeof *r->ending_ns);
    if (!last_ns || !r->startup_ns || !r->ending_ns)
        return gsim_no_memory(r->cli->log, "comparing");
    for (uint32_t job = 0; job < n_jobs; job++)
        r->startup_ns[job] = r->ending_ns[job] = -1;
    enum gsim_status status =
        gsim_db_real_notes(db, r->run.id, &r->notes, &r->n_notes, r->cli->log);
    if (status == GSIM_OK) {
        take_starts(r, last_ns);
        take_ends(r, last_ns);
    }
    for (uint32_t job = 0; job < n_jobs; job++)
        r->knows_starts |= r->startup_ns[job] >= 0;
    return status == GSIM_OK ? warn_of_parts(r) : status;
}

struct gsim_trace *gsim_real_started_trace(const struct gsim_real *r) {
    const struct gsim_trace *from = &r->setup->trace;
    struct gsim_trace *trace = gsim_arena_alloc(r->cli->arena, sizeof *trace);
    int64_t *cells = gsim_arena_array(r->cli->arena, from->n_jobs, sizeof *cells);
    if (!trace || !cells)
        return NULL;
    for (uint32_t job = 0; job < from->n_jobs; job++)
        cells[job] = r->startup_ns[job] >= 0 ? r->startup_ns[job]
                                             : gsim_trace_get(from, GSIM_COL_STARTUP_NS, job);
    *trace = *from;
    trace->column[GSIM_COL_STARTUP_NS] = cells;
    return trace;
}
