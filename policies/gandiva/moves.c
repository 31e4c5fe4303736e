/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moves of running jobs, which gandiva makes when nobody waits: a gang that is scattered over more
 * nodes than it needs is gathered; and a job gets idle GPUs of its node beside those that it asked
 * for, twice as many each time, and gives them back as soon as somebody waits for them. Source: Xiao
 * et al., "Gandiva", OSDI 2018, sections 3.2.3 and 3.3; how long nobody must have waited is not
 * published. Each is charged as a move; what more GPUs are worth is the device's business
 * (gang.grown_ppm). */
#include "policies/gandiva/moves.h"

#include "policies/lib/slices.h"

/* --- gathering -------------------------------------------------------------------------------- */

static uint32_t nodes_of(const struct gsim_ctx *ctx, const struct gsim_plan *plan, gsim_slot slot) {
    const struct gsim_unit *units;
    uint32_t n = gsim_plan_units(plan, slot, &units), nodes = n > 0;
    for (uint32_t u = 1; u < n; u++)
        nodes += ctx->view->cluster.node_of_gpu[units[u].gpu] !=
                 ctx->view->cluster.node_of_gpu[units[u - 1].gpu];
    return nodes;
}

static bool may_move(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_ask(ctx, slot, GSIM_STOP_ITERATION, GSIM_KEEP_HOST, NULL, 0).is_possible;
}

/* To so many GPUs on so many nodes at most. */
static bool move(struct gsim_slices *slices, const struct gsim_ctx *ctx, struct gsim_plan *plan,
                 gsim_slot slot, uint32_t gpus, uint32_t most_nodes) {
    uint32_t mark = gsim_plan_mark(plan);
    struct gsim_shape shape = gsim_shape_of(ctx->view, slot, GSIM_RULE_CONSOLIDATE);
    shape.gpus = gpus;
    if (gsim_plan_move(plan, slot, &shape) && nodes_of(ctx, plan, slot) <= most_nodes) {
        gsim_index_remove(&slices->running, slot);
        return true;
    }
    gsim_plan_rollback(plan, mark);
    return false;
}

static bool gather(struct gsim_slices *slices, struct gsim_ctx *ctx, struct gsim_plan *plan,
                   gsim_slot slot) {
    uint32_t nodes = nodes_of(ctx, plan, slot), widest = ctx->view->cluster.widest_node;
    return nodes > (ctx->view->jobs.gpus[slot] + widest - 1) / widest && may_move(ctx, slot) &&
           move(slices, ctx, plan, slot, ctx->view->jobs.gpus[slot], nodes - 1);
}

bool gsim_moves_gather(struct gsim_slices *slices, struct gsim_ctx *ctx, struct gsim_plan *plan) {
    for (gsim_slot slot = gsim_index_first(&slices->running); slot != GSIM_NO_ID;
         slot = gsim_index_next(&slices->running, slot))
        if (ctx->view->jobs.gpus[slot] > 1 && gather(slices, ctx, plan, slot))
            return true;
    return false;
}

/* --- growing ---------------------------------------------------------------------------------- */

static uint32_t idle_on(const struct gsim_view *view, uint32_t node) {
    uint32_t n = 0;
    for (uint32_t gpu = view->cluster.node_first_gpu[node];
         gpu < view->cluster.node_first_gpu[node + 1]; gpu++)
        n += gsim_gpu_is_idle(view, gpu);
    return n;
}

/* One whose memory can be carried, with whole GPUs of its own, as many of which are idle beside. */
static bool may_double(struct gsim_ctx *ctx, const struct gsim_plan *plan, gsim_slot slot) {
    const struct gsim_view *view = ctx->view;
    const struct gsim_unit *units;
    uint32_t n = gsim_plan_units(plan, slot, &units);
    return view->jobs.share_ppm[slot] == GSIM_PPM && nodes_of(ctx, plan, slot) == 1 &&
           view->cluster.clients[units[0].gpu] == 0 &&
           idle_on(view, view->cluster.node_of_gpu[units[0].gpu]) >= n && may_move(ctx, slot);
}

void gsim_moves_shrink(struct gsim_slices *slices, struct gsim_ctx *ctx, struct gsim_plan *plan) {
    uint64_t wanted = 0;
    gsim_slot slot, after;
    for (slot = gsim_index_first(&slices->waiting); slot != GSIM_NO_ID;
         slot = gsim_index_next(&slices->waiting, slot))
        wanted += ctx->view->jobs.gpus[slot];
    for (slot = gsim_index_first(&slices->running);
         slot != GSIM_NO_ID && ctx->view->cluster.n_idle_gpus < wanted; slot = after) {
        const struct gsim_unit *units;
        after = gsim_index_next(&slices->running, slot);
        if (gsim_plan_units(plan, slot, &units) > ctx->view->jobs.gpus[slot])
            (void)move(slices, ctx, plan, slot, ctx->view->jobs.gpus[slot],
                       ctx->view->cluster.n_nodes);
    }
}

void gsim_moves_grow(struct gsim_growth *growth, struct gsim_slices *slices, struct gsim_ctx *ctx,
                     struct gsim_plan *plan) {
    int64_t now = ctx->view->now_ns;
    gsim_slot slot, after;
    if (slices->waiting.n > 0 || ctx->view->changes.n_arrived > 0)
        growth->calm_ns = now;
    if (slices->waiting.n > 0 || ctx->view->cluster.n_idle_gpus == 0)
        return;
    if (now - growth->calm_ns < growth->after_ns) {
        gsim_plan_wake(plan, growth->calm_ns + growth->after_ns);
        return;
    }
    for (slot = gsim_index_first(&slices->running); slot != GSIM_NO_ID; slot = after) {
        const struct gsim_unit *units;
        after = gsim_index_next(&slices->running, slot);
        if (may_double(ctx, plan, slot))
            (void)move(slices, ctx, plan, slot, 2 * gsim_plan_units(plan, slot, &units), 1);
    }
}
