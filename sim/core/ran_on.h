/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where jobs begin that ran when the log begins (column ran_on): on the nodes that they had, where
 * these have room. Which GPUs of a node are free decides for days which gangs find a whole node. */
#ifndef GSIM_CORE_RAN_ON_H
#define GSIM_CORE_RAN_ON_H

#include "sim/core/cluster.h"

struct gsim_core;

struct gsim_ran_on {
    uint32_t *first, *count; /* by job: of its parts; NULL: no job ran */
    struct gsim_node_part *part;
};

/* Expects the sets of nodes, and the numbers of nodes that gangs asked for. A log's names stand for
 * the cluster's nodes in their order, each for one that its jobs may use; a job of which a name has
 * no node begins anywhere. */
enum gsim_status gsim_ran_on_open(struct gsim_core *core);
/* The parts of a job that arrives now as one that ran; 0: it is none. */
uint32_t gsim_ran_on_parts(const struct gsim_core *core, uint32_t job,
                           const struct gsim_node_part **out);

#endif
