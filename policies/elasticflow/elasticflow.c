/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ElasticFlow: jobs with deadlines on as many GPUs as these need. Source: Gu et al., "ElasticFlow:
 * An Elastic Serverless Training Platform for Distributed Deep Learning", ASPLOS 2023, and its
 * simulator (pkusys/ElasticFlow, ElasticFlow/scheduler).
 *
 * The policy chooses the number of GPUs of a job: powers of two up to the fastest, by the table of
 * --rates. The least GPUs over time with which a job meets its deadline are its minimum
 * satisfactory share: from the deadline backwards it has one GPU wherever one is free; where that
 * is not enough two, and so on; before the time from which that is enough, one level less. Shares
 * are given out in the order of deadlines. A newcomer is admitted if it then meets its deadline and
 * makes no other miss its own, and is declined else. Where the shares, computed anew, do not fit
 * any more, jobs have what they were promised (promise.h). GPUs that no share needs now go, level
 * after level, to jobs that have none yet, then where a further level raises the GPU time of a job
 * least. A job that misses its deadline after all, and one without a deadline, lives on the rest.
 *
 * reference=elasticflow copies the simulator's loop (reference.c). Of its baselines, edf, las and
 * gandiva are modes; themis and chronus, which asks Gurobi, are not modelled. */
#include "policies/elasticflow/behind.h"
#include "policies/elasticflow/loop.h"
#include "policies/elasticflow/place.h"
#include "policies/elasticflow/promise.h"
#include "policies/elasticflow/reference.h"
#include "policies/elasticflow/share.h"
#include "policies/elasticflow/spare.h"
#include "policies/lib/common.h"
#include "policies/lib/rounds.h"
#include "sim/base/units.h"

#include <string.h>

static struct elasticflow *own_of(const struct gsim_ctx *ctx) {
    return ctx->state;
}

static struct elasticflow_job *nth(const struct elasticflow *own, uint32_t i) {
    return &own->job[own->order[i]];
}

/* --- arrivals and ends ------------------------------------------------------------------------ */

static void add_level(const struct gsim_ctx *ctx, struct elasticflow_job *job, uint32_t gpus) {
    const struct elasticflow *own = own_of(ctx);
    struct gsim_where where = {.type = ctx->view->cluster.type[0], .gpus = gpus};
    struct gsim_rate rate = gsim_ask_rate(ctx, job->slot, &where);
    double per_tick = own->is_reference
                          ? gsim_rounds_per_s(rate)
                          : gsim_rounds_paces(ctx, job->slot, gpus, own->is_one_type).least;
    double last = job->n_levels > 0 ? job->level[job->n_levels - 1].per_tick : 0;
    /* beyond the widest row of the table nothing changes; slower levels stay in the reference */
    bool is_of_use = own->is_reference ? per_tick != last : per_tick > last;
    if (!is_of_use || per_tick <= 0 || job->n_levels == ELASTICFLOW_LEVELS)
        return;
    job->has_slower_level |= per_tick < last;
    job->level[job->n_levels++] = (struct elasticflow_level){gpus, per_tick};
}

/* The baselines of the reference: the job has what the trace says. */
static void learn_trace(const struct gsim_ctx *ctx, struct elasticflow_job *job) {
    job->level[0] = (struct elasticflow_level){ctx->view->jobs.gpus[job->slot], 1};
    job->n_levels = 1;
    job->needs = ctx->view->jobs.service_ns[job->slot] / own_of(ctx)->tick_ns;
}

/* GPUs of the cluster that have the job's memory. */
static uint32_t most_gpus(const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    uint32_t n = 0;
    if (cluster->room != GSIM_ROOM_SCARCE)
        return cluster->n_gpus;
    for (uint32_t node = 0; node < cluster->n_nodes; node++) {
        uint32_t first = cluster->node_first_gpu[node];
        if (gsim_common_has_memory(ctx, slot, first))
            n += cluster->node_first_gpu[node + 1] - first;
    }
    return n;
}

