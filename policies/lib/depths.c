/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Under load most passes try gangs that do not fit even by force, and each count looks at hundreds
 * of running jobs. Between two counts few nodes change: the depths of those alone are sorted
 * again, and a count is a look at one number for each node. */
#include "policies/lib/depths.h"

/* As many as a word of idle GPUs has bits. */
enum { WIDEST = 64 };

bool gsim_depths_init(struct gsim_depths *depths, const struct gsim_ctx *ctx,
                      const struct gsim_reach *reach) {
    const struct gsim_view *view = ctx->view;
    uint32_t n_nodes = view->cluster.n_nodes, n_gpus = view->cluster.n_gpus;
    if (!reach->is_by_node || view->cluster.node_words != 1 ||
        view->trace->column[GSIM_COL_SHARE_PPM])
        return true;
    depths->n_nodes = n_nodes;
    depths->width = view->cluster.widest_node;
    depths->depth =
        gsim_arena_array(ctx->arena, (size_t)n_nodes * depths->width, sizeof *depths->depth);
    depths->worst = gsim_arena_array(ctx->arena, (GSIM_REACH_LISTS + 1) * (size_t)depths->width,
                                     sizeof *depths->worst);
    depths->idle = gsim_arena_array(ctx->arena, n_nodes, sizeof *depths->idle);
    depths->is_stale = gsim_arena_array(ctx->arena, n_nodes, sizeof *depths->is_stale);
    depths->node = gsim_arena_array(ctx->arena, n_gpus, sizeof *depths->node);
    depths->owner = gsim_arena_array(ctx->arena, n_gpus, sizeof *depths->owner);
    depths->next = gsim_arena_array(ctx->arena, n_gpus, sizeof *depths->next);
    if (!depths->depth || !depths->worst || !depths->idle || !depths->is_stale || !depths->node ||
        !depths->owner || !depths->next)
        return false;
    for (uint32_t node = 0; node < n_nodes; node++)
        depths->is_stale[node] = true;
    for (uint32_t gpu = 0; gpu < n_gpus; gpu++) {
        depths->node[gpu] = view->cluster.node_of_gpu[gpu];
        depths->owner[gpu] = GSIM_NO_SLOT;
    }
    return true;
}

/* --- running jobs ----------------------------------------------------------------------------- */

static bool reserve_job(struct gsim_depths *depths, const struct gsim_ctx *ctx, gsim_slot slot) {
    uint32_t was = depths->jobs_capacity, n = 2 * (slot + 1);
    if (slot < was)
        return true;
    struct gsim_depths_job *job =
        gsim_arena_grow(ctx->arena, depths->job, was * sizeof *job, n * sizeof *job);
    if (!job)
        return false;
    depths->job = job;
    depths->jobs_capacity = n;
    return true;
}

bool gsim_depths_note(struct gsim_depths *depths, const struct gsim_ctx *ctx, gsim_slot slot,
                      int64_t rank) {
    if (depths->width == 0)
        return true;
    if (!reserve_job(depths, ctx, slot))
        return false;
    struct gsim_depths_job *job = &depths->job[slot];
    job->rank = rank;
    job->is_running = true;
    depths->is_current = false;
    for (uint32_t at = job->first; at > 0; at = depths->next[at - 1])
        depths->is_stale[depths->node[at - 1]] = true;
    if (job->first > 0 || job->is_fresh)
        return true;
    gsim_slot *fresh = gsim_arena_room(ctx->arena, depths->fresh, depths->n_fresh,
                                       &depths->fresh_capacity, sizeof *fresh);
    if (!fresh)
        return false;
    depths->fresh = fresh;
    depths->fresh[depths->n_fresh++] = slot;
    job->is_fresh = true;
    return true;
}

void gsim_depths_forget(struct gsim_depths *depths, gsim_slot slot) {
    if (depths->width == 0 || slot >= depths->jobs_capacity)
        return;
    struct gsim_depths_job *job = &depths->job[slot];
    for (uint32_t at = job->first; at > 0; at = depths->next[at - 1]) {
        depths->owner[at - 1] = GSIM_NO_SLOT;
        depths->is_stale[depths->node[at - 1]] = true;
    }
    job->first = 0;
    job->is_running = false;
    depths->is_current = false;
}

