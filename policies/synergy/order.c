/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of jobs. Its keys are doubles of + - x / only, in the order of operations of the
 * authors' simulator, because ties are decided by the last bit; they stay in the policy. */
#include "policies/synergy/order.h"
#include "policies/lib/common.h"
#include "policies/lib/heap.h"
#include "policies/lib/rounds.h"

static const int64_t patience_ns = 1000 * INT64_C(3600) * GSIM_NS_PER_S;

static double seconds(int64_t ns) {
    return (double)ns / (double)GSIM_NS_PER_S;
}

/* Iterations that are left. */
static double left(const struct gsim_ctx *ctx, const struct synergy *synergy,
                   const struct synergy_job *job) {
    if (synergy->is_reference)
        return (double)(job->iterations - job->done);
    double all_ns = (double)gsim_ask_service_ns(ctx, job->slot, job->iterations);
    double part = (double)gsim_attained_ns(ctx->view, job->slot) / all_ns;
    return (double)job->iterations - (double)job->iterations * part;
}

/* The time that the job's iterations would take: with its fair part of a server, or in the other
 * modes as it went in the last round. */
static double left_s(const struct gsim_ctx *ctx, const struct synergy *synergy,
                     const struct synergy_job *job) {
    double fair_s = 1 / job->fair_per_s * left(ctx, synergy, job);
    if (synergy->mode == SYNERGY_FAIR)
        return fair_s;
    double per_s = synergy->is_reference ? job->now_per_s : job->wants_per_s;
    return fair_s / (per_s / job->fair_per_s);
}

/* Its GPU time. That of the simulator is a product of seconds, where 3 x 0.1 is not 0.3. Products
 * of whole ns are as large for jobs that have had as much, so that the first to come goes first. */
static double attained(const struct gsim_ctx *ctx, const struct synergy *synergy,
                       const struct synergy_job *job) {
    if (synergy->is_reference)
        return seconds(job->n_rounds * synergy->round_ns) * (double)job->gpus;
    return (double)gsim_common_times(gsim_ran_ns(ctx->view, job->slot), job->gpus);
}

/* The factor on a job's time alone by which it is slowed down. The reference's program begins with
 * the least, which is the opposite of fair. */
static double unfairness(const struct gsim_ctx *ctx, const struct synergy *synergy,
                         const struct synergy_job *job) {
    double age_s = seconds(ctx->view->now_ns) - seconds(ctx->view->jobs.submit_ns[job->slot]);
    double alone_s = 1 / job->fair_per_s * (double)job->iterations;
    double ratio = (age_s + left_s(ctx, synergy, job)) / alone_s;
    return synergy->is_reference ? ratio : -ratio;
}

static double key_of(const struct gsim_ctx *ctx, const struct synergy *synergy,
                     const struct synergy_job *job) {
    switch (synergy->rule) {
    case SYNERGY_SRTF:
        return left_s(ctx, synergy, job);
    case SYNERGY_LAS:
        return attained(ctx, synergy, job);
    case SYNERGY_FTF:
        return unfairness(ctx, synergy, job);
    case SYNERGY_FIFO:
        break;
    }
    return 0;
}

struct ranked {
    double key;
    int64_t submit_ns;
    uint32_t number;
    bool is_urgent;
};

