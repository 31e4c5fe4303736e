/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shockwave: rounds planned ahead for jobs that change their batch size. Source: Zheng et al.,
 * "Shockwave: Fair and Efficient Cluster Scheduling for Dynamic Adaptation in Machine Learning",
 * NSDI 2023, and its program (uw-mad-dash/shockwave, scheduler/shockwave.py, JobMetaData.py).
 *
 * A plan says which jobs run in each of the next rounds= rounds. It makes the sum of the logarithms
 * of the jobs' progress large (a market's equilibrium), less k= times the longest time that any job
 * has left, so that no job ends later than with an equal part of the cluster; where no plan does
 * that, jobs that would end late weigh by how late they are, to the power of lambda=. How long a
 * job still takes is expected from the batch sizes that it has had (policies/shockwave/estimate.c):
 * jobs are profiled at each batch size, and when they change is not known. A plan is made anew when
 * jobs came or ended, and after replan= rounds. GPUs that it leaves idle go to the jobs with the
 * most time left.
 *
 * The authors solve a mixed integer programme with Gurobi in 15 s at most; here it is reduced to
 * the number of rounds that each job gets, which a search finds that is exact but for gangs of
 * unlike sizes (policies/shockwave/plan.h). In which of its rounds a job runs is of no value to the
 * plan: the heaviest jobs run first, then those that ran in the last round. A job's progress is
 * counted in parts of epochs; the program rounds it down. Its speeds are those of its profile; the
 * program scales them where measurements are 40 % off. In a round a job goes as fast as on average
 * over the GPUs of the cluster, any of which it may get. How late a job is is a ratio of two times
 * of day, counted from when the program begins; here from the first submission since the cluster
 * was last without jobs, so that neither when a trace begins nor jobs of long ago decide. A job
 * that did not run in the round before loses 20 s there, but only in a round of which it leaves 5 s
 * at most; here each start costs what the device says, in a round that the job ends early too. */
#include "policies/shockwave/state.h"

#include <stdlib.h>
#include <string.h>

#include "policies/lib/common.h"
#include "policies/lib/rounds.h"
#include "sim/base/units.h"

static struct shockwave *own(const struct gsim_ctx *ctx) {
    return ctx->state;
}

/* --- arrivals and ends ------------------------------------------------------------------------ */

/* The job is an active one. */
static void drop(struct shockwave *s, uint32_t number) {
    uint32_t low = 0, high = s->n_active - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->job[s->active[middle]].came < s->job[number].came)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(s->active + low, s->active + low + 1, (--s->n_active - low) * sizeof *s->active);
}

static void drop_ended(struct shockwave *s) {
    s->is_due |= s->ended.n > 0;
    s->is_counted &= s->ended.n == 0;
    while (s->ended.n > 0)
        drop(s, s->ended.number[--s->ended.n]);
}

/* The same job, before a node failed that held it. */
static void keep_fair(struct shockwave_job *job, const struct shockwave_job *before) {
    job->has_fair = before->has_fair;
    job->fair_s = before->fair_s;
    job->fair_sum = before->fair_sum;
    job->first_round = before->first_round;
    job->last_round = before->last_round;
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct shockwave *s = own(ctx);
    uint32_t number = ctx->view->jobs.index[slot];
    struct shockwave_job before = s->job[number];
    drop_ended(s);
    if (s->n_active == 0 && !before.has_ended)
        s->origin_ns = ctx->view->jobs.submit_ns[slot];
    s->job[number] = (struct shockwave_job){
        .slot = slot,
        .gpus = ctx->view->jobs.gpus[slot],
        .submit_s = shockwave_since_origin_s(s, ctx->view->jobs.submit_ns[slot]),
        .came = s->n_came++};
    if (before.has_ended)
        keep_fair(&s->job[number], &before);
    s->active[s->n_active++] = number;
    s->is_due = true;
    s->is_counted = false;
}

static void add(struct shockwave_list *list, uint32_t number) {
    list->number[list->n++] = number;
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct shockwave *s = own(ctx);
    s->job[ctx->view->jobs.index[slot]].has_ended = true;
    add(&s->ended, ctx->view->jobs.index[slot]);
}

