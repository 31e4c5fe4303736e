/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What reference= changes beside the policies themselves, by simulator: one row each, so that the core asks
 * for a property and never for a name. */
#ifndef GSIM_API_COMPAT_H
#define GSIM_API_COMPAT_H

#include "gsim/policy.h"

struct gsim_compat {
    const char *name; /* as --set reference= has it */
    bool knows_nodes; /* which may fail */
    bool shows_ends; /* its loop foresees when jobs end, so the policy sees true durations */
    int64_t tick_ns; /* its clock is read so much after the last end: the makespan has it too */
    enum gsim_rule rule; /* its placement; GSIM_RULE_COUNT: what placement= says */
    bool keeps_rate; /* a gang's remainder is ignored, and the gang is as fast without it */
    /* One divisible pool of GPUs and CPUs in place of nodes, so large where no option says. */
    bool is_pool;
    int64_t pool_gpus, pool_cpus_milli_per_gpu;
};

const struct gsim_compat *gsim_compat_of(enum gsim_reference reference);

#endif
