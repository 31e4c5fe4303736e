/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The baseline that Muri's simulator names after Themis (Mahajan et al., NSDI 2020): at each event
 * the shares x of time that make the worst finish-time fairness least, and jobs in the order of
 * x over the time that they have had. A job's fairness is its time since submission plus the time
 * that is left over x, by its time alone on an equal part of the cluster; in place of that part's
 * speed stands the part itself, as there. The simulator hands this to ECOS, as Gavel's does: one
 * device type, and shares of finish-time fairness (policies/lib/shares.h). */
#include "policies/muri/themis.h"

#include "policies/lib/shares.h"
#include "policies/muri/order.h"
#include "policies/muri/pack.h"
#include "policies/muri/room.h"

/* What a job has had, between events. */
struct share {
    double alone; /* the job's equal part of the cluster */
    double so_far, last_left, due; /* due: the time that its shares promised it */
    bool is_known;
};

struct muri_themis {
    struct share *share; /* by job */
    struct gsim_shares shares;
    struct gsim_share_job *job; /* by place in the order */
    struct gsim_share_entry *entry;
    double last;
};

static void *array(struct gsim_ctx *ctx, const struct muri *muri, size_t size) {
    return gsim_arena_array(ctx->arena, muri->n_jobs, size);
}

enum gsim_status muri_themis_open(struct gsim_ctx *ctx, struct muri *muri) {
    struct muri_themis *themis = gsim_arena_array(ctx->arena, 1, sizeof *themis);
    muri->themis = themis;
    if (!themis || !(themis->share = array(ctx, muri, sizeof *themis->share)) ||
        !(themis->job = array(ctx, muri, sizeof *themis->job)) ||
        !(themis->entry = array(ctx, muri, sizeof *themis->entry)))
        return gsim_no_memory(ctx->log, "opening muri");
    themis->shares.lp.arena = ctx->arena;
    themis->shares.job = themis->job;
    themis->shares.entry = themis->entry;
    themis->shares.n_types = 1;
    themis->shares.is_as_gavel = true;
    themis->shares.gpus[0] = muri->n_gpus;
    return GSIM_OK;
}

static struct share *nth(const struct muri *muri, uint32_t i) {
    return &muri->themis->share[muri->order[i]];
}

static const struct muri_job *job_of(const struct muri *muri, uint32_t i) {
    return &muri->job[muri->order[i]];
}

/* The job's time alone on its part, as it was and is. */
static double time_alone(struct share *share, double left, double part) {
    if (share->is_known)
        share->so_far += (share->last_left - left) / share->alone;
    share->alone = part > 1 ? 1 : part;
    share->is_known = true;
    share->last_left = left;
    return share->so_far + left / share->alone;
}

static void describe(const struct muri *muri, double now) {
    struct gsim_shares *shares = &muri->themis->shares;
    uint32_t n = muri->n_order;
    double part = (muri->n_gpus + n - 1) / n; /* whole GPUs */
    for (uint32_t i = 0; i < n; i++) {
        const struct muri_job *job = job_of(muri, i);
        muri->themis->job[i] = (struct gsim_share_job){
            .gpus = job->gpus,
            .weight = 1,
            .count = 1,
            .left = job->left,
            .age_s = now - job->submit,
            .alone_s = time_alone(nth(muri, i), job->left, part / job->gpus)};
        muri->themis->entry[i] = (struct gsim_share_entry){.job = {i, GSIM_SHARE_ALONE},
                                                           .per_s = {{1 / job->iteration}}};
    }
    shares->n_jobs = shares->n_entries = n;
}

static void rank(struct muri *muri, double now) {
    for (uint32_t i = 0; i < muri->n_order; i++) {
        struct muri_job *job = &muri->job[muri->order[i]];
        struct share *share = nth(muri, i);
        double x = muri->themis->entry[i].share[0];
        job->rank = -(job->executed > 0 ? x / job->executed : x * 1e9);
        job->second = -(share->due - job->executed);
        share->due += x * (now - muri->themis->last);
    }
}

/* Without shares, which is where no speeds can be compared, the jobs keep their order. */
static bool find_shares(const struct muri *muri) {
    return muri->n_order > 0 && gsim_shares_finish_time(&muri->themis->shares) == GSIM_LP_OPTIMAL;
}

void muri_themis(struct muri *muri, double now) {
    if (muri->n_order > 0)
        describe(muri, now);
    if (find_shares(muri))
        rank(muri, now);
    muri_sort_by_ranks(muri, muri->order, muri->n_order);
    muri_room_clear(&muri->room);
    for (uint32_t i = 0; i < muri->n_order; i++) {
        struct muri_job *job = &muri->job[muri->order[i]];
        job->runs = muri_room_take(&muri->room, job->gpus, NULL);
    }
    muri_sort_by_width(muri, muri->order, muri->n_order);
    muri_room_clear(&muri->room);
    for (uint32_t i = 0; i < muri->n_order; i++) {
        struct muri_job *job = &muri->job[muri->order[i]];
        job->runs = job->runs && muri_room_take(&muri->room, job->gpus, NULL);
    }
    muri_pack_alone(muri);
    muri->themis->last = now;
}
