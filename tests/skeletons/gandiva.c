/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compile-only: can the interface say Gandiva? Slices at iteration boundaries (watch, then suspend
 * to the host), packing that is undone when the packed throughput, taken from iteration counters,
 * does not beat slicing, and migration. Nothing was missing. */
#include "sim/api/policy.h"

#define SLICE_NS (60 * GSIM_NS_PER_S)

struct own {
    int64_t iterations_at_pack, alone_rate;
    bool has_sliced, is_packed;
};

static void on_watch(struct gsim_ctx *ctx, gsim_slot slot, enum gsim_watch_kind kind) {
    (void)kind;
    ((struct own *)gsim_job_state(ctx, slot))->has_sliced = true;
}

static bool does_not_pay(const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct own *own = gsim_job_state(ctx, slot);
    struct gsim_counters counters = gsim_count(ctx, slot);
    return own->is_packed && (counters.iterations - own->iterations_at_pack) * 2 < own->alone_rate;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    const struct gsim_view *view = ctx->view;
    for (uint32_t i = 0; i < view->n_active; i++) {
        gsim_slot slot = view->active[i];
        struct own *own = gsim_job_state(ctx, slot);
        struct gsim_shape shape = gsim_shape_of(view, slot, GSIM_RULE_CONSOLIDATE);
        if (view->state[slot] == GSIM_RUNNING && own->has_sliced) {
            (void)gsim_plan_preempt(plan, slot, GSIM_STOP_ITERATION, GSIM_KEEP_HOST);
            own->has_sliced = false;
        } else if (view->state[slot] == GSIM_RUNNING && does_not_pay(ctx, slot)) {
            (void)gsim_plan_move(plan, slot, &shape);
            own->is_packed = false;
        } else if (view->state[slot] == GSIM_QUEUED || view->state[slot] == GSIM_HELD) {
            if (gsim_plan_place(plan, slot, &shape))
                gsim_plan_watch(plan, slot, GSIM_WATCH_ATTAINED,
                                gsim_attained_ns(view, slot) + SLICE_NS);
        }
    }
}

const struct gsim_policy skeleton_gandiva = {
    .name = "gandiva", .job_size = sizeof(struct own), .on_watch = on_watch, .decide = decide};
