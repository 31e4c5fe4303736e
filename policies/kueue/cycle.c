/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A cycle takes the head of each queue. First each is held against the quota as it is; then they
 * go, those within their own quota before those that borrow, then by priority, then by arrival, and
 * each must still fit after those before it. A head that needs preemption but finds no targets
 * holds its quota for the rest of the cycle, unless its queue may reclaim from all (Any). */
#include "policies/kueue/cycle.h"

#include "policies/kueue/jobs.h"
#include "policies/kueue/quota.h"
#include "policies/kueue/targets.h"

static bool goes_first(const struct gsim_ctx *ctx, const struct gsim_kueue_entry *a,
                       const struct gsim_kueue_entry *b) {
    int64_t priority_a = gsim_kueue_job(ctx, a->slot)->priority;
    int64_t priority_b = gsim_kueue_job(ctx, b->slot)->priority;
    if (a->borrows != b->borrows)
        return a->borrows < b->borrows;
    if (priority_a != priority_b)
        return priority_a > priority_b;
    return gsim_kueue_job(ctx, a->slot)->nth < gsim_kueue_job(ctx, b->slot)->nth;
}

/* Lists the heads in the order in which they go. */
static void nominate(struct gsim_kueue_state *state, struct gsim_ctx *ctx) {
    state->n_entries = state->n_targets = 0;
    for (uint32_t q = 0; q < state->conf.n_queues; q++) {
        struct gsim_kueue_entry head = {.slot = gsim_kueue_head(state, ctx, q)};
        if (head.slot == GSIM_NO_SLOT)
            continue;
        gsim_kueue_assign(state, ctx, &head);
        uint32_t at = state->n_entries++;
        for (; at > 0 && goes_first(ctx, &head, &state->entry[at - 1]); at--)
            state->entry[at] = state->entry[at - 1];
        state->entry[at] = head;
    }
}

/* --- one head --------------------------------------------------------------------------------- */

/* Books GPUs for a head for as long as the cycle lasts. */
static void hold(struct gsim_kueue_state *state, const struct gsim_ctx *ctx,
                 struct gsim_kueue_entry *entry, int64_t gpus) {
    gsim_kueue_quota_use(state, gsim_kueue_job(ctx, entry->slot)->queue, entry->flavor, gpus);
    entry->booked += gpus;
}

/* What a head without targets holds: up to its quota, or with borrowed GPUs up to their limit. */
static void hold_quota(struct gsim_kueue_state *state, const struct gsim_ctx *ctx,
                       struct gsim_kueue_entry *entry) {
    uint32_t q = gsim_kueue_job(ctx, entry->slot)->queue;
    const struct gsim_kueue_node *queue = &state->conf.node[q];
    const struct gsim_kueue_quota *quota = &queue->quota[entry->flavor];
    int64_t gpus = ctx->view->jobs.gpus[entry->slot];
    int64_t most =
        quota->nominal - state->use[(size_t)q * state->conf.n_flavors + entry->flavor].used;
    if (queue->reclaim == GSIM_KUEUE_ANY)
        return;
    if (entry->borrows > 0)
        most = quota->borrowing < 0 ? gpus : most + quota->borrowing;
    hold(state, ctx, entry, most < 0 && entry->borrows == 0 ? 0 : most < gpus ? most : gpus);
}

static void book_chosen(struct gsim_kueue_state *state, const struct gsim_ctx *ctx, int sign) {
    for (uint32_t e = 0; e < state->n_entries; e++)
        if (state->entry[e].is_chosen)
            gsim_kueue_book_targets(state, ctx, state->entry[e].first_target,
                                    state->entry[e].n_targets, sign);
}

/* Whether the head fits once the targets of those before it, and its own, have left. */
static bool still_fits(struct gsim_kueue_state *state, const struct gsim_ctx *ctx,
                       const struct gsim_kueue_entry *entry) {
    uint32_t queue = gsim_kueue_job(ctx, entry->slot)->queue;
    book_chosen(state, ctx, -1);
    gsim_kueue_book_targets(state, ctx, entry->first_target, entry->n_targets, -1);
    bool fits =
        ctx->view->jobs.gpus[entry->slot] <= gsim_kueue_quota_left(state, queue, entry->flavor);
    gsim_kueue_book_targets(state, ctx, entry->first_target, entry->n_targets, 1);
    book_chosen(state, ctx, 1);
    return fits;
}

