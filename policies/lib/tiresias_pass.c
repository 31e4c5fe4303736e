/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One scheduling event of the public Tiresias simulator (SymbioticLab/Tiresias, placement "count").
 * The list is almost sorted from the last event, so an insertion sort is linear. */
#include "policies/lib/tiresias_pass.h"

#include "policies/lib/common.h"
#include "policies/lib/settings.h"

static bool append(struct gsim_tiresias_pass *t, struct gsim_ctx *ctx, gsim_slot slot) {
    gsim_slot *grown = gsim_arena_room(ctx->arena, t->runnable, t->n, &t->capacity, sizeof *grown);
    if (!grown)
        return false;
    t->runnable = grown;
    t->runnable[t->n++] = slot;
    return true;
}

static void update_list(struct gsim_tiresias_pass *t, struct gsim_ctx *ctx) {
    const struct gsim_view *view = ctx->view;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->n && view->changes.n_completed; i++)
        if (view->jobs.state[t->runnable[i]] != GSIM_DONE)
            t->runnable[kept++] = t->runnable[i];
    if (view->changes.n_completed)
        t->n = kept;
    for (uint32_t i = 0; i < view->changes.n_arrived; i++)
        if (!append(t, ctx, view->changes.arrived[i]))
            (void)gsim_no_memory(ctx->log, "listing jobs");
}

static void sort_list(struct gsim_tiresias_pass *t, const struct gsim_ctx *ctx) {
    for (uint32_t i = 1; i < t->n; i++) {
        gsim_slot slot = t->runnable[i];
        int64_t rank = t->rank(ctx, slot);
        uint32_t at = i;
        for (; at > 0 && t->rank(ctx, t->runnable[at - 1]) > rank; at--)
            t->runnable[at] = t->runnable[at - 1];
        t->runnable[at] = slot;
    }
}

/* The GPUs to hand out. Jobs in transition (only where switching costs time) keep their GPUs. */
static int64_t free_gpus(const struct gsim_tiresias_pass *t, const struct gsim_ctx *ctx) {
    const struct gsim_view *view = ctx->view;
    int64_t n = view->cluster.n_idle_gpus;
    for (uint32_t i = 0; i < t->n; i++)
        if (view->jobs.state[t->runnable[i]] == GSIM_RUNNING)
            n += view->jobs.gpus[t->runnable[i]];
    return n;
}

void gsim_tiresias_pass_decide(struct gsim_tiresias_pass *tiresias, struct gsim_ctx *ctx,
                               struct gsim_plan *plan) {
    const struct gsim_view *view = ctx->view;
    struct gsim_preemption how = gsim_settings_preemption(ctx, GSIM_KEEP_STORAGE);
    update_list(tiresias, ctx);
    sort_list(tiresias, ctx);
    int64_t available = free_gpus(tiresias, ctx), left = available;
    /* jobs that lose their GPUs come first, so that there is room */
    for (uint32_t i = 0; i < tiresias->n; i++) {
        gsim_slot slot = tiresias->runnable[i];
        enum gsim_state state = view->jobs.state[slot];
        if (state != GSIM_RUNNING && !gsim_common_waits(view, slot))
            continue;
        if (view->jobs.gpus[slot] <= left)
            left -= view->jobs.gpus[slot];
        else if (state == GSIM_RUNNING)
            (void)gsim_plan_preempt(plan, slot, how.stop, how.keep);
    }
    left = available;
    for (uint32_t i = 0; i < tiresias->n; i++) {
        gsim_slot slot = tiresias->runnable[i];
        enum gsim_state state = view->jobs.state[slot];
        if ((state != GSIM_RUNNING && !gsim_common_waits(view, slot)) ||
            view->jobs.gpus[slot] > left)
            continue;
        left -= view->jobs.gpus[slot];
        if (gsim_common_waits(view, slot))
            (void)gsim_settings_place(ctx, plan, slot, GSIM_RULE_ANY);
    }
}