static void learn(struct gsim_ctx *ctx, struct elasticflow_job *job) {
    const struct gsim_trace *trace = ctx->view->trace;
    const struct elasticflow *own = own_of(ctx);
    uint32_t number = ctx->view->jobs.index[job->slot], asked = ctx->view->jobs.gpus[job->slot];
    int64_t iterations = gsim_trace_get(trace, GSIM_COL_ITERATIONS, number);
    uint32_t most = most_gpus(ctx, job->slot);
    struct gsim_where where = {.type = ctx->view->cluster.type[0], .gpus = 1};
    for (uint32_t gpus = 1; gpus <= most && gpus < GSIM_MAX_GANG; gpus *= 2) {
        add_level(ctx, job, gpus);
        if (!own->is_reference && asked > gpus && asked < 2 * gpus && asked <= most)
            add_level(ctx, job, asked);
    }
    job->left = (double)iterations;
    if (own->is_reference && (iterations <= 0 || gsim_ask_rate(ctx, job->slot, &where).digits == 0))
        ctx->status = gsim_fail(ctx->log, GSIM_BAD_INPUT, trace->path, 0,
                                "elasticflow: reference=elasticflow counts iterations: job '%s' "
                                "needs a row in --rates for one GPU, and a number of iterations",
                                gsim_trace_id(trace, number));
    else if (job->n_levels == 0)
        ctx->status = gsim_fail(ctx->log, GSIM_BAD_INPUT, trace->path, 0,
                                "elasticflow: by the table of --rates, job '%s' can run on no "
                                "power of two of GPUs of each type that the cluster has",
                                gsim_trace_id(trace, number));
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct elasticflow *own = own_of(ctx);
    uint32_t number = ctx->view->jobs.index[slot];
    int64_t deadline_ns = gsim_trace_get(ctx->view->trace, GSIM_COL_DEADLINE_NS, number);
    struct elasticflow_job *job = &own->job[number];
    bool was_admitted = job->is_admitted;
    *job = (struct elasticflow_job){
        .slot = slot,
        .is_active = true,
        .is_admitted = was_admitted, /* a job that comes again after a failure */
        .deadline = deadline_ns >= 0 ? deadline_ns / own->tick_ns : ELASTICFLOW_NEVER,
        .plan.arena = ctx->arena,
        .promise.arena = ctx->arena,
        .event_at = -1,
        .n_came = own->n_came++,
        .n_start = UINT32_MAX};
    own->arrived[own->n_arrived++] = number;
    own->is_due = true;
    if (elasticflow_is_baseline(own))
        learn_trace(ctx, job);
    else
        learn(ctx, job);
}

static uint32_t without(uint32_t *list, uint32_t n, uint32_t number) {
    uint32_t at = 0;
    while (at < n && list[at] != number)
        at++;
    if (at == n)
        return n;
    memmove(&list[at], &list[at + 1], (n - at - 1) * sizeof *list);
    return n - 1;
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct elasticflow *own = own_of(ctx);
    uint32_t number = ctx->view->jobs.index[slot];
    own->job[number].is_active = false;
    own->is_due = true;
    if (own->is_reference)
        return;
    if (own->job[number].is_behind)
        elasticflow_behind_drop(own);
    own->n_order = without(own->order, own->n_order, number);
    own->n_due = without(own->due, own->n_due, number);
}

static void on_watch(struct gsim_ctx *ctx, gsim_slot slot, enum gsim_watch_kind kind) {
    (void)kind;
    own_of(ctx)->job[ctx->view->jobs.index[slot]].is_through = true;
}

/* --- a new plan ------------------------------------------------------------------------------- */

static bool is_due_before(const struct elasticflow_job *a, const struct elasticflow_job *b) {
    return a->deadline < b->deadline || (a->deadline == b->deadline && a->n_came < b->n_came);
}

