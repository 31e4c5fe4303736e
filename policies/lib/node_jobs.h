/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running jobs by node, and how many GPUs of each node are of jobs that are due to give way: a gang
 * that goes to one node asks the jobs of those nodes alone that have enough of them. */
#ifndef GSIM_POLICIES_LIB_NODE_JOBS_H
#define GSIM_POLICIES_LIB_NODE_JOBS_H

#include "gsim/policy.h"
#include "sim/base/index.h"

/* A job on one of its nodes; the numbers of others of these, or GSIM_NO_ID. */
struct gsim_node_jobs_part {
    gsim_slot slot;
    uint32_t node, gpus;
    bool is_due;
    uint32_t beside[2]; /* of the node, in the order of `running` */
    uint32_t next; /* of the job; of those that are free */
};

/* A node; nodes with equal numbers of GPUs of jobs that are due are linked. */
struct gsim_node_jobs_node {
    uint32_t end[2]; /* its first and last part */
    uint32_t gpus; /* of jobs that are due */
    uint32_t beside[2];
    uint32_t sum; /* of this count, if it was met in it: idle GPUs, and those of jobs summed up */
    uint64_t summed; /* the last count in which it was met */
};

/* Zeroed, then gsim_node_jobs_init. */
struct gsim_node_jobs {
    struct gsim_arena *arena;
    struct gsim_node_jobs_part *part;
    uint32_t n_parts, part_capacity, free;
    uint32_t *first_part; /* by slot */
    uint32_t slot_capacity;
    struct gsim_node_jobs_node *node;
    uint32_t *first_node; /* by number of GPUs; the last is for all numbers from there on */
    uint64_t n_sums;
    /* The nodes where jobs became due or left; a ring has the last n_nodes of them. */
    uint32_t *changed;
    uint64_t n_changes;
    uint32_t n_nodes;
    uint32_t most; /* the GPUs of the largest node */
};
/* false: no memory. */
bool gsim_node_jobs_init(struct gsim_node_jobs *nodes, const struct gsim_ctx *ctx);
/* Adds a job of `running`, which orders the jobs of a node. false: no memory. */
bool gsim_node_jobs_add(struct gsim_node_jobs *nodes, const struct gsim_ctx *ctx,
                        const struct gsim_plan *plan, const struct gsim_index *running,
                        gsim_slot slot);
/* The job, which is there, is due from now on. */
void gsim_node_jobs_due(struct gsim_node_jobs *nodes, gsim_slot slot);
/* A job that is not there may have left any node, so that all of them count as changed. */
void gsim_node_jobs_remove(struct gsim_node_jobs *nodes, gsim_slot slot);

/* Whether the slice of job a began before that of job b; both run. */
bool gsim_node_jobs_before(const struct gsim_index *running, gsim_slot a, gsim_slot b);
/* A node of a job that is there. */
uint32_t gsim_node_jobs_first(const struct gsim_node_jobs *nodes, gsim_slot slot);
/* Calls `ask` for each node of which the idle GPUs and those of jobs that are due are enough. */
void gsim_node_jobs_each(const struct gsim_node_jobs *nodes, const struct gsim_ctx *ctx,
                         uint32_t need, void (*ask)(void *of, uint32_t node), void *of);
/* Begins a count of the GPUs that nodes would have idle. */
void gsim_node_jobs_begin_sum(struct gsim_node_jobs *nodes);
/* One more job gives way; calls `ask` for each node that has enough by that. */
void gsim_node_jobs_sum(struct gsim_node_jobs *nodes, const struct gsim_ctx *ctx, gsim_slot slot,
                        uint32_t need, void (*ask)(void *of, uint32_t node), void *of);

#endif