static void count_gpus(const struct gsim_ctx *ctx, struct shockwave *s) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    s->n_gpus = 0;
    for (uint32_t node = 0; node < cluster->n_nodes; node++)
        if (!cluster->node_is_down[node])
            s->n_gpus += cluster->node_first_gpu[node + 1] - cluster->node_first_gpu[node];
}

/* --- the plan --------------------------------------------------------------------------------- */

/* Jobs have as many rounds left as the plan gives them, most of them none. */
static void take_rounds(struct shockwave *s) {
    for (uint32_t i = 0; i < s->planned.n; i++)
        s->job[s->planned.number[i]].rounds_left = 0;
    s->planned.n = 0;
    for (uint32_t i = 0; i < s->future.n_kept; i++) {
        uint32_t nth = s->future.kept[i];
        add(&s->planned, s->active[nth]);
        s->job[s->active[nth]].rounds_left = s->future.job[nth]->rounds;
        s->job[s->active[nth]].weight = s->future.job[nth]->weight;
    }
}

static void plan(struct gsim_ctx *ctx, struct shockwave *s) {
    if (!s->is_due && s->round - s->planned_round < s->most_rounds)
        return;
    s->future.n = s->n_active;
    s->future.n_gpus = s->n_gpus;
    shockwave_look_ahead(ctx, s);
    bool is_met = gsim_future_plan(&s->future, true);
    if (!is_met) {
        shockwave_weigh(ctx, s);
        (void)gsim_future_plan(&s->future, false);
    }
    take_rounds(s);
    s->planned_round = s->round;
    s->is_due = false;
}

/* --- a round ---------------------------------------------------------------------------------- */

/* The order of the plan: first a job that needs every round that is left of the plan, then the
 * heavier one, then one that runs, then the wider one, then the first to come. */
static int by_plan(const void *left, const void *right) {
    const struct shockwave_turn *a = left, *b = right;
    if (a->must != b->must)
        return a->must ? -1 : 1;
    if (a->job->weight > b->job->weight || a->job->weight < b->job->weight)
        return a->job->weight > b->job->weight ? -1 : 1;
    if (a->job->was_chosen != b->job->was_chosen)
        return a->job->was_chosen ? -1 : 1;
    if (a->job->gpus != b->job->gpus)
        return a->job->gpus > b->job->gpus ? -1 : 1;
    return a->job->came < b->job->came ? -1 : 1;
}

static void line_up(struct shockwave *s, struct gsim_heap *heap) {
    uint64_t left = s->planned_round + s->n_rounds - s->round;
    for (uint32_t i = 0; i < s->planned.n; i++) {
        uint32_t number = s->planned.number[i];
        struct shockwave_job *job = &s->job[number];
        if (job->rounds_left > 0)
            s->turn[heap->n++] = (struct shockwave_turn){job, number, job->rounds_left >= left};
    }
    gsim_heap_pile(heap);
}

/* The job runs in this round, if it fits. Returns the GPUs that are free still. */
static uint32_t choose_one(struct shockwave *s, uint32_t number, uint32_t free) {
    struct shockwave_job *job = &s->job[number];
    if (job->is_chosen || job->gpus > free || job->shut_out_round == s->round)
        return free;
    job->is_chosen = true;
    job->rounds_left -= job->rounds_left > 0;
    add(&s->chosen, number);
    return free - job->gpus;
}

static uint32_t choose_by_plan(struct shockwave *s, uint32_t free) {
    struct gsim_heap heap = {.items = s->turn, .size = sizeof *s->turn, .by_rank = by_plan};
    line_up(s, &heap);
    while (free > 0 && heap.n > 0) {
        const struct shockwave_turn *next = gsim_heap_take(&heap);
        free = choose_one(s, next->number, free);
    }
    return free;
}

