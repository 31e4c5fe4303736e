/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "policies/gavel/gpus.h"

/* Puts the types into the order of their devices' names. */
static enum gsim_status sort_types(struct gsim_ctx *ctx, struct gavel *gavel) {
    const char *name[GSIM_ROUND_TYPES];
    for (uint32_t type = 0; type < gavel->n_types; type++) {
        uint32_t at = type;
        name[type] = gsim_ask_device(ctx, (uint16_t)type);
        if (!name[type])
            name[type] = ""; /* a program that embeds the library need not name devices */
        for (; at > 0 && strcmp(name[gavel->by_name[at - 1]], name[type]) > 0; at--)
            gavel->by_name[at] = gavel->by_name[at - 1];
        gavel->by_name[at] = type;
    }
    return GSIM_OK;
}

enum gsim_status gavel_open_gpus(struct gsim_ctx *ctx, struct gavel *gavel) {
    const struct gsim_view *view = ctx->view;
    uint32_t n = view->cluster.n_gpus;
    if (view->pool.is_used)
        return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0, "gavel needs nodes, not a pool of GPUs");
    gavel->owner = gsim_arena_array(ctx->arena, n, sizeof *gavel->owner);
    gavel->n_free = gsim_arena_array(ctx->arena, view->cluster.n_nodes, sizeof *gavel->n_free);
    if (!gavel->owner || !gavel->n_free)
        return gsim_no_memory(ctx->log, "opening gavel");
    for (uint32_t gpu = 0; gpu < n; gpu++) {
        uint32_t type = view->cluster.type[gpu];
        if (type >= GSIM_ROUND_TYPES)
            return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0, "gavel: more than %d types of devices",
                             GSIM_ROUND_TYPES);
        gavel->owner[gpu] = GSIM_NO_MEMBER;
        gavel->n_free[view->cluster.node_of_gpu[gpu]]++;
        gavel->n_gpus[type]++;
        gavel->n_types = type + 1 > gavel->n_types ? type + 1 : gavel->n_types;
    }
    return sort_types(ctx, gavel);
}

/* All GPUs of a node are of one type. */
static uint32_t count_free(const struct gsim_ctx *ctx, const struct gavel *gavel, uint32_t node,
                           uint32_t type) {
    const struct gsim_view *view = ctx->view;
    uint32_t first = view->cluster.node_first_gpu[node];
    bool is_there = !view->cluster.node_is_down[node] && gavel->n_free[node] > 0 &&
                    view->cluster.type[first] == type;
    return is_there ? gavel->n_free[node] : 0;
}

/* The node with the fewest free GPUs that suffice, else the one with the most. */
static uint32_t best_node(const struct gsim_ctx *ctx, const struct gavel *gavel, uint32_t type,
                          uint32_t wanted) {
    uint32_t best = 0, n_best = 0;
    for (uint32_t node = 0; node < ctx->view->cluster.n_nodes && n_best != wanted; node++) {
        uint32_t n = count_free(ctx, gavel, node, type);
        bool suffices = n >= wanted;
        if (n == 0 || (n_best >= wanted && (!suffices || n >= n_best)) ||
            (n_best < wanted && !suffices && n <= n_best))
            continue;
        best = node;
        n_best = n;
    }
    return best;
}

static void own_gpu(const struct gsim_ctx *ctx, struct gavel *gavel, uint32_t gpu,
                    uint32_t number) {
    gavel->owner[gpu] = number;
    gavel->n_free[ctx->view->cluster.node_of_gpu[gpu]]--;
}

/* Whether the GPUs that the job had are free. */
static bool are_free(const struct gsim_ctx *ctx, const struct gavel *gavel,
                     const struct gavel_job *job) {
    for (uint32_t u = 0; u < job->gpus; u++) {
        uint32_t gpu = job->units[u].gpu;
        if (gavel->owner[gpu] != GSIM_NO_MEMBER ||
            ctx->view->cluster.node_is_down[ctx->view->cluster.node_of_gpu[gpu]])
            return false;
    }
    return true;
}

void gavel_take_gpus(struct gsim_ctx *ctx, struct gavel *gavel, uint32_t number, uint32_t type) {
    struct gavel_job *job = &gavel->job[number];
    const uint32_t *first = ctx->view->cluster.node_first_gpu;
    bool is_back = job->type == type && are_free(ctx, gavel, job);
    job->type = type;
    for (uint32_t n = 0; !is_back && n < job->gpus;) {
        uint32_t node = best_node(ctx, gavel, type, job->gpus - n);
        for (uint32_t gpu = first[node]; gpu < first[node + 1] && n < job->gpus; gpu++)
            if (gavel->owner[gpu] == GSIM_NO_MEMBER) {
                own_gpu(ctx, gavel, gpu, number);
                job->units[n++] = (struct gsim_unit){.gpu = gpu};
            }
    }
    for (uint32_t u = 0; is_back && u < job->gpus; u++)
        own_gpu(ctx, gavel, job->units[u].gpu, number);
}

void gavel_give_gpus(const struct gsim_ctx *ctx, struct gavel *gavel, uint32_t number) {
    const struct gavel_job *job = &gavel->job[number];
    for (uint32_t u = 0; u < job->gpus; u++)
        if (gavel->owner[job->units[u].gpu] == number) {
            gavel->owner[job->units[u].gpu] = GSIM_NO_MEMBER;
            gavel->n_free[ctx->view->cluster.node_of_gpu[job->units[u].gpu]]++;
        }
}