static int64_t gpus_up(const struct gsim_ctx *ctx) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    int64_t n = 0;
    if (cluster->n_failures == 0)
        return cluster->n_gpus;
    for (uint32_t node = 0; node < cluster->n_nodes; node++)
        if (!cluster->node_is_down[node])
            n += cluster->node_first_gpu[node + 1] - cluster->node_first_gpu[node];
    return n;
}

static void read_progress(const struct gsim_ctx *ctx, struct elasticflow_job *job) {
    int64_t left_ns =
        ctx->view->jobs.service_ns[job->slot] - gsim_attained_ns(ctx->view, job->slot);
    job->left = (double)(left_ns > 0 ? left_ns : 1) / (double)GSIM_NS_PER_MS;
    job->is_read = gsim_state_waits((enum gsim_state)ctx->view->jobs.state[job->slot]);
}

/* Reads the work that is left to all jobs. One that waited when it was read last, was given no
 * GPUs, and waits still has as much left, unless a node failed that had its memory. */
static void read_all(const struct gsim_ctx *ctx, struct elasticflow *own) {
    const uint8_t *state = ctx->view->jobs.state;
    bool is_every = ctx->view->cluster.n_failures != own->n_failures_read;
    own->n_failures_read = ctx->view->cluster.n_failures;
    for (uint32_t i = 0; i < own->n_order; i++) {
        struct elasticflow_job *job = nth(own, i);
        if (is_every || !job->is_read || job->now_level > 0 ||
            !gsim_state_waits((enum gsim_state)state[job->slot]))
            read_progress(ctx, job);
    }
}

/* Gives all jobs their shares. A job that misses its deadline has none from then on, and all are
 * planned again: returns the job, or NULL. */
static struct elasticflow_job *plan_all(struct elasticflow *own, int64_t now) {
    own->free.n = 0;
    elasticflow_steps_set(&own->free, now, own->n_gpus);
    elasticflow_sort(own, is_due_before);
    for (uint32_t i = 0; i < own->n_order && !own->is_out_of_memory; i++)
        if (!elasticflow_take(own, nth(own, i), now) && nth(own, i)->deadline < ELASTICFLOW_NEVER)
            return nth(own, i);
    return NULL;
}

/* Slots count from now on, and so a job that was in time by those of another plan may be late by
 * these; it has its share without them, as all jobs then, if that is in time. If it is not, all
 * have what they were promised. */
static void plan_again(struct elasticflow *own, int64_t now) {
    struct elasticflow_job *late = NULL;
    do {
        own->has_no_slots = own->is_as_promised = false;
        own->is_planned = !plan_all(own, now);
        if (own->is_planned)
            return;
        own->has_no_slots = true;
        late = plan_all(own, now);
        own->is_as_promised = late && elasticflow_keep_promises(own, now);
        if (own->is_as_promised)
            return;
        if (late)
            late->deadline = ELASTICFLOW_NEVER;
    } while (late);
}

/* Whether all that are admitted meet their deadlines beside the newcomer, which stands last in
 * order, and it meets its own. Where it is due last, the others have their shares already, and keep
 * them. */
static bool do_all_meet(struct elasticflow *own, struct elasticflow_job *job, int64_t now) {
    struct elasticflow_question question = {job, &own->free, now, 0, true};
    bool is_last = own->n_order < 2 || is_due_before(nth(own, own->n_order - 2), job);
    if (!own->is_planned || !is_last) {
        bool do_meet = !plan_all(own, now);
        own->is_planned = do_meet && !own->has_no_slots;
        return do_meet;
    }
    if (job->deadline < ELASTICFLOW_NEVER && !elasticflow_share(own, &question).meets)
        return false;
    (void)elasticflow_take(own, job, now);
    return true;
}

