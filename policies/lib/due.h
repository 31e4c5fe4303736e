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

/* Jobs of one urgency with as many GPUs. */
struct gsim_due_class {
    gsim_slot last; /* the job of it with the most service; GSIM_NO_ID: none is due */
    uint32_t place; /* in `filled`, if one is due */
    uint64_t least; /* of jobs that may yield to the asker: service as it is in `jobs` */
};

/* All jobs of one class gain service as fast as time passes: their order stays while they run, and
 * the service from which on they may yield to a waiting job parts them in two. Zeroed, then
 * gsim_due_init. */
struct gsim_due {
    struct gsim_index jobs; /* by class, then by service */
    struct gsim_index classes; /* by urgency and GPUs */
    struct gsim_due_class *class; /* by number */
    uint32_t *filled; /* the classes of which a job is due, in no order */
    uint32_t n_filled, class_capacity, filled_capacity;
    /* Grows with the service of a job, in its class. */
    int64_t (*rank)(const struct gsim_ctx *ctx, gsim_slot slot);
    /* As in gsim_slices. */
    int64_t (*least_service_ns)(const struct gsim_ctx *ctx, gsim_slot slot, int64_t urgency,
                                uint32_t gpus);
    gsim_slot asker; /* valid if has_asked: */
    bool has_asked, has_any; /* since jobs and times changed; a job may yield to it */
    struct gsim_due_job *found; /* jobs that may yield to it, valid if has_found: */
    uint32_t n_found, capacity;
    struct gsim_heap heap; /* the begin of `found`, valid once is_piled: jobs not handed out yet */
    bool has_found, is_piled;
};
/* rank, least_service_ns: as in gsim_due. */
void gsim_due_init(struct gsim_due *due, struct gsim_ctx *ctx,
                   int64_t (*rank)(const struct gsim_ctx *ctx, gsim_slot slot),
                   int64_t (*least_service_ns)(const struct gsim_ctx *ctx, gsim_slot slot,
                                               int64_t urgency, uint32_t gpus));
/* false: no memory. */
bool gsim_due_add(struct gsim_due *due, struct gsim_ctx *ctx, gsim_slot slot, int64_t urgency);
/* Does nothing when the job is not due. */
void gsim_due_remove(struct gsim_due *due, gsim_slot slot);
/* Time has passed: ranks are others. */
void gsim_due_forget(struct gsim_due *due);
/* None has a rank behind this one; INT64_MIN: none is due. */
int64_t gsim_due_last_rank(const struct gsim_due *due, const struct gsim_ctx *ctx);
/* The waiting job is the asker from now on. Returns whether any job may yield to it. */
bool gsim_due_ask(struct gsim_due *due, const struct gsim_ctx *ctx, gsim_slot asker);
/* Fills `found` for this asker, in no order. false: no memory. */
bool gsim_due_find(struct gsim_due *due, struct gsim_ctx *ctx, gsim_slot asker);
/* Of the jobs found the one with this place by the length of its slice, 0 for the longest; puts
 * `found` in order as far as that. */
gsim_slot gsim_due_nth(struct gsim_due *due, const struct gsim_ctx *ctx,
                       const struct gsim_index *running, uint32_t nth);

static inline uint32_t gsim_due_class_of(const struct gsim_due *due, gsim_slot slot) {
    return (uint32_t)((uint64_t)gsim_index_key(&due->jobs, slot) >> 32);
}

/* Service as it is in `jobs`. */
static inline uint64_t gsim_due_ahead(const struct gsim_due *due, gsim_slot slot) {
    return (uint64_t)gsim_index_key(&due->jobs, slot) << 32 |
           gsim_index_tie(&due->jobs, slot) >> 32;
}

/* Whether the job, which is due, may yield to the asker. */
static inline bool gsim_due_may_yield(const struct gsim_due *due, gsim_slot slot) {
    return gsim_due_ahead(due, slot) >= due->class[gsim_due_class_of(due, slot)].least;
}

#endif
