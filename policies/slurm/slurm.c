/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slurm as a site has configured it: priority/multifactor, partitions with tiers, limits of QOS and
 * associations, reservations, the main scheduler and sched/backfill with many planned jobs,
 * preemption with requeue. The settings are the site's own (slurm.conf=FILE, sim/site/slurm.h);
 * without a file they are Slurm's defaults, with one partition. Sources: the manual pages of Slurm
 * 23.11 and its public code (job_scheduler.c, backfill.c, fair_tree.c, priority_multifactor.c).
 *
 * What differs: schedulers take no time; jobs without a GPU take nothing, so that CPUs and memory
 * are those of GPU jobs; a gang takes the fewest nodes, of several the ones with the lowest Weight
 * and the fewest free GPUs; backfill does not preempt. A requeued job waits no time before it may
 * start again. */
#include "policies/lib/common.h"
#include "policies/lib/time_limits.h"
#include "policies/slurm/accounts.h"
#include "policies/slurm/limits.h"
#include "policies/slurm/nodes.h"
#include "policies/slurm/outlook.h"
#include "policies/slurm/passes.h"
#include "policies/slurm/ranking.h"
#include "policies/slurm/ways.h"

#include "sim/base/calendar.h"

#include <string.h>
#include <strings.h>

/* --- opening ---------------------------------------------------------------------------------- */

static enum gsim_status read_conf(struct gsim_slurm_state *state, struct gsim_ctx *ctx) {
    const char *path = gsim_param_full(ctx->params, "conf")->text;
    enum gsim_status status = GSIM_OK;
    gsim_slurm_defaults(&state->conf);
    if (*path)
        status = gsim_slurm_read(path, ctx->arena, &state->conf, ctx->log);
    if (status != GSIM_OK)
        return status;
    gsim_slurm_warn(&state->conf, ctx->log);
    if (state->conf.n_partitions > 0)
        return GSIM_OK;
    state->conf.partition = gsim_arena_alloc(ctx->arena, sizeof *state->conf.partition);
    if (!state->conf.partition)
        return gsim_no_memory(ctx->log, "opening partitions");
    struct gsim_slurm_partition *only = state->conf.partition;
    *only = gsim_slurm_partition_default();
    only->name = "all";
    only->nodes = "ALL";
    only->is_default = true;
    state->conf.n_partitions = 1;
    return GSIM_OK;
}

static enum gsim_status read_origin(struct gsim_slurm_state *state, struct gsim_ctx *ctx) {
    const char *text = gsim_param_full(ctx->params, "start")->text;
    state->origin_s = ctx->view->trace->origin_s;
    if (*text && !gsim_calendar_parse(text, strlen(text), &state->origin_s))
        return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                         "slurm.start: '%s' is not a date such as 2024-05-31T08:00:00", text);
    if (!*text && state->origin_s == 0 && state->conf.n_reservations > 0)
        return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                         "%s has reservations, which have dates: --set slurm.start=2024-05-01T"
                         "00:00:00 says the date of the trace's time 0, the first Submit of the "
                         "log (or where --log-from says that it begins)",
                         state->conf.path);
    return GSIM_OK;
}

static uint32_t qos_called(const struct gsim_slurm *conf, const char *name) {
    for (uint32_t q = 0; *name && q < conf->n_qos; q++)
        if (strcasecmp(conf->qos[q].name, name) == 0)
            return q;
    return GSIM_SLURM_NONE;
}

static enum gsim_status name_qos(struct gsim_slurm_state *state, struct gsim_ctx *ctx) {
    const struct gsim_names *qos = &ctx->view->trace->names[GSIM_COL_QOS];
    const struct gsim_slurm *conf = &state->conf;
    const bool *is_named = gsim_common_named(ctx, GSIM_COL_QOS);
    state->qos_of = gsim_arena_array(ctx->arena, qos->n + 1u, sizeof *state->qos_of);
    if (!state->qos_of || !is_named)
        return gsim_no_memory(ctx->log, "opening QOS");
    for (uint32_t n = 0; n < qos->n; n++) {
        state->qos_of[n] = qos_called(conf, qos->name[n]);
        if (is_named[n] && state->qos_of[n] == GSIM_SLURM_NONE && conf->n_qos > 0 && conf->path)
            gsim_warn(ctx->log, conf->path, 0,
                      "the file has no QOS '%.64s'; the jobs of that QOS are of none, without "
                      "priority and limits",
                      qos->name[n]);
    }
    return GSIM_OK;
}

