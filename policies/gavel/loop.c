/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loop of rounds: what a round that is over leaves, and which jobs have which GPUs in the
 * next. */
#include <string.h>

#include "policies/gavel/gpus.h"
#include "policies/gavel/loop.h"
#include "policies/gavel/shares.h"
#include "sim/base/units.h"

/* --- the end of a round ----------------------------------------------------------------------- */

/* A pair ends when both of its jobs do. */
static double finish_of(const struct gavel *gavel, const struct gsim_round_choice *choice) {
    const struct gsim_round_entry *entry = &gavel->rounds.entry[choice->entry];
    double finish_s = gavel_member(gavel, entry, 0)->finish_s;
    if (gavel_is_pair(entry) && gavel_member(gavel, entry, 1)->finish_s > finish_s)
        finish_s = gavel_member(gavel, entry, 1)->finish_s;
    return finish_s;
}

/* The time that a choice has run in the round that is over. */
static double ran_s(const struct gavel *gavel, const struct gsim_ctx *ctx,
                    const struct gsim_round_choice *choice) {
    if (gavel->is_reference)
        return finish_of(gavel, choice) - gavel->start_s;
    return (double)(ctx->view->now_ns - gavel->began_ns) / (double)GSIM_NS_PER_S;
}

/* Whether the reference ends choice a before b: the latest first, then by number, pairs last. */
static bool ends_before(const struct gavel *gavel, const struct gsim_round_choice *a,
                        const struct gsim_round_choice *b) {
    const struct gsim_round_entry *x = &gavel->rounds.entry[a->entry];
    const struct gsim_round_entry *y = &gavel->rounds.entry[b->entry];
    double a_s = finish_of(gavel, a), b_s = finish_of(gavel, b);
    if (a_s > b_s || a_s < b_s)
        return a_s > b_s;
    if (gavel_is_pair(x) != gavel_is_pair(y))
        return gavel_is_pair(y);
    return x->member[0] < y->member[0];
}

