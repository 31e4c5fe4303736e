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
 * was last without jobs, so that neither when a trace begins nor jobs of long ago decide. */
#include "policies/shockwave/state.h"
#include "policies/lib/common.h"
#include "policies/lib/rounds.h"
#include "sim/base/units.h"

static struct shockwave *own(const struct gsim_ctx *ctx) {
    return ctx->state;
}

/* --- arrivals and ends ------------------------------------------------------------------------ */

static void drop_ended(struct shockwave *s) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_active; i++)
        if (!s->job[s->active[i]].has_ended)
            s->active[n++] = s->active[i];
    s->is_due |= n < s->n_active;
    s->is_counted &= n == s->n_active;
    s->n_active = n;
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct shockwave *s = own(ctx);
    uint32_t number = ctx->view->jobs.index[slot];
    drop_ended(s); /* a job that failed comes again */
    if (s->n_active == 0)
        s->origin_ns = ctx->view->jobs.submit_ns[slot];
    s->job[number] = (struct shockwave_job){.slot = slot, .gpus = ctx->view->jobs.gpus[slot]};
    s->active[s->n_active++] = number;
    s->is_due = true;
    s->is_counted = false;
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    own(ctx)->job[ctx->view->jobs.index[slot]].has_ended = true;
}

static void count_gpus(const struct gsim_ctx *ctx, struct shockwave *s) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    s->n_gpus = 0;
    for (uint32_t node = 0; node < cluster->n_nodes; node++)
        if (!cluster->node_is_down[node])
            s->n_gpus += cluster->node_first_gpu[node + 1] - cluster->node_first_gpu[node];
}

/* --- the plan --------------------------------------------------------------------------------- */

static void plan(struct gsim_ctx *ctx, struct shockwave *s) {
    if (!s->is_due && s->round - s->planned_round < s->most_rounds)
        return;
    struct gsim_future future = {.job = s->future,
                                 .by_gain = s->by_gain,
                                 .n = s->n_active,
                                 .n_gpus = s->n_gpus,
                                 .n_rounds = s->n_rounds,
                                 .round_s = (double)s->round_ns / (double)GSIM_NS_PER_S,
                                 .price = s->price};
    shockwave_look_ahead(ctx, s);
    bool is_met = gsim_future_plan(&future, true);
    if (!is_met) {
        shockwave_weigh(ctx, s);
        (void)gsim_future_plan(&future, false);
    }
    for (uint32_t i = 0; i < s->n_active; i++)
        s->job[s->active[i]].rounds_left = s->future[i].rounds;
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
    return a->nth < b->nth ? -1 : 1;
}

static int by_time_left(const void *left, const void *right) {
    const struct shockwave_turn *a = left, *b = right;
    if (a->job->left_s > b->job->left_s || a->job->left_s < b->job->left_s)
        return a->job->left_s > b->job->left_s ? -1 : 1;
    return a->nth < b->nth ? -1 : 1;
}

static void line_up(struct shockwave *s, struct gsim_heap *heap, bool is_planned) {
    uint64_t left = s->planned_round + s->n_rounds - s->round;
    heap->n = 0;
    for (uint32_t i = 0; i < s->n_active; i++) {
        struct shockwave_job *job = &s->job[s->active[i]];
        if (!job->is_chosen && (!is_planned || job->rounds_left > 0))
            s->turn[heap->n++] = (struct shockwave_turn){job, i, job->rounds_left >= left};
    }
    gsim_heap_pile(heap);
}

/* Chooses jobs in that order, each that fits. Returns the GPUs that are free still. */
static uint32_t choose_by(struct shockwave *s, uint32_t free, bool is_planned) {
    struct gsim_heap heap = {
        .items = s->turn, .size = sizeof *s->turn, .by_rank = is_planned ? by_plan : by_time_left};
    line_up(s, &heap, is_planned);
    while (free > 0 && heap.n > 0) {
        const struct shockwave_turn *next = gsim_heap_take(&heap);
        if (next->job->gpus > free)
            continue;
        next->job->is_chosen = true;
        next->job->rounds_left -= next->job->rounds_left > 0;
        free -= next->job->gpus;
    }
    return free;
}

