/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/statistics/latencies.h"

#include <math.h>

#include "sim/app/cli/output.h"
#include "sim/app/statistics/dependence.h"
#include "sim/base/sort.h"

const char *const gsim_latency_names[GSIM_LATENCY_COUNT] = {"latency_mean_s", "latency_p50_s",
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
    double *sorted; /* latencies in the order of arrival */
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
    return r->arrival_ns && r->latency_s && r->work_s && r->gap_s && r->sorted;
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
        if (k > 0)
            r->gap_s[k - 1] = (double)(r->arrival_ns[order[k]] - r->arrival_ns[order[k - 1]]) / 1e9;
    }
    return true;
}

/* Requests need twice as many memories as jobs do: for servers with even service times, intervals
 * are wrong more often if the run itself decides whether it is long enough (docs/compare.md has the
 * study). */
enum { LEAST_MEMORIES = 2 * GSIM_LEAST_MEMORIES };

/* The reason why the requests are too few for an interval; NULL: they are enough. Their memory is
 * the larger of two: as the latencies show it, and as it follows from a queue of the arrivals. */
static const char *too_few(const struct requests *r, double gpus, struct gsim_arena *arena) {
    if (r->n < 2 * GSIM_BATCHES)
        return gsim_arena_printf(arena, "%zu requests are too few", r->n);
    double queue = gsim_memory_of_queue(r->gap_s, r->work_s, r->n, gpus);
    double memory = fmax(queue, gsim_memory_of_values(r->sorted, r->n));
    if (isinf(queue))
        return "more requests arrive than the GPUs can serve, or all at once: there is no mean "
               "that "
               "a longer run would have";
    if ((double)r->n < LEAST_MEMORIES * memory)
        return gsim_arena_printf(arena,
                                 "latencies remember about %.3g requests, and %zu are not %d times "
                                 "as many",
                                 memory, r->n, LEAST_MEMORIES);
    return NULL;
}

bool gsim_latencies_of_run(const struct gsim_result *result, struct gsim_arena *arena,
                           struct gsim_latencies *out) {
    struct requests r = {0};
    double means[GSIM_BATCHES];
    for (int l = 0; l < GSIM_LATENCY_COUNT; l++)
        out->of_s[l] = (struct gsim_interval){
            gsim_latency_of(&result->summary, (enum gsim_latency)l), (double)NAN, (double)NAN};
    for (uint32_t i = 0; i < result->n_request_logs; i++)
        r.n += (size_t)result->requests[i].n_served;
    if (!collect(result, arena, &r))
        return false;
    out->none_why = too_few(&r, (double)result->summary.gpus, arena);
    if (out->none_why)
        return true;
    gsim_batch_means(r.sorted, r.n, means);
    out->of_s[GSIM_LATENCY_MEAN] = gsim_t_log_interval(means, GSIM_BATCHES);
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
        gsim_put_json_interval(out, gsim_latency_names[l], &latencies->of_s[l]);
}
