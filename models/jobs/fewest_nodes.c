/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/jobs/fewest_nodes.h"

#include <stdlib.h>

#include "sim/api/rates.h"

static int by_gpus_down(const void *left, const void *right) {
    const uint32_t *a = left, *b = right;
    return (*a < *b) - (*a > *b);
}

/* Counts the GPUs of each node of a type; the GPUs of a node stand beside each other. */
static void count(struct gsim_nodes_of_type *nodes, const struct gsim_model_setup *setup,
                  struct gsim_gpu_span seen, uint16_t type) {
    const struct gsim_host *part_of_host = setup->wiring.part_of_host;
    uint32_t last = UINT32_MAX;
    nodes->part = gsim_host_ample;
    for (uint32_t gpu = seen.first; gpu < seen.first + seen.n; gpu++) {
        uint32_t node = setup->wiring.node_of_gpu[gpu];
        if (setup->type_of_gpu[gpu] != type)
            continue;
        nodes->n += node != last;
        nodes->gpus[nodes->n - 1] += 1;
        if (part_of_host && node != last)
            nodes->part = gsim_lesser_host(nodes->part, part_of_host[node]);
        last = node;
    }
    qsort(nodes->gpus, nodes->n, sizeof *nodes->gpus, by_gpus_down);
}

static struct gsim_nodes_of_type *count_all(const struct gsim_model_setup *setup,
                                            struct gsim_gpu_span seen) {
    struct gsim_nodes_of_type *types =
        gsim_arena_array(setup->arena, setup->n_profiles, sizeof *types);
    for (uint16_t type = 0; type < setup->n_profiles && types; type++) {
        types[type].gpus =
            gsim_arena_array(setup->arena, setup->wiring.n_nodes + 1, sizeof(uint32_t));
        if (!types[type].gpus)
            return NULL;
        count(&types[type], setup, seen, type);
    }
    return types;
}

const struct gsim_nodes_of_type *gsim_fewest_nodes_of(struct gsim_nodes_seen **list,
                                                      const struct gsim_model_setup *setup,
                                                      struct gsim_gpu_span seen) {
    struct gsim_nodes_seen *it = *list;
    while (it && (it->seen.first != seen.first || it->seen.n != seen.n))
        it = it->next;
    if (it)
        return it->of_type;
    it = gsim_arena_alloc(setup->arena, sizeof *it);
    struct gsim_nodes_of_type *of_type = it ? count_all(setup, seen) : NULL;
    if (!of_type)
        return NULL;
    *it = (struct gsim_nodes_seen){seen, of_type, *list};
    *list = it;
    return of_type;
}

uint32_t gsim_fullest_node(const struct gsim_nodes_of_type *nodes) {
    return nodes->n > 0 ? nodes->gpus[0] : 1;
}

uint32_t gsim_fewest_nodes(const struct gsim_nodes_of_type *nodes, uint32_t gpus) {
    uint32_t n = 0, room = 0;
    while (n < nodes->n && room < gpus)
        room += nodes->gpus[n++];
    for (; room < gpus; n++)
        room += gsim_fullest_node(nodes);
    return n;
}