/* Where the trace has no limits at all, and the partitions neither, true durations stand in. */
static void look_at_limits(struct gsim_slurm_state *state, struct gsim_ctx *ctx) {
    const struct gsim_trace *trace = ctx->view->trace;
    bool has = trace->column[GSIM_COL_LIMIT_NS] != NULL;
    for (uint32_t p = 0; p < state->conf.n_partitions; p++)
        has |= state->conf.partition[p].default_ns >= 0 || state->conf.partition[p].max_ns >= 0;
    state->has_time_limits = has;
    if (has)
        return;
    bool is_estimated = trace->column[GSIM_COL_ESTIMATE_NS] != NULL;
    ctx->assumed = is_estimated ? "limit_s=estimate_s" : "limit_s=duration_s";
    if (!is_estimated)
        gsim_warn(ctx->log, NULL, 0,
                  "slurm: the trace has no limit_s, and no partition a time; jobs' true service "
                  "time stands in for it, as if users knew it exactly");
}

/* Jobs of the default partition because they name none of the file: where it has no GPUs, they
 * would wait for ever. */
static enum gsim_status look_at_default(const struct gsim_slurm_state *state,
                                        struct gsim_ctx *ctx) {
    const struct gsim_trace *trace = ctx->view->trace;
    for (uint32_t node = 0; node < state->n_nodes; node++)
        if (gsim_slurm_nodes_has(state, state->default_partition, node))
            return GSIM_OK;
    for (uint32_t job = 0; job < trace->n_jobs; job++) {
        int64_t name = gsim_trace_get(trace, GSIM_COL_PARTITION, job);
        if (state->partition_list[state->partitions_of[name + 1]] == state->default_partition)
            return gsim_fail(ctx->log, GSIM_BAD_INPUT, trace->path, 0,
                             "job '%s' names no partition of %s, and '%s', the default one, has no "
                             "GPUs; --assume partition=NAME names one for all jobs",
                             gsim_trace_id(trace, job), state->conf.path,
                             state->conf.partition[state->default_partition].name);
    }
    return GSIM_OK;
}

static void look_at_preemption(struct gsim_slurm_state *state) {
    const struct gsim_slurm *conf = &state->conf;
    bool has = conf->exempt_ns > 0;
    for (uint32_t q = 0; q < conf->n_qos; q++)
        has |= conf->qos[q].exempt_ns > 0;
    state->has_exempt = has && (conf->preempts_by_qos || conf->preempts_by_tier);
}

static bool allocate(struct gsim_slurm_state *state, struct gsim_ctx *ctx) {
    uint32_t n_partitions = state->conf.n_partitions;
    state->is_blocked = gsim_arena_array(ctx->arena, n_partitions, sizeof *state->is_blocked);
    state->waiting_in = gsim_arena_array(ctx->arena, n_partitions, sizeof *state->waiting_in);
    state->most_free = gsim_arena_array(ctx->arena, n_partitions, sizeof *state->most_free);
    state->part_tests = gsim_arena_array(ctx->arena, n_partitions, sizeof *state->part_tests);
    state->user_tests = gsim_arena_array(ctx->arena, state->n_users, sizeof *state->user_tests);
    state->n_arrays = ctx->view->trace->names[GSIM_COL_ARRAY].n;
    state->array_running =
        gsim_arena_array(ctx->arena, state->n_arrays + 1u, sizeof *state->array_running);
    state->array_plans =
        gsim_arena_array(ctx->arena, state->n_arrays + 1u, sizeof *state->array_plans);
    state->array_is_done =
        gsim_arena_array(ctx->arena, state->n_arrays + 1u, sizeof *state->array_is_done);
    return state->is_blocked && state->waiting_in && state->most_free && state->part_tests &&
           state->user_tests && state->array_running && state->array_plans && state->array_is_done;
}

