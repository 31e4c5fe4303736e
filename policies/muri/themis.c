/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The baseline that Muri's simulator names after Themis (Mahajan et al., NSDI 2020): at each event
 * the shares x of time that make the worst finish-time fairness least, and jobs in the order of
 * x over the time that they have had. A job's fairness is its time since submission plus the time
 * that is left over x, by its time alone on an equal part of the cluster; in place of that part's
 * speed stands the part itself, as there.
 *
 * The simulator hands this to ECOS. Where the cluster is full at the optimum, the shares are
 * unique: each job has the least with which it is no worse than the worst. Where one job is the
 * worst even with all of its GPUs, the other shares are free within bounds, and the solver's method
 * tells them apart: it comes to the analytic centre of all optima, which is computed here. The last
 * digits of the solver, by which it tells equal jobs apart, are not. */
#include "policies/muri/themis.h"

#include "policies/muri/order.h"
#include "policies/muri/pack.h"
#include "policies/muri/room.h"

enum { STEPS = 200 }; /* halvings: past the last digit */

struct share {
    double alone, least, x; /* the job's equal part of the cluster; its least share; its share */
    /* seconds since its submission; seconds until its end, alone on all of its GPUs */
    double elapsed, left;
    double fair; /* seconds that the job would take alone on its equal part */
    double so_far, last_left, last_alone, due;
    bool is_known;
};

struct muri_themis {
    struct share *share; /* by job */
    double last;
};

enum gsim_status muri_themis_open(struct gsim_ctx *ctx, struct muri *muri) {
    muri->themis = gsim_arena_array(ctx->arena, 1, sizeof *muri->themis);
    if (!muri->themis || !(muri->themis->share = gsim_arena_array(ctx->arena, muri->n_jobs,
                                                                  sizeof *muri->themis->share)))
        return gsim_no_memory(ctx->log, "opening muri");
    return GSIM_OK;
}

static struct share *nth(const struct muri *muri, uint32_t i) {
    return &muri->themis->share[muri->order[i]];
}

static const struct muri_job *job_of(const struct muri *muri, uint32_t i) {
    return &muri->job[muri->order[i]];
}

static void read_shares(struct muri *muri, double now) {
    uint32_t n = muri->n_order;
    double part = (muri->n_gpus + n - 1) / n; /* whole GPUs */
    for (uint32_t i = 0; i < n; i++) {
        const struct muri_job *job = job_of(muri, i);
        struct share *share = nth(muri, i);
        double alone = part / job->gpus;
        share->alone = alone > 1 ? 1 : alone;
        if (share->is_known)
            share->so_far += (share->last_left - job->left) / share->last_alone;
        share->fair = share->so_far + job->left / share->alone;
        share->elapsed = now - job->submit;
        share->left = job->left * job->iteration;
        share->is_known = true;
        share->last_left = job->left;
        share->last_alone = share->alone;
    }
}

/* The GPUs that all jobs need for none to be worse than this; more than there are where some job
 * cannot be. */
static double needed(const struct muri *muri, double worst) {
    double gpus = 0;
    for (uint32_t i = 0; i < muri->n_order; i++) {
        struct share *share = nth(muri, i);
        double room = worst * share->fair - share->elapsed;
        share->least = room > share->left ? share->left / room : 1;
        gpus += share->least * job_of(muri, i)->gpus;
    }
    return gpus;
}

/* The worst fairness of a job with all of its GPUs. */
static double worst_with_all(const struct muri *muri) {
    double worst = 0;
    for (uint32_t i = 0; i < muri->n_order; i++) {
        const struct share *share = nth(muri, i);
        double value = (share->elapsed + share->left) / share->fair;
        worst = value > worst ? value : worst;
    }
    return worst;
}

/* The share between the least and 1 at the centre, where a GPU has this price. */
static double centre_of(const struct share *share, double price) {
    double low = share->least, high = 1;
    for (int step = 0; step < STEPS / 4; step++) {
        double x = (low + high) / 2;
        if (1.5 / (x - share->least) - 1 / (1 - x) > price)
            low = x;
        else
            high = x;
    }
    return low;
}

static double give_centres(const struct muri *muri, double price) {
    double gpus = 0;
    for (uint32_t i = 0; i < muri->n_order; i++) {
        struct share *share = nth(muri, i);
        double each = job_of(muri, i)->gpus;
        share->x = share->least < 1 ? centre_of(share, price * each) : 1;
        gpus += share->x * each;
    }
    return gpus;
}

/* The centre: a GPU's price is one over those that are left. */
static void find_centre(const struct muri *muri) {
    double low = 0, high = 1e12;
    for (int step = 0; step < STEPS / 2; step++) {
        double price = (low + high) / 2, left = muri->n_gpus - give_centres(muri, price);
        if (left <= 0 || price * left < 1)
            low = price;
        else
            high = price;
    }
}

static void find_shares(const struct muri *muri) {
    double low = worst_with_all(muri), high = low > 0 ? low : 1;
    if (needed(muri, low) <= muri->n_gpus) {
        find_centre(muri);
        return;
    }
    while (needed(muri, high) > muri->n_gpus)
        high *= 2;
    for (int step = 0; step < STEPS; step++) {
        double worst = (low + high) / 2;
        if (needed(muri, worst) > muri->n_gpus)
            low = worst;
        else
            high = worst;
    }
    (void)needed(muri, high);
    for (uint32_t i = 0; i < muri->n_order; i++)
        nth(muri, i)->x = nth(muri, i)->least;
}

static void rank(struct muri *muri, double now) {
    for (uint32_t i = 0; i < muri->n_order; i++) {
        struct muri_job *job = &muri->job[muri->order[i]];
        struct share *share = nth(muri, i);
        job->rank = -(job->executed > 0 ? share->x / job->executed : share->x * 1e9);
        job->second = -(share->due - job->executed);
        share->due += share->x * (now - muri->themis->last);
    }
}

void muri_themis(struct muri *muri, double now) {
    if (muri->n_order > 0) {
        read_shares(muri, now);
        find_shares(muri);
        rank(muri, now);
    }
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
