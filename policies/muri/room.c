/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/muri/room.h"

#include <string.h>

static uint32_t size_of(const struct muri_room *room, uint32_t node) {
    return room->cluster->node_first_gpu[node + 1] - room->cluster->node_first_gpu[node];
}

bool muri_room_open(struct muri_room *room, const struct gsim_ctx *ctx) {
    room->cluster = &ctx->view->cluster;
    room->free = gsim_arena_array(ctx->arena, room->cluster->n_nodes, sizeof *room->free);
    room->from =
        gsim_arena_array(ctx->arena, room->cluster->widest_node + (size_t)1, sizeof *room->from);
    return room->free && room->from;
}

void muri_room_clear(struct muri_room *room) {
    for (uint32_t node = 0; node < room->cluster->n_nodes; node++)
        room->free[node] = room->cluster->node_is_down[node] ? 0 : size_of(room, node);
    memset(room->from, 0, (room->cluster->widest_node + (size_t)1) * sizeof *room->from);
}

uint32_t muri_room_up(const struct muri_room *room) {
    uint32_t n = 0;
    for (uint32_t node = 0; node < room->cluster->n_nodes; node++)
        n += room->cluster->node_is_down[node] ? 0 : size_of(room, node);
    return n;
}

void muri_room_give(struct muri_room *room, uint32_t node) {
    room->free[node]++;
    for (uint32_t gpus = 1; gpus <= room->cluster->widest_node; gpus++)
        if (room->from[gpus] > node)
            room->from[gpus] = node;
}

/* Of the nodes from the first one up to the end, the gang has got none yet. */
static void note_range(struct muri_room *room, uint32_t *taken, uint32_t first, uint32_t end) {
    room->first_taken = first;
    room->end_taken = end;
    if (taken)
        memset(taken + first, 0, (end - first) * sizeof *taken);
}

static void note(uint32_t *taken, uint32_t node, uint32_t gpus) {
    if (taken)
        taken[node] = gpus;
}

/* The first node with room for part of a gang, apart from those that the gang has whole. */
static uint32_t first_with(const struct muri_room *room, uint32_t gpus, uint32_t n_whole) {
    for (uint32_t node = 0; node < room->cluster->n_nodes; node++) {
        if (n_whole > 0 && room->free[node] == room->cluster->widest_node)
            n_whole--;
        else if (room->free[node] >= gpus)
            return node;
    }
    return MURI_NONE;
}

/* Whether the cluster has this number of its widest nodes, and one more for the rest. */
static bool has_nodes(const struct muri_room *room, uint32_t n_whole, uint32_t rest) {
    uint32_t n_widest = 0, n_for_rest = 0;
    for (uint32_t node = 0; node < room->cluster->n_nodes; node++) {
        n_widest += size_of(room, node) == room->cluster->widest_node;
        n_for_rest += size_of(room, node) >= rest;
    }
    return n_widest >= n_whole && (rest == 0 || n_for_rest > n_whole);
}

/* What nodes have, in their order: for a gang that would find whole nodes on no day. */
static bool take_anywhere(struct muri_room *room, uint32_t gpus, uint32_t *taken) {
    uint32_t n = 0, n_nodes = room->cluster->n_nodes;
    for (uint32_t node = 0; node < n_nodes; node++)
        n += room->free[node];
    if (n < gpus)
        return false;
    note_range(room, taken, 0, n_nodes);
    for (uint32_t node = 0; node < n_nodes; node++) {
        uint32_t here = room->free[node] < gpus ? room->free[node] : gpus;
        room->free[node] -= here;
        gpus -= here;
        note(taken, node, here);
    }
    return true;
}

/* A gang of up to a node: the nodes that lacked room for the last one of its width lack it still,
 * as long as none gets GPUs back. */
static bool take_on_one(struct muri_room *room, uint32_t gpus, uint32_t *taken) {
    uint32_t node = room->from[gpus], n_nodes = room->cluster->n_nodes;
    while (node < n_nodes && room->free[node] < gpus)
        node++;
    room->from[gpus] = node;
    if (node == n_nodes)
        return false;
    note_range(room, taken, node, node + 1);
    room->free[node] -= gpus;
    note(taken, node, gpus);
    return true;
}

bool muri_room_take(struct muri_room *room, uint32_t gpus, uint32_t *taken) {
    uint32_t widest = room->cluster->widest_node, n_nodes = room->cluster->n_nodes;
    if (gpus > 0 && gpus <= widest)
        return take_on_one(room, gpus, taken);
    uint32_t n_whole = gpus > widest ? gpus / widest : 0, rest = gpus - n_whole * widest, n = 0;
    if (!has_nodes(room, n_whole, rest))
        return take_anywhere(room, gpus, taken);
    for (uint32_t node = 0; node < n_nodes; node++)
        n += room->free[node] == widest;
    uint32_t last = rest > 0 ? first_with(room, rest, n_whole) : MURI_NONE;
    if (n < n_whole || (rest > 0 && last == MURI_NONE))
        return false;
    note_range(room, taken, 0, n_nodes);
    for (uint32_t node = 0; node < n_nodes && n_whole > 0; node++)
        if (room->free[node] == widest) {
            room->free[node] = 0;
            note(taken, node, widest);
            n_whole--;
        }
    if (last != MURI_NONE) {
        room->free[last] -= rest;
        note(taken, last, rest);
    }
    return true;
}
