/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A linked list through the per-job state: appending and removing do not depend on the length of a
 * queue. */
#include "policies/lib/queue.h"

static struct gsim_queue_link *link_of(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_job_state(ctx, slot);
}

void gsim_queue_init(struct gsim_queue *queue) {
    queue->first = queue->last = GSIM_NO_SLOT;
}

void gsim_queue_insert(struct gsim_queue *queue, const struct gsim_ctx *ctx, gsim_slot before,
                       gsim_slot slot) {
    gsim_slot behind = before == GSIM_NO_SLOT ? queue->last : link_of(ctx, before)->before;
    *link_of(ctx, slot) = (struct gsim_queue_link){behind, before};
    if (behind == GSIM_NO_SLOT)
        queue->first = slot;
    else
        link_of(ctx, behind)->after = slot;
    if (before == GSIM_NO_SLOT)
        queue->last = slot;
    else
        link_of(ctx, before)->before = slot;
}

void gsim_queue_append(struct gsim_queue *queue, const struct gsim_ctx *ctx, gsim_slot slot) {
    gsim_queue_insert(queue, ctx, GSIM_NO_SLOT, slot);
}

void gsim_queue_append_arrived(struct gsim_queue *queue, const struct gsim_ctx *ctx) {
    for (uint32_t i = 0; i < ctx->view->changes.n_arrived; i++)
        gsim_queue_append(queue, ctx, ctx->view->changes.arrived[i]);
}

void gsim_queue_remove(struct gsim_queue *queue, const struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_queue_link link = *link_of(ctx, slot);
    if (link.before == GSIM_NO_SLOT)
        queue->first = link.after;
    else
        link_of(ctx, link.before)->after = link.after;
    if (link.after == GSIM_NO_SLOT)
        queue->last = link.before;
    else
        link_of(ctx, link.after)->before = link.before;
}
