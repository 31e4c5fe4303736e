/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The jobs that are due to give way, by the nodes on which they run: a gang that goes to one node
 * asks the jobs of those nodes alone that have enough of them. */
#ifndef GSIM_POLICIES_LIB_DUE_NODES_H
#define GSIM_POLICIES_LIB_DUE_NODES_H

#include "gsim/policy.h"
#include "sim/base/index.h"

/* A job on one of its nodes; the numbers of others of these, or GSIM_NO_ID. */
struct gsim_due_part {
    gsim_slot slot;
    uint32_t node, gpus;
    uint32_t beside[2]; /* of the node, by when the jobs became due */
    uint32_t next; /* of the job; of those that are free */
};

/* A node; the nodes with as many GPUs of jobs that are due are linked. */
struct gsim_due_node {
    uint32_t end[2]; /* its first and last part */
    uint32_t gpus;
    uint32_t beside[2];
    uint32_t sum; /* of this count, if it was met in it: idle GPUs, and those of jobs summed up */
    uint64_t summed; /* the last count in which it was met */
};

/* Zeroed, then gsim_due_nodes_init. */
struct gsim_due_nodes {
    struct gsim_arena *arena;
    struct gsim_due_part *part;
    uint32_t n_parts, part_capacity, free;
    uint32_t *first_part; /* by slot */
    uint32_t slot_capacity;
    struct gsim_due_node *node;
    uint32_t *first_node; /* by number of GPUs; the last is for all numbers from there on */
    uint64_t n_sums;
    uint32_t most; /* the GPUs of the largest node */
};
/* false: no memory. */
bool gsim_due_nodes_init(struct gsim_due_nodes *nodes, const struct gsim_ctx *ctx);
/* Jobs are added in the order in which they become due. false: no memory. */
bool gsim_due_nodes_add(struct gsim_due_nodes *nodes, const struct gsim_ctx *ctx,
                        const struct gsim_plan *plan, gsim_slot slot);
/* Does nothing when the job is not there. */
void gsim_due_nodes_remove(struct gsim_due_nodes *nodes, gsim_slot slot);

/* A node of a job that is there. */
uint32_t gsim_due_nodes_first(const struct gsim_due_nodes *nodes, gsim_slot slot);
/* Calls `ask` for each node of which the idle GPUs and those of jobs that are due are enough. */
void gsim_due_nodes_each(const struct gsim_due_nodes *nodes, const struct gsim_ctx *ctx,
                         uint32_t need, void (*ask)(void *of, uint32_t node), void *of);
/* Begins a count of the GPUs that nodes would have idle. */
void gsim_due_nodes_begin_sum(struct gsim_due_nodes *nodes);
/* One more job gives way; calls `ask` for each node that has enough by that. */
void gsim_due_nodes_sum(struct gsim_due_nodes *nodes, const struct gsim_ctx *ctx, gsim_slot slot,
                        uint32_t need, void (*ask)(void *of, uint32_t node), void *of);

#endif