static void sort_by_finish(const struct gavel *gavel) {
    struct gsim_round_choice *choice = gavel->choice;
    for (uint32_t i = 1; i < gavel->n_choices; i++) {
        struct gsim_round_choice moved = choice[i];
        uint32_t at = i;
        for (; at > 0 && !ends_before(gavel, &choice[at - 1], &moved); at--)
            choice[at] = choice[at - 1];
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

/* Counts the time of a choice's round, or that it failed. Failures of pairs are not counted. */
static void count(const struct gsim_ctx *ctx, struct gavel *gavel,
                  const struct gsim_round_choice *choice) {
    struct gsim_round_entry *entry = &gavel->rounds.entry[choice->entry];
    struct gavel_job *first = gavel_member(gavel, entry, 0);
    if (!gavel_is_pair(entry))
        first->n_failures = first->fails ? first->n_failures + 1 : 0;
    if (first->fails) {
        gavel->is_due = true;
        return;
    }
    gsim_rounds_credit(&gavel->rounds, entry, choice->type, ran_s(gavel, ctx, choice));
    for (int m = 0; m <= gavel_is_pair(entry); m++) {
        struct gavel_job *job = gavel_member(gavel, entry, m);
        job->done += job->round_iterations;
    }
}

/* The reference gives up a job that failed that often in a row. */
static bool is_given_up(const struct gavel_job *job) {
    enum { MOST_FAILURES = 5 };
    return job->n_failures >= MOST_FAILURES;
}

static bool has_ended(const void *arg, uint32_t number) {
    return ((const struct gavel *)arg)->job[number].has_ended;
}

/* Notes the jobs of the round that have ended, or are given up; returns their number. */
static uint32_t find_gone(struct gsim_plan *plan, struct gavel *gavel, uint32_t *gone) {
    uint32_t n = 0;
    for (uint32_t c = 0; c < gavel->n_choices; c++) {
        const struct gsim_round_entry *entry = gavel_chosen(gavel, c);
        for (int m = 0; m <= gavel_is_pair(entry); m++) {
            struct gavel_job *job = gavel_member(gavel, entry, m);
            if (is_given_up(job) && gsim_plan_decline(plan, job->slot)) {
                job->is_active = false;
                job->has_ended = true;
            }
            if (job->has_ended)
                gone[n++] = entry->member[m];
        }
    }
    return n;
}

static void forget(struct gavel *gavel) {
    uint32_t kept = 0;
    gsim_rounds_remove(&gavel->rounds, has_ended, gavel);
    for (uint32_t i = 0; i < gavel->n_live; i++)
        if (!gavel->job[gavel->live[i]].has_ended)
            gavel->live[kept++] = gavel->live[i];
    gavel->n_live = kept;
}

void gavel_end_round(struct gsim_ctx *ctx, struct gsim_plan *plan, struct gavel *gavel) {
    if (gavel->is_reference)
        sort_by_finish(gavel);
    gavel_read_clock(ctx, gavel);
    for (uint32_t c = 0; c < gavel->n_choices; c++)
        count(ctx, gavel, &gavel->choice[c]);
    uint32_t *gone = gavel->arrived + gavel->n_arrived, n_gone = find_gone(plan, gavel, gone);
    if (n_gone > 0)
        forget(gavel);
    for (uint32_t i = 0; i < n_gone; i++) {
        gavel->job[gone[i]].has_ended = false;
        gavel_give_gpus(ctx, gavel, gone[i]);
        gavel->is_due = true;
    }
    gavel->n_choices = 0;
    gavel->is_in_round = false;
}

/* --- the next round --------------------------------------------------------------------------- */

static struct gsim_round_entry *add_entry(struct gsim_ctx *ctx, struct gavel *gavel, uint32_t first,
                                          uint32_t second) {
    struct gsim_round_entry *entry =
        gsim_rounds_add(&gavel->rounds, first, second, gavel->job[first].gpus);
    if (!entry)
        ctx->status = gsim_no_memory(ctx->log, "scheduling");
    gavel->is_due = true;
    return entry;
}

/* The speed of one job of a pair on a type. */
static double beside_per_s(struct gsim_ctx *ctx, const struct gavel_job *job,
                           const struct gavel_job *other, uint32_t type) {
    return gsim_rounds_per_s(gsim_ask_rate(ctx, job->slot,
                                           &(struct gsim_where){.type = (uint16_t)type,
                                                                .gpus = job->gpus,
                                                                .beside = other->slot + 1}));
}

/* Both jobs' speeds beside each other, by type. Whether there is a type on which both run. They do
 * not where one of them cannot run alone, whatever the table says of it beside others: one of two
 * jobs ends last. The reference's program looks at the speed beside the other job alone. */
static bool find_speeds(struct gsim_ctx *ctx, const struct gavel *gavel, const uint32_t *member,
                        double per_s[2][GSIM_ROUND_TYPES]) {
    const struct gavel_job *first = &gavel->job[member[0]], *second = &gavel->job[member[1]];
    bool runs = false;
    for (uint32_t type = 0; type < gavel->n_types; type++) {
        per_s[0][type] = per_s[1][type] = 0;
        if (!gavel->is_reference && !(first->per_s[type] > 0 && second->per_s[type] > 0))
            continue;
        per_s[0][type] = beside_per_s(ctx, first, second, type);
        per_s[1][type] = beside_per_s(ctx, second, first, type);
        runs |= per_s[0][type] > 0 && per_s[1][type] > 0;
    }
    return runs;
}

void gavel_learn_pair(struct gsim_ctx *ctx, const struct gavel *gavel,
                      struct gsim_round_entry *pair) {
    (void)find_speeds(ctx, gavel, pair->member, pair->per_s);
}

/* Adds the pair, if it can run anywhere, be it in a later phase. The reference's program has
 * entries for all pairs, which count in the time of the types. */
static bool add_pair(struct gsim_ctx *ctx, struct gavel *gavel, uint32_t first, uint32_t second) {
    double per_s[2][GSIM_ROUND_TYPES] = {0};
    bool runs = find_speeds(ctx, gavel, (const uint32_t[]){first, second}, per_s);
    bool may_change =
        gavel->job[first].epoch_iterations > 0 || gavel->job[second].epoch_iterations > 0;
    if (!runs && !may_change && !gavel->is_reference)
        return true;
    struct gsim_round_entry *entry = add_entry(ctx, gavel, first, second);
    if (entry)
        memcpy(entry->per_s, per_s, sizeof per_s);
    return entry != NULL;
}

/* An arrival comes alone, and in pairs with jobs of equal gangs. */
static bool add_arrivals(struct gsim_ctx *ctx, struct gavel *gavel) {
    for (uint32_t i = 0; i < gavel->n_arrived; i++) {
        uint32_t number = gavel->arrived[i];
        const struct gavel_job *job = &gavel->job[number];
        struct gsim_round_entry *entry = add_entry(ctx, gavel, number, GSIM_NO_MEMBER);
        if (!entry)
            return false;
        memcpy(entry->per_s[0], job->per_s, sizeof job->per_s);
        for (uint32_t k = 0; gavel->has_packing && k < gavel->n_live; k++)
            if (gavel->job[gavel->live[k]].gpus == job->gpus &&
                !add_pair(ctx, gavel, gavel->live[k], number))
                return false;
        gavel->live[gavel->n_live++] = number;
    }
    gavel->n_arrived = 0;
    return true;
}

/* Fifo without speeds leaves jobs where they are, so that new shares move none. */
static bool serves_at_once(const struct gavel *gavel) {
    return gavel->objective == GAVEL_FIFO && !gavel->knows_speed && !gavel->newcomers_hold &&
           !gavel->replay.path;
}

/* Shares of a first instant are of the jobs that came first alone, and keep no others waiting. In
 * the program that is time 0, at which its traces begin; else it comes again after each time
 * without jobs. */
static bool is_too_soon(const struct gavel *gavel, double since_s) {
    if (serves_at_once(gavel))
        return false;
    double first_s = gavel->is_reference ? 0 : gavel->first_s;
    return gavel->reset_s > first_s && since_s < (double)gavel->least_ns / (double)GSIM_NS_PER_S;
}

/* The program computes shares when its last job has ended as well: the next to come waits from then
 * on. Of its objectives only fifo remembers jobs, and forgets them then. */
static bool share_out(struct gsim_ctx *ctx, struct gavel *gavel) {
    double since_s = gavel->now_s - gavel->reset_s;
    if (!gavel->has_jobs)
        gavel->first_s = gavel->now_s;
    gavel->has_jobs = gavel->rounds.n > 0;
    if (!gavel->is_due || is_too_soon(gavel, since_s) || (!gavel->has_jobs && !gavel->is_reference))
        return true;
    gsim_rounds_settle(&gavel->rounds, since_s);
    gavel->reset_s = gavel->now_s;
    gavel->is_due = false;
    bool remembers = gavel->objective == GAVEL_FIFO && !gavel->replay.path;
    return (!gavel->has_jobs && !remembers) || gavel_share_out(ctx, gavel);
}

/* The program walks over device types in an order that its authors have by speed; here the order is
 * that of a file, and does not decide. Of one type both are equal. Under fifo GPUs that came free
 * since the last shares, or that these left, go to the next of the queue. */
static enum gsim_rounds_walk walk_of(const struct gavel *gavel) {
    if (gavel->objective == GAVEL_FIFO)
        return serves_at_once(gavel) || gavel->newcomers_hold ? GSIM_ROUNDS_WITH_PRIORITY
                                                              : GSIM_ROUNDS_IN_ORDER;
    return gavel->is_reference || gavel->n_types == 1 ? GSIM_ROUNDS_BY_TYPE
                                                      : GSIM_ROUNDS_ACROSS_TYPES;
}

static bool is_on_its_way(const struct gsim_ctx *ctx, const struct gavel_job *job) {
    enum gsim_state state = (enum gsim_state)ctx->view->jobs.state[job->slot];
    return job->is_placed && job->has_gpus && (state == GSIM_STARTING || state == GSIM_RESUMING);
}

static bool has_starting(const struct gsim_ctx *ctx, const struct gavel *gavel) {
    bool has = false;
    for (uint32_t i = 0; i < gavel->n_held && !has; i++)
        has = is_on_its_way(ctx, &gavel->job[(uint32_t)gavel->held[i]]);
    return has;
}

/* A job that is on its way to its GPUs cannot leave them, and has the next round there as well;
 * so has the other job of its pair. Where there is none, and was none in the round before, no entry
 * is looked at. */
static void hold_starting(const struct gsim_ctx *ctx, struct gavel *gavel) {
    bool has = has_starting(ctx, gavel);
    if (!has && !gavel->has_starting)
        return;
    gavel->has_starting = has;
    for (uint32_t i = 0; i < gavel->rounds.n; i++) {
        struct gsim_round_entry *entry = &gavel->rounds.entry[i];
        const struct gavel_job *first = gavel_member(gavel, entry, 0);
        bool has_partner = first->with > 0 && gavel->job[first->with - 1].is_active;
        entry->held_type = first->type;
        entry->is_held = is_on_its_way(ctx, first);
        if (gavel_is_pair(entry))
            entry->is_held = first->with == entry->member[1] + 1 &&
                             (entry->is_held || is_on_its_way(ctx, gavel_member(gavel, entry, 1)));
        else
            entry->is_held &= !has_partner;
    }
}

static bool choose(struct gsim_ctx *ctx, struct gavel *gavel) {
    uint32_t walk[GSIM_ROUND_TYPES];
    for (uint32_t type = 0; type < gavel->n_types; type++)
        walk[type] =
            gavel->objective == GAVEL_FIFO && !gavel->is_reference ? gavel->by_name[type] : type;
    if (!gavel->sees_speed)
        gsim_python_shuffle(&gavel->random, walk, gavel->n_types);
    gsim_rounds_rank(&gavel->rounds);
    if (!gavel->is_reference)
        hold_starting(ctx, gavel);
    if (gavel->rounds.n > gavel->choices_capacity) {
        uint32_t more = 2 * gavel->rounds.n;
        struct gsim_round_choice *grown =
            gsim_arena_grow(ctx->arena, gavel->choice, 0, more * sizeof *grown);
        gavel->choice = grown;
        gavel->choices_capacity = grown ? more : 0;
    }
    gavel->n_choices = !gavel->choice && gavel->rounds.n
                           ? UINT32_MAX
                           : gsim_rounds_choose(&gavel->rounds, walk, gavel->n_gpus, walk_of(gavel),
                                                gavel->choice);
    if (gavel->n_choices != UINT32_MAX)
        return true;
    ctx->status = gsim_no_memory(ctx->log, "scheduling");
    gavel->n_choices = 0;
    return false;
}

/* The iterations of a round: those that fit into it, and are left. A pair fails as a whole. */
static void plan_iterations(struct gavel *gavel, const struct gsim_round_choice *choice) {
    const struct gsim_round_entry *entry = &gavel->rounds.entry[choice->entry];
    double round_s = (double)gavel->round_ns / (double)GSIM_NS_PER_S;
    bool fails = false;
    for (int m = 0; m <= gavel_is_pair(entry); m++) {
        struct gavel_job *job = gavel_member(gavel, entry, m);
        double per_s = entry->per_s[m][choice->type];
        int64_t fitting = (int64_t)(per_s * round_s), left = job->iterations - job->done;
        job->round_iterations = fitting < left ? fitting : left;
        fails |= job->round_iterations <= 0 ||
                 (job->gpus > 1 && job->round_iterations / (int64_t)job->gpus == 0);
        job->finish_s = gavel->now_s + (double)job->round_iterations / per_s;
    }
    for (int m = 0; m <= gavel_is_pair(entry); m++)
        gavel_member(gavel, entry, m)->fails = fails;
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

/* Jobs that fail hold their GPUs for the time of the iterations that they are not credited. */
static void hold(struct gavel *gavel) {
    gavel->held_until_ns = gavel->began_ns;
    for (uint32_t c = 0; gavel->is_reference && c < gavel->n_choices; c++) {
        const struct gavel_job *job = gavel_member(gavel, gavel_chosen(gavel, c), 0);
        double held_ns =
            (finish_of(gavel, &gavel->choice[c]) - gavel->now_s) * (double)GSIM_NS_PER_S;
        if (job->fails && gavel->began_ns + (int64_t)held_ns > gavel->held_until_ns)
            gavel->held_until_ns = gavel->began_ns + (int64_t)held_ns;
    }
}

/* Ranks the jobs of the round and notes pairs, and lists jobs that wait for their GPUs. */
static void list_unplaced(struct gavel *gavel) {
    uint32_t rank = 0;
    gavel->n_unplaced = 0;
    for (uint32_t i = 0; i < gavel->n_live; i++)
        gavel->job[gavel->live[i]].with = 0;
    for (uint32_t c = 0; c < gavel->n_choices; c++) {
        const struct gsim_round_entry *entry = gavel_chosen(gavel, c);
        for (int m = 0; m <= gavel_is_pair(entry); m++) {
            gavel_member(gavel, entry, m)->rank = rank++;
            if (gavel_is_pair(entry))
                gavel_member(gavel, entry, m)->with = entry->member[1 - m] + 1;
            if (!gavel_member(gavel, entry, m)->is_placed)
                gavel->unplaced[gavel->n_unplaced++] = entry->member[m];
        }
    }
}

/* Whether nothing would run by the shares that there are, which are then due before their time.
 * GPUs that are held for newcomers are no reason as long as jobs are to come, other than after
 * those that wait. */
static bool is_stuck(const struct gavel *gavel) {
    bool is_last = gavel->n_to_come == 0;
    if (gavel->rounds.n == 0)
        return false;
    return gavel->newcomers_hold ? is_last && !has_shares(gavel) : gavel->n_choices == 0;
}

void gavel_begin_round(struct gsim_ctx *ctx, struct gsim_plan *plan, struct gavel *gavel) {
    if (!add_arrivals(ctx, gavel) || !share_out(ctx, gavel) || !choose(ctx, gavel))
        return;
    if (is_stuck(gavel)) {
        gavel->reset_s = 0;
        if (!share_out(ctx, gavel) || !choose(ctx, gavel))
            return;
    }
    if (gavel->newcomers_hold)
        drop_idle(gavel);
    for (uint32_t c = 0; gavel->is_reference && c < gavel->n_choices; c++)
        plan_iterations(gavel, &gavel->choice[c]);
    gavel_assign(ctx, plan, gavel);
    gavel->began_ns = ctx->view->now_ns;
    gavel->ends_ns = gavel->began_ns + gavel->round_ns;
    gavel->is_in_round = gavel->n_choices > 0;
    gavel->first_running = 0;
    list_unplaced(gavel);
    hold(gavel);
    if (gavel->is_in_round && !gavel->is_reference)
        gsim_plan_wake(plan, gavel->ends_ns);
    else if (gavel->held_until_ns > gavel->began_ns)
        gsim_plan_wake(plan, gavel->held_until_ns);
}
