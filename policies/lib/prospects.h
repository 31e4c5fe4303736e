/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When a node may first have enough GPUs for a gang, as jobs that are due give way: a search that
 * failed is not made again before that time, but for the nodes that have changed since. */
#ifndef GSIM_POLICIES_LIB_PROSPECTS_H
#define GSIM_POLICIES_LIB_PROSPECTS_H

#include "gsim/policy.h"
#include "policies/lib/due.h"
#include "policies/lib/node_jobs.h"

/* What a search in vain for a gang of one width said. */
struct gsim_prospect {
    int64_t until_ns; /* no node has enough before, unless it has changed since */
    uint64_t n_changes; /* of nodes, as of then */
    uint32_t n_outages; /* failures and repairs leave idle GPUs on nodes that no job has left */
    /* By class: the service, counted as in due.c, from which on jobs of it give way to the gang.
     * Classes beyond these: always. */
    uint64_t *least;
    uint32_t n_classes, capacity;
};

/* Zeroed, then gsim_prospects_init. */
struct gsim_prospects {
    bool is_used;
    struct gsim_prospect *by_gpus;
};
/* false: no memory. */
bool gsim_prospects_init(struct gsim_prospects *prospects, const struct gsim_ctx *ctx);
/* Whether the gang, which `due` was asked about last, finds no room on any node that has not
 * changed; then calls `ask` for each node that has. */
bool gsim_prospects_ask(const struct gsim_prospects *prospects, const struct gsim_ctx *ctx,
                        const struct gsim_due *due, const struct gsim_node_jobs *nodes,
                        uint32_t need, void (*ask)(void *of, uint32_t node), void *of);
/* No node has enough for the gang that `due` was asked about last. is_known: as the question above
 * said of all nodes but those that have changed. */
void gsim_prospects_note(struct gsim_prospects *prospects, const struct gsim_ctx *ctx,
                         const struct gsim_due *due, const struct gsim_node_jobs *nodes,
                         uint32_t need, bool is_known);

#endif
