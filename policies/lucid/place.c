/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs for a job alone: the node with the fewest idle ones that has enough, so that wide gangs find
 * whole nodes; a gang wider than a node takes the nodes with the most. */
#include "policies/lucid/lucid.h"

#include <string.h>

#include "policies/lib/common.h"

/* A part of the cluster's GPUs, how many of them the job takes, and the memory that it needs on
 * each. */
struct search {
    const struct gsim_ctx *ctx;
    gsim_slot slot;
    uint32_t first, end, wanted;
    int64_t mem_bytes;
};

static bool is_free(const struct search *search, uint32_t gpu) {
    const struct gsim_view *view = search->ctx->view;
    return gpu >= search->first && gpu < search->end && gsim_gpu_is_idle(view, gpu) &&
           !view->cluster.is_arranged[gpu] &&
           view->cluster.mem_used[gpu] + search->mem_bytes <= view->cluster.hbm_bytes[gpu];
}

static uint32_t free_of(const struct search *search, uint32_t node) {
    const uint32_t *first = search->ctx->view->cluster.node_first_gpu;
    uint32_t n = 0;
    for (uint32_t gpu = first[node]; gpu < first[node + 1]; gpu++)
        n += is_free(search, gpu);
    return n;
}

/* Whether a node with this number of idle GPUs may be better than one that has as many free ones:
 * idle ones are the most that may be free. */
static bool may_be_better(uint32_t idle, uint32_t left, uint32_t has) {
    return has >= left ? idle >= left : idle > has;
}

/* The fullest node with room for all, else the emptiest of those that are not taken yet. None is
 * better than a node that is filled. */
static uint32_t best_node(const struct search *search, uint32_t left, const bool *is_taken,
                          uint32_t *has) {
    const struct gsim_view_cluster *cluster = &search->ctx->view->cluster;
    uint32_t best = cluster->n_nodes, node = cluster->node_of_gpu[search->first];
    *has = 0;
    for (; node < cluster->n_nodes && cluster->node_first_gpu[node] < search->end && *has != left;
         node++) {
        uint32_t idle = gsim_node_idle_gpus(search->ctx->view, node);
        if (is_taken[node] || !may_be_better(idle, left, *has))
            continue;
        uint32_t n = free_of(search, node);
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
        if (is_free(search, gpu))
            units[n++] = (struct gsim_unit){.gpu = gpu};
    return n;
}

/* Whether the GPUs were found; they are in lucid->unit. */
static bool find(const struct search *search, struct lucid *lucid, bool spans) {
    uint32_t n = 0, has, n_nodes = search->ctx->view->cluster.n_nodes;
    memset(lucid->is_taken, 0, n_nodes * sizeof *lucid->is_taken);
    while (n < search->wanted) {
        uint32_t left = search->wanted - n, node = best_node(search, left, lucid->is_taken, &has);
        if (node == n_nodes || (has < left && !spans))
            return false;
        n += take(search, node, left, lucid->unit + n);
        lucid->is_taken[node] = true;
    }
    return true;
}

static bool may_span(const struct gsim_ctx *ctx, uint32_t gpus) {
    const struct lucid *lucid = ctx->state;
    return gpus > lucid->widest_main || gpus > ctx->view->cluster.widest_node;
}

bool lucid_has_room(const struct gsim_ctx *ctx, gsim_slot slot, uint32_t first, uint32_t end) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    uint32_t gpus = ctx->view->jobs.gpus[slot], all = 0, most = 0;
    if (cluster->room != GSIM_ROOM_SCARCE)
        return gpus <= end - first;
    for (uint32_t node = 0; node < cluster->n_nodes; node++) {
        const uint32_t *of = &cluster->node_first_gpu[node];
        uint32_t from = of[0] > first ? of[0] : first, to = of[1] < end ? of[1] : end;
        uint32_t n = from < to && gsim_common_has_memory(ctx, slot, from) ? to - from : 0;
        all += n;
        most = n > most ? n : most;
    }
    return gpus <= (may_span(ctx, gpus) ? all : most);
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
    struct search search = {ctx, slot, first, end, gpus, gsim_job_memory(ctx->view, slot)};
    if (first >= end || gpus > ctx->view->cluster.n_idle_gpus ||
        !find(&search, lucid, may_span(ctx, gpus)))
        return false;
    bool is_done = is_open && gpus == 1 ? open_gpu(ctx, plan, slot)
                                        : gsim_plan_place_whole(plan, slot, lucid->unit, gpus);
    if (!is_done)
        gsim_plan_rollback(plan, mark);
    return is_done;
}
