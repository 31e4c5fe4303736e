/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes stand in lists by how many of their GPUs are of jobs that are due; a job that becomes due,
 * or is removed then, moves each of its nodes to another list. */
#include "policies/lib/node_jobs.h"

static bool reserve_parts(struct gsim_node_jobs *nodes) {
    struct gsim_node_jobs_part *part = gsim_arena_room(nodes->arena, nodes->part, nodes->n_parts,
                                                       &nodes->part_capacity, sizeof *part);
    nodes->part = part ? part : nodes->part;
    return part != NULL;
}

static bool reserve_slot(struct gsim_node_jobs *nodes, gsim_slot slot) {
    if (slot < nodes->slot_capacity)
        return true;
    uint32_t capacity = nodes->slot_capacity ? nodes->slot_capacity : 64;
    while (capacity <= slot)
        capacity *= 2;
    uint32_t *grown =
        gsim_arena_grow_raw(nodes->arena, nodes->first_part, capacity * sizeof *grown);
    if (!grown)
        return false;
    for (uint32_t i = nodes->slot_capacity; i < capacity; i++)
        grown[i] = GSIM_NO_ID;
    nodes->first_part = grown;
    nodes->slot_capacity = capacity;
    return true;
}

bool gsim_node_jobs_init(struct gsim_node_jobs *nodes, const struct gsim_ctx *ctx) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    uint32_t n = ctx->view->pool.is_used ? 0 : cluster->n_nodes;
    *nodes = (struct gsim_node_jobs){.arena = ctx->arena,
                                     .free = GSIM_NO_ID,
                                     .most = n ? cluster->widest_node : 0,
                                     .n_nodes = n};
    nodes->node = gsim_arena_array(ctx->arena, n, sizeof *nodes->node);
    nodes->first_node = gsim_arena_array(ctx->arena, nodes->most + 1, sizeof *nodes->first_node);
    nodes->changed = gsim_arena_array(ctx->arena, n, sizeof *nodes->changed);
    if (!nodes->node || !nodes->first_node || !nodes->changed)
        return false;
    for (uint32_t node = 0; node < n; node++)
        nodes->node[node].end[0] = nodes->node[node].end[1] = GSIM_NO_ID;
    for (uint32_t gpus = 0; gpus <= nodes->most; gpus++)
        nodes->first_node[gpus] = GSIM_NO_ID;
    return true;
}

/* --- nodes by GPUs ---------------------------------------------------------------------------- */

static uint32_t *list_of(struct gsim_node_jobs *nodes, uint32_t gpus) {
    return &nodes->first_node[gpus < nodes->most ? gpus : nodes->most];
}

/* Nodes without such jobs are in no list. */
static void unlink_node(struct gsim_node_jobs *nodes, uint32_t node) {
    const struct gsim_node_jobs_node *own = &nodes->node[node];
    if (own->gpus == 0)
        return;
    if (own->beside[0] == GSIM_NO_ID)
        *list_of(nodes, own->gpus) = own->beside[1];
    else
        nodes->node[own->beside[0]].beside[1] = own->beside[1];
    if (own->beside[1] != GSIM_NO_ID)
        nodes->node[own->beside[1]].beside[0] = own->beside[0];
}

static void link_node(struct gsim_node_jobs *nodes, uint32_t node) {
    struct gsim_node_jobs_node *own = &nodes->node[node];
    if (own->gpus == 0)
        return;
    uint32_t *first = list_of(nodes, own->gpus);
    own->beside[0] = GSIM_NO_ID;
    own->beside[1] = *first;
    if (*first != GSIM_NO_ID)
        nodes->node[*first].beside[0] = node;
    *first = node;
}

static void set_gpus(struct gsim_node_jobs *nodes, uint32_t node, uint32_t gpus) {
    unlink_node(nodes, node);
    nodes->node[node].gpus = gpus;
    link_node(nodes, node);
}

static void note_change(struct gsim_node_jobs *nodes, uint32_t node) {
    nodes->changed[nodes->n_changes++ % nodes->n_nodes] = node;
}

/* --- jobs ------------------------------------------------------------------------------------- */

/* GSIM_NO_ID: no memory. */
static uint32_t part_new(struct gsim_node_jobs *nodes) {
    uint32_t part = nodes->free;
    if (part != GSIM_NO_ID)
        nodes->free = nodes->part[part].next;
    else
        part = reserve_parts(nodes) ? nodes->n_parts++ : GSIM_NO_ID;
    return part;
}

bool gsim_node_jobs_before(const struct gsim_index *running, gsim_slot a, gsim_slot b) {
    int64_t key_a = gsim_index_key(running, a), key_b = gsim_index_key(running, b);
    return key_a != key_b ? key_a < key_b : gsim_index_tie(running, a) < gsim_index_tie(running, b);
}

/* Links a part into the list of its node, the end of which is near its place: jobs come in the
 * order of time. */
static void link_part(struct gsim_node_jobs *nodes, const struct gsim_index *running,
                      uint32_t part) {
    struct gsim_node_jobs_part *own = &nodes->part[part];
    struct gsim_node_jobs_node *of = &nodes->node[own->node];
    uint32_t before = of->end[1];
    while (before != GSIM_NO_ID &&
           gsim_node_jobs_before(running, own->slot, nodes->part[before].slot))
        before = nodes->part[before].beside[0];
    uint32_t after = before == GSIM_NO_ID ? of->end[0] : nodes->part[before].beside[1];
    own->beside[0] = before;
    own->beside[1] = after;
    *(before == GSIM_NO_ID ? &of->end[0] : &nodes->part[before].beside[1]) = part;
    *(after == GSIM_NO_ID ? &of->end[1] : &nodes->part[after].beside[0]) = part;
}

