/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Completion times and slowdowns of finished jobs: means and quantiles, in one pass over the
 * columns and without a column of their own, since fresh memory costs more than the arithmetic. */
#include "sim/core/core.h"
#include "sim/core/stats.h"

#include <math.h>
#include <stdlib.h>

static const double jct_p[] = {0.50, 0.95, 0.99, 1};
static const double slowdown_p = 0.99, wait_p = 0.95;
enum { N_JCT_P = sizeof jct_p / sizeof *jct_p };

struct distributions {
    struct gsim_picks jcts;
    gsim_i128 jct_ns; /* summed */
    double slowdown; /* summed */
    struct gsim_tail slowdowns;
    struct gsim_tail waits_ns; /* most jobs of most runs wait for 0 ns, which a tail skips */
    uint32_t n_slowdowns;
    double slowdown_squared; /* summed */
};

/* Takes up to a block of finished jobs, in trace order, from `job` on; returns the job where it
 * stopped. Jobs without work have no slowdown: they are left out of its mean and quantiles. */
static uint32_t take_block(const struct gsim_core *core, uint32_t job, struct distributions *d) {
    const int64_t *end_ns = core->metrics.end_ns, *submit_ns = core->trace->submit_ns;
    const int64_t *service_ns = core->trace->service_ns, *wait_ns = core->metrics.wait_ns;
    int64_t jcts[GSIM_PICK_BLOCK];
    uint32_t n = 0, n_slowdowns = 0, n_jobs = core->trace->n_jobs;
    gsim_u128 sum_ns = 0;
    double sum = d->slowdown, squared = d->slowdown_squared;
    for (; job < n_jobs && n < GSIM_PICK_BLOCK; job++) {
        if (end_ns[job] < 0)
            continue;
        int64_t jct_ns = end_ns[job] - submit_ns[job];
        jcts[n++] = jct_ns;
        sum_ns += (uint64_t)jct_ns;
        gsim_tail_add(&d->waits_ns, (double)wait_ns[job]);
        if (service_ns[job] <= 0)
            continue;
        double slowdown = (double)jct_ns / (double)service_ns[job];
        sum += slowdown;
        squared += slowdown * slowdown;
        n_slowdowns++;
        gsim_tail_add(&d->slowdowns, slowdown);
    }
    gsim_picks_add(&d->jcts, jcts, n);
    d->jct_ns += (gsim_i128)sum_ns;
    d->slowdown = sum;
    d->slowdown_squared = squared;
    d->n_slowdowns += n_slowdowns;
    return job;
}

/* Opens the picks with a sample of completion times, or without a sample if there is no memory for
 * it. */
static void open_jcts(const struct gsim_core *core, struct distributions *d, const size_t *at,
                      size_t n_sample) {
    const struct gsim_metrics *m = &core->metrics;
    int64_t *sample = n_sample ? malloc(n_sample * sizeof *sample) : NULL;
    uint64_t state = 0;
    size_t n = 0;
    for (size_t i = 0; sample && i < n_sample; i++) {
        size_t job = gsim_pick_sample_at(&state, core->trace->n_jobs);
        if (m->end_ns[job] >= 0)
            sample[n++] = m->end_ns[job] - core->trace->submit_ns[job];
    }
    gsim_picks_open(&d->jcts, m->n_completed, at, m->n_completed ? 2 * N_JCT_P : 0, sample, n);
    free(sample);
}

static enum gsim_picked take_jobs(struct gsim_core *core, struct distributions *d, const size_t *at,
                                  int64_t *picked, size_t n_sample) {
    *d = (struct distributions){0};
    if (!gsim_tail_open(&d->slowdowns, core->arena, core->trace->n_jobs, slowdown_p) ||
        !gsim_tail_open(&d->waits_ns, core->arena, core->trace->n_jobs, wait_p))
        return GSIM_PICK_NO_MEMORY;
    open_jcts(core, d, at, n_sample);
    for (uint32_t job = 0; job < core->trace->n_jobs;)
        job = take_block(core, job, d);
    return gsim_picks_close(&d->jcts, picked);
}

static void fill_jct(const struct gsim_core *core, struct gsim_summary *s,
                     const struct distributions *d, const int64_t *picked) {
    uint32_t n = core->metrics.n_completed;
    double pairs[2 * N_JCT_P], quantiles[N_JCT_P];
    for (int k = 0; k < 2 * N_JCT_P; k++)
        pairs[k] = gsim_sum_seconds(picked[k]);
    gsim_quantiles_between(pairs, n, jct_p, quantiles, N_JCT_P);
    s->jct_mean_s = n ? gsim_sum_seconds(d->jct_ns) / n : (double)NAN;
    s->jct_p50_s = quantiles[0];
    s->jct_p95_s = quantiles[1];
    s->jct_p99_s = quantiles[2];
    s->jct_max_s = quantiles[3];
}

static void fill_wait(const struct gsim_core *core, struct gsim_summary *s,
                      struct distributions *d) {
    uint32_t n = core->metrics.n_completed;
    double p95_ns;
    gsim_tail_quantiles(&d->waits_ns, n, &wait_p, &p95_ns, 1);
    s->wait_mean_s = n ? gsim_sum_seconds(core->metrics.ended_wait_ns) / n : (double)NAN;
    s->wait_p95_s = p95_ns / 1e9;
}

static void fill_slowdown(struct gsim_summary *s, struct distributions *d) {
    uint32_t n = d->n_slowdowns;
    s->slowdown_mean = n ? d->slowdown / n : (double)NAN;
    s->jain = n ? d->slowdown * d->slowdown / (n * d->slowdown_squared) : (double)NAN;
    gsim_tail_quantiles(&d->slowdowns, n, &slowdown_p, &s->slowdown_p99, 1);
}

bool gsim_distributions_fill(struct gsim_core *core, struct gsim_summary *s) {
    struct distributions d;
    size_t n = core->metrics.n_completed, at[2 * N_JCT_P] = {0};
    int64_t picked[2 * N_JCT_P] = {0};
    gsim_quantile_places(n, jct_p, N_JCT_P, at);
    enum gsim_picked outcome = take_jobs(core, &d, at, picked, gsim_pick_sample(n));
    if (outcome == GSIM_PICK_MISSED)
        outcome = take_jobs(core, &d, at, picked, 0);
    if (outcome != GSIM_PICKED)
        return false;
    fill_jct(core, s, &d, picked);
    fill_wait(core, s, &d);
    s->completed = core->metrics.n_completed;
    fill_slowdown(s, &d);
    return true;
}