static int by_rank(const void *left_side, const void *right_side) {
    const struct ranked *a = left_side, *b = right_side;
    if (a->is_urgent != b->is_urgent)
        return a->is_urgent ? -1 : 1;
    if (a->key < b->key || a->key > b->key)
        return a->key < b->key ? -1 : 1;
    if (a->submit_ns != b->submit_ns)
        return a->submit_ns < b->submit_ns ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

static uint32_t first_of(struct synergy *synergy) {
    return ((const struct ranked *)gsim_heap_take(&synergy->line))->number;
}

/* Orders the first jobs for which there are GPUs; jobs that do not fit are passed over. */
static void cut(struct synergy *synergy, uint32_t n_gpus) {
    while (synergy->line.n > 0 && n_gpus > 0) {
        uint32_t number = first_of(synergy);
        if (synergy->job[number].gpus > n_gpus)
            continue;
        n_gpus -= synergy->job[number].gpus;
        synergy->order[synergy->n_order++] = number;
    }
    synergy->line.n = 0;
}

static void widest_first(struct synergy *synergy) {
    for (uint32_t i = 1; i < synergy->n_order; i++) {
        uint32_t number = synergy->order[i], at = i;
        for (; at > 0 && synergy->job[synergy->order[at - 1]].gpus < synergy->job[number].gpus;
             at--)
            synergy->order[at] = synergy->order[at - 1];
        synergy->order[at] = number;
    }
}

/* The jobs that are not on their way, by rank. */
static struct gsim_heap line_up(const struct gsim_ctx *ctx, const struct synergy *synergy) {
    const struct gsim_view *view = ctx->view;
    struct ranked *ranked = synergy->ranked;
    size_t n = 0;
    for (uint32_t i = 0; i < view->jobs.n_active; i++) {
        gsim_slot slot = view->jobs.active[i];
        struct synergy_job *job = &synergy->job[view->jobs.index[slot]];
        if (!job->is_active || job->is_chosen) /* it is on its way, and keeps its GPUs */
            continue;
        job->is_urgent |= !job->is_placed && view->now_ns - job->last_ns > patience_ns;
        ranked[n++] = (struct ranked){key_of(ctx, synergy, job), view->jobs.submit_ns[slot],
                                      view->jobs.index[slot], job->is_urgent};
        if (synergy->rule != SYNERGY_LAS)
            job->now_per_s = job->wants_per_s;
    }
    return (struct gsim_heap){ranked, n, sizeof *ranked, by_rank};
}

/* --- first come, first served ----------------------------------------------------------------- */

/* This order stays, and jobs stand in it all the time. A round looks at as many of them as it finds
 * GPUs for, and at those between that do not fit. */

static bool came_before(const struct synergy *synergy, uint32_t number, uint32_t other) {
    int64_t a_ns = synergy->job[number].submit_ns, b_ns = synergy->job[other].submit_ns;
    return a_ns != b_ns ? a_ns < b_ns : number < other;
}

static void drop_gone(struct synergy *synergy) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < synergy->n_queue; i++) {
        struct synergy_job *job = &synergy->job[synergy->queue[i]];
        job->is_queued = job->is_active;
        if (job->is_active)
            synergy->queue[n++] = synergy->queue[i];
    }
    synergy->n_queue = n;
    synergy->n_gone = 0;
}

void synergy_leave_queue(struct synergy *synergy, uint32_t number) {
    synergy->n_gone += synergy->job[number].is_queued;
    if (synergy->n_gone > synergy->n_queue / 2)
        drop_gone(synergy);
}

void synergy_queue_up(struct synergy *synergy, uint32_t number) {
    uint32_t at = synergy->n_queue++;
    for (; at > 0 && came_before(synergy, number, synergy->queue[at - 1]); at--)
        synergy->queue[at] = synergy->queue[at - 1];
    synergy->queue[at] = number;
    synergy->job[number].is_queued = true;
}

static bool next_queued(struct synergy *synergy, uint32_t *number) {
    while (synergy->next_queued < synergy->n_queue) {
        *number = synergy->queue[synergy->next_queued++];
        const struct synergy_job *job = &synergy->job[*number];
        if (job->is_active && !job->is_chosen) /* else it is on its way, and keeps its GPUs */
            return true;
    }
    return false;
}

/* --- a round ---------------------------------------------------------------------------------- */

bool synergy_open_order(const struct gsim_ctx *ctx, struct synergy *synergy) {
    uint32_t n = ctx->view->trace->n_jobs;
    synergy->ranked = gsim_arena_array(ctx->arena, n, sizeof(struct ranked));
    synergy->order = gsim_arena_array(ctx->arena, n, sizeof *synergy->order);
    synergy->queue = gsim_arena_array(ctx->arena, n, sizeof *synergy->queue);
    return synergy->ranked && synergy->order && synergy->queue;
}

void synergy_find_order(const struct gsim_ctx *ctx, struct synergy *synergy, uint32_t n_gpus) {
    synergy->n_order = synergy->n_offered = synergy->next_queued = 0;
    if (synergy->rule == SYNERGY_FIFO)
        return;
    synergy->line = line_up(ctx, synergy);
    gsim_heap_pile(&synergy->line);
    if (synergy->rule != SYNERGY_LAS)
        return;
    cut(synergy, n_gpus);
    if (synergy->mode == SYNERGY_TUNE)
        widest_first(synergy);
    for (uint32_t i = 0; i < synergy->n_order; i++)
        synergy->job[synergy->order[i]].now_per_s = synergy->job[synergy->order[i]].wants_per_s;
}

bool synergy_next_in_line(struct synergy *synergy, uint32_t *number) {
    if (synergy->line.n > 0)
        synergy->order[synergy->n_order++] = first_of(synergy);
    else if (synergy->rule == SYNERGY_FIFO && next_queued(synergy, number))
        synergy->order[synergy->n_order++] = *number;
    if (synergy->n_offered == synergy->n_order)
        return false;
    *number = synergy->order[synergy->n_offered++];
    return true;
}
