/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gavel: shares of device types, given in rounds. Source: Narayanan et al., "Heterogeneity-Aware
 * Cluster Scheduling Policies for Deep Learning Workloads", OSDI 2020, and its simulator
 * (stanford-futuredata/gavel, scheduler/scheduler.py).
 *
 * An objective gives each job a share of the time on each device type; in every round the entries
 * that are furthest behind their shares run (policies/lib/rounds.h). Shares are computed when jobs
 * came or ended, but no sooner than min_between after the last time. The objectives: those of
 * policies/lib/shares.h, AlloX, isolated (a part of the cluster for each job), proportional (a part
 * of the time), fifo, the random pairs that Gavel calls gandiva, and the shares of a file, for
 * results of other solvers. With users= water filling is hierarchical (users.h). With packing=on
 * two jobs of equal gangs may share GPUs: a pair is an entry with shares of its own. A job's speeds
 * are those of --rates; without a row, those of its device.
 *
 * A round lasts as long as round= says, or until all its jobs have ended. A job that stays on its
 * GPUs runs on; one that is on its way to them when a round ends has the next one there as well. A
 * job goes to the type on which it is furthest behind its share; GPUs that are left go to jobs
 * without a share of them, those that came since the last shares among them; under fifo to the next
 * of the queue, until one finds none.
 *
 * reference=gavel copies the simulator's loop: a round is as long as its slowest job takes for the
 * iterations that fit into round=, each job stops after its own, a job without shares holds its
 * GPUs and does not run, device types are walked in the order of the cluster (for isolated:
 * shuffled by the generator of Python), an idle gap counts as time that jobs have had, and a pair
 * runs until both of its jobs have made their iterations. */
#include <string.h>

#include "policies/gavel/state.h"
#include "policies/gavel/gpus.h"
#include "policies/gavel/loop.h"
#include "policies/gavel/optimum.h"
#include "policies/gavel/shares.h"
#include "policies/gavel/users.h"
#include "sim/api/rates.h"
#include "sim/base/sort.h"
#include "sim/base/units.h"

/* In the order of the parameter's choices. */
enum { NEWCOMERS_RUN = 0, NEWCOMERS_HOLD };
enum { ENDS_LEAST = 0, ENDS_TRIED };

static struct gavel *own(const struct gsim_ctx *ctx) {
    return ctx->state;
}

/* --- arrivals and ends ------------------------------------------------------------------------ */

/* Iterations per second of a job at its speed in the trace; 1: the trace does not give them. */
static double per_s_in_trace(const struct gsim_ctx *ctx, const struct gavel_job *job) {
    struct gsim_modes modes;
    int64_t iterations = job->iterations;
    int64_t takes_ns = gsim_ask_service_ns(ctx, job->slot, iterations);
    if (job->epoch_iterations > 0 && gsim_ask_modes(ctx, job->slot, &modes)) {
        iterations = job->epoch_iterations;
        takes_ns = modes.mode[modes.at].epoch_ns;
    }
    return takes_ns > 0 ? (double)iterations / ((double)takes_ns / (double)GSIM_NS_PER_S) : 1;
}

/* Speeds are iterations per second, by the table or, on types on which the job has no row, by its
 * columns. A job without any row has its speed in the trace for 1, unless iterations of jobs are
 * set beside those of others, or beside seconds. */
static void learn_speeds(struct gsim_ctx *ctx, struct gavel *gavel, struct gavel_job *job) {
    double by_columns[GSIM_ROUND_TYPES], in_trace = per_s_in_trace(ctx, job);
    bool has_table = false, can_run = false;
    for (uint32_t type = 0; type < gavel->n_types; type++) {
        struct gsim_rate rate = gsim_ask_rate(
            ctx, job->slot, &(struct gsim_where){.type = (uint16_t)type, .gpus = job->gpus});
        job->per_s[type] = gsim_rounds_per_s(rate);
        by_columns[type] = (double)rate.pace_q32 / (double)GSIM_RATE_ONE;
        has_table |= rate.digits > 0 || rate.pace_q32 == 0;
        can_run |= rate.pace_q32 > 0 && gavel->n_gpus[type] >= job->gpus;
    }
    if (!has_table && !gavel_counts_iterations(gavel))
        in_trace = 1;
    for (uint32_t type = 0; type < gavel->n_types && !gavel->is_reference; type++)
        if (!(job->per_s[type] > 0))
            job->per_s[type] = by_columns[type] * in_trace;
    if (gavel->is_reference && (!has_table || job->iterations <= 0))
        ctx->status = gsim_fail(ctx->log, GSIM_BAD_INPUT, ctx->view->trace->path, 0,
                                "reference=gavel counts iterations: job '%s' needs a row in "
                                "--rates, and a number of iterations",
                                gsim_trace_id(ctx->view->trace, ctx->view->jobs.index[job->slot]));
    else if (!can_run && ctx->status == GSIM_OK)
        ctx->status =
            gsim_fail(ctx->log, GSIM_BAD_INPUT, ctx->view->trace->path,
                      gsim_trace_line(ctx->view->trace, ctx->view->jobs.index[job->slot]),
                      "gavel: by the table of speeds, job '%s' cannot run on %u GPUs of any type "
                      "of the cluster that has them: it has rows of 0 there, or the least part of "
                      "a host that falls to a GPU is too small",
                      gsim_trace_id(ctx->view->trace, ctx->view->jobs.index[job->slot]), job->gpus);
}

