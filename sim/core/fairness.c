/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finish-time fairness: how much longer a job took than it would have taken alone on its fair share
 * of the cluster. Source: Mahajan et al., "Themis: Fair and Efficient GPU Cluster Scheduling", NSDI
 * 2020, section 3.
 *
 * Of N GPUs and n jobs that were in the system on average while the job was (itself included), its
 * share is N / n GPUs. Alone there a job that asks for g of them takes its service time, or as many
 * times longer as g exceeds the share. A job that ended is held against that; n counts all jobs
 * from their submission to their end, or to the end of the run. */
#include "sim/core/core.h"

#include <math.h>

#include "sim/core/stats.h"

/* Jobs enter and leave in the order of time. */
struct crowd {
    const struct gsim_core *core;
    gsim_i128 *entered; /* by job: the area when it came */
    gsim_i128 area; /* jobs in the system, summed over the time until now_ns */
    int64_t now_ns;
    int64_t n;
};

static void pass_time(struct crowd *crowd, int64_t until_ns) {
    crowd->area += (gsim_i128)crowd->n * (until_ns - crowd->now_ns);
    crowd->now_ns = until_ns;
}

static void enter(struct crowd *crowd, uint32_t job) {
    pass_time(crowd, crowd->core->trace->submit_ns[job]);
    crowd->entered[job] = crowd->area;
    crowd->n++;
}

/* NaN when the job did not end, or had nothing to do. */
static double leave(struct crowd *crowd, uint32_t job, int64_t end_ns) {
    const struct gsim_core *core = crowd->core;
    const struct gsim_trace *trace = core->trace;
    pass_time(crowd, end_ns);
    crowd->n--;
    int64_t service_ns = trace->service_ns[job], jct_ns = end_ns - trace->submit_ns[job];
    if (core->metrics.end_ns[job] < 0 || service_ns <= 0 || jct_ns <= 0)
        return (double)NAN;
    double n = (double)(crowd->area - crowd->entered[job]) / (double)jct_ns;
    double gpus =
        (double)gsim_trace_gpus(trace, job) * gsim_trace_share(trace, job) / (double)GSIM_PPM;
    double slower = gpus * n / (double)core->cluster.n_gpus;
    return (double)jct_ns / ((double)service_ns * (slower > 1 ? slower : 1));
}

/* As the clock saw it; a job that never came leaves when it would have come. */
static int64_t end_of(const struct gsim_core *core, uint32_t job) {
    const struct gsim_metrics *m = &core->metrics;
    int64_t submit_ns = core->trace->submit_ns[job];
    if (m->end_ns[job] >= 0)
        return m->end_ns[job];
    return m->last_end_ns > submit_ns ? m->last_end_ns : submit_ns;
}

/* Behind the jobs that ended those that did not, whose ends rise with their arrivals. */
static const uint32_t *order_of_ends(struct gsim_core *core) {
    struct gsim_metrics *m = &core->metrics;
    uint32_t n = m->n_completed;
    for (uint32_t nth = 0; n < core->trace->n_jobs; nth++) {
        uint32_t job = gsim_trace_arrival(core->trace, nth);
        if (m->end_ns[job] < 0)
            m->ended[n++] = job;
    }
    return m->ended;
}

/* Writes the ratios, and returns how many there are. */
static uint32_t collect_ratios(struct crowd *crowd, const uint32_t *order, double *ratios) {
    const struct gsim_trace *trace = crowd->core->trace;
    uint32_t n = 0, next = 0;
    crowd->now_ns = trace->submit_ns[gsim_trace_arrival(trace, 0)];
    for (uint32_t i = 0; i < trace->n_jobs; i++) {
        int64_t end_ns = end_of(crowd->core, order[i]);
        for (; next < trace->n_jobs; next++) {
            uint32_t comer = gsim_trace_arrival(trace, next);
            if (trace->submit_ns[comer] > end_ns)
                break;
            enter(crowd, comer);
        }
        double ratio = leave(crowd, order[i], end_ns);
        if (!isnan(ratio))
            ratios[n++] = ratio;
    }
    return n;
}

static bool summarise(const double *ratios, uint32_t n, struct gsim_summary *s) {
    static const double p[] = {0.99, 1};
    double quantiles[sizeof p / sizeof *p], sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += ratios[i];
    s->rho_mean = n ? sum / n : (double)NAN;
    if (!gsim_quantiles(ratios, n, p, quantiles, sizeof p / sizeof *p))
        return false;
    s->rho_p99 = quantiles[0];
    s->rho_max = quantiles[1];
    return true;
}

bool gsim_fairness_fill(struct gsim_core *core, struct gsim_summary *s) {
    uint32_t n_jobs = core->trace->n_jobs;
    struct gsim_arena *scratch = gsim_arena_new();
    if (!scratch)
        return false;
    struct crowd crowd = {.core = core,
                          .entered = gsim_arena_array(scratch, n_jobs, sizeof *crowd.entered)};
    double *ratios = gsim_arena_array(scratch, n_jobs, sizeof *ratios);
    bool ok = crowd.entered && ratios &&
              summarise(ratios, collect_ratios(&crowd, order_of_ends(core), ratios), s);
    gsim_arena_free(scratch);
    return ok;
}
