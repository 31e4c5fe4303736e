/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compile-only: can the interface say `adaptive`? At each preemption the cheapest of leave
 * resident, evict to host, checkpoint and let the iteration end, from quotes and an estimate of the
 * return. Nothing was missing: quotes are free of side effects and name the column they lack. */
#include "sim/api/policy.h"

struct choice {
    enum gsim_stop stop;
    enum gsim_keep keep;
};

static const struct choice choices[] = {
    {GSIM_STOP_SAVE, GSIM_KEEP_RESIDENT},
    {GSIM_STOP_SAVE, GSIM_KEEP_HOST},
    {GSIM_STOP_ITERATION, GSIM_KEEP_HOST},
    {GSIM_STOP_ITERATION, GSIM_KEEP_STORAGE},
};

static struct choice cheapest(const struct gsim_ctx *ctx, gsim_slot slot) {
    struct choice best = choices[3];
    int64_t least_ns = INT64_MAX;
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        struct gsim_quote quote = gsim_ask(ctx, slot, choices[i].stop, choices[i].keep, NULL, 0);
        int64_t cost_ns = quote.stop_ns + quote.save_ns + quote.resume_ns + quote.lost_ns;
        if (quote.is_possible && cost_ns < least_ns) {
            least_ns = cost_ns;
            best = choices[i];
        }
    }
    return best;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    const struct gsim_view *view = ctx->view;
    for (uint32_t i = 0; i < view->n_arrived; i++) {
        struct gsim_shape shape = gsim_shape_of(view, view->arrived[i], GSIM_RULE_CONSOLIDATE);
        uint32_t mark = gsim_plan_mark(plan);
        for (uint32_t k = 0; k < view->n_active; k++) {
            gsim_slot victim = view->active[k];
            if (gsim_plan_place(plan, view->arrived[i], &shape))
                break;
            if (view->state[victim] != GSIM_RUNNING)
                continue;
            struct choice choice = cheapest(ctx, victim);
            if (!gsim_plan_preempt(plan, victim, choice.stop, choice.keep))
                gsim_plan_rollback(plan, mark);
        }
    }
}

const struct gsim_policy skeleton_adaptive = {.name = "adaptive", .decide = decide};
