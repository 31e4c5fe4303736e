/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs for a job alone: the node with the fewest idle ones that has enough, so that wide gangs find
 * whole nodes; a gang wider than a node takes the nodes with the most. */
#include "policies/lucid/lucid.h"

#include <string.h>

static bool is_free(const struct gsim_ctx *ctx, gsim_slot slot, uint32_t gpu) {
    const struct gsim_view *view = ctx->view;
    return gsim_gpu_is_idle(view, gpu) && !view->cluster.is_arranged[gpu] &&
           view->cluster.mem_used[gpu] + gsim_job_memory(view, slot) <=
               view->cluster.hbm_bytes[gpu];
}

/* A part of the cluster's GPUs, and how many of them the job takes. */
struct search {
    const struct gsim_ctx *ctx;
    gsim_slot slot;
    uint32_t first, end, wanted;
};

static uint32_t free_of(const struct search *search, uint32_t node) {
    const uint32_t *first = search->ctx->view->cluster.node_first_gpu;
    uint32_t n = 0;
    for (uint32_t gpu = first[node]; gpu < first[node + 1]; gpu++)
        n += gpu >= search->first && gpu < search->end && is_free(search->ctx, search->slot, gpu);
    return n;
}

/* The fullest node with room for all, else the emptiest of those that are not taken yet. */
static uint32_t best_node(const struct search *search, uint32_t left, const bool *is_taken,
                          uint32_t *has) {
    uint32_t n_nodes = search->ctx->view->cluster.n_nodes, best = n_nodes;
    *has = 0;
    for (uint32_t node = 0; node < n_nodes; node++) {
        uint32_t n = is_taken[node] ? 0 : free_of(search, node);
        bool is_better = n >= left ? *has < left || n < *has : *has < left && n > *has;
        if (n > 0 && is_better) {
            best = node;
            *has = n;
        }
    }
    return best;
}

static uint32_t take(const struct search *search, uint32_t node, uint32_t left,
                     struct gsim_unit *units) {
    const uint32_t *first = search->ctx->view->cluster.node_first_gpu;
    uint32_t n = 0;
    for (uint32_t gpu = first[node]; gpu < first[node + 1] && n < left; gpu++)
        if (gpu >= search->first && gpu < search->end && is_free(search->ctx, search->slot, gpu))
            units[n++] = (struct gsim_unit){.gpu = gpu};
    return n;
}

/* Whether the GPUs were found; they are in lucid->unit. */
static bool find(const struct search *search, struct lucid *lucid, bool may_span) {
    uint32_t n = 0, has, n_nodes = search->ctx->view->cluster.n_nodes;
    memset(lucid->is_taken, 0, n_nodes * sizeof *lucid->is_taken);
    while (n < search->wanted) {
        uint32_t left = search->wanted - n, node = best_node(search, left, lucid->is_taken, &has);
        if (node == n_nodes || (has < left && !may_span))
            return false;
        n += take(search, node, left, lucid->unit + n);
        lucid->is_taken[node] = true;
    }
    return true;
}

/* Jobs of one GPU share it by the driver's time slices, and there is room for one more. */
static bool open_gpu(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot) {
    struct lucid *lucid = ctx->state;
    uint32_t gpu = lucid->unit[0].gpu;
    if (!gsim_sharing_say(&lucid->sharing, plan, gpu, NULL) ||
        !gsim_plan_place_on(plan, slot, lucid->unit, 1))
        return false;
    lucid_job(ctx, slot)->sharing.gpu = gpu + 1;
    lucid->host[gpu] = slot;
    lucid->n_sharers[gpu] = 1;
    return true;
}

bool lucid_place(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot, uint32_t first,
                 uint32_t end, bool is_open) {
    struct lucid *lucid = ctx->state;
    uint32_t gpus = ctx->view->jobs.gpus[slot], mark = gsim_plan_mark(plan);
    struct search search = {ctx, slot, first, end, gpus};
    bool may_span = gpus > lucid->widest_main || gpus > ctx->view->cluster.widest_node;
    if (gpus > ctx->view->cluster.n_idle_gpus || !find(&search, lucid, may_span))
        return false;
    bool is_done = is_open && gpus == 1 ? open_gpu(ctx, plan, slot)
                                        : gsim_plan_place_whole(plan, slot, lucid->unit, gpus);
    if (!is_done)
        gsim_plan_rollback(plan, mark);
    return is_done;
}