static enum gsim_status open_slurm(struct gsim_ctx *ctx) {
    struct gsim_slurm_state *state = ctx->state;
    enum gsim_status status = read_conf(state, ctx);
    state->kills = gsim_param(ctx->params, "kill") != 0;
    state->bills_as_logged = gsim_param(ctx->params, "billing") == 0;
    state->backfilled_ns = -1;
    state->next_exempt_ns = GSIM_NEVER;
    if (status == GSIM_OK)
        status = read_origin(state, ctx);
    if (status == GSIM_OK)
        status = name_qos(state, ctx);
    if (status == GSIM_OK)
        status = gsim_slurm_ways_open(state, ctx);
    if (status == GSIM_OK)
        status = gsim_slurm_nodes_open(state, ctx);
    if (status == GSIM_OK)
        status = look_at_default(state, ctx);
    if (status == GSIM_OK)
        status = gsim_slurm_accounts_open(state, ctx);
    if (status == GSIM_OK)
        status = gsim_slurm_limits_open(state, ctx);
    if (status == GSIM_OK)
        status = gsim_slurm_ranking_open(state, ctx);
    if (status == GSIM_OK && !allocate(state, ctx))
        status = gsim_no_memory(ctx->log, "opening slurm");
    look_at_limits(state, ctx);
    look_at_preemption(state);
    if (status == GSIM_OK && state->kills && !state->has_time_limits)
        status = gsim_time_limits_refuse(ctx);
    return status;
}

/* --- jobs ------------------------------------------------------------------------------------- */

/* What the job asks for, as limits count it, and beside each of its GPUs as nodes do. */
static void measure(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                    gsim_slot slot) {
    const int64_t mib = INT64_C(1) << 20;
    const struct gsim_trace *trace = ctx->view->trace;
    struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    uint32_t index = ctx->view->jobs.index[slot];
    int64_t gpus = ctx->view->jobs.gpus[slot];
    int64_t cpus = gsim_trace_get(trace, GSIM_COL_CPUS_MILLI, index);
    int64_t mem = gsim_trace_get(trace, GSIM_COL_HOST_MEM_BYTES, index);
    int64_t type = gsim_trace_get(trace, GSIM_COL_GPU_TYPE, index);
    job->each = (struct gsim_host){cpus > 0 ? gsim_muldiv_ceil(cpus, 1, gpus) : 0,
                                   mem > 0 ? gsim_muldiv_ceil(mem, 1, gpus) : 0};
    uint32_t share_ppm = ctx->view->jobs.share_ppm[slot];
    job->share_ppm = state->has_shards && share_ppm < GSIM_PPM ? share_ppm : 0;
    job->wants[GSIM_SLURM_JOBS] = 1;
    job->wants[GSIM_SLURM_GPUS] = job->share_ppm > 0 ? 0 : gpus;
    if (job->share_ppm > 0)
        job->wants[GSIM_SLURM_SHARDS] =
            gsim_muldiv_ceil(job->share_ppm, gsim_slurm_shards_of_gpu(&state->conf), GSIM_PPM);
    job->wants[GSIM_SLURM_CPUS] = cpus > 0 ? gsim_muldiv_ceil(cpus, 1, 1000) : 0;
    job->wants[GSIM_SLURM_MEM] = mem > 0 ? gsim_muldiv_ceil(mem, 1, mib) : 0;
    job->type = type < 0 ? 0
                         : (uint8_t)gsim_slurm_nodes_type(
                               &state->conf, trace->names[GSIM_COL_GPU_TYPE].name[type]);
}

