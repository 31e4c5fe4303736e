/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/drive/moves.h"

#include <assert.h>

bool gsim_moves_is_due(const struct gsim_job *about) {
    bool is_due = about->n_units != about->n_left_units;
    for (uint32_t u = 0; u < about->n_units && !is_due; u++)
        is_due = about->units[u].gpu != about->left_units[u].gpu;
    return is_due;
}

/* Whether each GPU that the job left has one successor, which no other one has. */
static bool is_one_to_one(const struct gsim_job *about) {
    for (uint32_t u = 0; u < about->n_units; u++)
        for (uint32_t v = 0; v < u; v++)
            if ((about->units[u].gpu == about->units[v].gpu) !=
                (about->left_units[u].gpu == about->left_units[v].gpu))
                return false;
    return true;
}

const char *gsim_moves_refusal(const struct gsim_executor *executor, const struct gsim_job *about) {
    if (!gsim_moves_is_due(about))
        return NULL;
    if (about->n_units != about->n_left_units || !is_one_to_one(about))
        return "the state of a process goes on on as many GPUs as it had";
    return executor->no_moves;
}

/* The place of the GPU onto which the state of another one goes. */
static uint32_t find(const uint32_t *to, uint32_t n, uint32_t gpu) {
    uint32_t i = 0;
    while (i < n && to[i] != gpu)
        i++;
    assert(i < n); /* a permutation has each GPU */
    return i;
}

/* Exchanges the goals of two GPUs for each unit, so that the whole stays a permutation; what an
 * earlier unit was given is never exchanged again, since goals are one to one. */
static void permute(const struct gsim_executor *executor, const struct gsim_job *about,
                    uint32_t *to) {
    uint32_t n = executor->n_uuids;
    for (uint32_t i = 0; i < n; i++)
        to[i] = i;
    for (uint32_t u = 0; u < about->n_units; u++) {
        uint32_t from = executor->gpus[about->left_units[u].gpu];
        uint32_t goal = executor->gpus[about->units[u].gpu];
        to[find(to, n, goal)] = to[from];
        to[from] = goal;
    }
}

struct gsim_image_pair *gsim_moves_pairs(const struct gsim_executor *executor,
                                         const struct gsim_job *about, struct gsim_arena *arena) {
    uint32_t n = executor->n_uuids;
    struct gsim_image_pair *pairs = gsim_arena_array(arena, n, sizeof *pairs);
    uint32_t *to = gsim_arena_array(arena, n, sizeof *to);
    if (!pairs || !to)
        return NULL;
    permute(executor, about, to);
    for (uint32_t i = 0; i < n; i++)
        pairs[i] = (struct gsim_image_pair){executor->uuids[i], executor->uuids[to[i]]};
    return pairs;
}
