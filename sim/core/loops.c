/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Closed loops: a job that comes after another one is submitted when that one has ended, or begun,
 * a think time later. Such jobs take no part in the stream of arrivals until then. The run has a
 * trace of its own, in which they have the submissions that came of it: whatever is computed from a
 * result reads those. Runs of traces without such jobs have none of this. */
#include "sim/core/loops.h"

#include "sim/base/sort.h"
#include "sim/core/core.h"
#include "sim/core/parts.h"

static const uint32_t NONE = UINT32_MAX;

struct gsim_loops {
    uint32_t n_submitted; /* jobs so far */
    uint32_t n_open; /* jobs that come after none: the first ones in the order of arrival */
    uint32_t *first; /* by job: the first job that comes after it, or NONE */
    uint32_t *next; /* by job: the next one that comes after the same job */
    int64_t *submit_ns; /* by job; -1: not submitted yet */
    uint32_t *order;
    struct gsim_eventq due; /* by job: its submission */
    struct gsim_trace trace;
};

static bool reserve_loops(struct gsim_core *core, struct gsim_loops *loops) {
    uint32_t n = core->trace->n_jobs;
    loops->first = gsim_arena_array(core->arena, n, sizeof *loops->first);
    loops->next = gsim_arena_array(core->arena, n, sizeof *loops->next);
    loops->submit_ns = gsim_arena_array(core->arena, n, sizeof *loops->submit_ns);
    loops->order = gsim_arena_array(core->arena, n, sizeof *loops->order);
    gsim_eventq_init(&loops->due, core->arena);
    return loops->first && loops->next && loops->submit_ns && loops->order &&
           gsim_eventq_reserve(&loops->due, n);
}

/* Jobs without a predecessor keep their order and come first; the others follow. */
static void sort_jobs(struct gsim_loops *loops, const struct gsim_trace *from) {
    const int64_t *after = from->column[GSIM_COL_AFTER];
    uint32_t n = from->n_jobs, n_closed = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t job = gsim_trace_arrival(from, i);
        loops->first[job] = loops->next[job] = NONE;
        loops->submit_ns[job] = after[job] < 0 ? from->submit_ns[job] : -1;
        if (after[job] < 0)
            loops->order[loops->n_open++] = job;
    }
    for (uint32_t job = n; job-- > 0;)
        if (after[job] >= 0) {
            loops->next[job] = loops->first[after[job]];
            loops->first[after[job]] = job;
            loops->order[n - ++n_closed] = job;
        }
}

static enum gsim_status check_loops(struct gsim_core *core) {
    const int64_t *think_ns = core->trace->column[GSIM_COL_THINK_NS];
    if (core->options->reference != GSIM_REFERENCE_NONE)
        return gsim_fail(core->log, GSIM_BAD_INPUT, core->trace->path, 0,
                         "column 'after': reference= copies a simulator in which no job waits for "
                         "another one's end");
    for (uint32_t job = 0; think_ns && job < core->trace->n_jobs; job++)
        if (think_ns[job] > GSIM_TIME_MAX / 2)
            return gsim_fail(
                core->log, GSIM_BAD_INPUT, core->trace->path, gsim_trace_line(core->trace, job),
                "column 'think_s': the time lies past the end of the clock (73 years)");
    return GSIM_OK;
}

enum gsim_status gsim_loops_open(struct gsim_core *core) {
    if (!core->trace->column[GSIM_COL_AFTER])
        return GSIM_OK;
    enum gsim_status status = check_loops(core);
    struct gsim_loops *loops = gsim_arena_alloc(core->arena, sizeof *loops);
    if (status != GSIM_OK)
        return status;
    if (!loops || !reserve_loops(core, loops))
        return gsim_core_no_memory(core);
    sort_jobs(loops, core->trace);
    loops->trace = *core->trace;
    loops->trace.submit_ns = loops->submit_ns;
    loops->trace.order = loops->order;
    core->file_submit_ns = core->trace->submit_ns;
    core->trace = &loops->trace;
    core->loops = loops;
    return GSIM_OK;
}

