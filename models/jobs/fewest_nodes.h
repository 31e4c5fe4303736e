/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fewest nodes on which a number of GPUs of one type lie, and the part of their hosts that
 * falls to each: where a policy asks for a speed and names no nodes, the answer is of a placement
 * that its nodes have. */
#ifndef GSIM_MODELS_JOBS_FEWEST_NODES_H
#define GSIM_MODELS_JOBS_FEWEST_NODES_H

#include "gsim/arena.h"
#include "sim/api/model.h"

/* The nodes of a type of GPU, those with the most GPUs first. */
struct gsim_nodes_of_type {
    uint32_t *gpus; /* of each */
    uint32_t n;
    /* that falls to each GPU; of nodes with different parts the least */
    struct gsim_host part;
};

/* Those among a policy's GPUs. */
struct gsim_nodes_seen {
    struct gsim_gpu_span seen;
    struct gsim_nodes_of_type *of_type;
    struct gsim_nodes_seen *next;
};

/* Of two parts of a host; 0: as much as any row of a table of speeds wants. */
static inline int64_t gsim_lesser_part(int64_t least, int64_t part) {
    return part > 0 && part < least ? part : least;
}
static inline struct gsim_host gsim_lesser_host(struct gsim_host least, struct gsim_host part) {
    return (struct gsim_host){gsim_lesser_part(least.cpus_milli, part.cpus_milli),
                              gsim_lesser_part(least.mem_bytes, part.mem_bytes)};
}

/* By type; *list keeps what was counted. NULL: no memory. */
const struct gsim_nodes_of_type *gsim_fewest_nodes_of(struct gsim_nodes_seen **list,
                                                      const struct gsim_model_setup *setup,
                                                      struct gsim_gpu_span seen);
/* Where they have fewer GPUs together, with further nodes like the fullest. */
uint32_t gsim_fewest_nodes(const struct gsim_nodes_of_type *nodes, uint32_t gpus);
/* The GPUs of the fullest of them; at least 1. */
uint32_t gsim_fullest_node(const struct gsim_nodes_of_type *nodes);

#endif
