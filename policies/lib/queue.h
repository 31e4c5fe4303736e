/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A queue of jobs in order of arrival, linked through the per-job state of the policy. */
#ifndef GSIM_POLICIES_LIB_QUEUE_H
#define GSIM_POLICIES_LIB_QUEUE_H

#include "gsim/policy.h"

/* The links of a job; the first member of the per-job state of policies that use the queue. */
struct gsim_queue_link {
    gsim_slot before, after;
};

struct gsim_queue {
    gsim_slot first, last;
};

void gsim_queue_init(struct gsim_queue *queue);
void gsim_queue_append(struct gsim_queue *queue, const struct gsim_ctx *ctx, gsim_slot slot);
/* before: a job of the queue, or GSIM_NO_SLOT for its end. */
void gsim_queue_insert(struct gsim_queue *queue, const struct gsim_ctx *ctx, gsim_slot before,
                       gsim_slot slot);
void gsim_queue_remove(struct gsim_queue *queue, const struct gsim_ctx *ctx, gsim_slot slot);
/* Stable; goes_before: whether job a goes before job b, an order of all jobs. */
void gsim_queue_sort(struct gsim_queue *queue, const struct gsim_ctx *ctx,
                     bool (*goes_before)(const struct gsim_ctx *ctx, gsim_slot a, gsim_slot b));
static inline gsim_slot gsim_queue_before(const struct gsim_ctx *ctx, gsim_slot slot) {
    return ((const struct gsim_queue_link *)gsim_job_state(ctx, slot))->before;
}
static inline gsim_slot gsim_queue_after(const struct gsim_ctx *ctx, gsim_slot slot) {
    return ((const struct gsim_queue_link *)gsim_job_state(ctx, slot))->after;
}

#endif
