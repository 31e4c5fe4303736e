/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loop of rounds: what a round that is over leaves, and which jobs have which GPUs in the
 * next. */
#include <string.h>

#include "policies/gavel/gpus.h"
#include "policies/gavel/loop.h"
#include "policies/gavel/shares.h"
#include "sim/base/units.h"

/* --- the end of a round ----------------------------------------------------------------------- */

/* The time that a choice has run in the round that is over. */
static double ran_s(const struct gavel *gavel, const struct gsim_ctx *ctx,
                    const struct gavel_job *job) {
    if (gavel->is_reference)
        return job->finish_s - gavel->start_s;
    return (double)(ctx->view->now_ns - gavel->began_ns) / (double)GSIM_NS_PER_S;
}

static double finish_of(const struct gavel *gavel, const struct gsim_round_choice *choice) {
    const struct gsim_round_entry *entry = &gavel->rounds.entry[choice->entry];
    double finish_s = gavel->job[entry->member[0]].finish_s;
    if (entry->member[1] != GSIM_NO_MEMBER && gavel->job[entry->member[1]].finish_s > finish_s)
        finish_s = gavel->job[entry->member[1]].finish_s;
    return finish_s;
}

/* Orders the round's choices as the reference ends them: the latest first, then by number. */
static void sort_by_finish(const struct gavel *gavel) {
    struct gsim_round_choice *choice = gavel->choice;
    for (uint32_t i = 1; i < gavel->n_choices; i++) {
        struct gsim_round_choice moved = choice[i];
        double finish_s = finish_of(gavel, &moved);
        uint32_t number = gavel->rounds.entry[moved.entry].member[0], at = i;
        for (; at > 0; at--) {
            double other_s = finish_of(gavel, &choice[at - 1]);
            if (other_s > finish_s ||
                (other_s >= finish_s &&
                 gavel->rounds.entry[choice[at - 1].entry].member[0] < number))
                break;
            choice[at] = choice[at - 1];
        }
        choice[at] = moved;
    }
}

void gavel_read_clock(const struct gsim_ctx *ctx, struct gavel *gavel) {
    gavel->now_s = (double)ctx->view->now_ns / (double)GSIM_NS_PER_S;
    if (!gavel->is_reference || !gavel->is_in_round)
        return;
    if (gavel->has_end)
        gavel->start_s = gavel->end_s;
    gavel->now_s = finish_of(gavel, &gavel->choice[0]);
    gavel->end_s = gavel->now_s;
    gavel->has_end = true;
}

/* Counts the time of a job's round, or that it failed. */
static void count(const struct gsim_ctx *ctx, struct gavel *gavel, struct gavel_job *job,
                  const struct gsim_round_choice *choice) {
    if (job->fails) {
        job->n_failures++;
        gavel->is_due = true;
        return;
    }
    job->n_failures = 0;
    gsim_rounds_credit(&gavel->rounds, &gavel->rounds.entry[choice->entry], choice->type,
                       ran_s(gavel, ctx, job));
    job->done += job->round_iterations;
}

/* The reference gives up a job that failed that often in a row. */
static bool is_given_up(const struct gavel_job *job) {
    enum { MOST_FAILURES = 5 };
    return job->n_failures >= MOST_FAILURES;
}

static bool has_ended(const void *arg, uint32_t number) {
    return ((const struct gavel *)arg)->job[number].has_ended;
}

/* Counts the time of the round, and lets the jobs go that ended in it. */
void gavel_end_round(struct gsim_ctx *ctx, struct gsim_plan *plan, struct gavel *gavel) {
    if (gavel->is_reference)
        sort_by_finish(gavel);
    gavel_read_clock(ctx, gavel);
    for (uint32_t c = 0; c < gavel->n_choices; c++) {
        uint32_t number = gavel->rounds.entry[gavel->choice[c].entry].member[0];
        count(ctx, gavel, &gavel->job[number], &gavel->choice[c]);
    }
    uint32_t *gone = gavel->arrived + gavel->n_arrived, n_gone = 0;
    for (uint32_t c = 0; c < gavel->n_choices; c++) {
        uint32_t number = gavel->rounds.entry[gavel->choice[c].entry].member[0];
        struct gavel_job *job = &gavel->job[number];
        if (is_given_up(job) && gsim_plan_decline(plan, job->slot)) {
            job->is_active = false;
            job->has_ended = true;
        }
        if (job->has_ended)
            gone[n_gone++] = number;
    }
    if (n_gone > 0)
        gsim_rounds_remove(&gavel->rounds, has_ended, gavel);
    for (uint32_t i = 0; i < n_gone; i++) {
        gavel->job[gone[i]].has_ended = false;
        gavel_give_gpus(ctx, gavel, gone[i]);
        gavel->is_due = true;
    }
    gavel->n_choices = 0;
    gavel->is_in_round = false;
}