static void admit(struct gsim_ctx *ctx, struct gsim_plan *plan, struct elasticflow *own,
                  struct elasticflow_job *job, int64_t now) {
    bool is_asked = !job->is_admitted && own->mode == ELASTICFLOW_ADMIT;
    uint32_t number = ctx->view->jobs.index[job->slot];
    own->order[own->n_order++] = number;
    read_progress(ctx, job);
    own->is_planned &= is_asked;
    if (!is_asked || do_all_meet(own, job, now)) {
        job->is_admitted = true;
        return;
    }
    job->is_active = !gsim_plan_decline(plan, job->slot);
    own->is_planned &= !job->is_active;
    if (!job->is_active)
        own->n_order = without(own->order, own->n_order, number);
}

static void admit_all(struct gsim_ctx *ctx, struct gsim_plan *plan, struct elasticflow *own,
                      int64_t now) {
    for (uint32_t i = 0; i < own->n_arrived; i++)
        admit(ctx, plan, own, &own->job[own->arrived[i]], now);
    own->n_arrived = 0;
}

/* mode=edf: the widest level that is free, in the order of deadlines. */
static void give_by_deadline(struct elasticflow *own) {
    int64_t n_free = own->n_gpus;
    elasticflow_sort(own, is_due_before);
    for (uint32_t i = 0; i < own->n_order; i++) {
        nth(own, i)->now_level = elasticflow_level(nth(own, i), n_free);
        n_free -= elasticflow_gpus(nth(own, i), nth(own, i)->now_level);
    }
}

/* When the first of all plans changes. */
static int64_t next_change_ns(const struct elasticflow *own) {
    int64_t next = own->n_behind > 0 ? own->behind_from : INT64_MAX;
    for (uint32_t i = 0; i < own->n_order; i++) {
        const struct elasticflow_steps *steps = &nth(own, i)->plan;
        if (steps->n > 1 && steps->step[1].time < next)
            next = steps->step[1].time;
    }
    return next < GSIM_NEVER / own->tick_ns ? next * own->tick_ns : GSIM_NEVER;
}

static void give_shares(struct elasticflow *own, int64_t now) {
    if (!own->is_planned)
        plan_again(own, now);
    for (uint32_t i = 0; i < own->n_order; i++)
        nth(own, i)->now_level = elasticflow_level_now(nth(own, i));
    own->n_due = own->n_order + own->n_behind;
    memcpy(own->due, own->order, own->n_due * sizeof *own->due);
    elasticflow_give_spare(own, now, NULL);
    own->next_ns = next_change_ns(own);
    elasticflow_promise(own);
}

/* The next plan is not made within a slot of this one, unless this one changes then. */
static void hold(struct elasticflow *own, int64_t now_ns) {
    bool changes_sooner = own->has_no_slots || own->is_as_promised;
    own->held_until_ns = now_ns + own->slot * own->tick_ns;
    if (changes_sooner && own->next_ns < own->held_until_ns)
        own->held_until_ns = own->next_ns;
}

/* Whether all jobs that came may stand behind the others, which looks at their work. */
static bool do_newcomers_fit(const struct gsim_ctx *ctx, struct elasticflow *own) {
    int64_t ticks = own->behind_ticks;
    bool do_fit = true;
    for (uint32_t i = 0; i < own->n_arrived && do_fit; i++) {
        struct elasticflow_job *job = &own->job[own->arrived[i]];
        read_progress(ctx, job);
        do_fit = elasticflow_behind_fits(own, job, &ticks);
    }
    return do_fit;
}

/* A plan without a look at jobs that it gives no GPUs (behind.h), which is what a plan of all jobs
 * is. false: that cannot be said, and there is none. */
static bool plan_first(const struct gsim_ctx *ctx, struct elasticflow *own, int64_t now) {
    if (own->n_behind == 0 || ctx->view->cluster.n_failures != own->n_failures_read ||
        !do_newcomers_fit(ctx, own))
        return false;
    own->n_order = own->n_due - own->n_behind;
    read_all(ctx, own);
    own->has_no_slots = own->is_as_promised = false;
    own->is_planned = !plan_all(own, now) && elasticflow_behind_part(own, now);
    if (!own->is_planned)
        return false;
    for (uint32_t i = 0; i < own->n_arrived; i++) {
        own->job[own->arrived[i]].is_admitted = true;
        elasticflow_behind_add(own, own->arrived[i]);
    }
    own->n_arrived = 0;
    elasticflow_behind_take(own);
    return true;
}