static bool overlaps(const struct gsim_kueue_state *state, const struct gsim_ctx *ctx,
                     const struct gsim_kueue_entry *entry) {
    for (uint32_t t = 0; t < entry->n_targets; t++)
        if (gsim_kueue_job(ctx, state->target[entry->first_target + t])->is_target)
            return true;
    return false;
}

static void look_at(struct gsim_kueue_state *state, const struct gsim_ctx *ctx,
                    struct gsim_kueue_entry *entry) {
    if (entry->mode == GSIM_KUEUE_NO_CANDIDATES)
        hold_quota(state, ctx, entry);
    if (entry->mode == GSIM_KUEUE_NO_FIT || entry->mode == GSIM_KUEUE_NO_CANDIDATES)
        return;
    entry->is_skipped = overlaps(state, ctx, entry) || !still_fits(state, ctx, entry);
    if (entry->is_skipped)
        return;
    entry->is_chosen = true;
    hold(state, ctx, entry, ctx->view->jobs.gpus[entry->slot]);
    for (uint32_t t = 0; t < entry->n_targets; t++)
        gsim_kueue_job(ctx, state->target[entry->first_target + t])->is_target = true;
}

/* --- the end of a cycle ----------------------------------------------------------------------- */

/* Evicts targets that do not leave yet; whether there was one. */
static bool evict_targets(struct gsim_kueue_state *state, struct gsim_ctx *ctx,
                          struct gsim_plan *plan, const struct gsim_kueue_entry *entry) {
    bool has_evicted = false;
    for (uint32_t t = 0; t < entry->n_targets; t++) {
        gsim_slot target = state->target[entry->first_target + t];
        gsim_kueue_job(ctx, target)->is_target = false;
        if (gsim_kueue_is_evicted(gsim_kueue_job(ctx, target)))
            continue;
        gsim_kueue_evict(state, ctx, plan, target);
        has_evicted = true;
    }
    return has_evicted;
}

/* Makes of a head what the cycle found; whether anything changed. Under StrictFIFO a head that does
 * not fit stays the head; a head that was skipped, or waits for its targets, always does. */
static bool conclude(struct gsim_kueue_state *state, struct gsim_ctx *ctx, struct gsim_plan *plan,
                     const struct gsim_kueue_entry *entry) {
    uint32_t queue = gsim_kueue_job(ctx, entry->slot)->queue;
    bool is_strict = state->conf.node[queue].is_strict;
    bool has_targets = entry->is_chosen && entry->mode != GSIM_KUEUE_FIT;
    state->line[queue].preemptor = has_targets && !is_strict ? entry->slot : GSIM_NO_SLOT;
    if (entry->is_chosen && entry->mode == GSIM_KUEUE_FIT) {
        gsim_kueue_take_quota(state, ctx, entry->slot, entry->flavor);
        return true;
    }
    if (has_targets)
        return evict_targets(state, ctx, plan, entry);
    if (entry->is_skipped || is_strict)
        return false;
    gsim_kueue_park(state, ctx, entry->slot);
    return true;
}

static bool cycle(struct gsim_kueue_state *state, struct gsim_ctx *ctx, struct gsim_plan *plan) {
    bool has_changed = false;
    nominate(state, ctx);
    for (uint32_t e = 0; e < state->n_entries; e++)
        look_at(state, ctx, &state->entry[e]);
    for (uint32_t e = 0; e < state->n_entries; e++)
        hold(state, ctx, &state->entry[e], -state->entry[e].booked);
    for (uint32_t e = 0; e < state->n_entries; e++)
        has_changed |= conclude(state, ctx, plan, &state->entry[e]);
    return has_changed && ctx->status == GSIM_OK;
}

void gsim_kueue_admit(struct gsim_kueue_state *state, struct gsim_ctx *ctx,
                      struct gsim_plan *plan) {
    state->n_withdrawals = 0;
    do {
        while (cycle(state, ctx, plan))
            continue;
    } while (ctx->status == GSIM_OK && gsim_kueue_withdraw(state, ctx));
}