/* The jobs are those of the plan, which is made anew when one comes or ends. */
static void choose_by_time_left(struct shockwave *s, uint32_t free) {
    for (uint32_t i = 0; i < s->n_active && free >= s->future.narrowest; i++)
        free = choose_one(s, s->active[gsim_future_nth(&s->future.by_left, i).job], free);
}

static void choose(struct shockwave *s) {
    struct shockwave_list before = s->before;
    for (uint32_t i = 0; i < before.n; i++)
        s->job[before.number[i]].was_chosen = false;
    s->before = s->chosen;
    s->chosen = before;
    s->chosen.n = 0;
    for (uint32_t i = 0; i < s->before.n; i++) {
        struct shockwave_job *job = &s->job[s->before.number[i]];
        job->was_chosen = job->is_chosen;
        job->is_chosen = false;
    }
    choose_by_time_left(s, choose_by_plan(s, s->n_gpus));
}

/* Drops jobs that have ended, or wait and are not chosen: these get no GPUs in the round. */
static void drop_holders(const struct gsim_ctx *ctx, struct shockwave *s) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->holders.n; i++) {
        uint32_t number = s->holders.number[i];
        struct shockwave_job *job = &s->job[number];
        if (!job->is_holder) /* it failed, and came again */
            continue;
        job->is_holder =
            !job->has_ended && (job->is_chosen || !gsim_common_waits(ctx->view, job->slot));
        if (job->is_holder)
            s->holders.number[n++] = number;
    }
    s->holders.n = n;
}

static int by_arrival(const void *left, const void *right) {
    const struct shockwave_turn *a = left, *b = right;
    return a->job->came < b->job->came ? -1 : 1;
}

/* Merges the chosen jobs that are no holders yet with those that are. */
static void hold_chosen(struct shockwave *s) {
    uint32_t n_new = 0, n = 0, at = 0;
    for (uint32_t i = 0; i < s->chosen.n; i++) {
        uint32_t number = s->chosen.number[i];
        struct shockwave_job *job = &s->job[number];
        if (!job->is_holder)
            s->turn[n_new++] = (struct shockwave_turn){.job = job, .number = number};
        job->is_holder = true;
        job->is_estimated = false;
    }
    qsort(s->turn, n_new, sizeof *s->turn, by_arrival);
    for (uint32_t i = 0; i < n_new; i++) {
        for (; at < s->holders.n && s->job[s->holders.number[at]].came < s->turn[i].job->came; at++)
            s->merged[n++] = s->holders.number[at];
        s->merged[n++] = s->turn[i].number;
    }
    for (; at < s->holders.n; at++)
        s->merged[n++] = s->holders.number[at];
    uint32_t *spare = s->holders.number;
    s->holders = (struct shockwave_list){s->merged, n};
    s->merged = spare;
}

static void begin_round(struct gsim_ctx *ctx, struct shockwave *s) {
    int64_t past_ns = ctx->view->now_ns - s->ends_ns;
    s->round += 1 + (uint64_t)(past_ns > 0 ? past_ns / s->round_ns : 0);
    plan(ctx, s);
    choose(s);
    drop_holders(ctx, s);
    hold_chosen(s);
    s->is_pending = true;
    s->ends_ns = ctx->view->now_ns + s->round_ns;
}

/* Whether the round has still to stop the job, or to place it, now or after a stop that is under
 * way. */
static bool is_settled(const struct shockwave_job *job, enum gsim_state state) {
    if (job->is_chosen)
        return state == GSIM_STARTING || state == GSIM_RUNNING || state == GSIM_RESUMING;
    return gsim_state_waits(state);
}

static bool place(struct gsim_ctx *ctx, struct gsim_plan *plan, struct shockwave *s,
                  struct shockwave_job *job) {
    bool is_placed = gsim_settings_place(ctx, plan, job->slot, s->rule);
    job->shut_out_round = is_placed ? 0 : s->round;
    return is_placed;
}

/* Stops jobs that the round leaves out, and places those that it chose. Returns whether some find
 * no room, though no other job is still on its way in or out. */
