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

/* --- sorting ---------------------------------------------------------------------------------- */

/* Takes the longest sorted part from the front of a list linked by `after`; *rest: the jobs behind
 * it. */
static gsim_slot cut_run(const struct gsim_ctx *ctx, gsim_slot first, gsim_slot *rest,
                         bool (*goes_before)(const struct gsim_ctx *ctx, gsim_slot a,
                                             gsim_slot b)) {
    gsim_slot last = first;
    while (link_of(ctx, last)->after != GSIM_NO_SLOT &&
           !goes_before(ctx, link_of(ctx, last)->after, last))
        last = link_of(ctx, last)->after;
    *rest = link_of(ctx, last)->after;
    link_of(ctx, last)->after = GSIM_NO_SLOT;
    return first;
}

static gsim_slot merge(const struct gsim_ctx *ctx, gsim_slot a, gsim_slot b,
                       bool (*goes_before)(const struct gsim_ctx *ctx, gsim_slot a, gsim_slot b)) {
    gsim_slot first = GSIM_NO_SLOT, *end = &first;
    while (a != GSIM_NO_SLOT && b != GSIM_NO_SLOT) {
        gsim_slot *from = goes_before(ctx, b, a) ? &b : &a;
        *end = *from;
        end = &link_of(ctx, *from)->after;
        *from = *end;
    }
    *end = a != GSIM_NO_SLOT ? a : b;
    return first;
}

/* A merge of sorted parts as they stand: part i of the stack is a merge of 2^i of them. */
void gsim_queue_sort(struct gsim_queue *queue, const struct gsim_ctx *ctx,
                     bool (*goes_before)(const struct gsim_ctx *ctx, gsim_slot a, gsim_slot b)) {
    enum { PARTS = 32 };
    gsim_slot part[PARTS], rest = queue->first, all = GSIM_NO_SLOT;
    for (int i = 0; i < PARTS; i++)
        part[i] = GSIM_NO_SLOT;
    while (rest != GSIM_NO_SLOT) {
        gsim_slot run = cut_run(ctx, rest, &rest, goes_before);
        int i = 0;
        for (; part[i] != GSIM_NO_SLOT; part[i++] = GSIM_NO_SLOT)
            run = merge(ctx, part[i], run, goes_before);
        part[i] = run;
    }
    for (int i = 0; i < PARTS; i++)
        all = merge(ctx, part[i], all, goes_before);
    queue->first = queue->last = GSIM_NO_SLOT;
    for (gsim_slot next; all != GSIM_NO_SLOT; all = next) {
        next = link_of(ctx, all)->after;
        gsim_queue_append(queue, ctx, all);
    }
}
