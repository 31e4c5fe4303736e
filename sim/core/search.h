/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A search for units, which takes them as it goes: what the files of placement share. */
#ifndef GSIM_CORE_SEARCH_H
#define GSIM_CORE_SEARCH_H

#include "sim/core/cluster.h"
#include "sim/base/hints.h"

struct gsim_search {
    uint32_t first_node, end_node; /* range of the search */
    struct gsim_cluster *cluster;
    const struct gsim_request *request;
    struct gsim_unit *units;
    uint32_t n;
    uint32_t n_takes; /* number of nodes that the units are on, at most */
    bool is_plain; /* whether the request is plain */
    uint64_t on_node; /* bits taken last, of one word of a node */
};

/* placement.c */
/* Takes up to `most` GPUs of the node that the request may use. */
void gsim_search_take(struct gsim_search *s, uint32_t node, uint32_t most);
/* Idle GPUs of the node that this request may use. */
GSIM_APART uint32_t gsim_search_usable(const struct gsim_search *s, uint32_t node);
/* The first node at or after `from` with k idle GPUs. */
static inline uint32_t gsim_search_next_node(struct gsim_cluster *c, uint32_t k, uint32_t from) {
    if (from > 0)
        return gsim_bitset_next(&c->nodes_with[k], from);
    uint32_t node = gsim_bitset_first(&c->nodes_with[k]);
    if (node == UINT32_MAX)
        gsim_bitset_remove(&c->counts, k);
    return node;
}

/* placement_split.c: takes parts of the fullest nodes, of the emptiest ones, or of nodes at random;
 * false: not all parts were found. */
bool gsim_search_split_fullest(struct gsim_search *s);
bool gsim_search_split_emptiest(struct gsim_search *s);
bool gsim_search_split_random(struct gsim_search *s);
/* The node at which a random walk begins: each that the request may use is as likely. */
GSIM_APART uint32_t gsim_search_random_node(struct gsim_search *s);

#endif