static bool serve(struct gsim_ctx *ctx, struct gsim_plan *plan, struct shockwave *s) {
    bool is_shut_out = false, is_moving = false;
    if (!s->is_pending)
        return false;
    s->is_pending = false;
    for (uint32_t i = 0; i < s->holders.n; i++) {
        struct shockwave_job *job = &s->job[s->holders.number[i]];
        if (!job->is_holder || job->has_ended)
            continue;
        enum gsim_state state = (enum gsim_state)ctx->view->jobs.state[job->slot];
        s->is_pending |= !is_settled(job, state);
        is_moving |= !job->is_chosen && !gsim_state_waits(state) && state != GSIM_RUNNING;
        if (!job->is_chosen && state == GSIM_RUNNING)
            (void)gsim_plan_preempt(plan, job->slot, s->way.stop, s->way.keep);
    }
    for (uint32_t i = 0; i < s->holders.n && s->is_pending; i++) {
        struct shockwave_job *job = &s->job[s->holders.number[i]];
        if (job->is_holder && !job->has_ended && job->is_chosen &&
            gsim_common_waits(ctx->view, job->slot))
            is_shut_out |= !place(ctx, plan, s, job);
    }
    return is_shut_out && !is_moving;
}

/* A job finds no room where paused jobs have the memory, until these have run and ended, or where
 * the idle GPUs lack its own: others run in its place, those with the most time left, as on all
 * GPUs that the plan leaves idle. Returns whether there are any. Elsewhere a gang for which the
 * idle GPUs are on too many nodes waits for the next round, as its round is its turn. */
static bool choose_others(const struct gsim_ctx *ctx, struct shockwave *s) {
    if (s->way.keep != GSIM_KEEP_RESIDENT && s->way.keep != GSIM_KEEP_PAGEABLE &&
        ctx->view->cluster.room != GSIM_ROOM_SCARCE)
        return false;
    uint32_t free = s->n_gpus, n = 0, before = s->chosen.n;
    for (uint32_t i = 0; i < before; i++) {
        const struct shockwave_job *job = &s->job[s->chosen.number[i]];
        free -= job->shut_out_round == s->round ? 0 : job->gpus;
    }
    choose_by_time_left(s, free);
    if (s->chosen.n == before)
        return false;
    for (uint32_t i = 0; i < s->chosen.n; i++) {
        uint32_t number = s->chosen.number[i];
        s->job[number].is_chosen = s->job[number].shut_out_round != s->round;
        if (s->job[number].is_chosen)
            s->chosen.number[n++] = number;
    }
    s->chosen.n = n;
    s->is_pending = true;
    hold_chosen(s);
    return true;
}

/* Whether a job of the round is there. */
static bool is_in_round(const struct shockwave *s) {
    for (uint32_t i = 0; i < s->chosen.n; i++) {
        const struct shockwave_job *job = &s->job[s->chosen.number[i]];
        if (job->is_chosen && !job->has_ended)
            return true;
    }
    return false;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct shockwave *s = own(ctx);
    /* only then are the jobs of the plan all that are there */
    bool is_new = !is_in_round(s) || ctx->view->now_ns >= s->ends_ns;
    if (is_new) {
        drop_ended(s);
        count_gpus(ctx, s);
        if (s->n_active == 0 || s->n_gpus == 0)
            return;
        begin_round(ctx, s);
        gsim_plan_wake(plan, s->ends_ns);
    }
    uint32_t mark = gsim_plan_mark(plan);
    while (serve(ctx, plan, s) && is_new && choose_others(ctx, s))
        gsim_plan_rollback(plan, mark);
}

/* --- the table -------------------------------------------------------------------------------- */

