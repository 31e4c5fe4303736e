/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/apart/watched.h"

#include "sim/core/core.h"

const char *const gsim_hook_names[] = {"loading",  "open",     "on_arrival", "on_completion",
                                       "on_watch", "on_timer", "decide",     "close"};

static const struct gsim_watched *enter(struct gsim_ctx *ctx, enum gsim_hook hook, gsim_slot slot) {
    /* of a part, where nodes have a policy of their own */
    const struct gsim_watched *watched = (const void *)ctx->policy;
    struct gsim_notes *notes = watched->notes;
    notes->hook = (int)hook;
    notes->now_ns = ctx->view->now_ns;
    notes->slot = slot;
    atomic_fetch_add_explicit(&notes->n_calls, 1, memory_order_relaxed);
    return watched;
}

static void leave(const struct gsim_watched *watched) {
    atomic_fetch_add_explicit(&watched->notes->n_calls, 1, memory_order_relaxed);
}

static enum gsim_status open_noted(struct gsim_ctx *ctx) {
    const struct gsim_watched *watched = enter(ctx, GSIM_HOOK_OPEN, GSIM_NO_SLOT);
    ctx->core->at_hand = &watched->notes->slot;
    enum gsim_status status = watched->own->open ? watched->own->open(ctx) : GSIM_OK;
    leave(watched);
    return status;
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_watched *watched = enter(ctx, GSIM_HOOK_ARRIVAL, slot);
    if (slot < watched->notes->n_slots)
        watched->notes->job_of[slot] = ctx->core->view.jobs.index[slot];
    if (watched->own->on_arrival)
        watched->own->on_arrival(ctx, slot);
    leave(watched);
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_watched *watched = enter(ctx, GSIM_HOOK_COMPLETION, slot);
    watched->own->on_completion(ctx, slot);
    leave(watched);
}

static void on_watch(struct gsim_ctx *ctx, gsim_slot slot, enum gsim_watch_kind kind) {
    const struct gsim_watched *watched = enter(ctx, GSIM_HOOK_WATCH, slot);
    watched->own->on_watch(ctx, slot, kind);
    leave(watched);
}

static void on_timer(struct gsim_ctx *ctx) {
    const struct gsim_watched *watched = enter(ctx, GSIM_HOOK_TIMER, GSIM_NO_SLOT);
    watched->own->on_timer(ctx);
    leave(watched);
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    const struct gsim_watched *watched = enter(ctx, GSIM_HOOK_DECIDE, GSIM_NO_SLOT);
    watched->own->decide(ctx, plan);
    leave(watched);
}

static void close_noted(struct gsim_ctx *ctx) {
    const struct gsim_watched *watched = enter(ctx, GSIM_HOOK_CLOSE, GSIM_NO_SLOT);
    watched->own->close(ctx);
    leave(watched);
}

void gsim_watched_make(struct gsim_watched *watched, const struct gsim_policy *policy,
                       struct gsim_notes *notes) {
    *watched = (struct gsim_watched){.table = *policy, .own = policy, .notes = notes};
    notes->slot = GSIM_NO_SLOT;
    watched->table.open = open_noted;
    watched->table.on_arrival = on_arrival;
    watched->table.on_completion = policy->on_completion ? on_completion : NULL;
    watched->table.on_watch = policy->on_watch ? on_watch : NULL;
    watched->table.on_timer = policy->on_timer ? on_timer : NULL;
    watched->table.decide = policy->decide ? decide : NULL;
    watched->table.close = policy->close ? close_noted : NULL;
}