/* A job in phases is seen as its program sees it: by its present batch size, at which all epochs
 * that are left would be made. Times of its past are kept, in iterations of that size. */
static void take_mode(struct gsim_ctx *ctx, struct gavel *gavel, struct gavel_job *job,
                      const struct gsim_modes *modes) {
    int64_t epoch = modes->mode[modes->at].epoch_iterations;
    if (job->epoch_iterations > 0) {
        double scale = (double)epoch / (double)job->epoch_iterations;
        job->left_before *= scale;
        job->alone_per_s *= scale;
    }
    job->mode = modes->at;
    job->epoch_iterations = epoch;
    gavel->has_modes = true;
    if (gavel->is_reference && modes->n > 1)
        ctx->status = gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                                "reference=gavel: jobs of Gavel have one speed on a device; job "
                                "'%s' has phases",
                                gsim_trace_id(ctx->view->trace, ctx->view->jobs.index[job->slot]));
}

static void follow_pairs(struct gsim_ctx *ctx, struct gavel *gavel, uint32_t number) {
    for (uint32_t e = 0; e < gavel->rounds.n; e++) {
        struct gsim_round_entry *entry = &gavel->rounds.entry[e];
        if (gavel_is_pair(entry) && (entry->member[0] == number || entry->member[1] == number))
            gavel_learn_pair(ctx, gavel, entry);
    }
}

/* Asks again for the speeds of jobs that have changed their batch size since. */
static void follow_modes(struct gsim_ctx *ctx, struct gavel *gavel) {
    struct gsim_modes modes;
    for (uint32_t e = 0; gavel->has_modes && e < gavel->rounds.n; e++) {
        struct gsim_round_entry *entry = &gavel->rounds.entry[e];
        struct gavel_job *job = &gavel->job[entry->member[0]];
        if (job->epoch_iterations == 0 || entry->member[1] != GSIM_NO_MEMBER ||
            !gsim_ask_modes(ctx, job->slot, &modes) || modes.at == job->mode)
            continue;
        take_mode(ctx, gavel, job, &modes);
        learn_speeds(ctx, gavel, job);
        gavel_learn_kind(ctx, gavel, entry->member[0]);
        memcpy(entry->per_s[0], job->per_s, sizeof job->per_s);
        follow_pairs(ctx, gavel, entry->member[0]);
        gavel->is_due = true;
    }
}

/* A gang runs on GPUs of one type. The program that the reference copies would let such a job wait
 * for ever. */