static bool open_tables(struct gsim_ctx *ctx, struct shockwave *s) {
    struct shockwave_list *lists[] = {&s->ended, &s->planned, &s->chosen, &s->before, &s->holders};
    uint32_t n = ctx->view->trace->n_jobs;
    bool is_there = gsim_future_open(&s->future, ctx->arena, n);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        lists[i]->number = gsim_arena_array(ctx->arena, n, sizeof *lists[i]->number);
        is_there &= lists[i]->number != NULL;
    }
    s->job = gsim_arena_array(ctx->arena, n, sizeof *s->job);
    s->active = gsim_arena_array(ctx->arena, n, sizeof *s->active);
    s->merged = gsim_arena_array(ctx->arena, n, sizeof *s->merged);
    s->turn = gsim_arena_array(ctx->arena, n, sizeof *s->turn);
    s->late = gsim_arena_array(ctx->arena, n, sizeof *s->late);
    s->late_job = gsim_arena_array(ctx->arena, n, sizeof(struct shockwave_job *));
    return is_there && s->late && s->late_job && s->job && s->active && s->merged && s->turn;
}

static enum gsim_status open_shockwave(struct gsim_ctx *ctx) {
    struct shockwave *s = own(ctx);
    if (ctx->view->pool.is_used)
        return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                         "shockwave needs nodes, not a pool of GPUs");
    s->round_ns = gsim_param(ctx->params, "round");
    s->is_one_type = gsim_rounds_has_one_type(ctx->view);
    s->n_rounds = (uint32_t)gsim_param(ctx->params, "rounds");
    s->most_rounds = (uint32_t)gsim_param(ctx->params, "replan");
    s->most_rounds = s->most_rounds < s->n_rounds ? s->most_rounds : s->n_rounds;
    s->lambda = (uint32_t)gsim_param(ctx->params, "lambda");
    s->future.n_rounds = s->n_rounds;
    s->future.round_s = (double)s->round_ns / (double)GSIM_NS_PER_S;
    s->future.price = (double)gsim_param(ctx->params, "k") / (double)GSIM_PPM;
    s->rule = gsim_settings_rule(ctx);
    s->way = gsim_settings_preemption(ctx, GSIM_KEEP_STORAGE);
    return open_tables(ctx, s) ? GSIM_OK : gsim_no_memory(ctx->log, "opening shockwave");
}

static const struct gsim_param_def params[] = {
    {.name = "round",
     .type = GSIM_PARAM_TIME,
     .fallback = "120s",
     .min = 1,
     .max = INT64_MAX / 4,
     .help = "length of a round"},
    {.name = "rounds",
     .type = GSIM_PARAM_INT,
     .fallback = "20",
     .min = 1,
     .max = 1000,
     .help = "rounds that a plan looks ahead"},
    {.name = "replan",
     .type = GSIM_PARAM_INT,
     .fallback = "8",
     .min = 1,
     .max = 1000,
     .help = "rounds after which a plan is made anew though no job came or ended"},
    {.name = "k",
     .type = GSIM_PARAM_PPM,
     .fallback = "0.001",
     .help = "what a second of the longest time left costs, beside the mean logarithm of progress"},
    {.name = "lambda",
     .type = GSIM_PARAM_INT,
     .fallback = "12",
     .min = 0,
     .max = 100,
     .help = "where some job must end late: the power of its lateness by which it weighs"},
    GSIM_PLACEMENT_PARAM,
    GSIM_PREEMPT_PARAM_AS("restart, as in Shockwave: its jobs write a checkpoint at the end of "
                          "their lease"),
    {0}};

const struct gsim_policy gsim_policy_shockwave = {
    .name = "shockwave",
    .summary = "rounds planned ahead for jobs that change their batch size, by a market's fairness",
    .paper = "Zheng et al., NSDI 2023, and its program",
    .deviations =
        "the programme is searched, exactly but for gangs of unlike sizes; progress counts "
        "in parts of epochs; profiles are not corrected by measurements; GPUs of different types "
        "count as equal, each with the mean speed; lateness counts from the "
        "first submission since the cluster was last without jobs, not from the run's begin",
    .names_gpus = true, /* a plan is of all GPUs, whichever a job may use */
    .is_oracle = true,
    .oracle_where = "where jobs have no phases",
    .params = params,
    .state_size = sizeof(struct shockwave),
    .open = open_shockwave,
    .on_arrival = on_arrival,
    .on_completion = on_completion,
    .decide = decide,
};