static bool add_part(struct gsim_node_jobs *nodes, const struct gsim_index *running, gsim_slot slot,
                     uint32_t node, uint32_t gpus) {
    for (uint32_t i = nodes->first_part[slot]; i != GSIM_NO_ID; i = nodes->part[i].next)
        if (nodes->part[i].node == node) {
            nodes->part[i].gpus += gpus;
            return true;
        }
    uint32_t part = part_new(nodes);
    if (part == GSIM_NO_ID)
        return false;
    nodes->part[part] = (struct gsim_node_jobs_part){
        .slot = slot, .node = node, .gpus = gpus, .next = nodes->first_part[slot]};
    nodes->first_part[slot] = part;
    link_part(nodes, running, part);
    return true;
}

bool gsim_node_jobs_add(struct gsim_node_jobs *nodes, const struct gsim_ctx *ctx,
                        const struct gsim_plan *plan, const struct gsim_index *running,
                        gsim_slot slot) {
    const uint32_t *node_of_gpu = ctx->view->cluster.node_of_gpu;
    const struct gsim_unit *units;
    uint32_t n_units = gsim_plan_units(plan, slot, &units);
    bool has_room = reserve_slot(nodes, slot);
    for (uint32_t u = 0, first = 0; u < n_units && has_room; u++) {
        uint32_t node = node_of_gpu[units[u].gpu];
        if (u + 1 < n_units && node_of_gpu[units[u + 1].gpu] == node)
            continue;
        has_room = add_part(nodes, running, slot, node, u + 1 - first);
        first = u + 1;
    }
    return has_room;
}

void gsim_node_jobs_due(struct gsim_node_jobs *nodes, gsim_slot slot) {
    for (uint32_t i = nodes->first_part[slot]; i != GSIM_NO_ID; i = nodes->part[i].next) {
        struct gsim_node_jobs_part *part = &nodes->part[i];
        part->is_due = true;
        note_change(nodes, part->node);
        set_gpus(nodes, part->node, nodes->node[part->node].gpus + part->gpus);
    }
}

static void remove_part(struct gsim_node_jobs *nodes, uint32_t part) {
    struct gsim_node_jobs_part *own = &nodes->part[part];
    struct gsim_node_jobs_node *of = &nodes->node[own->node];
    for (int side = 0; side < 2; side++) {
        uint32_t beside = own->beside[side];
        if (beside == GSIM_NO_ID)
            of->end[side] = own->beside[!side];
        else
            nodes->part[beside].beside[!side] = own->beside[!side];
    }
    if (own->is_due)
        set_gpus(nodes, own->node, of->gpus - own->gpus);
    note_change(nodes, own->node);
    own->next = nodes->free;
    nodes->free = part;
}

void gsim_node_jobs_remove(struct gsim_node_jobs *nodes, gsim_slot slot) {
    if (slot >= nodes->slot_capacity || nodes->first_part[slot] == GSIM_NO_ID) {
        nodes->n_changes += (uint64_t)nodes->n_nodes + 1;
        return;
    }
    for (uint32_t part = nodes->first_part[slot], next; part != GSIM_NO_ID; part = next) {
        next = nodes->part[part].next;
        remove_part(nodes, part);
    }
    nodes->first_part[slot] = GSIM_NO_ID;
}

/* --- questions -------------------------------------------------------------------------------- */

uint32_t gsim_node_jobs_first(const struct gsim_node_jobs *nodes, gsim_slot slot) {
    return nodes->part[nodes->first_part[slot]].node;
}

void gsim_node_jobs_each(const struct gsim_node_jobs *nodes, const struct gsim_ctx *ctx,
                         uint32_t need, void (*ask)(void *of, uint32_t node), void *of) {
    uint32_t idle = ctx->view->cluster.n_idle_gpus;
    for (uint32_t gpus = idle < need ? need - idle : 1; gpus <= nodes->most; gpus++)
        for (uint32_t node = nodes->first_node[gpus]; node != GSIM_NO_ID;
             node = nodes->node[node].beside[1])
            if (gpus >= need || gpus + gsim_node_idle_gpus(ctx->view, node) >= need)
                ask(of, node);
}

void gsim_node_jobs_begin_sum(struct gsim_node_jobs *nodes) {
    nodes->n_sums++;
}

void gsim_node_jobs_sum(struct gsim_node_jobs *nodes, const struct gsim_ctx *ctx, gsim_slot slot,
                        uint32_t need, void (*ask)(void *of, uint32_t node), void *of) {
    uint32_t next;
    for (uint32_t part = nodes->first_part[slot]; part != GSIM_NO_ID; part = next) {
        struct gsim_node_jobs_node *node = &nodes->node[nodes->part[part].node];
        next = nodes->part[part].next;
        if (node->summed != nodes->n_sums)
            node->sum = gsim_node_idle_gpus(ctx->view, nodes->part[part].node);
        bool was_enough = node->summed == nodes->n_sums && node->sum >= need;
        node->summed = nodes->n_sums;
        node->sum += nodes->part[part].gpus;
        if (!was_enough && node->sum >= need)
            ask(of, nodes->part[part].node);
    }
}
