/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finish-time fairness: the ratio of a job's completion time to the time it would have taken alone
 * on its fair share of the cluster. Source: Mahajan et al., "Themis: Fair and Efficient GPU Cluster
 * Scheduling", NSDI 2020, section 3.
 *
 * With N GPUs, and n jobs in the system on average while the job was there (itself included), its
 * share is N / n GPUs. Alone on the share a job that asks for g GPUs takes its service time,
 * multiplied by g over the share where g is larger. n counts all jobs from their submission to
 * their end, or to the end of the run; a declined job until then, and it has no ratio. */
#include "sim/core/core.h"
#include "sim/base/hints.h"

#include <math.h>

static const double quantiles_p[] = {0.99, 1};

bool gsim_fairness_open(struct gsim_core *core) {
    core->crowd.gpus = (double)core->cluster.n_gpus;
    return gsim_tail_open(&core->crowd.rho, core->arena, core->trace->n_jobs, quantiles_p[0]);
}

void gsim_fairness_enter(struct gsim_core *core, gsim_slot slot) {
    core->jobs.core[slot].crowd_before = core->crowd.area;
    core->crowd.n++;
}

void gsim_fairness_reenter(struct gsim_core *core, gsim_slot slot, gsim_slot failed) {
    core->jobs.core[slot].crowd_before = core->jobs.core[failed].crowd_before;
    core->crowd.n--; /* the job is counted once, not twice */
}

static GSIM_COLD double real_of_wide(gsim_i128 sum) {
    return (double)sum;
}

/* The usual sum fits 64 bits, which the machine converts; the double is equal. */
static double real(gsim_i128 sum) {
    int64_t low = (int64_t)sum;
    return low == sum ? (double)low : real_of_wide(sum);
}

static double gpus_of(const struct gsim_jobs *jobs, gsim_slot slot) {
    double gpus = (double)jobs->gpus[slot];
    return jobs->share_ppm[slot] == GSIM_PPM ? gpus
                                             : gpus * jobs->share_ppm[slot] / (double)GSIM_PPM;
}

void gsim_fairness_leave(struct gsim_core *core, gsim_slot slot) {
    struct gsim_crowd *crowd = &core->crowd;
    const struct gsim_jobs *jobs = &core->jobs;
    int64_t jct_ns = core->view.now_ns - jobs->submit_ns[slot];
    gsim_i128 met = crowd->area - jobs->core[slot].crowd_before;
    crowd->n--;
    if (jobs->service_ns[slot] <= 0 || jct_ns <= 0 || gsim_rarely(jobs->core[slot].is_declined))
        return;
    /* jct / (service max(1, gpus (met / jct) / all)), with one division and the machine's maximum:
     * a branch would often be mispredicted, and known late. */
    double jct = (double)jct_ns, alone = crowd->gpus * jct,
           crowded = gpus_of(jobs, slot) * real(met);
    double most = crowded > alone ? crowded : alone;
    double rho = alone * jct / ((double)jobs->service_ns[slot] * most);
    crowd->n_rho++;
    crowd->rho_sum += rho;
    gsim_tail_add(&crowd->rho, rho);
}

void gsim_fairness_fill(struct gsim_core *core, struct gsim_summary *s) {
    double quantiles[sizeof quantiles_p / sizeof *quantiles_p];
    struct gsim_crowd *crowd = &core->crowd;
    gsim_tail_quantiles(&crowd->rho, crowd->n_rho, quantiles_p, quantiles,
                        sizeof quantiles_p / sizeof *quantiles_p);
    s->rho_mean = crowd->n_rho ? crowd->rho_sum / crowd->n_rho : (double)NAN;
    s->rho_p99 = quantiles[0];
    s->rho_max = quantiles[1];
}
