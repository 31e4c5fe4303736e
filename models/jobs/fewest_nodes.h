/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fewest nodes of the cluster on which a number of GPUs of one type lie: where a policy asks
 * for a speed and names no nodes, the answer is of a placement that the cluster has. */
#ifndef GSIM_MODELS_JOBS_FEWEST_NODES_H
#define GSIM_MODELS_JOBS_FEWEST_NODES_H

#include "gsim/arena.h"
#include "sim/api/model.h"

/* The nodes of a type of GPU, those with the most GPUs first. */
struct gsim_nodes_of_type {
    uint32_t *gpus; /* of each */
    uint32_t n;
};

/* By type; NULL: no memory. */
struct gsim_nodes_of_type *gsim_fewest_nodes_open(const struct gsim_model_setup *setup);
/* Where they have fewer GPUs together, with further nodes like the fullest. */
uint32_t gsim_fewest_nodes(const struct gsim_nodes_of_type *nodes, uint32_t gpus);
/* The GPUs of the fullest of them; at least 1. */
uint32_t gsim_fullest_node(const struct gsim_nodes_of_type *nodes);

#endif
