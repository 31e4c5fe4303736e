/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compile-only: can the interface say REEF? Real-time work resets best-effort kernels (flush, the
 * running kernel's progress is lost, idempotent jobs only) and padding fills the SMs left over with
 * the lane discipline PADDING. Nothing was missing. */
#include "sim/api/policy.h"

static bool is_realtime(const struct gsim_view *view, gsim_slot slot) {
    return gsim_trace_get(view->trace, GSIM_COL_CLASS, view->job[slot]) == GSIM_CLASS_REALTIME;
}

static void reset_best_effort(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    const struct gsim_view *view = ctx->view;
    for (uint32_t i = 0; i < view->n_active; i++) {
        gsim_slot slot = view->active[i];
        bool may_reset = gsim_trace_get(view->trace, GSIM_COL_IDEMPOTENT, view->job[slot]) == 1;
        if (view->state[slot] == GSIM_RUNNING && !is_realtime(view, slot) && may_reset)
            (void)gsim_plan_preempt(plan, slot, GSIM_STOP_FLUSH, GSIM_KEEP_RESIDENT);
    }
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    const struct gsim_view *view = ctx->view;
    const struct gsim_unit gpu = {0, 0};
    const struct gsim_lane lane = {.discipline = GSIM_DISCIPLINE_PADDING};
    const struct gsim_arrangement padding = {.lanes = &lane, .n_lanes = 1};
    for (uint32_t i = 0; i < view->n_arrived; i++) {
        if (!is_realtime(view, view->arrived[i]))
            continue;
        reset_best_effort(ctx, plan);
        (void)gsim_plan_place_on(plan, view->arrived[i], &gpu, 1);
        (void)gsim_plan_arrange(plan, &gpu, 1, &padding);
    }
    for (uint32_t i = 0; i < view->n_settled; i++)
        if (view->state[view->settled[i]] == GSIM_PAUSED)
            (void)gsim_plan_place_on(plan, view->settled[i], &gpu, 1);
}

const struct gsim_policy skeleton_reef = {.name = "reef", .decide = decide};
