/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pass of the public Tiresias simulator over ranked jobs (reference=tiresias). */
#ifndef GSIM_POLICIES_LIB_TIRESIAS_PASS_H
#define GSIM_POLICIES_LIB_TIRESIAS_PASS_H

#include "gsim/policy.h"

/* Stable-sorts the runnable list by rank, frees all GPUs, and allocates greedily with skip by count
 * alone; running jobs that are chosen again are left alone. The list keeps its order from event to
 * event, new jobs are appended. */
struct gsim_tiresias_pass {
    gsim_slot *runnable;
    uint32_t n, capacity;
    int64_t (*rank)(const struct gsim_ctx *ctx, gsim_slot slot);
};
void gsim_tiresias_pass_decide(struct gsim_tiresias_pass *tiresias, struct gsim_ctx *ctx,
                               struct gsim_plan *plan);

#endif
