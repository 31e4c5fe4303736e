/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The nodes of a site's file as groups of a cluster: nodes that follow each other with as many GPUs
 * of one type and as many CPUs, in the partitions of one list. */
#include <string.h>
#include <strings.h>

#include "sim/base/hostlist.h"
#include "sim/site/slurm.h"

struct looking {
    const char *name;
    bool is_found;
};

static bool look(void *arg, const char *name, size_t length) {
    struct looking *l = arg;
    l->is_found |= strlen(l->name) == length && strncmp(l->name, name, length) == 0;
    return true;
}

static bool has_node(const struct gsim_slurm_partition *partition, const char *node) {
    struct looking l = {.name = node};
    if (strcasecmp(partition->nodes, "ALL") == 0)
        return true;
    return gsim_hostlist_each(partition->nodes, look, &l) && l.is_found;
}

/* "gpu,long"; NULL: no memory, or none. */
static const char *partitions_of(const struct gsim_slurm *slurm, const char *node,
                                 struct gsim_arena *arena) {
    const char *list = NULL;
    for (uint32_t p = 0; p < slurm->n_partitions; p++)
        if (has_node(&slurm->partition[p], node))
            list = list ? gsim_arena_printf(arena, "%s,%s", list, slurm->partition[p].name)
                        : slurm->partition[p].name;
    return list;
}

static bool is_equal(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

uint32_t gsim_slurm_shards_of_gpu(const struct gsim_slurm *slurm) {
    for (uint32_t i = 0; i < slurm->n_nodes; i++)
        if (slurm->node[i].gpus > 0 && slurm->node[i].shards >= slurm->node[i].gpus)
            return slurm->node[i].shards / slurm->node[i].gpus;
    return 0;
}

uint32_t gsim_slurm_count_nodes(const struct gsim_slurm *slurm) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < slurm->n_nodes; i++)
        n += slurm->node[i].gpus > 0;
    return n;
}

const struct gsim_slurm_node *gsim_slurm_nth_node(const struct gsim_slurm *slurm, uint32_t i,
                                                  uint32_t n_nodes) {
    uint32_t nth = (uint32_t)((uint64_t)i * gsim_slurm_count_nodes(slurm) / n_nodes);
    for (uint32_t at = 0; at < slurm->n_nodes; at++)
        if (slurm->node[at].gpus > 0 && nth-- == 0)
            return &slurm->node[at];
    return NULL;
}

uint32_t gsim_slurm_groups(const struct gsim_slurm *slurm, struct gsim_arena *arena,
                           uint32_t n_nodes, struct gsim_node_group **out) {
    struct gsim_node_group *groups = gsim_arena_array(arena, n_nodes + 1u, sizeof *groups);
    uint32_t n = 0, n_of_file = gsim_slurm_count_nodes(slurm);
    *out = groups;
    for (uint32_t i = 0; groups && n_of_file > 0 && i < n_nodes; i++) {
        const struct gsim_slurm_node *node = gsim_slurm_nth_node(slurm, i, n_nodes);
        const char *partitions = partitions_of(slurm, node->name, arena);
        const char *type = *node->type ? node->type : NULL;
        const char *features = *node->features ? node->features : NULL;
        struct gsim_node_group *last = n ? &groups[n - 1] : NULL;
        int64_t cpus_milli = slurm->counts_cpus ? node->cpus * 1000 : 0;
        if (last && last->gpus_per_node == node->gpus && last->cpus_milli == cpus_milli &&
            is_equal(last->gpu_type, type) && is_equal(last->features, features) &&
            is_equal(last->partitions, partitions))
            last->count++;
        else
            groups[n++] = (struct gsim_node_group){.count = 1,
                                                   .gpus_per_node = node->gpus,
                                                   .cpus_milli = cpus_milli,
                                                   .gpu_type = type,
                                                   .features = features,
                                                   .partitions = partitions};
    }
    return n;
}