static void describe(struct gsim_slurm_state *state, struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_trace *trace = ctx->view->trace;
    struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    uint32_t index = ctx->view->jobs.index[slot];
    int64_t array = gsim_trace_get(trace, GSIM_COL_ARRAY, index);
    int64_t qos = gsim_trace_get(trace, GSIM_COL_QOS, index);
    job->array = array < 0 ? GSIM_SLURM_NONE : (uint32_t)array;
    job->assoc = gsim_slurm_accounts_of(state, ctx, index);
    const struct gsim_slurm_assoc *assoc = state->account[job->assoc].conf;
    job->qos = qos >= 0               ? state->qos_of[qos]
               : assoc && *assoc->qos ? qos_called(&state->conf, assoc->qos)
                                      : qos_called(&state->conf, "normal");
    job->running_at = job->first_piece = GSIM_SLURM_NONE;
    measure(state, ctx, slot);
    job->eligible_ns = ctx->view->now_ns;
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_slurm_state *state = ctx->state;
    (void)gsim_slurm_ranking_catch_up(state, ctx);
    describe(state, ctx, slot);
    gsim_slurm_ways_enter(state, ctx, slot);
    state->is_due = state->has_changed = true;
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_slurm_state *state = ctx->state;
    (void)gsim_slurm_ranking_catch_up(state, ctx);
    if (gsim_slurm_job(ctx, slot)->running_at == GSIM_SLURM_NONE)
        gsim_slurm_ways_remove(state, slot);
    gsim_slurm_stop(state, ctx, slot);
    state->is_due = state->has_changed = true;
}

/* --- deciding --------------------------------------------------------------------------------- */

/* A limit counts from when the job runs; a job that was pushed out waits again. */
static void settle(struct gsim_slurm_state *state, struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_view *view = ctx->view;
    struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    if (view->jobs.state[slot] == GSIM_QUEUED && job->running_at == GSIM_SLURM_NONE) {
        job->eligible_ns = view->now_ns;
        gsim_slurm_ways_enter(state, ctx, slot);
        state->is_due = state->has_changed = true;
    } else if (view->jobs.state[slot] == GSIM_RUNNING && job->running_at != GSIM_SLURM_NONE) {
        int64_t end_ns = view->jobs.changed_ns[slot] + job->way.limit_ns;
        if (end_ns == job->end_ns)
            return;
        gsim_slurm_limits_book(state, ctx, slot, -1);
        job->end_ns = end_ns;
        gsim_slurm_limits_book(state, ctx, slot, 1);
        gsim_slurm_outlook_forget(state, job);
        state->has_changed = true;
    }
}

static int64_t kill_time(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                         gsim_slot slot) {
    return gsim_slurm_job(ctx, slot)->end_ns + state->conf.over_ns;
}

/* Ends jobs that have run for their limit and OverTimeLimit. */
static void kill_overdue(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                         struct gsim_plan *plan) {
    for (uint32_t i = 0; state->kills && i < state->n_running; i++)
        if (ctx->view->jobs.state[state->running[i]] == GSIM_RUNNING &&
            kill_time(state, ctx, state->running[i]) <= ctx->view->now_ns)
            (void)gsim_plan_end(plan, state->running[i]);
}

static int64_t next_kill(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx) {
    int64_t next_ns = GSIM_NEVER;
    for (uint32_t i = 0; state->kills && i < state->n_running; i++) {
        int64_t at_ns = kill_time(state, ctx, state->running[i]);
        next_ns = at_ns > ctx->view->now_ns ? gsim_slurm_least(next_ns, at_ns) : next_ns;
    }
    return next_ns;
}

/* The next pass that nothing else would cause. */
static int64_t next_pass(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx) {
    int64_t now_ns = ctx->view->now_ns, every_ns = state->conf.bf_interval_ns;
    bool preempts = state->conf.preempts_by_qos || state->conf.preempts_by_tier;
    if (state->n_order == 0)
        return GSIM_NEVER;
    int64_t next_ns = gsim_slurm_nodes_next(state, now_ns);
    if (ctx->view->cluster.n_idle_gpus == 0 && !preempts && !state->has_shards)
        return next_ns;
    next_ns = gsim_slurm_least(
        next_ns, gsim_slurm_least(gsim_slurm_ranking_next(state, now_ns), state->next_exempt_ns));
    if (state->conf.backfills && state->has_changed)
        next_ns = gsim_slurm_least(next_ns, now_ns - now_ns % every_ns + every_ns);
    return next_ns;
}

