/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The nodes on which a job may run, by its partition, its type of GPU, its constraint, and the
 * table of speeds. */
#ifndef GSIM_CORE_NODE_SETS_H
#define GSIM_CORE_NODE_SETS_H

#include "sim/core/cluster.h"
#include "gsim/trace.h"

struct gsim_core;
struct gsim_parts; /* parts.h */

/* A job's wish: a partition, a type and a constraint; NULL: none. */
struct gsim_node_wish {
    const char *partitions, *types, *constraint;
};

/* Sets by wish; a wish is a place in the table. */
struct gsim_node_sets {
    const struct gsim_node_set **table; /* NULL: every job may run on every node */
    uint32_t n_types, n_constraints; /* entries of a row: the names of the column, and none */
    uint32_t n_wishes; /* as many places for each part of the cluster */
    const struct gsim_parts *parts; /* NULL: every job goes to all of the cluster */
    /* By job: 1 + its place among models and widths that cannot run on all nodes by the table of
     * speeds; 0: it can. NULL: all jobs can. */
    const uint32_t *need;
    uint32_t n_needs; /* those places, and 0 */
    uint32_t n_counting; /* jobs of constraints that count nodes (rack1*2): a count does not bind */
    bool has_partitions, has_types, has_features; /* the columns that are used */
};

/* Builds the sets that the trace's jobs need, and refuses a job that its nodes are too few for. The
 * model is open. */
enum gsim_status gsim_node_sets_open(struct gsim_core *core);
/* Whether two lists such as "gpu,long" and "G1|G2" share a name. */
bool gsim_node_sets_meet(const char *a, const char *b);
/* Whether a list of types has the device: "a100" is an a100-40 and an a100-80. */
bool gsim_node_sets_names(const char *types, const char *device);
/* NULL: every node. */
const struct gsim_node_set *gsim_node_sets_of(const struct gsim_node_sets *sets,
                                              const struct gsim_trace *trace, uint32_t job);

#endif
