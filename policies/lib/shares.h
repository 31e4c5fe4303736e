/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shares of the time of device types that are best for some objective, from the speeds of jobs and
 * the number of devices. Source: Narayanan et al., "Heterogeneity-Aware Cluster Scheduling Policies
 * for Deep Learning Workloads", OSDI 2020, sections 4 and 5; finish-time fairness: Mahajan et al.,
 * "Themis", NSDI 2020.
 *
 * A job has at most its whole time, and a type no more GPUs than there are. An entry is a job
 * alone, or a pair of jobs that share the GPUs of one. The value of an optimum is unique, its
 * shares are not. Gavel's program leaves the choice to ECOS, an interior-point solver; the shares
 * here are those at which its path ends (policies/lib/conic.h). Those of water filling, for which
 * Gavel's program has a second solver, are one corner (policies/lib/lp.h), as are those of
 * programmes with numbers too far apart for the path.
 */
#ifndef GSIM_POLICIES_LIB_SHARES_H
#define GSIM_POLICIES_LIB_SHARES_H

#include "policies/lib/conic.h"

enum { GSIM_SHARE_TYPES = 16 };
#define GSIM_SHARE_ALONE UINT32_MAX

struct gsim_share_job {
    double gpus; /* of its gang */
    double weight; /* 0: only objectives that have no weights */
    double count; /* the equal jobs that this one stands for; each gets the shares */
    double left; /* steps to its end */
    double age_s; /* since its arrival */
    double alone_s; /* finish-time fairness: from arrival to end with a part of the cluster */
    uint32_t entity; /* hierarchies: the job's owner */
};

struct gsim_share_entry {
    /* The second GSIM_SHARE_ALONE: a job alone. One job twice: pairs of equal jobs. */
    uint32_t job[2];
    double per_s[2][GSIM_SHARE_TYPES]; /* steps per second; 0: not on this type */
    double share[GSIM_SHARE_TYPES]; /* the answer */
};

/* An owner of jobs, among which its weight is divided anew each time that some of them have all
 * that they can get. */
struct gsim_share_entity {
    double weight;
    bool is_fifo; /* the first of its jobs has all the weight, until more is of no use to it */
};

struct gsim_shares {
    struct gsim_lp lp; /* its arena set, otherwise zero at first */
    struct gsim_conic path; /* zero at first */
    uint32_t n_jobs, n_entries, n_types;
    const struct gsim_share_job *job;
    struct gsim_share_entry *entry; /* first the n_jobs alone, in their order; then pairs */
    double gpus[GSIM_SHARE_TYPES]; /* of each type */
    const struct gsim_share_entity *entity; /* NULL: no hierarchy */
    /* As Gavel's program: types on which a job does not run have columns too, which are worth
     * nothing but stand in the way of the others, and the path ends at the tolerance of ECOS.
     * Otherwise it goes on as far as the numbers allow. */
    bool is_as_gavel;
    double value; /* of the objective */
};

/* A job without a type on which it runs gets nothing, and counts in no objective. */

/* The largest t so that each job has t times what an equal part of the cluster would give it, for
 * its weight, times its GPUs. A policy that does not look at speeds gives 1 as the speed on every
 * type. */
enum gsim_lp_end gsim_shares_max_min(struct gsim_shares *shares);
/* Goes on where max-min leaves room: each job has as much as it can have without less for a job
 * that has no more. With owners, jobs rise together, each by its part of its owner's weight. The
 * value is the level of the jobs that were full first. */
enum gsim_lp_end gsim_shares_water_fill(struct gsim_shares *shares);
/* The largest sum of steps per second; weights do not count. */
enum gsim_lp_end gsim_shares_max_sum(struct gsim_shares *shares);
/* The shortest time in which all jobs end. is_tried: with the shares they end by the next time that
 * Gavel's program tries, which is up to 5 % longer (105 s where it is shorter than 100 s). */
enum gsim_lp_end gsim_shares_makespan(struct gsim_shares *shares, bool is_tried);
/* The smallest rho so that each job ends within rho times alone_s: (age + left / speed) / alone_s.
 * Not a linear programme: the demands at a rho below the optimum are one, and its prices prove a
 * larger rho, from below, until the demands can be met. */
enum gsim_lp_end gsim_shares_finish_time(struct gsim_shares *shares);

#endif
