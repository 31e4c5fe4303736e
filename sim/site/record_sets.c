/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sets of nodes (NodeSet=): their records, and lists in which nodes replace their names. */
#include "sim/site/slurm_read.h"
#include "sim/base/hostlist.h"

#include <string.h>
#include <strings.h>

void gsim_slurm_begin_set(struct gsim_slurm_reading *r, const char *name) {
    struct gsim_slurm_node_set *set = gsim_slurm_add(r, (void **)&r->set, &r->n_sets, sizeof *set);
    if (set)
        *set = (struct gsim_slurm_node_set){gsim_slurm_keep(r, name, strlen(name)), "", ""};
}

void gsim_slurm_take_set_key(struct gsim_slurm_reading *r, const char *key, const char *value,
                             struct gsim_slurm_node_set *set) {
    if (gsim_slurm_is(key, "Nodes"))
        set->nodes = gsim_slurm_keep(r, value, strlen(value));
    else if (gsim_slurm_is(key, "Feature"))
        set->feature = gsim_slurm_keep(r, value, strlen(value));
}

/* A list of nodes in which sets are being replaced. */
struct replacing {
    struct gsim_slurm_reading *r;
    char *list;
    size_t used, room; /* bytes of the list, with the NUL, and of its block */
};

/* Adds names to the list. false: no memory. */
static bool list_nodes(struct replacing *p, const char *names, size_t length) {
    size_t needs = p->used + length + 2;
    if (needs > p->room) {
        size_t room = 2 * needs;
        char *grown = gsim_arena_grow(p->r->arena, p->list, p->room, room);
        if (!grown) {
            p->r->status = gsim_no_memory(p->r->log, "reading sets of nodes");
            return false;
        }
        p->list = grown;
        p->room = room;
    }
    if (p->used > 0)
        p->list[p->used++] = ',';
    memcpy(p->list + p->used, names, length);
    p->used += length;
    return true;
}

/* Adds the nodes of a set. */
static bool list_set(struct replacing *p, const struct gsim_slurm_node_set *set) {
    const struct gsim_slurm *out = p->r->out;
    bool is_ok = !*set->nodes || list_nodes(p, set->nodes, strlen(set->nodes));
    for (uint32_t i = 0; is_ok && *set->feature && i < out->n_nodes; i++) {
        const struct gsim_slurm_node *node = &out->node[i];
        if (gsim_slurm_lists(node->features, set->feature, strlen(set->feature)))
            is_ok = list_nodes(p, node->name, strlen(node->name));
    }
    return is_ok;
}

static bool replace_set(void *arg, const char *name, size_t length) {
    struct replacing *p = arg;
    for (uint32_t s = 0; s < p->r->n_sets; s++)
        if (gsim_slurm_lists(p->r->set[s].name, name, length))
            return list_set(p, &p->r->set[s]);
    return list_nodes(p, name, length);
}

void gsim_slurm_settle_sets(struct gsim_slurm_reading *r) {
    for (uint32_t i = 0; r->n_sets > 0 && i < r->out->n_partitions; i++) {
        struct gsim_slurm_partition *partition = &r->out->partition[i];
        struct replacing p = {.r = r};
        if (!gsim_slurm_is(partition->nodes, "ALL") &&
            gsim_hostlist_each(partition->nodes, replace_set, &p))
            partition->nodes = p.list ? p.list : "";
    }
}
