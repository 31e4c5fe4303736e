/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cluster: nodes, their GPUs, and who may still be placed where. Free capacity is kept in
 * buckets by node, so that a gang finds its nodes without looking at all of them. */
#ifndef GSIM_CORE_CLUSTER_H
#define GSIM_CORE_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/api/model.h"
#include "sim/api/types.h"
#include "sim/base/arena.h"
#include "sim/base/status.h"

#define GSIM_MAX_GPUS_PER_NODE 4096u
#define GSIM_MAX_NODES 262144u
#define GSIM_MAX_GPUS 1000000u

/* Nodes of one kind, `count` of them. */
struct gsim_node_group {
    uint32_t count;
    uint32_t gpus_per_node;
    int64_t cpus_milli; /* per node; 0: not counted */
    uint16_t device;    /* position in profiles */
};

/* What the user asked for; immutable. */
struct gsim_cluster_spec {
    const struct gsim_node_group *groups;
    uint32_t n_groups;
    const struct gsim_profile *const *profiles;
    uint16_t n_profiles;
    /* One divisible pool of GPUs and CPUs: jobs may straddle GPUs and are given no unit (the PAI
     * simulator's cluster). */
    bool is_pool;
    int64_t pool_cpus_milli;
};

#endif
