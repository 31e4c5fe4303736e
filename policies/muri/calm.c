/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where all jobs fit, a whole decision gives each GPUs to itself, whatever their order, and those
 * that have theirs keep them. What it would find can be said without it: jobs that have come get
 * the first GPUs that are free, the widest of them first, then the one with the least rank. */
#include "policies/muri/calm.h"

#include <string.h>

#include "policies/muri/order.h"
#include "policies/muri/pack.h"
#include "policies/muri/place.h"
#include "policies/muri/room.h"

/* Of more jobs that come at once a whole decision is made; of fewer dead jobs the order is not
 * cleared. */
enum { MOST_ARRIVALS = 16, MOST_DEAD = 64 };

/* --- whether jobs fit ------------------------------------------------------------------------- */

static bool are_nodes_equal(const struct gsim_view_cluster *cluster) {
    return (uint64_t)cluster->n_nodes * cluster->widest_node == cluster->n_gpus;
}

/* Whether of any two gangs the narrower one divides the wider one, and so with nodes. Then the free
 * GPUs of a node are fewer than the narrowest gang of each later node in use, which is a part of
 * what that node has free: all of them are too few only where their sum is. */
static bool are_chained(const struct muri *muri, const bool *has, uint32_t widest_node) {
    uint32_t last = 1;
    for (uint32_t gpus = 2; gpus <= widest_node; gpus++) {
        if (!has[gpus] && gpus != widest_node)
            continue;
        if (gpus % last > 0)
            return false;
        last = gpus;
    }
    for (uint32_t i = 0; i < muri->n_jobs; i++)
        if (muri->job[i].gpus > widest_node && muri->job[i].gpus % widest_node > 0)
            return false;
    return !has[0];
}

bool muri_calm_open(struct gsim_ctx *ctx, struct muri *muri) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    uint32_t widest = 1;
    bool *has = gsim_arena_array(ctx->arena, cluster->widest_node + (size_t)1, sizeof *has);
    if (!has)
        return false;
    for (uint32_t i = 0; i < muri->n_jobs; i++) {
        uint32_t gpus = muri->job[i].gpus;
        widest = gpus > widest ? gpus : widest;
        if (gpus <= cluster->widest_node)
            has[gpus] = true;
    }
    if (are_nodes_equal(cluster) && are_chained(muri, has, cluster->widest_node))
        muri->n_lost_gpus = 0;
    else if (widest <= cluster->widest_node) /* no node has room: each has one less at most */
        muri->n_lost_gpus = (uint64_t)cluster->n_nodes * (widest - 1);
    else
        muri->n_lost_gpus = cluster->n_gpus;
    return true;
}

void muri_calm_note(struct muri *muri) {
    muri->n_dead = 0;
    muri->n_held_gpus = 0;
    muri->is_calm = muri->is_at_rest && !muri->lines;
    for (uint32_t i = 0; i < muri->n_order && muri->is_calm; i++) {
        muri->is_calm = muri->job[muri->order[i]].is_placed;
        muri->n_held_gpus += muri->job[muri->order[i]].gpus;
    }
    for (uint32_t p = 0; p < muri->packings.n && muri->is_calm; p++)
        muri->is_calm = muri->packings.list[p].n == 1;
}

/* --- the order -------------------------------------------------------------------------------- */

/* The jobs of the order stand by width, and by rank: of two of one width the first one stays first
 * while both run, or neither does. */
static bool is_in_order(const struct muri_job *a, const struct muri_job *b) {
    return a->gpus > b->gpus || (a->gpus == b->gpus && a->rank <= b->rank);
}

static void insert(const struct gsim_ctx *ctx, struct muri *muri, uint32_t number) {
    uint32_t from = 0, to = muri->n_order;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2, at = middle;
        while (at < to && !muri->job[muri->order[at]].is_active)
            at++;
        struct muri_job *other = at < to ? &muri->job[muri->order[at]] : NULL;
        if (other)
            other->rank = muri_own_rank(ctx, muri, other);
        if (other && is_in_order(other, &muri->job[number]))
            from = at + 1;
        else
            to = middle;
    }
    memmove(muri->order + from + 1, muri->order + from,
            (muri->n_order - from) * sizeof *muri->order);
    muri->order[from] = number;
    muri->n_order++;
}

static void forget_dead(struct muri *muri, uint32_t most) {
    if (muri->n_dead <= most)
        return;
    muri->n_order = muri_keep_active(muri, muri->order, muri->n_order);
    muri->n_dead = 0;
}

/* --- an event --------------------------------------------------------------------------------- */

static void take_ended(struct muri *muri) {
    for (uint32_t i = 0; i < muri->n_ended; i++) {
        struct muri_job *job = &muri->job[muri->ended[i]];
        job->is_active = false;
        muri_leave(muri, job);
        muri->n_held_gpus -= job->gpus;
        muri->n_dead++;
    }
}

/* Lists the jobs that have come in the order in which they get GPUs. Of equal ranks a matching, or
 * the packing in order, says which job is the first. */
static bool list_arrivals(const struct gsim_ctx *ctx, struct muri *muri, uint32_t *list) {
    const struct gsim_view *view = ctx->view;
    bool is_stable = muri->n_exclusive == muri->n_jobs && muri->rule != MURI_IN_ORDER;
    uint64_t gpus = muri->n_held_gpus + muri->n_lost_gpus;
    for (uint32_t i = 0; i < view->changes.n_arrived; i++) {
        uint32_t number = view->jobs.index[view->changes.arrived[i]], at = i;
        struct muri_job *job = &muri->job[number];
        job->rank = muri_own_rank(ctx, muri, job);
        for (; at > 0 && !is_in_order(&muri->job[list[at - 1]], job); at--)
            list[at] = list[at - 1];
        list[at] = number;
        const struct muri_job *before = at > 0 ? &muri->job[list[at - 1]] : NULL;
        bool is_tie = before && before->gpus == job->gpus && before->rank == job->rank;
        gpus += job->gpus;
        if (job->is_active || !job->is_here || (is_tie && !is_stable))
            return false;
    }
    return gpus <= muri->n_up_gpus;
}

/* Each job is a packing, for decides without a decision: until the last one has its GPUs. */
static void leave_calm(struct muri *muri) {
    muri->is_calm = muri->is_at_rest = false;
    forget_dead(muri, 0);
    for (uint32_t i = 0; i < muri->n_order; i++)
        muri->job[muri->order[i]].runs = true;
    muri_pack_alone(muri);
}

bool muri_calm(const struct gsim_ctx *ctx, struct gsim_plan *plan, struct muri *muri) {
    uint32_t list[MOST_ARRIVALS], n = ctx->view->changes.n_arrived;
    take_ended(muri);
    if (n > MOST_ARRIVALS || !list_arrivals(ctx, muri, list))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!muri_find(muri, &muri->job[list[i]]))
            return false;
    bool is_calm = true;
    forget_dead(muri, MOST_DEAD);
    for (uint32_t i = 0; i < n; i++) {
        struct muri_job *job = &muri->job[list[i]];
        job->is_active = true;
        insert(ctx, muri, list[i]);
        muri->n_held_gpus += job->gpus;
        muri_start(ctx, plan, muri, job);
        is_calm = is_calm && job->is_placed;
    }
    if (!is_calm)
        leave_calm(muri);
    return true;
}
