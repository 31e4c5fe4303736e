/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The effects of reference= outside the policies, one row per simulator, so that the core asks for
 * a property and never for a name. */
#ifndef GSIM_API_COMPAT_H
#define GSIM_API_COMPAT_H

#include "gsim/policy.h"

/* The names for --set reference=, in the order of enum gsim_reference. */
#define GSIM_REFERENCES "tiresias|pai|helios|gavel|synergy|elasticflow|pollux|muri|sia"

struct gsim_compat {
    const char *name; /* as in --set reference= */
    bool knows_nodes; /* it has nodes, which may fail */
    bool shows_ends; /* its loop foresees the ends of jobs, so the policy sees true durations */
    /* its clock is read this much after the last end, and the makespan includes it */
    int64_t tick_ns;
    int64_t phase_grid_ns; /* epochs end at multiples of it, the nearest; 0: anywhere */
    bool ends_jobs; /* its loop ends each job, by whatever work the job has done */
    /* Of two jobs that share GPUs (GSIM_DISCIPLINE_PAIR), the one that reaches its end, or a
     * threshold, waits there until the other has reached its own. */
    bool ends_pairs_together;
    enum gsim_rule rule; /* its placement; GSIM_RULE_COUNT: as placement= says */
    bool keeps_rate; /* a gang's remainder is ignored, and the gang is as fast without it */
    /* One divisible pool of GPUs and CPUs in place of nodes, of this size where no option sets
     * it. */
    bool is_pool;
    int64_t pool_gpus, pool_cpus_milli_per_gpu;
};

const struct gsim_compat *gsim_compat_of(enum gsim_reference reference);
/* The name of a simulator that has a pool in place of nodes. */
const char *gsim_compat_with_pool(void);

#endif