static void look_for_changes(struct gsim_slurm_state *state, struct gsim_ctx *ctx) {
    const struct gsim_view *view = ctx->view;
    for (uint32_t i = 0; i < view->changes.n_settled; i++)
        settle(state, ctx, view->changes.settled[i]);
    bool is_edge = state->next_edge_ns <= view->now_ns || state->next_exempt_ns <= view->now_ns;
    /* A node that fails, too: a job that had a plan there may leave room to others. */
    uint64_t n_turns = (uint64_t)view->cluster.n_failures + view->cluster.n_repairs;
    if (is_edge || state->n_turns != n_turns)
        state->is_due = state->has_changed = true;
    state->n_turns = n_turns;
    state->next_edge_ns = gsim_slurm_nodes_next(state, view->now_ns);
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct gsim_slurm_state *state = ctx->state;
    int64_t now_ns = ctx->view->now_ns;
    if (gsim_slurm_ranking_catch_up(state, ctx))
        state->is_due = state->has_changed = true;
    gsim_slurm_limits_catch_up(state, ctx);
    look_for_changes(state, ctx);
    kill_overdue(state, ctx, plan);
    if (state->n_order > 0 && state->is_due)
        gsim_slurm_main_pass(state, ctx, plan);
    if (state->n_order > 0 && state->has_changed && state->conf.backfills &&
        now_ns % state->conf.bf_interval_ns == 0 && state->backfilled_ns != now_ns)
        gsim_slurm_backfill_pass(state, ctx, plan);
    state->next_exempt_ns = gsim_slurm_preempt_next(state, ctx);
    gsim_plan_wake(plan, gsim_slurm_least(next_kill(state, ctx), next_pass(state, ctx)));
}

static const struct gsim_param_def params[] = {
    {.name = "conf",
     .type = GSIM_PARAM_FILE,
     .fallback = "",
     .help = "the site's settings: slurm.conf, and what scontrol show and sacctmgr show "
             "--parsable2 print, one after the other in a file (--slurm-conf); without it Slurm's "
             "defaults"},
    {.name = "start",
     .type = GSIM_PARAM_TEXT,
     .fallback = "",
     .help = "the date of the trace's time 0, such as 2024-05-01T00:00:00, to which the dates of "
             "reservations are relative"},
    {.name = "kill",
     .type = GSIM_PARAM_BOOL,
     .fallback = "off",
     .help = "jobs end when they have run for their limit_s and OverTimeLimit; off: no job is "
             "stopped, since a log gives the time that jobs ran"},
    {.name = "billing",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "log",
     .choices = "log|weights",
     .help = "what a job is billed: as the log says (column billing, of AllocTRES), where it does, "
             "or by the partition's TRESBillingWeights, as to try others"},
    {0}};

const struct gsim_policy gsim_policy_slurm = {
    .name = "slurm",
    .summary = "Slurm as a site has configured it (--slurm-conf)",
    .paper = "Slurm 23.11: slurm.conf(5), priority/multifactor, sched/backfill, fair tree",
    .deviations =
        "jobs without a GPU take no CPUs and memory; topology never binds; the fewest nodes for "
        "a gang; schedulers take no time; "
        "backfill does not preempt; shares of a GPU take a whole one where the site has no shards",
    .is_oracle = true,
    .oracle_where = "where the trace has no limit_s and no partition of the site a time",
    .params = params,
    .state_size = sizeof(struct gsim_slurm_state),
    .job_size = sizeof(struct gsim_slurm_job),
    .open = open_slurm,
    .on_arrival = on_arrival,
    .on_completion = on_completion,
    .decide = decide,
};