uint32_t gsim_loops_count_open(const struct gsim_core *core) {
    return core->loops->n_open;
}

/* The think time counts from the end, or begin, of the job before; without one the trace's own time
 * stands, unless that is later. */
static int64_t submission_ns(const struct gsim_core *core, uint32_t job) {
    int64_t think_ns = gsim_trace_get(core->trace, GSIM_COL_THINK_NS, job);
    int64_t now_ns = core->view.now_ns, said_ns = core->file_submit_ns[job];
    if (think_ns >= 0)
        return now_ns + think_ns;
    return said_ns > now_ns ? said_ns : now_ns;
}

static bool comes_after_begin(const struct gsim_core *core, uint32_t job) {
    return gsim_trace_get(core->trace, GSIM_COL_AFTER_BEGIN, job) > 0;
}

/* A job is submitted once: a begin that is forgotten may have submitted it already. */
static void expect_round(struct gsim_core *core, uint32_t job) {
    struct gsim_loops *loops = core->loops;
    if (loops->submit_ns[job] < 0)
        gsim_eventq_set(&loops->due, job, submission_ns(core, job), job);
}

void gsim_loops_begin(struct gsim_core *core, uint32_t begun) {
    struct gsim_loops *loops = core->loops;
    for (uint32_t job = loops->first[begun]; job != NONE; job = loops->next[job])
        if (comes_after_begin(core, job))
            expect_round(core, job);
    gsim_core_look_ahead(core);
}

void gsim_loops_forget_begin(struct gsim_core *core, uint32_t begun) {
    struct gsim_loops *loops = core->loops;
    for (uint32_t job = loops->first[begun]; job != NONE; job = loops->next[job])
        if (comes_after_begin(core, job))
            gsim_eventq_cancel(&loops->due, job);
    gsim_core_look_ahead(core);
}

/* Jobs that wait for a begin were released by it; where there was none, the end counts for them
 * too. */
void gsim_loops_release(struct gsim_core *core, uint32_t ended) {
    struct gsim_loops *loops = core->loops;
    bool has_begun = core->metrics.start_ns[ended] >= 0;
    for (uint32_t job = loops->first[ended]; job != NONE; job = loops->next[job])
        if (!has_begun || !comes_after_begin(core, job))
            expect_round(core, job);
    gsim_core_look_ahead(core);
}

int64_t gsim_loops_next_ns(const struct gsim_core *core) {
    return gsim_eventq_next(&core->loops->due);
}

uint32_t gsim_loops_take(struct gsim_core *core) {
    struct gsim_event_key key;
    uint32_t job = gsim_eventq_pop(&core->loops->due, &key);
    core->loops->submit_ns[job] = key.time_ns;
    return job;
}

void gsim_loops_number(struct gsim_core *core, uint32_t job) {
    uint32_t nth = core->loops->n_submitted++;
    core->nth_of[job] = nth;
    if (core->parts)
        core->parts->list[core->parts->of_job[job]].nth_of[core->parts->nth[job]] = nth;
}

bool gsim_loops_sort(const int64_t *submit_ns, uint32_t *order, uint32_t n,
                     struct gsim_arena *arena) {
    int64_t *key = gsim_arena_array(arena, n, sizeof *key);
    for (uint32_t job = 0; key && job < n; job++)
        key[job] = submit_ns[job] >= 0 ? submit_ns[job] : GSIM_NEVER;
    return key && gsim_sort_order(key, order, n);
}

bool gsim_loops_finish(struct gsim_core *core, struct gsim_result *result) {
    struct gsim_loops *loops = core->loops;
    uint32_t n = core->trace->n_jobs;
    for (uint32_t job = 0; job < n; job++)
        if (loops->submit_ns[job] < 0)
            core->metrics.start_ns[job] = core->metrics.end_ns[job] = -1;
    result->jobs.submit_ns = loops->submit_ns;
    return gsim_loops_sort(loops->submit_ns, loops->order, n, core->arena);
}
