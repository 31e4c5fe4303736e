/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/synergy/round.h"

#include <float.h>

#include "policies/synergy/order.h"
#include "policies/synergy/servers.h"
#include "policies/synergy/tune.h"
#include "sim/base/units.h"

void synergy_find_busy(const struct gsim_ctx *ctx, struct synergy *synergy) {
    synergy->n_busy = 0;
    for (uint32_t i = 0; i < ctx->view->jobs.n_active; i++) {
        uint32_t number = ctx->view->jobs.index[ctx->view->jobs.active[i]];
        if (synergy->may_be_busy[number])
            synergy->busy[synergy->n_busy++] = number;
    }
}

static struct synergy_job *busy_job(const struct synergy *synergy, uint32_t at) {
    return &synergy->job[synergy->busy[at]];
}

static enum gsim_state state_of(const struct gsim_ctx *ctx, const struct synergy_job *job) {
    return (enum gsim_state)ctx->view->jobs.state[job->slot];
}

static bool is_equal(struct gsim_host a, struct gsim_host b) {
    return a.cpus_milli == b.cpus_milli && a.mem_bytes == b.mem_bytes;
}

static void preempt(struct gsim_plan *plan, const struct synergy *synergy,
                    struct synergy_job *job) {
    if (gsim_plan_preempt(plan, job->slot, synergy->way.stop, synergy->way.keep))
        job->is_placed = false;
}

/* --- the end of a round ----------------------------------------------------------------------- */

void synergy_stop_reached(const struct gsim_ctx *ctx, struct gsim_plan *plan,
                          struct synergy *synergy) {
    synergy_find_busy(ctx, synergy);
    for (uint32_t i = 0; i < synergy->n_busy; i++) {
        struct synergy_job *job = busy_job(synergy, i);
        if (job->is_active && job->is_at_end && job->is_placed &&
            state_of(ctx, job) == GSIM_RUNNING)
            preempt(plan, synergy, job);
    }
}

/* Whether the job has made its iterations by the count of the reference. */
static bool is_through(const struct synergy *synergy, const struct synergy_job *job) {
    return synergy->is_reference && job->done >= job->iterations;
}

void synergy_end_round(const struct gsim_ctx *ctx, struct gsim_plan *plan,
                       struct synergy *synergy) {
    for (uint32_t i = 0; i < synergy->n_busy; i++) {
        struct synergy_job *job = busy_job(synergy, i);
        if (!job->is_active || !job->is_chosen)
            continue;
        job->done += job->round_iterations;
        job->n_rounds++;
        job->last_ns = ctx->view->now_ns;
        job->is_at_end = job->is_urgent = false;
        if (is_through(synergy, job) && gsim_plan_end(plan, job->slot)) {
            job->is_active = job->is_placed = false;
            synergy->n_active--;
        } else if (synergy->is_reference && job->is_placed && state_of(ctx, job) == GSIM_RUNNING) {
            preempt(plan, synergy, job);
        }
    }
}

/* --- the next round --------------------------------------------------------------------------- */

/* Whether the job is on its way to GPUs, which it keeps for the round. */
static bool is_on_its_way(const struct gsim_ctx *ctx, const struct synergy_job *job) {
    enum gsim_state state = state_of(ctx, job);
    return job->is_placed && (state == GSIM_STARTING || state == GSIM_RESUMING);
}

/* A node has failed: its job waits again. */
static void notice_failure(const struct gsim_ctx *ctx, struct synergy_job *job) {
    enum gsim_state state = state_of(ctx, job);
    job->is_placed &= state == GSIM_STARTING || state == GSIM_RESUMING || state == GSIM_RUNNING;
}