void gsim_depths_changed(struct gsim_depths *depths) {
    depths->is_current = false;
}

/* false: a GPU is of several jobs, and depths say nothing. */
static bool look_up(struct gsim_depths *depths, const struct gsim_plan *plan, gsim_slot slot) {
    const struct gsim_unit *units;
    uint32_t n = gsim_plan_units(plan, slot, &units);
    for (uint32_t u = 0; u < n; u++) {
        uint32_t gpu = units[u].gpu;
        if (depths->owner[gpu] != GSIM_NO_SLOT)
            return false;
        depths->owner[gpu] = slot;
        depths->next[gpu] = depths->job[slot].first;
        depths->job[slot].first = gpu + 1;
        depths->is_stale[depths->node[gpu]] = true;
    }
    return true;
}

static void look_up_fresh(struct gsim_depths *depths, const struct gsim_plan *plan) {
    bool is_apart = true;
    for (uint32_t i = 0; i < depths->n_fresh && is_apart; i++) {
        struct gsim_depths_job *job = &depths->job[depths->fresh[i]];
        job->is_fresh = false;
        is_apart = !job->is_running || look_up(depths, plan, depths->fresh[i]);
    }
    depths->n_fresh = 0;
    if (!is_apart)
        depths->width = 0;
}

/* --- depths ----------------------------------------------------------------------------------- */

static int64_t rank_of_gpu(const struct gsim_depths *depths, const struct gsim_view *view,
                           uint32_t gpu) {
    gsim_slot owner = depths->owner[gpu];
    if (gsim_gpu_is_idle(view, gpu))
        return INT64_MAX;
    return owner == GSIM_NO_SLOT ? INT64_MIN : depths->job[owner].rank;
}

/* The GPUs of a node by rank, the worst first. */
static void sort_gpus(const struct gsim_depths *depths, const struct gsim_view *view, uint32_t node,
                      int64_t *rank) {
    uint32_t first = view->cluster.node_first_gpu[node];
    uint32_t n_gpus = view->cluster.node_first_gpu[node + 1] - first;
    for (uint32_t i = 0; i < depths->width; i++) {
        int64_t own = i < n_gpus ? rank_of_gpu(depths, view, first + i) : INT64_MIN;
        uint32_t at = i;
        for (; at > 0 && rank[at - 1] < own; at--)
            rank[at] = rank[at - 1];
        rank[at] = own;
    }
}

/* A depth of the node changes: of some lists it becomes the worst one, or is that no more. */
static void set_depth(struct gsim_depths *depths, const struct gsim_reach *reach, uint32_t node,
                      uint32_t i, int64_t depth) {
    depths->depth[(size_t)i * depths->n_nodes + node] = depth;
    for (uint32_t l = 0; l <= reach->n_lists; l++) {
        bool is_all = l == reach->n_lists;
        struct gsim_depths_worst *worst =
            &depths->worst[(is_all ? GSIM_REACH_LISTS : l) * depths->width + i];
        if (!worst->is_known || !(is_all || reach->list[l].has[node]))
            continue;
        if (depth >= worst->depth)
            *worst = (struct gsim_depths_worst){true, node, depth};
        else if (node == worst->node)
            worst->is_known = false;
    }
}

static void sort_node(struct gsim_depths *depths, const struct gsim_reach *reach,
                      const struct gsim_view *view, uint32_t node) {
    int64_t rank[WIDEST];
    sort_gpus(depths, view, node, rank);
    for (uint32_t i = 0; i < depths->width; i++)
        if (depths->depth[(size_t)i * depths->n_nodes + node] != rank[i])
            set_depth(depths, reach, node, i, rank[i]);
    depths->idle[node] = view->cluster.idle_gpus[node];
    depths->is_stale[node] = false;
}

