/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Durations as policies see them. Where the trace has estimates, they take the place of the truth
 * in all that a policy can read: its column of durations, and the trace's iterations, which would
 * give the truth away beside the time of one. The model, and the results, know the truth alone. */
#include "sim/core/core.h"

/* A copy simulator that foresees ends foresees the true ones. */
static bool foresees(const struct gsim_core *core) {
    return core->policy->is_oracle || core->compat->shows_ends;
}

static enum gsim_status check_times(const struct gsim_core *core, const int64_t *estimate_ns) {
    const struct gsim_trace *trace = core->trace;
    if (core->options->reference != GSIM_REFERENCE_NONE)
        return gsim_fail(core->log, GSIM_BAD_INPUT, trace->path, 0,
                         "column 'estimate_s': reference= copies a simulator that knows durations "
                         "exactly");
    for (uint32_t job = 0; foresees(core) && job < trace->n_jobs; job++) {
        if (estimate_ns[job] < 0)
            return gsim_fail(core->log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, job),
                             "column 'estimate_s': job '%.64s' has none, and policy '%s' looks at "
                             "durations; fill it with --assume estimate_s=TIME or --estimate",
                             gsim_trace_id(trace, job), core->policy->name);
        if (estimate_ns[job] > GSIM_TIME_MAX / 2)
            return gsim_fail(core->log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, job),
                             "column 'estimate_s': the time lies past the end of the clock (73 "
                             "years)");
    }
    return GSIM_OK;
}

/* As many iterations as the estimate says; at least one. */
static int64_t iterations_of(const struct gsim_trace *trace, uint32_t job) {
    int64_t n = trace->column[GSIM_COL_ITERATIONS][job], service_ns = trace->service_ns[job];
    int64_t estimate_ns = trace->column[GSIM_COL_ESTIMATE_NS][job];
    if (n <= 0 || service_ns <= 0 || estimate_ns < 0)
        return n;
    gsim_i128 scaled = (gsim_i128)n * estimate_ns / service_ns;
    return scaled < 1 ? 1 : scaled > INT64_MAX ? INT64_MAX : (int64_t)scaled;
}

static bool hide_iterations(struct gsim_core *core) {
    const struct gsim_trace *trace = core->trace;
    if (!trace->column[GSIM_COL_ITERATIONS])
        return true;
    int64_t *iterations = gsim_arena_array(core->arena, trace->n_jobs, sizeof *iterations);
    for (uint32_t job = 0; iterations && job < trace->n_jobs; job++)
        iterations[job] = iterations_of(trace, job);
    core->seen.column[GSIM_COL_ITERATIONS] = iterations;
    return iterations;
}

/* What the log's own scheduler did tells when jobs end. */
static void hide_log(struct gsim_core *core) {
    static const enum gsim_column hidden[] = {GSIM_COL_LOGGED_START_NS, GSIM_COL_LOGGED_END_NS,
                                              GSIM_COL_LOGGED_NODES, GSIM_COL_LOGGED_PRIORITY};
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        core->seen.column[hidden[i]] = NULL;
}

enum gsim_status gsim_foreseen_open(struct gsim_core *core) {
    const int64_t *estimate_ns = core->trace->column[GSIM_COL_ESTIMATE_NS];
    core->seen = *core->trace;
    core->seen.service_ns = NULL;
    hide_log(core);
    if (!estimate_ns)
        return GSIM_OK;
    enum gsim_status status = check_times(core, estimate_ns);
    return status != GSIM_OK || hide_iterations(core) ? status : gsim_core_no_memory(core);
}
