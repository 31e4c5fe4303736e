/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A gang that goes to as few nodes as possible needs its GPUs on one node, or whole nodes if it is
 * wider than that; one that asks for several nodes needs an even part of its GPUs on each. Memory,
 * partitions and switches may keep it from them nevertheless. */
#include "policies/lib/reach.h"

#include "sim/base/hints.h"

#include <string.h>

bool gsim_reach_init(struct gsim_reach *reach, const struct gsim_ctx *ctx, enum gsim_rule rule) {
    bool is_pool = ctx->view->pool.is_used;
    uint32_t n = is_pool ? 0 : ctx->view->cluster.n_nodes;
    reach->is_by_node = !is_pool && (rule == GSIM_RULE_CONSOLIDATE || rule == GSIM_RULE_FULLEST);
    reach->idle = gsim_arena_array(ctx->arena, n, sizeof *reach->idle);
    reach->met = gsim_arena_array(ctx->arena, n, sizeof *reach->met);
    reach->list = gsim_arena_array(ctx->arena, GSIM_REACH_LISTS, sizeof *reach->list);
    return reach->idle && reach->met && reach->list;
}

/* Nodes are alike. */
bool gsim_reach_knows_whole(const struct gsim_ctx *ctx) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    return cluster->n_gpus == cluster->n_nodes * cluster->widest_node;
}

/* --- lists of nodes --------------------------------------------------------------------------- */

static void fill(const struct gsim_ctx *ctx, gsim_slot slot, struct gsim_reach_list *list) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    for (uint32_t node = 0; node < cluster->n_nodes; node++) {
        uint32_t first = cluster->node_first_gpu[node];
        uint32_t width = cluster->node_first_gpu[node + 1] - first;
        list->has[node] = width > 0 && gsim_ask_may_use(ctx, slot, first);
        if (!list->has[node])
            continue;
        list->node[list->n++] = node;
        list->widest = width > list->widest ? width : list->widest;
    }
}

/* Where there is no room for a list, the nodes are not remembered. */
GSIM_COLD static uint32_t add_list(struct gsim_reach *reach, const struct gsim_ctx *ctx,
                                   gsim_slot slot, uint64_t wish) {
    uint32_t n_nodes = ctx->view->cluster.n_nodes, l = reach->n_lists;
    if (l == GSIM_REACH_LISTS || !reach->list)
        return GSIM_REACH_LISTS;
    struct gsim_reach_list list = {.wish = wish};
    list.node = gsim_arena_array(ctx->arena, n_nodes, sizeof *list.node);
    list.has = gsim_arena_array(ctx->arena, n_nodes, sizeof *list.has);
    if (!list.node || !list.has)
        return GSIM_REACH_LISTS;
    fill(ctx, slot, &list);
    while (list.like < l && memcmp(reach->list[list.like].has, list.has, n_nodes) != 0)
        list.like++;
    reach->list[l] = list;
    reach->n_lists++;
    return l;
}

static uint32_t list_of(struct gsim_reach *reach, const struct gsim_ctx *ctx, gsim_slot slot) {
    uint64_t wish = gsim_ask_wish(ctx, slot);
    for (uint32_t l = 0; l < reach->n_lists; l++)
        if (reach->list[l].wish == wish)
            return l;
    return add_list(reach, ctx, slot, wish);
}

uint32_t gsim_reach_nodes_of(struct gsim_reach *reach, const struct gsim_ctx *ctx, gsim_slot slot) {
    uint32_t l = list_of(reach, ctx, slot);
    return l < GSIM_REACH_LISTS ? reach->list[l].like : GSIM_REACH_LISTS;
}

const struct gsim_reach_list *gsim_reach_list(struct gsim_reach *reach, const struct gsim_ctx *ctx,
                                              gsim_slot slot) {
    uint32_t l = list_of(reach, ctx, slot);
    return l < GSIM_REACH_LISTS ? &reach->list[l] : NULL;
}

static enum gsim_reach_meeting meet(const struct gsim_reach_list *own,
                                    const struct gsim_reach_list *other) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < other->n; i++)
        n += own->has[other->node[i]];
    return n == 0 ? GSIM_MEET_NONE : n < other->n ? GSIM_MEET_SOME : GSIM_MEET_ALL;
}

enum gsim_reach_meeting gsim_reach_meet(struct gsim_reach *reach, uint32_t nodes, uint32_t other) {
    if (nodes == GSIM_REACH_LISTS || other == GSIM_REACH_LISTS)
        return GSIM_MEET_SOME;
    uint8_t *meeting = &reach->meeting[nodes][other];
    if (*meeting == GSIM_MEET_UNKNOWN)
        *meeting = (uint8_t)meet(&reach->list[nodes], &reach->list[other]);
    return (enum gsim_reach_meeting) * meeting;
}

/* --- counts ----------------------------------------------------------------------------------- */

static uint32_t widest_for(const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    uint32_t widest = 0;
    for (uint32_t node = 0; node < cluster->n_nodes && widest < cluster->widest_node; node++) {
        uint32_t first = cluster->node_first_gpu[node];
        uint32_t width = cluster->node_first_gpu[node + 1] - first;
        if (width > widest && gsim_ask_may_use(ctx, slot, first))
            widest = width;
    }
    return widest;
}

/* The idle GPUs of the i-th node that counts. */
static uint32_t idle_of(const struct gsim_reach *reach, const struct gsim_ctx *ctx, uint32_t i) {
    return gsim_node_idle_gpus(ctx->view, reach->usable ? reach->usable->node[i] : i);
}

