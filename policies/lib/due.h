/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs that run and are due to give way, in an order by which those that yield to a waiting job are
 * found without a look at the others. */
#ifndef GSIM_POLICIES_LIB_DUE_H
#define GSIM_POLICIES_LIB_DUE_H

#include "gsim/policy.h"
#include "policies/lib/heap.h"
#include "sim/base/index.h"

/* A job that was found, with the begin of its slice and its place in the trace. */
struct gsim_due_job {
    int64_t began_ns;
    uint32_t arrival;
    gsim_slot slot;
};

/* Jobs of one class have one urgency and as many GPUs, and all of them gain service as fast as time
 * passes: the order of their ranks stays while they run. Zeroed, then gsim_due_init. */
struct gsim_due {
    struct gsim_index jobs; /* by class, then by service */
    struct gsim_index classes; /* by urgency and GPUs */
    /* Grows with the service of a job, in its class. */
    int64_t (*rank)(const struct gsim_ctx *ctx, gsim_slot slot);
    struct gsim_due_job *found; /* jobs of this rank or behind it: */
    int64_t least_rank;
    uint32_t n_found, capacity;
    struct gsim_heap heap; /* the begin of `found`, valid once is_piled: jobs not handed out yet */
    bool has_found, is_piled;
};
void gsim_due_init(struct gsim_due *due, struct gsim_ctx *ctx,
                   int64_t (*rank)(const struct gsim_ctx *ctx, gsim_slot slot));
/* false: no memory. */
bool gsim_due_add(struct gsim_due *due, struct gsim_ctx *ctx, gsim_slot slot, int64_t urgency);
/* Does nothing when the job is not due. */
void gsim_due_remove(struct gsim_due *due, gsim_slot slot);
/* Time has passed: ranks are others. */
void gsim_due_forget(struct gsim_due *due);
/* None has a rank behind this one; INT64_MIN: none is due. */
int64_t gsim_due_last_rank(const struct gsim_due *due, const struct gsim_ctx *ctx);
/* Fills `found`, in no order. false: no memory. */
bool gsim_due_find(struct gsim_due *due, struct gsim_ctx *ctx, int64_t least_rank);
/* Of the jobs found the one with this place by the length of its slice, 0 for the longest; puts
 * `found` in order as far as that. */
gsim_slot gsim_due_nth(struct gsim_due *due, const struct gsim_ctx *ctx,
                       const struct gsim_index *running, uint32_t nth);

#endif