static void plan_each(struct gsim_ctx *ctx, struct gsim_plan *plan, struct elasticflow *own,
                      int64_t now) {
    elasticflow_behind_drop(own);
    own->n_order = own->n_due;
    memcpy(own->order, own->due, own->n_due * sizeof *own->order);
    read_all(ctx, own);
    plan_again(own, now);
    admit_all(ctx, plan, own, now);
}

static void make_plan(struct gsim_ctx *ctx, struct gsim_plan *plan, struct elasticflow *own) {
    int64_t now = (ctx->view->now_ns + own->tick_ns - 1) / own->tick_ns, had = own->n_gpus;
    own->n_gpus = gpus_up(ctx);
    own->next_ns = GSIM_NEVER;
    if (own->mode == ELASTICFLOW_EDF) {
        read_all(ctx, own);
        admit_all(ctx, plan, own, now);
        give_by_deadline(own);
    } else {
        memcpy(own->order, own->due, own->n_due * sizeof *own->order);
        bool is_first = own->n_gpus == had && plan_first(ctx, own, now);
        if (!is_first)
            plan_each(ctx, plan, own, now);
        give_shares(own, now);
        own->n_order = own->n_due;
        own->n_unlisted = own->n_behind;
        if (!is_first)
            elasticflow_behind_find(ctx, own);
    }
    own->is_due = own->is_listed = false;
    hold(own, ctx->view->now_ns);
}

static void decide_own(struct gsim_ctx *ctx, struct gsim_plan *plan, struct elasticflow *own) {
    int64_t now_ns = ctx->view->now_ns;
    own->is_due |= own->next_ns <= now_ns || gpus_up(ctx) != own->n_gpus;
    if (own->is_due && now_ns >= own->held_until_ns)
        make_plan(ctx, plan, own);
    int64_t wake_ns = own->is_due ? own->held_until_ns : own->next_ns;
    if (wake_ns < own->held_until_ns)
        wake_ns = own->held_until_ns;
    bool wakes = wake_ns > now_ns && (own->is_due || own->n_order > 0);
    if (wakes)
        gsim_plan_wake(plan, wake_ns);
    own->due_ns = wakes ? wake_ns : now_ns + own->tick_ns;
    elasticflow_place(ctx, plan, own);
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct elasticflow *own = own_of(ctx);
    if (own->is_reference && ctx->view->cluster.n_failures > 0) {
        ctx->status = gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                                "elasticflow: reference=elasticflow has no rule for nodes that "
                                "fail; run it without --mtbf");
        return;
    }
    if (own->is_reference)
        elasticflow_decide_reference(ctx, plan, own);
    else
        decide_own(ctx, plan, own);
    if (own->is_out_of_memory)
        ctx->status = gsim_no_memory(ctx->log, "scheduling");
}

/* --- the table -------------------------------------------------------------------------------- */

