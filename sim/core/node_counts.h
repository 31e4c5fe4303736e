/* SPDX-License-Identifier: GPL-3.0-or-later */
/* On how many nodes a gang asked to lie (column num_nodes). A count binds where the policy leaves
 * the choice of GPUs to the core, or asks for the count, and where the cluster has nodes for it. */
#ifndef GSIM_CORE_NODE_COUNTS_H
#define GSIM_CORE_NODE_COUNTS_H

#include "sim/core/cluster.h"

struct gsim_core;

struct gsim_node_counts {
    const uint32_t *of_job; /* 0: no count binds the job; NULL: no job has one that does */
    /* Each count that binds is the number of nodes on which GSIM_RULE_CONSOLIDATE puts the gang. */
    bool are_consolidated;
    /* Jobs with counts that do not bind: no nodes of the cluster hold the gang so; their policy
     * names GPUs itself, or chooses the width of gangs. */
    uint32_t n_impossible, n_ignored;
};

/* Expects the sets of nodes. */
enum gsim_status gsim_node_counts_open(struct gsim_core *core);

#endif
