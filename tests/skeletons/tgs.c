/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compile-only: can the interface say TGS? Two lanes: production unthrottled, opportunistic with a
 * launch budget that feedback on the production launch rate moves; its pages are evicted first.
 * Rates are derived from the kernel and block counters, read at each timer. Nothing was missing. */
#include "sim/api/policy.h"

#define REPORT_NS (5 * GSIM_NS_PER_S)
#define REFILL_NS (50 * GSIM_NS_PER_MS)

struct state {
    int64_t budget, best_rate, last_blocks;
    bool is_due;
};

static void on_timer(struct gsim_ctx *ctx) {
    ((struct state *)ctx->state)->is_due = true;
}

static int64_t production_blocks(const struct gsim_ctx *ctx) {
    const struct gsim_view *view = ctx->view;
    int64_t blocks = 0;
    for (uint32_t i = 0; i < view->n_active; i++)
        if (gsim_trace_get(view->trace, GSIM_COL_CLASS, view->job[view->active[i]]) ==
            GSIM_CLASS_PRODUCTION)
            blocks += gsim_count(ctx, view->active[i]).blocks;
    return blocks;
}

static void adjust(struct state *state, int64_t rate) {
    if (rate > state->best_rate)
        state->best_rate = rate;
    bool is_fine = (state->best_rate - rate) * 100 <= 3 * state->best_rate;
    state->budget = is_fine ? state->budget * 3 / 2 : state->budget * 2 / 3;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    const struct gsim_unit gpu = {0, 0};
    if (state->is_due) {
        int64_t blocks = production_blocks(ctx);
        adjust(state, blocks - state->last_blocks);
        state->last_blocks = blocks;
        state->is_due = false;
    }
    const struct gsim_lane lanes[] = {
        {.discipline = GSIM_DISCIPLINE_RR, .eviction_rank = 1},
        {.discipline = GSIM_DISCIPLINE_RR,
         .launch_cap = state->budget,
         .launch_refill_ns = REFILL_NS,
         .eviction_rank = 0},
    };
    const struct gsim_arrangement sharing = {
        .lanes = lanes, .n_lanes = 2, .memory = GSIM_MEMORY_UVM};
    (void)gsim_plan_arrange(plan, &gpu, 1, &sharing);
    gsim_plan_wake(plan, ctx->view->now_ns + REPORT_NS);
}

const struct gsim_policy skeleton_tgs = {
    .name = "tgs", .state_size = sizeof(struct state), .on_timer = on_timer, .decide = decide};