static enum gsim_status open_elasticflow(struct gsim_ctx *ctx) {
    struct elasticflow *own = own_of(ctx);
    uint32_t n = ctx->view->trace->n_jobs;
    if (ctx->view->pool.is_used)
        return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0, "elasticflow: a pool has no GPUs to count");
    own->mode = (enum elasticflow_mode)gsim_param(ctx->params, "mode");
    own->is_reference = ctx->reference == GSIM_REFERENCE_ELASTICFLOW;
    own->tick_ns = own->is_reference ? GSIM_NS_PER_S : GSIM_NS_PER_MS;
    own->slot = gsim_param(ctx->params, "slot") / own->tick_ns;
    own->is_one_type = gsim_rounds_has_one_type(ctx->view);
    own->way = gsim_settings_preemption(ctx, GSIM_KEEP_STORAGE);
    own->n_gpus = ctx->view->cluster.n_gpus;
    own->next_ns = GSIM_NEVER;
    own->free.arena = own->without.arena = own->plan_to_be.arena = own->free_to_be.arena =
        ctx->arena;
    if (!ctx->view->trace->rates && !elasticflow_is_baseline(own))
        ctx->deviation = "no table of speeds (--rates) says how jobs scale: each GPU beyond those "
                         "that a job asks for is worth gang.grown_ppm of one of its own";
    own->job = gsim_arena_array(ctx->arena, n, sizeof *own->job);
    own->order = gsim_arena_array(ctx->arena, n, sizeof *own->order);
    own->due = gsim_arena_array(ctx->arena, n, sizeof *own->due);
    own->arrived = gsim_arena_array(ctx->arena, n, sizeof *own->arrived);
    own->mover = gsim_arena_array(ctx->arena, n, sizeof *own->mover);
    own->moved = gsim_arena_array(ctx->arena, n, sizeof *own->moved);
    own->placed = gsim_arena_array(ctx->arena, n, sizeof *own->placed);
    own->open = gsim_arena_array(ctx->arena, n, sizeof *own->open);
    own->first_on_node =
        gsim_arena_array(ctx->arena, ctx->view->cluster.n_nodes, sizeof *own->first_on_node);
    own->on_node = gsim_arena_array(ctx->arena, ctx->view->cluster.n_gpus, sizeof *own->on_node);
    if (elasticflow_is_baseline(own) && !own->is_reference)
        return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                         "elasticflow: mode=%s is a baseline of reference=elasticflow; without it, "
                         "policy %s",
                         own->mode == ELASTICFLOW_LAS ? "las" : "gandiva",
                         own->mode == ELASTICFLOW_LAS ? "tiresias" : "gandiva");
    if (own->slot < 1)
        return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0, "elasticflow: slot= is shorter than %s",
                         own->is_reference ? "a second" : "a millisecond");
    return own->job && own->order && own->due && own->arrived && own->mover && own->moved &&
                   own->placed && own->open && own->first_on_node && own->on_node &&
                   (!own->is_reference || elasticflow_open_reference(ctx, own))
               ? GSIM_OK
               : gsim_no_memory(ctx->log, "opening elasticflow");
}

static const struct gsim_param_def params[] = {
    {.name = "mode",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "admit",
     .choices = "admit|all|edf|las|gandiva",
     .help =
         "admit: a job whose deadline cannot be met is declined; all: no job is; edf: no job "
         "is, and as many GPUs as make it faster go to the job with the earliest deadline; las, "
         "gandiva: with reference=elasticflow alone, its `dlas-gpu` and `gandiva`"},
    {.name = "slot",
     .type = GSIM_PARAM_TIME,
     .fallback = "60s",
     .min = 1,
     .max = INT64_MAX / 16,
     .help = "least time between two plans; shares are counted in whole ones"},
    GSIM_PREEMPT_PARAM_AS("restart, as in ElasticFlow, whose jobs go on from checkpoints"),
    {0}};

const struct gsim_policy gsim_policy_elasticflow = {
    .name = "elasticflow",
    .summary = "as many GPUs as deadlines need, jobs that cannot meet theirs declined",
    .paper = "Gu et al., ASPLOS 2023",
    .deviations = "GPUs go to the nodes that leave the fewest in pieces, and jobs in the way move, "
                  "where the paper has buddies; what a change of width takes is not planned for; "
                  "GPUs of different types count as the slowest, with which a promise holds",
    .is_oracle = true,
    .oracle_where = "where jobs have no row in --rates",
    .names_gpus = true,
    .asks_speeds = true,
    .chooses_widths = true,
    .references = 1u << GSIM_REFERENCE_ELASTICFLOW,
    .params = params,
    .state_size = sizeof(struct elasticflow),
    .open = open_elasticflow,
    .on_arrival = on_arrival,
    .on_completion = on_completion,
    .on_watch = on_watch,
    .decide = decide,
};
