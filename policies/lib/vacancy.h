/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs as they would be when some of the jobs on them had left: for policies that share GPUs, and
 * ask when, or by the leave of which jobs, a waiting job would find room. Nothing is planned.
 *
 * Where placement= asks for few nodes (consolidate) a gang has the first node with room for it. One
 * that is wider than all nodes falls into parts as a placement has it: those as wide as a node have
 * the fullest nodes with room, and the rest the first one. Under other values of placement= GPUs
 * are counted, without regard to nodes. */
#ifndef GSIM_POLICIES_LIB_VACANCY_H
#define GSIM_POLICIES_LIB_VACANCY_H

#include "gsim/policy.h"

struct gsim_vacancy_gpu {
    uint32_t n_jobs;
    uint32_t instances; /* taken ones of a GPU that is cut, as bits */
    uint32_t n_taken; /* of the first GPU of a node: empty ones there that the job would have */
    int64_t mem_bytes;
    bool is_down;
    bool is_kept; /* the room that was found is here */
};

/* Zeroed, then gsim_vacancy_init. */
struct gsim_vacancy {
    struct gsim_vacancy_gpu *gpu;
    uint32_t n_empty; /* GPUs without a job */
    uint32_t n_spare; /* of the kept GPUs, those that the job does not need: it wants whole ones */
    gsim_slot *holder, *swap; /* jobs that hold GPUs, and scratch as large */
    int64_t *key; /* of each: they leave in the order of their keys */
    uint32_t *sorted;
    uint32_t n_holders, capacity;
};

/* What a search asks of the policy. */
struct gsim_vacancy_search {
    gsim_slot slot; /* the job that waits */
    bool wants_whole; /* as many GPUs as it asks for, without other jobs */
    bool wants_few_nodes; /* and on no more nodes than it takes */
    bool leaves_last_first; /* jobs of equal keys leave one by one, the last of the trace first */
    /* Whether the job would find room on a GPU like this. */
    bool (*holds)(const struct gsim_ctx *ctx, const struct gsim_vacancy_gpu *room, uint32_t gpu,
                  gsim_slot slot);
    /* When the job on GPUs leaves; GSIM_NEVER: it does not. */
    int64_t (*key)(const struct gsim_ctx *ctx, gsim_slot slot, const void *of);
    const void *of;
};

enum gsim_status gsim_vacancy_init(struct gsim_vacancy *room, struct gsim_ctx *ctx);
/* Looks at the plan's picture and lets jobs leave until the job of the search has room, and with a
 * job that wants whole GPUs all others of the last one's key, unless they leave one by one. Kept
 * are the GPU that it shares then, where it counts as there; or all GPUs that are empty then.
 * Returns how many left, the first of gsim_vacancy.sorted; -1: it has no room even then, or there
 * is no memory, which is noted. */
int64_t gsim_vacancy_find(struct gsim_vacancy *room, struct gsim_ctx *ctx,
                          const struct gsim_plan *plan, const struct gsim_vacancy_search *search);
/* The i-th job that left, and its key. */
gsim_slot gsim_vacancy_leaver(const struct gsim_vacancy *room, uint32_t i);
int64_t gsim_vacancy_key(const struct gsim_vacancy *room, uint32_t i);
/* How many kept GPUs a job has in the plan's picture. */
uint32_t gsim_vacancy_kept(const struct gsim_vacancy *room, const struct gsim_plan *plan,
                           gsim_slot slot);
/* The job stays on its GPUs, which are spare ones as far as they are kept. */
void gsim_vacancy_spare(struct gsim_vacancy *room, const struct gsim_plan *plan, gsim_slot slot);

#endif
