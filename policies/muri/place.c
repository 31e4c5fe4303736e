/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/muri/place.h"

#include <string.h>

#include "policies/muri/room.h"

/* --- the GPUs of packings --------------------------------------------------------------------- */

static void want(const struct muri *muri, const struct muri_packing *packing,
                 const struct gsim_unit *units) {
    for (uint32_t i = 0; i < packing->n; i++) {
        struct muri_job *job = &muri->job[packing->job[i]];
        memmove(job->wanted, units, job->gpus * sizeof *units);
        job->has_wanted = true;
    }
}

static bool are_free(const struct muri *muri, const struct muri_job *job) {
    for (uint32_t u = 0; u < job->gpus; u++) {
        uint32_t gpu = job->units[u].gpu, node = muri->room.cluster->node_of_gpu[gpu];
        if (muri->use[gpu] != MURI_FREE || muri->room.cluster->node_is_down[node])
            return false;
    }
    return true;
}

static void own(struct muri *muri, const struct muri_packing *packing,
                const struct gsim_unit *units) {
    for (uint32_t u = 0; u < packing->gpus; u++) {
        muri->use[units[u].gpu] = MURI_TAKEN;
        muri->room.free[muri->room.cluster->node_of_gpu[units[u].gpu]]--;
    }
    want(muri, packing, units);
}

static void keep(struct muri *muri, const struct muri_packing *packing) {
    for (uint32_t i = 0; i < packing->n; i++) {
        const struct muri_job *job = &muri->job[packing->job[i]];
        if (job->is_placed && are_free(muri, job)) {
            own(muri, packing, job->units);
            return;
        }
    }
}

/* The first free GPUs: of each node the number that was taken, or (taken NULL) anywhere. */
static void find(struct muri *muri, const struct muri_packing *packing, const uint32_t *taken) {
    const struct gsim_view_cluster *cluster = muri->room.cluster;
    struct gsim_unit *units = muri->job[packing->job[0]].wanted;
    uint32_t n = 0, gpus = packing->gpus;
    uint32_t first = taken ? muri->room.first_taken : 0;
    uint32_t end = taken ? muri->room.end_taken : cluster->n_nodes;
    for (uint32_t node = first; node < end; node++) {
        uint32_t here = taken ? taken[node] : gpus - n;
        for (uint32_t gpu = cluster->node_first_gpu[node];
             gpu < cluster->node_first_gpu[node + 1] && here > 0 && n < gpus; gpu++)
            if (muri->use[gpu] == MURI_FREE && !cluster->node_is_down[node]) {
                units[n++] = (struct gsim_unit){.gpu = gpu};
                here--;
            }
    }
    own(muri, packing, units);
    if (taken) /* the room was counted as taken already */
        for (uint32_t u = 0; u < gpus; u++)
            muri_room_give(&muri->room, cluster->node_of_gpu[units[u].gpu]);
}

bool muri_find(struct muri *muri, struct muri_job *job) {
    struct muri_packing packing = {.n = 1, .gpus = job->gpus, .job = {(uint32_t)(job - muri->job)}};
    bool is_found = muri_room_take(&muri->room, job->gpus, muri->scratch);
    if (is_found)
        find(muri, &packing, muri->scratch);
    return is_found;
}

void muri_leave(struct muri *muri, const struct muri_job *job) {
    for (uint32_t u = 0; u < job->gpus; u++) {
        muri->use[job->wanted[u].gpu] = MURI_FREE;
        muri_room_give(&muri->room, muri->room.cluster->node_of_gpu[job->wanted[u].gpu]);
    }
}

static bool is_wide_first(const struct muri *muri, uint32_t gpus, uint32_t *next) {
    *next = 0;
    for (uint32_t p = 0; p < muri->packings.n; p++)
        if (muri->packings.list[p].is_granted && muri->packings.list[p].gpus < gpus &&
            muri->packings.list[p].gpus > *next)
            *next = muri->packings.list[p].gpus;
    return *next > 0;
}

static bool has_gpus(const struct muri *muri, const struct muri_packing *packing) {
    return muri->job[packing->job[0]].has_wanted;
}