static void choose(struct gsim_ctx *ctx, struct synergy *synergy) {
    uint32_t n_gpus = 0;
    synergy_clear_servers(ctx, synergy);
    for (uint32_t i = 0; i < synergy->n_busy; i++) {
        struct synergy_job *job = busy_job(synergy, i);
        job->is_chosen = false;
        notice_failure(ctx, job);
        synergy->may_be_busy[synergy->busy[i]] = job->is_placed;
        if (job->is_active && is_on_its_way(ctx, job))
            synergy_book_again(ctx, synergy, ctx->view->jobs.index[job->slot]);
    }
    for (uint32_t node = 0; node < ctx->view->cluster.n_nodes; node++)
        n_gpus += synergy->server[node].gpus;
    synergy_find_order(ctx, synergy, n_gpus);
    for (uint32_t number; n_gpus > 0 && synergy_next_in_line(synergy, &number);) {
        const struct synergy_job *job = &synergy->job[number];
        if (job->gpus > n_gpus)
            continue;
        synergy_offer(ctx, synergy, number);
        n_gpus -= job->is_chosen ? job->gpus : 0;
    }
}

/* Whether the round gives the job what it has. */
static bool keeps_place(const struct gsim_ctx *ctx, const struct synergy_job *job) {
    const uint32_t *node_of_gpu = ctx->view->cluster.node_of_gpu;
    if (!job->is_placed || !job->is_chosen || !is_equal(job->each, job->had))
        return false;
    for (uint32_t u = 0; u < job->gpus; u++)
        if (node_of_gpu[job->units[u].gpu] != job->node[u])
            return false;
    return true;
}

/* Names the GPUs of a job that the round moves: the first ones that are free on its nodes. */
static void name_gpus(const struct gsim_ctx *ctx, struct synergy *synergy, uint32_t number) {
    struct synergy_job *job = &synergy->job[number];
    const uint32_t *first = ctx->view->cluster.node_first_gpu;
    for (uint32_t u = 0; u < job->gpus; u++) {
        uint32_t gpu = first[job->node[u]];
        while (synergy->owner[gpu] != GSIM_NO_OWNER)
            gpu++;
        synergy->owner[gpu] = number;
        job->units[u] = (struct gsim_unit){.gpu = gpu};
    }
    job->had = job->each;
}

/* The iterations that fit into a round, as the program divides: by the time of one, where 300 s by
 * 0.30000000000000004 s are 999. Of the times that have this speed the shortest counts, since the
 * time itself is not known; four at most have one reciprocal. */
static int64_t fitting(const struct synergy *synergy, double per_s) {
    enum { MOST_ALIKE = 4 };
    const double before = 1 - DBL_EPSILON / 2; /* the next smaller number */
    double iteration_s = 1 / per_s;
    for (int i = 0; i < MOST_ALIKE && !(1 / (iteration_s * before) > per_s); i++)
        iteration_s *= before;
    return (int64_t)((double)synergy->round_ns / (double)GSIM_NS_PER_S / iteration_s);
}

/* The speed that the round gives the job. */
static double speed_of(const struct synergy_job *job) {
    return is_equal(job->each, job->wants) ? job->wants_per_s : job->fair_per_s;
}

void synergy_begin_round(struct gsim_ctx *ctx, struct gsim_plan *plan, struct synergy *synergy) {
    choose(ctx, synergy);
    for (uint32_t i = 0; i < synergy->n_order; i++)
        synergy->may_be_busy[synergy->order[i]] |= synergy->job[synergy->order[i]].is_chosen;
    synergy_find_busy(ctx, synergy);
    for (uint32_t i = 0; i < synergy->n_busy; i++) {
        struct synergy_job *job = busy_job(synergy, i);
        if (keeps_place(ctx, job))
            for (uint32_t u = 0; u < job->gpus; u++)
                synergy->owner[job->units[u].gpu] = ctx->view->jobs.index[job->slot];
        else if (job->is_active && job->is_placed && state_of(ctx, job) == GSIM_RUNNING)
            preempt(plan, synergy, job);
    }
    for (uint32_t i = 0; i < synergy->n_order; i++) {
        struct synergy_job *job = &synergy->job[synergy->order[i]];
        if (!job->is_chosen)
            continue;
        job->now_per_s = speed_of(job);
        job->round_iterations = synergy->is_reference ? fitting(synergy, job->now_per_s) : 0;
        if (!job->is_placed)
            name_gpus(ctx, synergy, synergy->order[i]);
    }
    synergy->n_unplaced = 0;
    for (uint32_t i = 0; i < synergy->n_busy; i++) {
        const struct synergy_job *job = busy_job(synergy, i);
        if (job->is_active && job->is_chosen && !job->is_placed)
            synergy->unplaced[synergy->n_unplaced++] = ctx->view->jobs.index[job->slot];
    }
}