static uint32_t n_usable(const struct gsim_reach *reach, const struct gsim_ctx *ctx) {
    return reach->usable ? reach->usable->n : ctx->view->cluster.n_nodes;
}

/* The core parts a gang like this (sim/core/placement.c): as evenly as its GPUs allow. */
static void split(struct gsim_reach *reach, uint32_t n_nodes) {
    uint32_t gpus = (uint32_t)reach->need;
    reach->n_parts = n_nodes < gpus ? n_nodes : gpus;
    reach->part = gpus / reach->n_parts;
    reach->n_larger = gpus % reach->n_parts;
}

static void ask_usable(struct gsim_reach *reach, const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_reach_list *list = gsim_reach_list(reach, ctx, slot);
    reach->usable = reach->is_strict ? list : NULL;
    reach->widest = list ? list->widest : widest_for(ctx, slot);
}

void gsim_reach_ask(struct gsim_reach *reach, const struct gsim_ctx *ctx, gsim_slot slot) {
    reach->need = ctx->view->jobs.gpus[slot];
    reach->n_parts = 0;
    reach->has_wishes = gsim_ask_has_wishes(ctx->view);
    reach->widest = ctx->view->cluster.widest_node;
    reach->usable = NULL;
    if (!reach->is_by_node)
        return;
    if (reach->has_wishes)
        ask_usable(reach, ctx, slot);
    uint32_t n_nodes = gsim_ask_nodes(ctx, slot);
    if (n_nodes > 1)
        split(reach, n_nodes);
}

static void begin_split(struct gsim_reach *reach, const struct gsim_ctx *ctx) {
    reach->n_for_part = reach->n_for_larger = 0;
    for (uint32_t i = 0; i < n_usable(reach, ctx); i++) {
        uint32_t idle = idle_of(reach, ctx, i);
        reach->n_for_part += idle >= reach->part;
        reach->n_for_larger += idle > reach->part;
    }
}

void gsim_reach_begin(struct gsim_reach *reach, const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    gsim_reach_ask(reach, ctx, slot);
    reach->total = cluster->n_idle_gpus;
    reach->n_counts++;
    reach->most_on_node = reach->n_whole = 0;
    if (reach->n_parts > 0)
        begin_split(reach, ctx);
    if (!reach->is_by_node || reach->n_parts > 0 || reach->need <= reach->widest)
        return;
    for (uint32_t i = 0; i < n_usable(reach, ctx); i++)
        reach->n_whole += idle_of(reach, ctx, i) == cluster->widest_node;
}

bool gsim_reach_helps(const struct gsim_ctx *ctx, const struct gsim_plan *plan, gsim_slot slot,
                      gsim_slot victim) {
    const struct gsim_unit *units;
    uint32_t n = gsim_plan_units(plan, victim, &units);
    for (uint32_t u = 0; u < n; u++)
        if (gsim_ask_may_use(ctx, slot, units[u].gpu))
            return true;
    return n == 0; /* of a pool, which has no units */
}

void gsim_reach_add(struct gsim_reach *reach, const struct gsim_ctx *ctx,
                    const struct gsim_plan *plan, gsim_slot victim) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    const struct gsim_unit *units;
    uint32_t n_units = reach->is_by_node ? gsim_plan_units(plan, victim, &units) : 0;
    reach->total += ctx->view->jobs.gpus[victim];
    for (uint32_t u = 0; u < n_units; u++) {
        uint32_t node = cluster->node_of_gpu[units[u].gpu];
        if (reach->usable && !reach->usable->has[node])
            continue;
        if (reach->met[node] != reach->n_counts)
            reach->idle[node] = gsim_node_idle_gpus(ctx->view, node);
        reach->met[node] = reach->n_counts;
        reach->idle[node]++;
        if (reach->idle[node] > reach->most_on_node)
            reach->most_on_node = reach->idle[node];
        reach->n_whole += reach->idle[node] == cluster->widest_node;
        reach->n_for_part += reach->idle[node] == reach->part;
        reach->n_for_larger += reach->idle[node] == reach->part + 1;
    }
}

bool gsim_reach_is_enough(const struct gsim_reach *reach, const struct gsim_ctx *ctx) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    if (reach->total < reach->need)
        return false;
    if (!reach->is_by_node)
        return true;
    if (reach->n_parts > 0)
        return reach->n_for_part >= reach->n_parts && reach->n_for_larger >= reach->n_larger;
    if (reach->need <= reach->widest)
        return reach->most_on_node >= reach->need;
    return !gsim_reach_knows_whole(ctx) || reach->n_whole >= reach->need / cluster->widest_node;
}

uint32_t gsim_reach_idle(const struct gsim_reach *reach, const struct gsim_ctx *ctx,
                         uint32_t node) {
    return reach->met[node] == reach->n_counts ? reach->idle[node]
                                               : gsim_node_idle_gpus(ctx->view, node);
}

uint32_t gsim_reach_fullest(const struct gsim_reach *reach, const struct gsim_ctx *ctx) {
    uint32_t fullest = UINT32_MAX, least = UINT32_MAX;
    for (uint32_t node = 0; node < ctx->view->cluster.n_nodes && least > reach->need; node++) {
        uint32_t idle = gsim_reach_idle(reach, ctx, node);
        if (idle < reach->need || idle >= least)
            continue;
        fullest = node;
        least = idle;
    }
    return fullest;
}

uint32_t gsim_reach_beyond(const struct gsim_reach *reach) {
    uint64_t most = !reach->is_by_node             ? reach->total
                    : reach->n_parts > 0           ? reach->need
                    : reach->need <= reach->widest ? reach->most_on_node
                                                   : reach->need;
    return (uint32_t)(most < reach->need ? most + 1 : reach->need);
}
