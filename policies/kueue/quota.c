/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quota of a tree of cohorts. A node keeps what its lendingLimit does not lend; what it uses beyond
 * that is booked with its cohort too, so that the cohort knows how much it has lent. */
#include "policies/kueue/quota.h"

static struct gsim_kueue_use *use_of(const struct gsim_kueue_state *state, uint32_t node,
                                     uint32_t flavor) {
    return &state->use[(size_t)node * state->conf.n_flavors + flavor];
}

static int64_t at_least_0(int64_t a) {
    return a > 0 ? a : 0;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* What the node does not lend. */
static int64_t kept(const struct gsim_kueue_state *state, uint32_t node, uint32_t flavor) {
    int64_t lending = state->conf.node[node].quota[flavor].lending;
    return lending < 0 ? 0 : at_least_0(use_of(state, node, flavor)->subtree - lending);
}

/* --- opening ---------------------------------------------------------------------------------- */

static uint32_t depth_of(const struct gsim_kueue_state *state, uint32_t node) {
    uint32_t depth = 0;
    for (; state->conf.node[node].parent != GSIM_KUEUE_NONE; depth++)
        node = state->conf.node[node].parent;
    return depth;
}

/* Books a node with its parent: its height, and what it lends. */
static void join(struct gsim_kueue_state *state, uint32_t node) {
    uint32_t parent = state->conf.node[node].parent;
    if (parent == GSIM_KUEUE_NONE)
        return;
    if (state->height[parent] <= state->height[node])
        state->height[parent] = state->height[node] + 1;
    for (uint32_t f = 0; f < state->conf.n_flavors; f++)
        use_of(state, parent, f)->subtree += use_of(state, node, f)->subtree - kept(state, node, f);
}

bool gsim_kueue_quota_open(struct gsim_kueue_state *state, struct gsim_arena *arena) {
    const struct gsim_kueue *conf = &state->conf;
    uint32_t deepest = 0;
    state->use =
        gsim_arena_array(arena, (size_t)conf->n_nodes * conf->n_flavors + 1, sizeof *state->use);
    state->height = gsim_arena_array(arena, conf->n_nodes, sizeof *state->height);
    if (!state->use || !state->height)
        return false;
    for (uint32_t n = 0; n < conf->n_nodes; n++) {
        uint32_t depth = depth_of(state, n);
        deepest = depth > deepest ? depth : deepest;
        for (uint32_t f = 0; f < conf->n_flavors; f++)
            use_of(state, n, f)->subtree = conf->node[n].quota[f].nominal;
    }
    for (uint32_t depth = deepest; depth > 0; depth--)
        for (uint32_t n = 0; n < conf->n_nodes; n++)
            if (depth_of(state, n) == depth)
                join(state, n);
    return true;
}

/* --- questions -------------------------------------------------------------------------------- */

int64_t gsim_kueue_quota_own(const struct gsim_kueue_state *state, uint32_t node, uint32_t flavor) {
    return at_least_0(kept(state, node, flavor) - use_of(state, node, flavor)->used);
}

static int64_t left_of(const struct gsim_kueue_state *state, uint32_t node, uint32_t flavor) {
    const struct gsim_kueue_node *conf = &state->conf.node[node];
    const struct gsim_kueue_use *use = use_of(state, node, flavor);
    if (conf->parent == GSIM_KUEUE_NONE)
        return use->subtree - use->used;
    int64_t left = left_of(state, conf->parent, flavor);
    if (conf->quota[flavor].borrowing >= 0) {
        int64_t own = kept(state, node, flavor), beyond = at_least_0(use->used - own);
        left = least(left, use->subtree - own - beyond + conf->quota[flavor].borrowing);
    }
    return gsim_kueue_quota_own(state, node, flavor) + left;
}

int64_t gsim_kueue_quota_left(const struct gsim_kueue_state *state, uint32_t queue,
                              uint32_t flavor) {
    return at_least_0(left_of(state, queue, flavor));
}

int64_t gsim_kueue_quota_most(const struct gsim_kueue_state *state, uint32_t node,
                              uint32_t flavor) {
    const struct gsim_kueue_node *conf = &state->conf.node[node];
    int64_t subtree = use_of(state, node, flavor)->subtree;
    if (conf->parent == GSIM_KUEUE_NONE)
        return subtree;
    int64_t most = kept(state, node, flavor) + gsim_kueue_quota_most(state, conf->parent, flavor);
    int64_t borrowing = conf->quota[flavor].borrowing;
    return borrowing < 0 ? most : least(most, subtree + borrowing);
}

void gsim_kueue_quota_use(struct gsim_kueue_state *state, uint32_t queue, uint32_t flavor,
                          int64_t gpus) {
    for (uint32_t node = queue; node != GSIM_KUEUE_NONE && gpus != 0;
         node = state->conf.node[node].parent) {
        struct gsim_kueue_use *use = use_of(state, node, flavor);
        int64_t own = kept(state, node, flavor), before = at_least_0(use->used - own);
        use->used += gpus;
        gpus = at_least_0(use->used - own) - before;
    }
}

bool gsim_kueue_quota_borrows(const struct gsim_kueue_state *state, uint32_t node, uint32_t flavor,
                              int64_t gpus) {
    const struct gsim_kueue_use *use = use_of(state, node, flavor);
    return use->used + gpus > use->subtree;
}

int gsim_kueue_quota_height(const struct gsim_kueue_state *state, uint32_t queue, uint32_t flavor,
                            int64_t gpus, bool *is_below) {
    uint32_t node = queue;
    while (gsim_kueue_quota_borrows(state, node, flavor, gpus) &&
           state->conf.node[node].parent != GSIM_KUEUE_NONE) {
        gpus -= gsim_kueue_quota_own(state, node, flavor);
        node = state->conf.node[node].parent;
    }
    *is_below = state->conf.node[node].parent != GSIM_KUEUE_NONE;
    return state->height[node];
}

uint32_t gsim_kueue_quota_root(const struct gsim_kueue_state *state, uint32_t node) {
    while (state->conf.node[node].parent != GSIM_KUEUE_NONE)
        node = state->conf.node[node].parent;
    return node;
}
