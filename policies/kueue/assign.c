/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Flavors of a queue are tried in its order. The first that has room is taken; flavorFungibility
 * says whether one that would need borrowed quota, or preemption, ends the search too. */
#include "policies/kueue/cycle.h"
#include "policies/kueue/quota.h"
#include "policies/kueue/targets.h"

/* What a head that needs preemption borrows counts without the jobs that are evicted for it. */
static void by_force(struct gsim_kueue_state *state, struct gsim_ctx *ctx,
                     struct gsim_kueue_entry *entry, int64_t gpus) {
    uint32_t queue = gsim_kueue_job(ctx, entry->slot)->queue;
    uint32_t first = state->n_targets, own = 0;
    uint32_t n = gsim_kueue_find_targets(state, ctx, entry->slot, entry->flavor);
    bool is_below;
    gsim_kueue_book_targets(state, ctx, first, n, -1);
    entry->borrows = gsim_kueue_quota_height(state, queue, entry->flavor, gpus, &is_below);
    gsim_kueue_book_targets(state, ctx, first, n, 1);
    for (uint32_t t = first; t < first + n; t++)
        own += gsim_kueue_job(ctx, state->target[t])->queue == queue;
    state->n_targets = first;
    entry->mode = n == 0    ? GSIM_KUEUE_NO_CANDIDATES
                  : own > 0 ? GSIM_KUEUE_PREEMPT
                            : GSIM_KUEUE_RECLAIM;
}

/* How the job would have this flavor. */
static struct gsim_kueue_entry with_flavor(struct gsim_kueue_state *state, struct gsim_ctx *ctx,
                                           gsim_slot slot, uint32_t flavor) {
    const struct gsim_kueue_job *job = gsim_kueue_job(ctx, slot);
    const struct gsim_kueue_node *queue = &state->conf.node[job->queue];
    struct gsim_kueue_entry entry = {.slot = slot, .flavor = flavor};
    int64_t gpus = ctx->view->jobs.gpus[slot];
    bool is_below;
    if (gpus > gsim_kueue_quota_most(state, job->queue, flavor))
        return entry;
    entry.borrows = gsim_kueue_quota_height(state, job->queue, flavor, gpus, &is_below);
    if (gpus <= gsim_kueue_quota_left(state, job->queue, flavor))
        entry.mode = GSIM_KUEUE_FIT;
    else if (gpus <= queue->quota[flavor].nominal || is_below || queue->borrows_by_force)
        by_force(state, ctx, &entry, gpus);
    return entry;
}

static bool is_better(const struct gsim_kueue_entry *a, const struct gsim_kueue_entry *b) {
    return a->mode != b->mode ? a->mode > b->mode : a->borrows < b->borrows;
}

static bool ends_search(const struct gsim_kueue_node *queue, const struct gsim_kueue_entry *one) {
    bool may_borrow = one->borrows == 0 || !queue->next_rather_than_borrow;
    bool is_by_force = one->mode == GSIM_KUEUE_PREEMPT || one->mode == GSIM_KUEUE_RECLAIM;
    return may_borrow &&
           (one->mode == GSIM_KUEUE_FIT || (is_by_force && queue->preempt_rather_than_next));
}

void gsim_kueue_assign(struct gsim_kueue_state *state, struct gsim_ctx *ctx,
                       struct gsim_kueue_entry *entry) {
    const struct gsim_kueue_job *job = gsim_kueue_job(ctx, entry->slot);
    const struct gsim_kueue_node *queue = &state->conf.node[job->queue];
    for (uint32_t i = 0; i < queue->n_flavors; i++) {
        uint32_t flavor = queue->flavor[i];
        if (!(job->may_have >> flavor & 1))
            continue;
        struct gsim_kueue_entry one = with_flavor(state, ctx, entry->slot, flavor);
        if (is_better(&one, entry))
            *entry = one;
        if (ends_search(queue, &one))
            break;
    }
    entry->first_target = state->n_targets;
    if (entry->mode == GSIM_KUEUE_PREEMPT || entry->mode == GSIM_KUEUE_RECLAIM)
        entry->n_targets = gsim_kueue_find_targets(state, ctx, entry->slot, entry->flavor);
}