static void refuse_wide(struct gsim_ctx *ctx, const struct gavel *gavel, uint32_t number) {
    const struct gsim_trace *trace = ctx->view->trace;
    uint32_t most = 0, gpus = gavel->job[number].gpus;
    for (uint32_t type = 0; type < gavel->n_types; type++)
        most = gavel->n_gpus[type] > most ? gavel->n_gpus[type] : most;
    if (gpus <= most)
        return;
    ctx->status = gsim_fail(ctx->log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, number),
                            "job '%s' asks for %u GPUs; gavel runs a gang on one type of device, "
                            "and no type of the cluster has more than %u",
                            gsim_trace_id(trace, number), gpus, most);
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct gavel *gavel = own(ctx);
    uint32_t number = ctx->view->jobs.index[slot];
    struct gavel_job *job = &gavel->job[number];
    struct gsim_unit *units = job->units;
    *job = (struct gavel_job){.slot = slot,
                              .is_active = true,
                              .gpus = ctx->view->jobs.gpus[slot],
                              .type = GAVEL_NO_TYPE,
                              .units = units,
                              .iterations =
                                  gsim_trace_get(ctx->view->trace, GSIM_COL_ITERATIONS, number)};
    if (!units)
        job->units = gsim_arena_array(ctx->arena, job->gpus, sizeof *job->units);
    if (!job->units)
        ctx->status = gsim_no_memory(ctx->log, "scheduling");
    refuse_wide(ctx, gavel, number);
    struct gsim_modes modes;
    if (gsim_ask_modes(ctx, slot, &modes))
        take_mode(ctx, gavel, job, &modes);
    learn_speeds(ctx, gavel, job);
    gavel_learn_kind(ctx, gavel, number);
    gavel->arrived[gavel->n_arrived++] = number;
    job->came = gavel->n_ever++;
    gavel->n_to_come -= gsim_trace_get(ctx->view->trace, GSIM_COL_AFTER, number) < 0;
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct gavel *gavel = own(ctx);
    struct gavel_job *job = &gavel->job[ctx->view->jobs.index[slot]];
    job->has_ended = true;
    job->is_active = job->is_placed = false;
}

static void on_watch(struct gsim_ctx *ctx, gsim_slot slot, enum gsim_watch_kind kind) {
    (void)kind;
    struct gavel *gavel = own(ctx);
    uint32_t number = ctx->view->jobs.index[slot];
    if (!gavel->job[number].is_at_end)
        gavel->reached[gavel->n_reached++] = gavel_key(gavel, number);
    gavel->job[number].is_at_end = true;
}

/* --- decide ----------------------------------------------------------------------------------- */

/* Whether a job of the round has yet to be placed. */
static bool is_to_be_placed(const struct gavel *gavel, const struct gavel_job *job) {
    bool is_over = gavel->is_reference && (job->is_at_end || job->fails);
    return job->is_active && !job->is_placed && !is_over;
}

static bool waits(const struct gsim_ctx *ctx, const struct gavel_job *job) {
    return gsim_state_waits((enum gsim_state)ctx->view->jobs.state[job->slot]);
}

static bool runs_beside(struct gsim_ctx *ctx, const struct gavel_job *job,
                        const struct gavel_job *other) {
    struct gsim_where where = {
        .type = (uint16_t)job->type, .gpus = job->gpus, .beside = other->slot + 1};
    return gsim_ask_rate(ctx, job->slot, &where).pace_q32 > 0;
}

/* Whether the other job of a pair, should it be there already, lets the job run beside it: either
 * may have come to another batch size since the round began. */
static bool may_join(struct gsim_ctx *ctx, const struct gavel *gavel, const struct gavel_job *job) {
    const struct gavel_job *other = job->with > 0 ? &gavel->job[job->with - 1] : NULL;
    return !other || !other->is_active || !other->is_placed ||
           (runs_beside(ctx, job, other) && runs_beside(ctx, other, job));
}

/* Places a job of the round, if it waits. */
static void place_job(struct gsim_ctx *ctx, struct gsim_plan *plan, const struct gavel *gavel,
                      struct gavel_job *job) {
    if (!waits(ctx, job) || (!gavel->is_reference && !may_join(ctx, gavel, job)) ||
        !gsim_plan_place_on(plan, job->slot, job->units, job->gpus))
        return;
    job->is_placed = true;
    if (gavel->is_reference && job->done + job->round_iterations < job->iterations)
        gsim_plan_watch(plan, job->slot, GSIM_WATCH_ATTAINED,
                        gsim_ask_service_ns(ctx, job->slot, job->done + job->round_iterations));
}

/* Places the jobs of the round that wait, in the order of its choices. */
static void place_all(struct gsim_ctx *ctx, struct gsim_plan *plan, struct gavel *gavel) {
    uint32_t kept = 0;
    gavel->has_blocked = false;
    for (uint32_t i = 0; i < gavel->n_unplaced; i++) {
        struct gavel_job *job = &gavel->job[gavel->unplaced[i]];
        if (!is_to_be_placed(gavel, job))
            continue;
        place_job(ctx, plan, gavel, job);
        if (job->is_placed)
            continue;
        gavel->has_blocked |= waits(ctx, job);
        gavel->unplaced[kept++] = gavel->unplaced[i];
    }
    gavel->n_unplaced = kept;
}