void muri_clear(struct muri *muri) {
    muri_room_clear(&muri->room);
    memset(muri->use, MURI_FREE, muri->n_gpus * sizeof *muri->use);
}

/* Widest first; false: one does not fit. */
static bool assign(struct muri *muri, bool keeps, bool is_anywhere) {
    uint32_t gpus = UINT32_MAX;
    muri_clear(muri);
    for (uint32_t i = 0; i < muri->n_order; i++)
        muri->job[muri->order[i]].has_wanted = false;
    for (uint32_t p = 0; p < muri->packings.n && keeps; p++)
        if (muri->packings.list[p].is_granted)
            keep(muri, &muri->packings.list[p]);
    while (is_wide_first(muri, gpus, &gpus))
        for (uint32_t p = 0; p < muri->packings.n; p++) {
            const struct muri_packing *packing = &muri->packings.list[p];
            if (packing->gpus != gpus || !packing->is_granted || has_gpus(muri, packing))
                continue;
            if (!is_anywhere && !muri_room_take(&muri->room, gpus, muri->scratch))
                return false;
            find(muri, packing, is_anywhere ? NULL : muri->scratch);
        }
    return true;
}

void muri_assign(struct muri *muri) {
    muri->is_scattered = !assign(muri, true, false) && !assign(muri, false, false);
    if (!muri->is_scattered)
        return;
    (void)assign(muri, true, true);
}

/* --- jobs on their way ------------------------------------------------------------------------ */

static bool is_where_wanted(const struct muri_job *job) {
    if (!job->is_placed || !job->has_wanted)
        return false;
    for (uint32_t u = 0; u < job->gpus; u++)
        if (job->units[u].gpu != job->wanted[u].gpu)
            return false;
    return true;
}

static void stop(const struct gsim_ctx *ctx, struct gsim_plan *plan, const struct muri *muri,
                 struct muri_job *job) {
    if (job->is_placed && !is_where_wanted(job) &&
        ctx->view->jobs.state[job->slot] == GSIM_RUNNING &&
        gsim_plan_preempt(plan, job->slot, muri->way.stop, muri->way.keep))
        job->is_placed = false;
}

/* Whether one of its GPUs is held by a job that is to leave it, and is not there yet. */
static bool are_taken(const struct muri *muri, const struct muri_job *job) {
    for (uint32_t u = 0; u < job->gpus; u++)
        if (muri->use[job->wanted[u].gpu] == MURI_OUTDATED)
            return true;
    return false;
}

static void note_outdated(struct muri *muri, const uint32_t *list, uint32_t n) {
    muri->is_stuck = false;
    for (uint32_t i = 0; i < n; i++) {
        const struct muri_job *job = &muri->job[list[i]];
        if (!job->is_placed || is_where_wanted(job))
            continue;
        muri->is_stuck = true;
        for (uint32_t u = 0; u < job->gpus; u++)
            muri->use[job->units[u].gpu] = MURI_OUTDATED;
    }
}

void muri_start(const struct gsim_ctx *ctx, struct gsim_plan *plan, const struct muri *muri,
                struct muri_job *job) {
    if (job->is_placed || !job->has_wanted || are_taken(muri, job) ||
        !gsim_state_waits((enum gsim_state)ctx->view->jobs.state[job->slot]) ||
        !gsim_plan_place_on(plan, job->slot, job->wanted, job->gpus))
        return;
    memcpy(job->units, job->wanted, job->gpus * sizeof *job->units);
    job->is_placed = true;
}

void muri_place(const struct gsim_ctx *ctx, struct gsim_plan *plan, struct muri *muri,
                const uint32_t *list, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        stop(ctx, plan, muri, &muri->job[list[i]]);
    note_outdated(muri, list, n);
    muri->is_at_rest = true;
    for (uint32_t i = 0; i < n; i++) {
        struct muri_job *job = &muri->job[list[i]];
        muri_start(ctx, plan, muri, job);
        muri->is_at_rest =
            muri->is_at_rest && (is_where_wanted(job) || (!job->is_placed && !job->has_wanted));
    }
}