/* --- the next round --------------------------------------------------------------------------- */

static bool add_arrivals(struct gsim_ctx *ctx, struct gavel *gavel) {
    for (uint32_t i = 0; i < gavel->n_arrived; i++) {
        uint32_t number = gavel->arrived[i];
        const struct gavel_job *job = &gavel->job[number];
        struct gsim_round_entry *entry =
            gsim_rounds_add(&gavel->rounds, number, GSIM_NO_MEMBER, job->gpus);
        if (!entry) {
            ctx->status = gsim_no_memory(ctx->log, "scheduling");
            return false;
        }
        memcpy(entry->per_s[0], job->per_s, sizeof job->per_s);
        gavel->is_due = true;
    }
    gavel->n_arrived = 0;
    return true;
}

static bool share_out(struct gsim_ctx *ctx, struct gavel *gavel) {
    double since_s = gavel->now_s - gavel->reset_s;
    bool is_soon = gavel->reset_s > 0 && since_s < (double)gavel->least_ns / (double)GSIM_NS_PER_S;
    if (!gavel->is_due || is_soon || gavel->rounds.n == 0)
        return true;
    gsim_rounds_settle(&gavel->rounds, since_s);
    gavel->reset_s = gavel->now_s;
    gavel->is_due = false;
    return gavel_share_out(ctx, gavel);
}

static bool choose(struct gsim_ctx *ctx, struct gavel *gavel) {
    uint32_t walk[GSIM_ROUND_TYPES];
    for (uint32_t type = 0; type < gavel->n_types; type++)
        walk[type] = type;
    if (!gavel->sees_speed)
        gsim_python_shuffle(&gavel->random, walk, gavel->n_types);
    gsim_rounds_rank(&gavel->rounds);
    if (gavel->rounds.n > gavel->choices_capacity) {
        uint32_t more = 2 * gavel->rounds.n;
        struct gsim_round_choice *grown =
            gsim_arena_grow(ctx->arena, gavel->choice, 0, more * sizeof *grown);
        gavel->choice = grown;
        gavel->choices_capacity = grown ? more : 0;
    }
    gavel->n_choices = !gavel->choice && gavel->rounds.n
                           ? UINT32_MAX
                           : gsim_rounds_choose(&gavel->rounds, walk, gavel->n_gpus,
                                                gavel->objective == GAVEL_FIFO, gavel->choice);
    if (gavel->n_choices != UINT32_MAX)
        return true;
    ctx->status = gsim_no_memory(ctx->log, "scheduling");
    gavel->n_choices = 0;
    return false;
}

/* The iterations of a round: those that fit into it, and are left. */
static void plan_iterations(struct gavel *gavel, struct gavel_job *job, uint32_t type) {
    double round_s = (double)gavel->round_ns / (double)GSIM_NS_PER_S;
    int64_t fitting = (int64_t)(job->per_s[type] * round_s), left = job->iterations - job->done;
    job->round_iterations = fitting < left ? fitting : left;
    job->fails = job->round_iterations <= 0 ||
                 (job->gpus > 1 && job->round_iterations / (int64_t)job->gpus == 0);
    job->finish_s = gavel->now_s + (double)job->round_iterations / job->per_s[type];
}

/* Whether a choice has shares. */
static bool has_shares(const struct gavel *gavel) {
    bool has = false;
    for (uint32_t c = 0; c < gavel->n_choices; c++)
        has |= gavel->rounds.entry[gavel->choice[c].entry].has_share;
    return has;
}