static bool sort(struct gsim_ctx *ctx, int64_t *keys, uint32_t n) {
    if (n < 2 || gsim_sort_i64(keys, n))
        return true;
    ctx->status = gsim_no_memory(ctx->log, "scheduling");
    return false;
}

/* As place_all, where all that has yet to be placed is still on its way from other GPUs: only jobs
 * that have come to the end of that can be. */
static void place_settled(struct gsim_ctx *ctx, struct gsim_plan *plan, struct gavel *gavel) {
    const struct gsim_view_changes *changes = &ctx->view->changes;
    uint32_t n = 0;
    for (uint32_t i = 0; i < changes->n_settled; i++) {
        uint32_t number = ctx->view->jobs.index[changes->settled[i]];
        if (gavel->job[number].has_gpus && is_to_be_placed(gavel, &gavel->job[number]))
            gavel->settled[n++] = gavel_key(gavel, number);
    }
    if (!sort(ctx, gavel->settled, n))
        return;
    for (uint32_t i = 0; i < n; i++) {
        struct gavel_job *job = &gavel->job[(uint32_t)gavel->settled[i]];
        place_job(ctx, plan, gavel, job);
        gavel->has_blocked |= !job->is_placed && waits(ctx, job);
    }
}

static void place(struct gsim_ctx *ctx, struct gsim_plan *plan, struct gavel *gavel) {
    if (gavel->has_blocked)
        place_all(ctx, plan, gavel);
    else if (gavel->n_unplaced > 0)
        place_settled(ctx, plan, gavel);
}

/* In the reference, jobs stop when they have made the round's iterations. */
static bool stop_reached(struct gsim_ctx *ctx, struct gsim_plan *plan, struct gavel *gavel) {
    uint32_t kept = 0, n = gavel->n_reached;
    if (n == 0 || !sort(ctx, gavel->reached, n))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        struct gavel_job *job = &gavel->job[(uint32_t)gavel->reached[i]];
        if (!job->is_active || !job->is_placed)
            continue;
        gavel_preempt(plan, gavel, job);
        gavel->reached[kept++] = gavel->reached[i];
    }
    gavel->n_reached = kept;
    gavel->has_blocked |= kept > 0 && gavel->n_unplaced > 0; /* what has settled is not looked at */
    return kept > 0;
}

static bool is_over(const struct gsim_ctx *ctx, const struct gavel *gavel,
                    const struct gavel_job *job) {
    bool has_stopped = job->is_at_end || job->fails;
    bool is_stopped = gavel->is_reference && has_stopped && !job->is_placed &&
                      gsim_state_waits((enum gsim_state)ctx->view->jobs.state[job->slot]);
    return !job->is_active || is_stopped;
}

/* Whether the round's jobs have all stopped or ended. */
static bool has_run_out(const struct gsim_ctx *ctx, struct gavel *gavel) {
    if (ctx->view->now_ns < gavel->held_until_ns)
        return false;
    for (; gavel->first_running < gavel->n_choices; gavel->first_running++) {
        const struct gsim_round_entry *entry = gavel_chosen(gavel, gavel->first_running);
        for (int m = 0; m <= gavel_is_pair(entry); m++)
            if (!is_over(ctx, gavel, gavel_member(gavel, entry, m)))
                return false;
    }
    return true;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct gavel *gavel = own(ctx);
    if (ctx->view->cluster.n_failures > 0) {
        ctx->status = gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                                "gavel has no rule for nodes that fail: its shares and rounds are "
                                "of all GPUs; run it without --mtbf");
        return;
    }
    if (gavel->is_reference && stop_reached(ctx, plan, gavel))
        return;
    bool has_ended = has_run_out(ctx, gavel);
    if (!gavel->is_reference)
        has_ended |= ctx->view->now_ns >= gavel->ends_ns;
    if (gavel->has_packing && !gavel->is_arranged)
        gavel_arrange(ctx, plan, gavel);
    if (gavel->is_in_round && !has_ended) {
        place(ctx, plan, gavel);
        return;
    }
    if (gavel->is_in_round)
        gavel_end_round(ctx, plan, gavel);
    else
        gavel_read_clock(ctx, gavel);
    for (uint32_t i = 0; gavel->is_reference && i < gavel->n_live; i++)
        gavel->job[gavel->live[i]].is_at_end = false; /* jobs are watched there alone */
    gavel->n_reached = 0;
    follow_modes(ctx, gavel);
    gavel_begin_round(ctx, plan, gavel);
    place_all(ctx, plan, gavel);
}