/* What the job makes in a ns at most, on its GPUs of the round. */
static int64_t in_a_ns(const struct gsim_ctx *ctx, const struct synergy_job *job) {
    struct gsim_where where = {
        .type = ctx->view->cluster.type[0], .gpus = job->gpus, .host = job->had};
    return (int64_t)(gsim_ask_rate(ctx, job->slot, &where).pace_q32 / GSIM_RATE_ONE) + 1;
}

/* In the reference a job makes whole iterations, and does not end before its round: it stops a ns
 * before it would. */
static void watch(const struct gsim_ctx *ctx, struct gsim_plan *plan,
                  const struct synergy_job *job) {
    int64_t made = job->done + job->round_iterations;
    int64_t service_ns = gsim_ask_service_ns(ctx, job->slot, made);
    if (made >= job->iterations)
        service_ns -= in_a_ns(ctx, job);
    gsim_plan_watch(plan, job->slot, GSIM_WATCH_ATTAINED, service_ns);
}

/* Whether the job has the round's GPUs, or is done. */
static bool is_served(struct gsim_ctx *ctx, struct gsim_plan *plan, const struct synergy *synergy,
                      struct synergy_job *job) {
    if (!job->is_active)
        return true;
    if (!gsim_state_waits(state_of(ctx, job)) ||
        !gsim_plan_place_beside(plan, job->slot, job->units, job->gpus, job->had))
        return false;
    job->is_placed = true;
    if (synergy->is_reference)
        watch(ctx, plan, job);
    return true;
}

void synergy_place(struct gsim_ctx *ctx, struct gsim_plan *plan, struct synergy *synergy) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < synergy->n_unplaced; i++)
        if (!is_served(ctx, plan, synergy, &synergy->job[synergy->unplaced[i]]))
            synergy->unplaced[n++] = synergy->unplaced[i];
    synergy->n_unplaced = n;
}

/* Whether a job of the round has its GPUs, or is on its way to or from some. */
static bool is_any_there(const struct gsim_ctx *ctx, const struct synergy *synergy) {
    bool is_there = false;
    for (uint32_t i = 0; i < synergy->n_busy; i++) {
        const struct synergy_job *job = busy_job(synergy, i);
        is_there |= job->is_active && (job->is_placed || !gsim_state_waits(state_of(ctx, job)));
    }
    return is_there;
}

/* A paused job goes on on the GPUs that have its memory. */
static void take_home(const struct gsim_ctx *ctx, struct gsim_plan *plan, struct synergy *synergy,
                      gsim_slot slot) {
    const struct gsim_unit *home;
    struct synergy_job *job = &synergy->job[ctx->view->jobs.index[slot]];
    uint32_t n = gsim_ask_home(ctx, slot, &home);
    if (n != job->gpus || job->is_placed ||
        !gsim_plan_place_beside(plan, slot, home, n, synergy->fair))
        return;
    for (uint32_t u = 0; u < n; u++)
        job->units[u] = home[u];
    job->had = job->each = synergy->fair;
    job->now_per_s = job->fair_per_s;
    job->is_placed = job->is_chosen = true;
    synergy->may_be_busy[ctx->view->jobs.index[slot]] = true;
}

void synergy_take_home(const struct gsim_ctx *ctx, struct gsim_plan *plan,
                       struct synergy *synergy) {
    if (synergy->n_unplaced == 0 || is_any_there(ctx, synergy))
        return;
    for (uint32_t i = 0; i < ctx->view->jobs.n_active; i++)
        if (ctx->view->jobs.state[ctx->view->jobs.active[i]] == GSIM_PAUSED)
            take_home(ctx, plan, synergy, ctx->view->jobs.active[i]);
}