/* Where newcomers hold GPUs, only entries with shares run; the others have their GPUs idle. */
static void drop_idle(struct gavel *gavel) {
    uint32_t kept = 0;
    for (uint32_t c = 0; c < gavel->n_choices; c++)
        if (gavel->rounds.entry[gavel->choice[c].entry].has_share)
            gavel->choice[kept++] = gavel->choice[c];
    gavel->n_choices = kept;
}

void gavel_preempt(struct gsim_plan *plan, const struct gavel *gavel, struct gavel_job *job) {
    if (gsim_plan_preempt(plan, job->slot, gavel->way.stop, gavel->way.keep))
        job->is_placed = false;
}

/* Assigns GPUs: a job that goes on where it is keeps its own. */
static void assign(struct gsim_ctx *ctx, struct gsim_plan *plan, struct gavel *gavel) {
    struct gavel_job *jobs = gavel->job;
    for (uint32_t i = 0; i < gavel->rounds.n; i++)
        jobs[gavel->rounds.entry[i].member[0]].round_type = GAVEL_NO_TYPE;
    for (uint32_t c = 0; c < gavel->n_choices; c++)
        jobs[gavel->rounds.entry[gavel->choice[c].entry].member[0]].round_type =
            gavel->choice[c].type;
    for (uint32_t i = 0; i < gavel->rounds.n; i++) {
        uint32_t number = gavel->rounds.entry[i].member[0], type = jobs[number].round_type;
        if (jobs[number].is_placed && jobs[number].type == type)
            continue;
        if (jobs[number].is_placed && ctx->view->jobs.state[jobs[number].slot] == GSIM_RUNNING)
            gavel_preempt(plan, gavel, &jobs[number]);
        gavel_give_gpus(ctx, gavel, number);
    }
    for (uint32_t c = 0; c < gavel->n_choices; c++) {
        uint32_t number = gavel->rounds.entry[gavel->choice[c].entry].member[0];
        if (gavel->is_reference)
            plan_iterations(gavel, &jobs[number], gavel->choice[c].type);
        if (!jobs[number].is_placed)
            gavel_take_gpus(ctx, gavel, number, gavel->choice[c].type);
    }
}

/* Jobs that fail hold their GPUs for the time of the iterations that they are not credited. */
static void hold(struct gavel *gavel) {
    gavel->held_until_ns = gavel->began_ns;
    for (uint32_t c = 0; gavel->is_reference && c < gavel->n_choices; c++) {
        const struct gavel_job *job =
            &gavel->job[gavel->rounds.entry[gavel->choice[c].entry].member[0]];
        double held_ns = (job->finish_s - gavel->now_s) * (double)GSIM_NS_PER_S;
        if (job->fails && gavel->began_ns + (int64_t)held_ns > gavel->held_until_ns)
            gavel->held_until_ns = gavel->began_ns + (int64_t)held_ns;
    }
}

void gavel_begin_round(struct gsim_ctx *ctx, struct gsim_plan *plan, struct gavel *gavel) {
    if (!add_arrivals(ctx, gavel) || !share_out(ctx, gavel) || !choose(ctx, gavel))
        return;
    bool is_last = gavel->n_ever == ctx->view->trace->n_jobs;
    if (gavel->newcomers_hold && is_last && gavel->rounds.n > 0 && !has_shares(gavel)) {
        gavel->reset_s = 0; /* nothing is to come, and nothing would run */
        if (!share_out(ctx, gavel) || !choose(ctx, gavel))
            return;
    }
    if (gavel->newcomers_hold)
        drop_idle(gavel);
    assign(ctx, plan, gavel);
    gavel->began_ns = ctx->view->now_ns;
    gavel->ends_ns = gavel->began_ns + gavel->round_ns;
    gavel->is_in_round = gavel->n_choices > 0;
    gavel->has_unplaced = true;
    hold(gavel);
    if (gavel->is_in_round && !gavel->is_reference)
        gsim_plan_wake(plan, gavel->ends_ns);
    else if (gavel->held_until_ns > gavel->began_ns)
        gsim_plan_wake(plan, gavel->held_until_ns);
}