/* --- the table -------------------------------------------------------------------------------- */

/* Which pairs of settings do not go together. */
static enum gsim_status check(struct gsim_ctx *ctx, const struct gavel *gavel, const char *path) {
    const struct gsim_rates *rates = ctx->view->trace->rates;
    bool has_choice = gavel->objective != GAVEL_ISOLATED && gavel->objective != GAVEL_ALLOX &&
                      gavel->objective != GAVEL_PROPORTIONAL;
    if (gavel->objective == GAVEL_SHARES && *path == '\0')
        return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                         "gavel: objective=shares needs shares=FILE");
    if (gavel->has_packing && !has_choice)
        return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                         "gavel: packing=on goes with any objective but isolated, proportional and "
                         "allox");
    if (!gavel->has_packing && gavel->objective == GAVEL_GANDIVA)
        return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                         "gavel: objective=gandiva is of pairs: it needs packing=on");
    if (gavel->has_packing && !gavel->knows_speed)
        return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                         "gavel: pairs are judged by their speeds: packing=on needs sees_speed=on");
    if (gavel->has_packing && (!rates || rates->n_pairs == 0))
        return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                         "gavel: packing=on needs a table of speeds (--rates) with rows of a model "
                         "'beside' another");
    return GSIM_OK;
}

static enum gsim_status open_gavel(struct gsim_ctx *ctx) {
    struct gavel *gavel = own(ctx);
    uint32_t n = ctx->view->trace->n_jobs;
    const char *path = gsim_param_full(ctx->params, "shares")->text;
    for (uint32_t job = 0; job < n; job++)
        gavel->n_to_come += gsim_trace_get(ctx->view->trace, GSIM_COL_AFTER, job) < 0;
    gavel->objective = (enum gavel_objective)gsim_param(ctx->params, "objective");
    gavel->is_reference = ctx->reference == GSIM_REFERENCE_GAVEL;
    gavel->knows_speed = gsim_param(ctx->params, "sees_speed") != 0;
    gavel->sees_speed =
        !gavel->is_reference || (gavel->objective != GAVEL_ISOLATED && gavel->knows_speed);
    gavel->has_packing = gsim_param(ctx->params, "packing") != 0;
    gavel->newcomers_hold =
        gavel->is_reference || gsim_param(ctx->params, "newcomers") == NEWCOMERS_HOLD;
    gavel->ends_as_tried = gavel->is_reference || gsim_param(ctx->params, "ends") == ENDS_TRIED;
    gavel->queued_ppm = (uint32_t)gsim_param(ctx->params, "queued");
    gavel->round_ns = gsim_param(ctx->params, "round");
    gavel->least_ns = gsim_param(ctx->params, "min_between");
    gavel->way = gsim_settings_preemption(ctx, GSIM_KEEP_STORAGE);
    gavel->job = gsim_arena_array(ctx->arena, n, sizeof *gavel->job);
    gavel->arrived = gsim_arena_array(ctx->arena, 2 * (size_t)n + 1, sizeof *gavel->arrived);
    gavel->live = gsim_arena_array(ctx->arena, n, sizeof *gavel->live);
    gavel->held = gsim_arena_array(ctx->arena, n, sizeof *gavel->held);
    gavel->unplaced = gsim_arena_array(ctx->arena, n, sizeof *gavel->unplaced);
    gavel->reached = gsim_arena_array(ctx->arena, n, sizeof *gavel->reached);
    gavel->settled = gsim_arena_array(ctx->arena, n, sizeof *gavel->settled);
    if (!gavel->job || !gavel->arrived || !gavel->live || !gavel->held || !gavel->unplaced ||
        !gavel->reached || !gavel->settled)
        return gsim_no_memory(ctx->log, "opening gavel");
    gsim_python_seed(&gavel->random, (uint32_t)ctx->seed + 5);
    gsim_python_seed(&gavel->draws, (uint32_t)ctx->seed);
    enum gsim_status status = check(ctx, gavel, path);
    if (status == GSIM_OK)
        status = gavel_open_gpus(ctx, gavel);
    if (status == GSIM_OK)
        status = gavel_open_users(ctx, gavel);
    if (status == GSIM_OK)
        status = gavel_open_optimum(ctx, gavel);
    gsim_rounds_open(&gavel->rounds, ctx->arena, gavel->n_types,
                     (double)gavel->round_ns / (double)GSIM_NS_PER_S);
    return status == GSIM_OK && *path ? gavel_read_shares(ctx, gavel, path) : status;
}

