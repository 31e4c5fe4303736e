/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which nodes. Wide jobs come first. A job takes the node with the least room that holds it; where
 * none does, narrower jobs make room on the node where this moves the fewest GPUs, and find others.
 * Where a node has 2^k GPUs, all configurations that fit by their numbers find room. */
#include "policies/adaptdl/sia.h"

#include <string.h>

static uint32_t node_gpus_of(const struct sia *sia, const struct sia_job *job) {
    return sia->kind[job->kind].node_gpus;
}

/* GPUs of a job on one node; of one on several nodes, those of its first nodes. */
static uint32_t width_of(const struct sia *sia, const struct sia_job *job) {
    uint32_t each = node_gpus_of(sia, job);
    return job->gpus < each ? job->gpus : each;
}

/* A job on the node that could make room for one that is so wide. */
static bool may_leave(const struct gsim_ctx *ctx, const struct sia *sia, uint32_t number,
                      uint32_t node, uint32_t width) {
    const struct adaptdl_job *place = &sia->adaptdl.job[number];
    return !sia->job[number].is_to_place && place->n_nodes > 0 && place->n_nodes < width &&
           place->node[0] == node && place->node[place->n_nodes - 1] == node &&
           !adaptdl_is_on_its_way(ctx, place);
}

/* Counts the GPUs of each node that could be free. */
static const uint32_t *could_be_free(const struct gsim_ctx *ctx, struct sia *sia, uint32_t width) {
    const struct adaptdl *adaptdl = &sia->adaptdl;
    memcpy(sia->could, adaptdl->free, ctx->view->cluster.n_nodes * sizeof *sia->could);
    for (uint32_t i = 0; i < sia->n_listed; i++) {
        const struct adaptdl_job *place = &adaptdl->job[sia->listed[i]];
        if (place->n_nodes > 0 && may_leave(ctx, sia, sia->listed[i], place->node[0], width))
            sia->could[place->node[0]] += place->n_nodes;
    }
    return sia->could;
}

/* Jobs leave the node, narrow ones first, until there is room. */
static void make_room(const struct gsim_ctx *ctx, struct sia *sia, uint32_t node, uint32_t width) {
    struct adaptdl *adaptdl = &sia->adaptdl;
    for (uint32_t gpus = 1; gpus < width; gpus++)
        for (uint32_t i = 0; i < sia->n_listed && adaptdl->free[node] < width; i++) {
            uint32_t number = sia->listed[i];
            if (adaptdl->job[number].n_nodes != gpus || !may_leave(ctx, sia, number, node, width))
                continue;
            sia->job[number].is_to_place = true;
            adaptdl->free[node] += gpus;
        }
}

/* The node of that kind for a part of that width: the fullest one with room, else the one with the
 * most free GPUs of those that can make room; n_nodes: there is none. */
static uint32_t node_for(const struct gsim_ctx *ctx, struct sia *sia, uint32_t kind,
                         uint32_t width) {
    const uint32_t *free = sia->adaptdl.free;
    uint32_t n_nodes = ctx->view->cluster.n_nodes, best = n_nodes;
    for (uint32_t node = 0; node < n_nodes; node++)
        if (sia->kind_of_node[node] == kind && free[node] >= width &&
            (best == n_nodes || free[node] < free[best]))
            best = node;
    if (best < n_nodes)
        return best;
    const uint32_t *could = could_be_free(ctx, sia, width);
    for (uint32_t node = 0; node < n_nodes; node++)
        if (sia->kind_of_node[node] == kind && could[node] >= width &&
            (best == n_nodes || free[node] > free[best]))
            best = node;
    return best;
}

/* Writes the nodes of a job's GPUs; a part that finds no room leaves the job without any. */
static bool settle(struct gsim_ctx *ctx, struct sia *sia, uint32_t number) {
    struct adaptdl *adaptdl = &sia->adaptdl;
    struct sia_job *job = &sia->job[number];
    struct adaptdl_job *place = &adaptdl->job[number];
    uint32_t each = node_gpus_of(sia, job), was = place->n_nodes > 0 ? place->node[0] : 0;
    bool was_narrow = place->n_nodes == job->gpus && job->gpus < each;
    job->is_to_place = false;
    if (was_narrow && sia->kind_of_node[was] == job->kind && adaptdl->free[was] >= job->gpus) {
        adaptdl->free[was] -= job->gpus; /* it had to make room, and needs not leave */
        return true;
    }
    if (!adaptdl_reserve(ctx, place, job->gpus))
        return false;
    place->is_changed = true;
    place->n_nodes = 0;
    while (place->n_nodes < job->gpus) {
        uint32_t left = job->gpus - place->n_nodes, here = left < each ? left : each;
        uint32_t node = node_for(ctx, sia, job->kind, here);
        if (node == ctx->view->cluster.n_nodes)
            break;
        make_room(ctx, sia, node, here);
        adaptdl->free[node] -= here;
        for (uint32_t u = 0; u < here; u++)
            place->node[place->n_nodes++] = node;
    }
    for (; place->n_nodes > 0 && place->n_nodes < job->gpus; place->n_nodes--)
        adaptdl->free[place->node[place->n_nodes - 1]]++;
    return true;
}

/* Jobs that keep their part keep its GPUs; others give theirs up. */
static uint32_t keep(struct sia *sia) {
    struct adaptdl *adaptdl = &sia->adaptdl;
    uint32_t widest = 0;
    for (uint32_t i = 0; i < sia->n_listed; i++) {
        struct sia_job *job = &sia->job[sia->listed[i]];
        struct adaptdl_job *place = &adaptdl->job[sia->listed[i]];
        bool keeps = place->n_nodes == job->gpus &&
                     (job->gpus == 0 || sia->kind_of_node[place->node[0]] == job->kind);
        job->is_to_place = !keeps && job->gpus > 0;
        if (job->gpus > 0 && width_of(sia, job) > widest)
            widest = width_of(sia, job);
        for (uint32_t u = 0; u < place->n_nodes && keeps; u++)
            adaptdl->free[place->node[u]]--;
        if (!keeps && job->gpus == 0) {
            place->is_changed = true;
            place->n_nodes = 0;
        }
    }
    return widest;
}

bool sia_place(struct gsim_ctx *ctx, struct sia *sia) {
    for (uint32_t width = keep(sia); width > 0; width--)
        for (uint32_t i = 0; i < sia->n_listed; i++) {
            uint32_t number = sia->listed[i];
            const struct sia_job *job = &sia->job[number];
            if (job->is_to_place && width_of(sia, job) == width && !settle(ctx, sia, number))
                return false;
        }
    return true;
}
