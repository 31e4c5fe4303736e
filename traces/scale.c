/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Only integers, so that the scaled trace is equal on every machine. */
#include "traces/scale.h"

#include "gsim/units.h"
#include "traces/logged.h"

/* Where a scaled trace may end: 146 years, half of what the clock holds. */
static const int64_t latest_ns = INT64_MAX / 2;

/* GPU time of all jobs, in millionths of a nanosecond. */
static gsim_i128 work_of(const struct gsim_trace *trace) {
    gsim_i128 work = 0;
    for (uint32_t job = 0; job < trace->n_jobs; job++)
        work += (gsim_i128)trace->service_ns[job] * gsim_trace_gpus(trace, job) *
                gsim_trace_share(trace, job);
    return work;
}

static int64_t first_ns(const struct gsim_trace *trace) {
    return trace->n_jobs ? trace->submit_ns[gsim_trace_arrival(trace, 0)] : 0;
}

static int64_t span_ns(const struct gsim_trace *trace) {
    return trace->n_jobs
               ? trace->submit_ns[gsim_trace_arrival(trace, trace->n_jobs - 1)] - first_ns(trace)
               : 0;
}

/* The list of what stands in the trace by assumption, with a sentence about the factor. */
static const char *const *say(const struct gsim_trace *from, int64_t numerator, int64_t denominator,
                              struct gsim_arena *arena) {
    size_t n = 0;
    while (from->assumed && from->assumed[n])
        n++;
    const char **list = gsim_arena_array(arena, n + 2, sizeof *list);
    int64_t ppm = gsim_muldiv_floor(numerator, GSIM_PPM, denominator);
    for (size_t i = 0; list && i < n; i++)
        list[i] = from->assumed[i];
    if (list)
        list[n] = gsim_arena_printf(arena, "submit_s: times between submissions x %lld.%06lld",
                                    (long long)(ppm / GSIM_PPM), (long long)(ppm % GSIM_PPM));
    return list && list[n] ? list : NULL;
}

static enum gsim_status too_long(const struct gsim_trace *from, struct gsim_log *log) {
    return gsim_fail(log, GSIM_BAD_INPUT, from->path, 0,
                     "so scaled, the last job of the trace is submitted after more than 146 years");
}

enum gsim_status gsim_trace_scale(const struct gsim_trace *from, int64_t numerator,
                                  int64_t denominator, struct gsim_arena *arena,
                                  struct gsim_trace *out, struct gsim_log *log) {
    if (numerator == denominator) {
        *out = *from; /* nothing is assumed where nothing changes */
        return GSIM_OK;
    }
    int64_t begin_ns = first_ns(from);
    const int64_t *deadline_ns = from->column[GSIM_COL_DEADLINE_NS];
    if ((gsim_i128)span_ns(from) * numerator / denominator > latest_ns - begin_ns)
        return too_long(from, log);
    int64_t *submit_ns = gsim_arena_array(arena, from->n_jobs, sizeof *submit_ns);
    int64_t *moved_ns =
        deadline_ns ? gsim_arena_array(arena, from->n_jobs, sizeof *moved_ns) : NULL;
    const int64_t *think_ns = from->column[GSIM_COL_THINK_NS];
    int64_t *thought_ns =
        think_ns ? gsim_arena_array(arena, from->n_jobs, sizeof *thought_ns) : NULL;
    const char *const *assumed = say(from, numerator, denominator, arena);
    if (!submit_ns || !assumed || (deadline_ns && !moved_ns) || (think_ns && !thought_ns))
        return gsim_no_memory(log, "scaling a trace");
    for (uint32_t job = 0; job < from->n_jobs; job++) {
        int64_t since_ns = from->submit_ns[job] - begin_ns;
        submit_ns[job] = begin_ns + gsim_muldiv_floor(since_ns, numerator, denominator);
        if (moved_ns)
            moved_ns[job] = deadline_ns[job] >= 0
                                ? deadline_ns[job] - from->submit_ns[job] + submit_ns[job]
                                : deadline_ns[job];
        if (thought_ns)
            thought_ns[job] = think_ns[job] > 0
                                  ? gsim_muldiv_floor(think_ns[job], numerator, denominator)
                                  : think_ns[job];
    }
    *out = *from;
    gsim_trace_forget_log(out);
    out->submit_ns = submit_ns;
    out->assumed = assumed;
    if (moved_ns)
        out->column[GSIM_COL_DEADLINE_NS] = moved_ns;
    if (thought_ns)
        out->column[GSIM_COL_THINK_NS] = thought_ns;
    return GSIM_OK;
}

enum gsim_status gsim_trace_scale_to_load(const struct gsim_trace *from, int64_t load_ppm,
                                          int64_t n_gpus, struct gsim_arena *arena,
                                          struct gsim_trace *out, struct gsim_log *log) {
    if (from->column[GSIM_COL_AFTER])
        return gsim_fail(log, GSIM_BAD_INPUT, from->path, 0,
                         "--load: jobs that come after others (column 'after') bring as much load "
                         "as the cluster lets them; --time-scale changes think times");
    gsim_i128 work = work_of(from);
    int64_t now_ns = span_ns(from);
    if (now_ns <= 0 || work <= 0)
        return gsim_fail(log, GSIM_BAD_INPUT, from->path, 0,
                         "--load: %s, so there is no load that could be scaled",
                         now_ns <= 0 ? "all jobs are submitted at one instant"
                                     : "the jobs have no work");
    gsim_i128 wanted_ns = work / ((gsim_i128)load_ppm * n_gpus);
    if (wanted_ns > latest_ns)
        return too_long(from, log);
    return gsim_trace_scale(from, (int64_t)wanted_ns, now_ns, arena, out, log);
}