static const struct gsim_param_def params[] = {
    {.name = "objective",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "isolated",
     .choices = "isolated|fifo|shares|max-min|water-filling|max-sum|makespan|finish-time|allox|"
                "gandiva|proportional",
     .help = "what decides the shares: isolated: a part of the cluster for each job; fifo: the "
             "fastest devices for the first to come; shares: a file; max-min: the most for the job "
             "that has least, relative to its part and weight; water-filling: then the most for "
             "the next; max-sum: the most iterations per second; makespan: the earliest last end; "
             "finish-time: the smallest ratio to the end with a part of the cluster (Themis); "
             "allox: the smallest mean time to the end, gangs queued as jobs of one GPU; gandiva: "
             "as isolated; "
             "where jobs want more GPUs than there are, random pairs share them; proportional: an "
             "equal part of the time for each job, however wide it is (the Gandiva-Fair of "
             "Shockwave's authors)"},
    {.name = "shares",
     .type = GSIM_PARAM_FILE,
     .fallback = "",
     .help = "shares in place of the objective's own: rows time_s,job,device,share, with job "
             "job+job for a pair (packing=on)"},
    {.name = "packing",
     .type = GSIM_PARAM_BOOL,
     .fallback = "off",
     .help =
         "whether two jobs may share GPUs, at the speeds that --rates has of a model beside "
         "another; with fifo the next of the queue joins the job with which both lose least, if "
         "they make more than 1.5 times what one does alone"},
    {.name = "users",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "off",
     .choices = "off|fair|fifo",
     .help = "with objective=water-filling: whether users (column user) share the cluster by their "
             "weights; fair: the jobs of a user share its part by theirs; fifo: the first of them "
             "has it, and the GPUs that it cannot use go to the next"},
    {.name = "user_weights",
     .type = GSIM_PARAM_TEXT,
     .fallback = "",
     .help = "with users=: weights of users, such as alice:3+bob:0.5; users without one have 1"},
    {.name = "sees_speed",
     .type = GSIM_PARAM_BOOL,
     .fallback = "on",
     .help = "whether the objective knows how fast devices are; off: a job is as fast on all as on "
             "the first of the cluster on which it runs (with reference=gavel, the program then "
             "shuffles the device types), and fifo takes a random one of those that are free"},
    {.name = "round",
     .type = GSIM_PARAM_TIME,
     .fallback = "360s",
     .min = 1,
     .max = INT64_MAX / 4,
     .help = "length of a round"},
    {.name = "min_between",
     .type = GSIM_PARAM_TIME,
     .fallback = "1920s",
     .help = "shares are not computed again sooner than this"},
    {.name = "newcomers",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "run",
     .choices = "run|hold",
     .help = "what jobs do that came since the last shares: they run where a round has GPUs left, "
             "or hold these GPUs idle, as Gavel's own rounds have it (reference=gavel: hold)"},
    {.name = "ends",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "least",
     .choices = "least|tried",
     .help = "with objective=makespan, by when the shares let all jobs end: in the least time, or "
             "by the next time that Gavel's program tries, up to 5 % later (reference=gavel: "
             "tried)"},
    {.name = "queued",
     .type = GSIM_PARAM_PPM,
     .fallback = "100%",
     .min = 0,
     .max = GSIM_PPM,
     .help = "with objective=allox: the part of the waiting jobs, the first to come, that is "
             "considered, at least as many as there are free GPUs (AlloX' alpha; Shockwave's "
             "authors ran it with 20 %)"},
    GSIM_PREEMPT_PARAM_AS("restart, as in Gavel, whose jobs write a checkpoint at the end of their "
                          "lease"),
    {0}};

const struct gsim_policy gsim_policy_gavel = {
    .name = "gavel",
    .summary = "shares of each device type, given in rounds by how far a job is behind its own",
    .paper = "Narayanan et al., OSDI 2020",
    .deviations = "of equally good shares those of policies/lib/shares.h are taken; costs and SLOs "
                  "are not considered; nodes that fail are refused",
    .names_gpus = true,
    .asks_speeds = true,
    .references = 1u << GSIM_REFERENCE_GAVEL,
    .params = params,
    .state_size = sizeof(struct gavel),
    .open = open_gavel,
    .on_arrival = on_arrival,
    .on_completion = on_completion,
    .on_watch = on_watch,
    .decide = decide,
};
