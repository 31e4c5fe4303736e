/* SPDX-License-Identifier: GPL-3.0-or-later */
/* First in, first out without the blocking: jobs that do not fit are passed over, without a
 * reservation, so that a wide job may wait for long. Source: the baseline of cluster papers.
 *
 * reference=tiresias: the public simulator's `fjf`, GPUs counted only. */
#include "policies/lib/common.h"
#include "policies/lib/settings.h"
#include "policies/lib/skip.h"

struct state {
    struct gsim_waiting waiting;
    enum gsim_rule rule;
    uint32_t n_repairs; /* seen so far */
};

static enum gsim_status open_backfill(struct gsim_ctx *ctx) {
    struct state *state = ctx->state;
    state->rule = gsim_settings_rule(ctx);
    if (!gsim_waiting_init(&state->waiting, ctx->arena, 1))
        return gsim_no_memory(ctx->log, "opening backfill");
    return gsim_settings_open_memory(ctx);
}

/* Tries waiting jobs when capacity was freed, or came back from repair: no other event lets them
 * fit. */
static void place_waiting(struct state *state, struct gsim_skip *skip, struct gsim_ctx *ctx,
                          struct gsim_plan *plan) {
    struct gsim_waiting_rule rule = {.most = gsim_skip_most, .of = skip};
    gsim_waiting_walk(&state->waiting, ctx, &rule);
    while (!gsim_common_is_full(ctx->view)) {
        gsim_slot slot = gsim_waiting_next(&state->waiting);
        if (slot == GSIM_NO_SLOT)
            return;
        if (gsim_skip_place(skip, ctx, plan, slot))
            gsim_waiting_remove(&state->waiting, slot);
    }
}

/* A job that is placed on arrival never waits. */
static void place_arrived(struct state *state, struct gsim_skip *skip, struct gsim_ctx *ctx,
                          struct gsim_plan *plan) {
    for (uint32_t i = 0; i < ctx->view->changes.n_arrived; i++) {
        gsim_slot slot = ctx->view->changes.arrived[i];
        if (!gsim_common_is_full(ctx->view) && gsim_skip_place(skip, ctx, plan, slot))
            continue;
        uint64_t wish = gsim_waiting_wish(ctx, slot, state->rule);
        if (!gsim_waiting_add(&state->waiting, ctx, slot, 0, wish, 0))
            gsim_common_no_memory(ctx);
    }
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    const struct gsim_view *view = ctx->view;
    struct gsim_skip skip;
    gsim_skip_begin(&skip, view, &state->waiting, state->rule);
    bool is_freed = view->changes.n_completed > 0 || view->cluster.n_repairs != state->n_repairs;
    if (is_freed && state->waiting.jobs.n > 0)
        place_waiting(state, &skip, ctx, plan);
    state->n_repairs = view->cluster.n_repairs;
    place_arrived(state, &skip, ctx, plan);
}

static const struct gsim_param_def params[] = {GSIM_PLACEMENT_PARAM, GSIM_MEMORY_PARAM, {0}};

const struct gsim_policy gsim_policy_backfill = {
    .name = "backfill",
    .summary = "first in, first out, but jobs that do not fit are passed over",
    .paper = "the classic baseline; 'fjf' in the Tiresias simulator",
    .deviations = "none known",
    .references = 1u << GSIM_REFERENCE_TIRESIAS,
    .params = params,
    .state_size = sizeof(struct state),
    .open = open_backfill,
    .decide = decide,
};