static void catch_up(struct gsim_depths *depths, const struct gsim_reach *reach,
                     const struct gsim_ctx *ctx, const struct gsim_plan *plan) {
    const uint64_t *idle = ctx->view->cluster.idle_gpus;
    if (depths->is_current)
        return;
    look_up_fresh(depths, plan);
    for (uint32_t node = 0; node < depths->n_nodes && depths->width > 0; node++)
        if (depths->is_stale[node] || depths->idle[node] != idle[node])
            sort_node(depths, reach, ctx->view, node);
    depths->is_current = true;
}

/* The worst depth of the nodes that count. */
static int64_t worst_of(const struct gsim_depths *depths, const struct gsim_reach *reach,
                        uint32_t n_gpus) {
    const struct gsim_reach_list *list = reach->usable;
    uint32_t l = list ? list->like : GSIM_REACH_LISTS, n = list ? list->n : depths->n_nodes;
    struct gsim_depths_worst *worst = &depths->worst[l * depths->width + n_gpus - 1];
    const int64_t *depth = &depths->depth[(size_t)(n_gpus - 1) * depths->n_nodes];
    if (worst->is_known)
        return worst->depth;
    *worst = (struct gsim_depths_worst){.depth = INT64_MIN, .is_known = true};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = list ? list->node[i] : i;
        if (depth[node] > worst->depth)
            *worst = (struct gsim_depths_worst){true, node, depth[node]};
    }
    return worst->depth;
}

/* Whether n_nodes of the nodes that count would have n_gpus idle GPUs each. */
static bool have(const struct gsim_depths *depths, const struct gsim_reach *reach, uint32_t n_nodes,
                 uint32_t n_gpus, int64_t rank) {
    const struct gsim_reach_list *list = reach->usable;
    uint32_t n = 0, n_all = list ? list->n : depths->n_nodes;
    if (n_gpus > depths->width)
        return n_nodes == 0;
    const int64_t *depth = &depths->depth[(size_t)(n_gpus - 1) * depths->n_nodes];
    for (uint32_t i = 0; i < n_all && n < n_nodes; i++)
        n += depth[list ? list->node[i] : i] >= rank;
    return n >= n_nodes;
}

/* A gang of one node. Where a node has as many idle GPUs already, and the job does not fit there,
 * GPUs are not all that it lacks. */
static enum gsim_depths_answer ask_one(struct gsim_depths *depths, struct gsim_reach *reach,
                                       int64_t rank) {
    uint32_t need = (uint32_t)reach->need;
    for (reach->most_on_node = need; reach->most_on_node > 0; reach->most_on_node--)
        if (worst_of(depths, reach, reach->most_on_node) >= rank)
            break;
    if (reach->most_on_node < need)
        return GSIM_DEPTHS_TOO_FEW;
    return worst_of(depths, reach, need) == INT64_MAX ? GSIM_DEPTHS_TO_COUNT : GSIM_DEPTHS_ENOUGH;
}

enum gsim_depths_answer gsim_depths_ask(struct gsim_depths *depths, const struct gsim_ctx *ctx,
                                        const struct gsim_plan *plan, struct gsim_reach *reach,
                                        gsim_slot slot, int64_t rank) {
    catch_up(depths, reach, ctx, plan);
    if (depths->width == 0)
        return GSIM_DEPTHS_TO_COUNT;
    gsim_reach_ask(reach, ctx, slot);
    uint32_t need = (uint32_t)reach->need, width = ctx->view->cluster.widest_node;
    if (reach->n_parts == 0 && need <= reach->widest)
        return ask_one(depths, reach, rank);
    if (reach->n_parts == 0 && !gsim_reach_knows_whole(ctx))
        return GSIM_DEPTHS_TO_COUNT;
    bool is_enough = reach->n_parts > 0
                         ? have(depths, reach, reach->n_parts, reach->part, rank) &&
                               have(depths, reach, reach->n_larger, reach->part + 1, rank)
                         : have(depths, reach, need / width, width, rank);
    return is_enough ? GSIM_DEPTHS_ENOUGH : GSIM_DEPTHS_TOO_FEW;
}
