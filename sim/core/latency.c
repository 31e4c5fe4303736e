/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Latencies of open-loop requests over all jobs, and the way in which the result was reached. */
#include <math.h>

#include "sim/core/core.h"
#include "sim/core/stats.h"

static int64_t count_served(const struct gsim_request_log *logs, uint32_t n_logs) {
    int64_t n = 0;
    for (uint32_t i = 0; i < n_logs; i++)
        n += logs[i].n_served;
    return n;
}

static int64_t *collect(struct gsim_core *core, const struct gsim_request_log *logs,
                        uint32_t n_logs, int64_t n, gsim_i128 *sum_ns) {
    int64_t *latency_ns = gsim_arena_grow(core->arena, NULL, 0, (size_t)n * sizeof *latency_ns);
    for (uint32_t i = 0, at = 0; latency_ns && i < n_logs; i++)
        for (int64_t k = 0; k < logs[i].n_served; k++) {
            *sum_ns += logs[i].latency_ns[k];
            latency_ns[at++] = logs[i].latency_ns[k];
        }
    return latency_ns;
}

static bool fill_latency(struct gsim_core *core, struct gsim_result *result) {
    struct gsim_summary *s = &result->summary;
    result->requests = core->ops->requests(core->model, &result->n_request_logs);
    int64_t n = count_served(result->requests, result->n_request_logs);
    s->latency_mean_s = s->latency_p50_s = s->latency_p90_s = s->latency_p99_s = (double)NAN;
    if (n == 0)
        return true;
    gsim_i128 sum_ns = 0;
    int64_t *latency_ns = collect(core, result->requests, result->n_request_logs, n, &sum_ns);
    static const double p[] = {0.50, 0.90, 0.99};
    double quantiles[sizeof p / sizeof *p];
    if (!latency_ns)
        return false;
    gsim_quantiles_s(latency_ns, (size_t)n, p, quantiles, sizeof p / sizeof *p);
    gsim_arena_drop(core->arena, latency_ns);
    s->latency_mean_s = (double)sum_ns / 1e9 / (double)n;
    s->latency_p50_s = quantiles[0];
    s->latency_p90_s = quantiles[1];
    s->latency_p99_s = quantiles[2];
    return true;
}

bool gsim_metrics_model(struct gsim_core *core, struct gsim_result *result) {
    struct gsim_summary *s = &result->summary;
    struct gsim_model_stats stats = {0};
    core->ops->stats(core->model, &stats);
    double span_s = (double)(core->metrics.last_end_ns - core->metrics.first_submit_ns) / 1e9;
    double capacity_s = span_s * core->cluster.n_gpus;
    result->steps = s->events + stats.steps;
    s->events += stats.slices;
    s->turns = stats.slices;
    s->switch_s += (double)stats.switch_ns / 1e9;
    s->approximate = stats.is_approximate;
    s->skipped = capacity_s > 0 ? (double)stats.skipped_ns / 1e9 / capacity_s : 0;
    return fill_latency(core, result);
}
