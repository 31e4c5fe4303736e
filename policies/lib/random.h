/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lots: a policy that draws them keeps a stream in its state. Replications of a run draw other
 * numbers, a run that is repeated draws equal ones, and streams of other names are not
 * disturbed. */
#ifndef GSIM_POLICIES_LIB_RANDOM_H
#define GSIM_POLICIES_LIB_RANDOM_H

#include "gsim/policy.h"
#include "sim/base/random.h"

static inline void gsim_random_open(struct gsim_random *random, const struct gsim_ctx *ctx,
                                    const char *name) {
    gsim_random_seed(random, ctx->seed, ctx->replication, name);
}

#endif