static void choose(struct shockwave *s) {
    for (uint32_t i = 0; i < s->n_active; i++) {
        struct shockwave_job *job = &s->job[s->active[i]];
        job->was_chosen = job->is_chosen;
        job->is_chosen = false;
    }
    (void)choose_by(s, choose_by(s, s->n_gpus, true), false);
}

static void begin_round(struct gsim_ctx *ctx, struct shockwave *s) {
    int64_t past_ns = ctx->view->now_ns - s->ends_ns;
    s->round += 1 + (uint64_t)(past_ns > 0 ? past_ns / s->round_ns : 0);
    count_gpus(ctx, s);
    plan(ctx, s);
    choose(s);
    s->ends_ns = ctx->view->now_ns + s->round_ns;
}

/* Stops jobs that the round leaves out, and places those that it chose. */
static void serve(struct gsim_ctx *ctx, struct gsim_plan *plan, struct shockwave *s) {
    for (uint32_t i = 0; i < s->n_active; i++) {
        struct shockwave_job *job = &s->job[s->active[i]];
        if (!job->has_ended && !job->is_chosen && ctx->view->jobs.state[job->slot] == GSIM_RUNNING)
            (void)gsim_plan_preempt(plan, job->slot, s->way.stop, s->way.keep);
    }
    for (uint32_t i = 0; i < s->n_active; i++) {
        struct shockwave_job *job = &s->job[s->active[i]];
        if (!job->has_ended && job->is_chosen && gsim_common_waits(ctx->view, job->slot))
            (void)gsim_settings_place(ctx, plan, job->slot, s->rule);
    }
}

/* Whether a job of the round is there. */
static bool is_in_round(const struct shockwave *s) {
    bool is = false;
    for (uint32_t i = 0; i < s->n_active; i++)
        is |= s->job[s->active[i]].is_chosen && !s->job[s->active[i]].has_ended;
    return is;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct shockwave *s = own(ctx);
    if (!is_in_round(s) || ctx->view->now_ns >= s->ends_ns) {
        drop_ended(s);
        if (s->n_active == 0)
            return;
        begin_round(ctx, s);
        gsim_plan_wake(plan, s->ends_ns);
    }
    serve(ctx, plan, s);
}

/* --- the table -------------------------------------------------------------------------------- */

static enum gsim_status open_shockwave(struct gsim_ctx *ctx) {
    struct shockwave *s = own(ctx);
    uint32_t n = ctx->view->trace->n_jobs;
    if (ctx->view->pool.is_used)
        return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                         "shockwave needs nodes, not a pool of GPUs");
    s->round_ns = gsim_param(ctx->params, "round");
    s->is_one_type = gsim_rounds_has_one_type(ctx->view);
    s->n_rounds = (uint32_t)gsim_param(ctx->params, "rounds");
    s->most_rounds = (uint32_t)gsim_param(ctx->params, "replan");
    s->most_rounds = s->most_rounds < s->n_rounds ? s->most_rounds : s->n_rounds;
    s->lambda = (uint32_t)gsim_param(ctx->params, "lambda");
    s->price = (double)gsim_param(ctx->params, "k") / (double)GSIM_PPM;
    s->rule = gsim_settings_rule(ctx);
    s->way = gsim_settings_preemption(ctx, GSIM_KEEP_STORAGE);
    s->job = gsim_arena_array(ctx->arena, n, sizeof *s->job);
    s->active = gsim_arena_array(ctx->arena, n, sizeof *s->active);
    s->future = gsim_arena_array(ctx->arena, n, sizeof *s->future);
    s->by_gain = gsim_arena_array(ctx->arena, n, sizeof *s->by_gain);
    s->turn = gsim_arena_array(ctx->arena, n, sizeof *s->turn);
    return s->job && s->active && s->future && s->by_gain && s->turn
               ? GSIM_OK
               : gsim_no_memory(ctx->log, "opening shockwave");
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
