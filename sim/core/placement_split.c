/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Placement on as many nodes as a gang asked for, in even parts. */
#include "sim/core/search.h"
#include "sim/base/wide.h"

/* Parts that are still to be taken: nodes with `each` of the GPUs, and wide ones with one more. A
 * node with room for a wide part has room for an even one, so that any order of nodes finds room
 * for all parts if there is any. */
struct split {
    uint32_t each, n_wide, n_even;
};

static struct split split_of(const struct gsim_request *request) {
    uint32_t gpus = request->shape.gpus, nodes = request->n_nodes < gpus ? request->n_nodes : gpus;
    return (struct split){gpus / nodes, gpus % nodes, nodes - gpus % nodes};
}

static bool is_whole(const struct split *left) {
    return left->n_wide == 0 && left->n_even == 0;
}

/* Whether the search has taken units of the node. */
static bool has_part(const struct gsim_search *s, uint32_t node) {
    for (uint32_t u = 0; u < s->n; u++)
        if (s->cluster->node_of_gpu[s->units[u].gpu] == node)
            return true;
    return false;
}

static void take_part(struct gsim_search *s, uint32_t node, struct split *left) {
    uint32_t can = gsim_search_usable(s, node);
    bool is_wide = left->n_wide > 0 && can > left->each;
    if (can < left->each || (!is_wide && left->n_even == 0))
        return;
    *(is_wide ? &left->n_wide : &left->n_even) -= 1;
    gsim_search_take(s, node, left->each + is_wide);
}

/* Whether there are nodes for all parts, each of which has room of its own: a gang that finds too
 * few takes none of them, and need not give them back. */
static bool has_parts(const struct gsim_search *s, struct split left) {
    struct gsim_cluster *c = s->cluster;
    uint32_t wide = left.n_wide, all = left.n_wide + left.n_even, n_wide = 0, n = 0;
    for (uint32_t k = gsim_bitset_next(&c->counts, left.each); k <= c->widest_node;
         k = gsim_bitset_next(&c->counts, k + 1))
        for (uint32_t node = gsim_search_next_node(c, k, s->first_node); node < s->end_node;
             node = gsim_search_next_node(c, k, node + 1)) {
            uint32_t can = gsim_search_usable(s, node);
            n += can >= left.each;
            n_wide += can > left.each;
            if (n >= all && n_wide >= wide)
                return true;
        }
    return false;
}

/* Takes parts of the fullest nodes with room. A node that gives one has fewer idle GPUs than those
 * still to come, and is not met again. */
bool gsim_search_split_fullest(struct gsim_search *s) {
    struct gsim_cluster *c = s->cluster;
    struct split left = split_of(s->request);
    if (!has_parts(s, left))
        return false;
    for (uint32_t k = gsim_bitset_next(&c->counts, left.each);
         k <= c->widest_node && !is_whole(&left); k = gsim_bitset_next(&c->counts, k + 1))
        for (uint32_t node = gsim_search_next_node(c, k, s->first_node);
             node < s->end_node && !is_whole(&left); node = gsim_search_next_node(c, k, node + 1))
            take_part(s, node, &left);
    return is_whole(&left);
}

bool gsim_search_split_emptiest(struct gsim_search *s) {
    struct gsim_cluster *c = s->cluster;
    struct split left = split_of(s->request);
    for (uint32_t k = c->widest_node; k >= left.each && !is_whole(&left); k--)
        for (uint32_t node = gsim_bitset_next(&c->nodes_with[k], 0);
             node != UINT32_MAX && !is_whole(&left);
             node = gsim_bitset_next(&c->nodes_with[k], node + 1))
            if (!has_part(s, node))
                take_part(s, node, &left);
    return is_whole(&left);
}

uint32_t gsim_search_random_node(struct gsim_search *s) {
    struct gsim_cluster *c = s->cluster;
    const struct gsim_node_set *nodes = s->request->nodes;
    uint64_t drawn = gsim_mix_next(&c->random);
    uint32_t n = 0, node = 0;
    for (uint32_t i = 0; i < c->n_nodes && nodes; i++)
        n += nodes->has_node[i];
    if (n == 0)
        return (uint32_t)(drawn % c->n_nodes);
    for (uint32_t left = (uint32_t)(drawn % n); left > 0 || !nodes->has_node[node]; node++)
        left -= nodes->has_node[node];
    return node;
}

bool gsim_search_split_random(struct gsim_search *s) {
    struct gsim_cluster *c = s->cluster;
    struct split left = split_of(s->request);
    uint32_t first = gsim_search_random_node(s);
    for (uint32_t i = 0; i < c->n_nodes && !is_whole(&left); i++)
        take_part(s, (first + i) % c->n_nodes, &left);
    return is_whole(&left);
}
