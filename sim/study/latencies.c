/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/latencies.h"

#include <math.h>

#include "sim/study/output.h"
#include "sim/study/dependence.h"
#include "sim/base/sort.h"

/* Names of a result's fields. */
static const char *const latency_names[GSIM_LATENCY_COUNT] = {"latency_mean_s", "latency_p50_s",
                                                              "latency_p99_s"};

double gsim_latency_of(const struct gsim_summary *summary, enum gsim_latency which) {
    const double values[] = {summary->latency_mean_s, summary->latency_p50_s,
                             summary->latency_p99_s};
    return values[which];
}

/* The requests of all jobs, job by job. */
struct requests {
    size_t n;
    int64_t *arrival_ns;
    double *latency_s, *work_s, *gap_s;
    /* in the order of arrival: latencies, and the work of those requests */
    double *sorted, *alone_s;
};

static double work_s(const struct gsim_trace *trace, uint32_t job) {
    int64_t kernels = gsim_trace_get(trace, GSIM_COL_KERNELS, job);
    int64_t gpu_ns = gsim_trace_get(trace, GSIM_COL_GPU_NS, job);
    return (double)(gpu_ns > 0 ? gpu_ns : 0) / 1e9 * (double)(kernels > 0 ? kernels : 1);
}

static bool reserve(struct requests *r, struct gsim_arena *arena) {
    r->arrival_ns = gsim_arena_array(arena, r->n + 1, sizeof *r->arrival_ns);
    r->latency_s = gsim_arena_array(arena, r->n + 1, sizeof *r->latency_s);
    r->work_s = gsim_arena_array(arena, r->n + 1, sizeof *r->work_s);
    r->gap_s = gsim_arena_array(arena, r->n + 1, sizeof *r->gap_s);
    r->sorted = gsim_arena_array(arena, r->n + 1, sizeof *r->sorted);
    r->alone_s = gsim_arena_array(arena, r->n + 1, sizeof *r->alone_s);
    return r->arrival_ns && r->latency_s && r->work_s && r->gap_s && r->sorted && r->alone_s;
}

static bool collect(const struct gsim_result *result, struct gsim_arena *arena,
                    struct requests *r) {
    uint32_t *order = gsim_arena_array(arena, r->n + 1, sizeof *order);
    if (!reserve(r, arena) || !order)
        return false;
    size_t at = 0;
    for (uint32_t i = 0; i < result->n_request_logs; i++) {
        const struct gsim_request_log *log = &result->requests[i];
        for (int64_t k = 0; k < log->n_served; k++, at++) {
            r->arrival_ns[at] = log->arrival_ns[k];
            r->latency_s[at] = (double)log->latency_ns[k] / 1e9;
            r->work_s[at] = work_s(result->trace, log->job);
        }
    }
    if (!gsim_sort_order(r->arrival_ns, order, r->n))
        return false;
    for (size_t k = 0; k < r->n; k++) {
        r->sorted[k] = r->latency_s[order[k]];
        r->alone_s[k] = r->work_s[order[k]];
        if (k > 0)
            r->gap_s[k - 1] = (double)(r->arrival_ns[order[k]] - r->arrival_ns[order[k - 1]]) / 1e9;
    }
    return true;
}

/* The reason why the requests are too few for an interval; NULL: they are enough. */
static const char *too_few(const struct requests *r, const struct gsim_dependence *queue,
                           struct gsim_arena *arena) {
    if (r->n < 2 * GSIM_BATCHES)
        return gsim_arena_printf(arena, "%zu requests are too few", r->n);
    if (queue->load >= 1)
        return "more requests arrive than the GPUs can serve, or all at once: there is no mean "
               "that a longer run would have";
    if (isinf(queue->memory))
        return gsim_arena_printf(arena,
                                 "at a load of %.2g, %zu requests leave open whether the GPUs can "
                                 "serve them all in the long run",
                                 queue->load, r->n);
    double memory = fmax(queue->memory, gsim_memory_of_values(r->sorted, r->n));
    if (!gsim_is_enough(r->n, memory))
        return gsim_arena_printf(arena,
                                 "latencies may remember %.0f requests, and %zu are not %d times "
                                 "as many",
                                 memory, r->n, GSIM_BATCHES);
    return NULL;
}

bool gsim_latencies_of_run(const struct gsim_result *result, struct gsim_arena *arena,
                           struct gsim_latencies *out) {
    struct requests r = {0};
    for (int l = 0; l < GSIM_LATENCY_COUNT; l++)
        out->of_s[l] = (struct gsim_interval){
            gsim_latency_of(&result->summary, (enum gsim_latency)l), (double)NAN, (double)NAN};
    for (uint32_t i = 0; i < result->n_request_logs; i++)
        r.n += (size_t)result->requests[i].n_served;
    if (!collect(result, arena, &r))
        return false;
    struct gsim_dependence queue =
        gsim_dependence_of(r.gap_s, r.work_s, r.n, (double)result->summary.gpus);
    out->none_why = too_few(&r, &queue, arena);
    if (out->none_why)
        return true;
    out->of_s[GSIM_LATENCY_MEAN] = gsim_interval_of_run(r.sorted, r.alone_s, r.n, &queue);
    out->of_s[GSIM_LATENCY_MEAN].mean = result->summary.latency_mean_s;
    return true;
}

void gsim_latencies_put_json(FILE *out, const struct gsim_latencies *latencies) {
    fputs(",\"no_latency_intervals_because\":", out);
    if (latencies->none_why)
        gsim_put_json_text(out, latencies->none_why);
    else
        fputs("null", out);
    for (int l = 0; l < GSIM_LATENCY_COUNT; l++)
        gsim_put_json_interval(out, latency_names[l], &latencies->of_s[l]);
}
