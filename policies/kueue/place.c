/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Admitted jobs onto nodes: all GPUs of a job or none, on the fewest nodes of its flavor. */
#include "policies/kueue/jobs.h"
#include "policies/lib/common.h"

static bool may_have(const struct gsim_kueue_state *state, const struct gsim_ctx *ctx,
                     gsim_slot slot, uint32_t node) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    size_t row = (size_t)gsim_kueue_job(ctx, slot)->flavor * cluster->n_nodes;
    return state->is_of[row + node] && !cluster->node_is_down[node] &&
           (!state->has_kinds ||
            (gsim_ask_may_use(ctx, slot, cluster->node_first_gpu[node]) &&
             gsim_common_has_memory(ctx, slot, cluster->node_first_gpu[node])));
}

/* Counts the free GPUs of each node that the job may have; returns the sum. */
static uint32_t count_free(struct gsim_kueue_state *state, const struct gsim_ctx *ctx,
                           gsim_slot slot) {
    uint32_t sum = 0;
    for (uint32_t node = 0; node < ctx->view->cluster.n_nodes; node++) {
        state->free_gpus[node] =
            may_have(state, ctx, slot, node) ? gsim_node_idle_gpus(ctx->view, node) : 0;
        sum += state->free_gpus[node];
    }
    return sum;
}

/* The node with the fewest free GPUs that has enough for all of the job, of several the first: as
 * best_node finds it, without a look at the nodes behind one that is filled. n_nodes: none has. */
static uint32_t only_node(const struct gsim_kueue_state *state, const struct gsim_ctx *ctx,
                          gsim_slot slot) {
    uint32_t gpus = ctx->view->jobs.gpus[slot], least = UINT32_MAX;
    uint32_t n_nodes = ctx->view->cluster.n_nodes, best = n_nodes;
    for (uint32_t node = 0; node < n_nodes && least > gpus; node++) {
        uint32_t n = gsim_node_idle_gpus(ctx->view, node);
        if (n < gpus || n >= least || !may_have(state, ctx, slot, node))
            continue;
        best = node;
        least = n;
    }
    return best;
}

/* The node with the fewest free GPUs that has enough, else the one with the most; of several the
 * first. */
static uint32_t best_node(const struct gsim_kueue_state *state, const struct gsim_ctx *ctx,
                          uint32_t gpus) {
    uint32_t best = 0;
    for (uint32_t node = 1; node < ctx->view->cluster.n_nodes; node++) {
        uint32_t here = state->free_gpus[node], there = state->free_gpus[best];
        bool is_better = there >= gpus ? here >= gpus && here < there : here > there;
        best = is_better ? node : best;
    }
    return best;
}

static uint32_t name_units(struct gsim_kueue_state *state, const struct gsim_ctx *ctx,
                           uint32_t node, uint32_t most, uint32_t n) {
    const uint32_t *first = ctx->view->cluster.node_first_gpu;
    for (uint32_t gpu = first[node]; gpu < first[node + 1] && most > 0; gpu++)
        if (gsim_gpu_is_idle(ctx->view, gpu)) {
            state->unit[n++] = (struct gsim_unit){.gpu = gpu};
            most--;
        }
    state->free_gpus[node] = 0;
    return n;
}

/* Names GPUs on as many nodes as the job asked for, evenly; false: too few of them have room. */
static bool name_evenly(struct gsim_kueue_state *state, const struct gsim_ctx *ctx, uint32_t gpus,
                        uint32_t nodes) {
    for (uint32_t i = 0, n = 0; i < nodes; i++) {
        uint32_t part = gpus / nodes + (i < gpus % nodes), node = best_node(state, ctx, part);
        if (state->free_gpus[node] < part)
            return false;
        n = name_units(state, ctx, node, part, n);
    }
    return true;
}

static bool place(struct gsim_kueue_state *state, struct gsim_ctx *ctx, struct gsim_plan *plan,
                  gsim_slot slot) {
    uint32_t gpus = ctx->view->jobs.gpus[slot], n = 0, nodes = gsim_ask_nodes(ctx, slot);
    if (gpus > ctx->view->cluster.n_idle_gpus)
        return false;
    uint32_t only =
        nodes == 0 ? only_node(state, ctx, slot) : ctx->view->cluster.n_nodes; /* n_nodes: none */
    if (only < ctx->view->cluster.n_nodes)
        return gsim_plan_place_whole(plan, slot, state->unit,
                                     name_units(state, ctx, only, gpus, 0));
    if (count_free(state, ctx, slot) < gpus)
        return false;
    if (nodes > 0)
        return name_evenly(state, ctx, gpus, nodes) &&
               gsim_plan_place_whole(plan, slot, state->unit, gpus);
    while (n < gpus)
        n = name_units(state, ctx, best_node(state, ctx, gpus - n), gpus - n, n);
    return gsim_plan_place_whole(plan, slot, state->unit, n);
}

void gsim_kueue_place(struct gsim_kueue_state *state, struct gsim_ctx *ctx,
                      struct gsim_plan *plan) {
    gsim_slot next;
    for (gsim_slot slot = gsim_index_first(&state->waiting); slot != GSIM_NO_ID; slot = next) {
        next = gsim_index_next(&state->waiting, slot);
        if (!place(state, ctx, plan, slot))
            continue;
        gsim_index_remove(&state->waiting, slot);
        gsim_kueue_job(ctx, slot)->phase = GSIM_KUEUE_PLACED;
    }
}
