/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Synergy: CPUs and host memory by what jobs make of them. Source: Mohan et al., "Looking Beyond
 * GPUs for DNN Scheduling on Multi-Tenant Clusters", OSDI 2022, and its simulator
 * (msr-fiddle/synergy, simulator/). The table of --rates says how fast a model is with which CPUs
 * and how much memory beside each GPU.
 *
 * In every round all jobs are placed anew, in the order of order=. mode=fair gives each GPU its
 * part of its server. mode=greedy gives a job what makes it fastest, or no GPUs in this round.
 * mode=tune gives what makes it fastest where there is room, else the fair part, and where not
 * even that is left it puts jobs that were placed before it back to their fair parts: first those
 * with the most CPUs beside a GPU. A job that finds its GPUs with as much beside them as in the
 * last round runs on; others stop. A gang that is wider than a server has the fair part.
 *
 * reference=synergy copies the simulator's loop: rounds begin at multiples of round= after first=,
 * a job makes as many whole iterations as fit into a round and ends with its round, srtf and ftf
 * look at the speed of the last round, and ftf begins with the job that is best off. */
#include "policies/synergy/order.h"
#include "policies/synergy/round.h"
#include "policies/synergy/servers.h"
#include "policies/lib/one_type.h"
#include "policies/lib/rounds.h"
#include "sim/base/units.h"

static struct synergy *own(const struct gsim_ctx *ctx) {
    return ctx->state;
}

/* --- arrivals and ends ------------------------------------------------------------------------ */

/* The speed of a job with that part of a host beside each GPU: by the table, else by its own
 * columns. */
static double per_s(const struct gsim_ctx *ctx, const struct synergy_job *job,
                    struct gsim_host host) {
    struct gsim_where where = {.type = ctx->view->cluster.type[0], .gpus = job->gpus, .host = host};
    struct gsim_rate rate = gsim_ask_rate(ctx, job->slot, &where);
    return rate.digits > 0 ? gsim_rounds_per_s(rate)
                           : (double)rate.pace_q32 / (double)GSIM_RATE_ONE;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* What a job wants beside each GPU: a gang has no more than a server, and a wider one its fair
 * part. */
static struct gsim_host wants_of(const struct synergy *synergy, const struct synergy_job *job,
                                 struct gsim_host best) {
    const struct gsim_host *server = &synergy->server_host;
    if (job->gpus > synergy->server_gpus || (best.cpus_milli == 0 && best.mem_bytes == 0))
        return job->fair;
    return (struct gsim_host){least(best.cpus_milli, server->cpus_milli / job->gpus),
                              least(best.mem_bytes, server->mem_bytes / job->gpus)};
}

static void learn(struct gsim_ctx *ctx, const struct synergy *synergy, struct synergy_job *job) {
    const struct gsim_trace *trace = ctx->view->trace;
    struct gsim_where where = {.type = ctx->view->cluster.type[0], .gpus = job->gpus};
    struct gsim_rate rate = gsim_ask_rate(ctx, job->slot, &where);
    job->fair = synergy->fair;
    job->wants = wants_of(synergy, job, rate.wants);
    job->fair_per_s = per_s(ctx, job, job->fair);
    job->wants_per_s = job->now_per_s = per_s(ctx, job, job->wants);
    bool needs_table =
        synergy->is_reference || synergy->rule == SYNERGY_SRTF || synergy->rule == SYNERGY_FTF;
    if (needs_table && !rate.lacks_memory && (rate.digits == 0 || job->iterations <= 0))
        ctx->status = gsim_fail(ctx->log, GSIM_BAD_INPUT, trace->path, 0,
                                "synergy: %s counts iterations: job '%s' needs a row in --rates, "
                                "and a number of iterations",
                                synergy->is_reference ? "reference=synergy" : "this order",
                                gsim_trace_id(trace, ctx->view->jobs.index[job->slot]));
    else if (!rate.lacks_memory && !(job->fair_per_s > 0))
        ctx->status = gsim_fail(ctx->log, GSIM_BAD_INPUT, trace->path, 0,
                                "synergy: by the table of --rates, job '%s' cannot run with the "
                                "part of a server that falls to each of its GPUs",
                                gsim_trace_id(trace, ctx->view->jobs.index[job->slot]));
}

/* By its order a round looks at speeds, by its mode at what jobs want. */
static struct gsim_one_type alike_of(const struct synergy *synergy, const struct synergy_job *job) {
    return (struct gsim_one_type){.gpus = job->gpus,
                                  .beside = job->fair,
                                  .speed =
                                      synergy->rule == SYNERGY_SRTF || synergy->rule == SYNERGY_FTF,
                                  .wants = synergy->mode != SYNERGY_FAIR};
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct synergy *synergy = own(ctx);
    uint32_t number = ctx->view->jobs.index[slot];
    struct synergy_job *job = &synergy->job[number];
    bool is_queued = job->is_queued; /* a job that failed comes again, to its place */
    synergy->n_gone -= is_queued;
    *job = (struct synergy_job){.slot = slot,
                                .is_queued = is_queued,
                                .submit_ns = ctx->view->jobs.submit_ns[slot],
                                .is_active = true,
                                .gpus = ctx->view->jobs.gpus[slot],
                                .iterations =
                                    gsim_trace_get(ctx->view->trace, GSIM_COL_ITERATIONS, number),
                                .last_ns = ctx->view->now_ns};
    job->units = gsim_arena_array(ctx->arena, job->gpus, sizeof *job->units);
    job->node = gsim_arena_array(ctx->arena, job->gpus, sizeof *job->node);
    if (!job->units || !job->node) {
        ctx->status = gsim_no_memory(ctx->log, "scheduling");
        return;
    }
    synergy->n_active++;
    synergy->may_be_busy[number] = false;
    if (!is_queued && synergy->rule == SYNERGY_FIFO)
        synergy_queue_up(synergy, number);
    learn(ctx, synergy, job);
    if (ctx->status == GSIM_OK)
        (void)gsim_one_type(ctx, slot, alike_of(synergy, job));
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct synergy *synergy = own(ctx);
    struct synergy_job *job = &synergy->job[ctx->view->jobs.index[slot]];
    synergy->n_active -= job->is_active;
    job->is_active = job->is_placed = false;
    synergy->may_be_busy[ctx->view->jobs.index[slot]] = false;
    synergy_leave_queue(synergy, ctx->view->jobs.index[slot]);
}

static void on_watch(struct gsim_ctx *ctx, gsim_slot slot, enum gsim_watch_kind kind) {
    (void)kind;
    own(ctx)->job[ctx->view->jobs.index[slot]].is_at_end = true;
}

/* --- decide ----------------------------------------------------------------------------------- */

/* When the next round may begin. */
static int64_t next_begin_ns(const struct synergy *synergy, int64_t now_ns) {
    int64_t since_ns = now_ns - synergy->first_ns;
    if (!synergy->is_reference)
        return now_ns;
    if (since_ns <= 0)
        return synergy->first_ns;
    int64_t n = (since_ns + synergy->round_ns - 1) / synergy->round_ns;
    return synergy->first_ns + n * synergy->round_ns;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct synergy *synergy = own(ctx);
    int64_t now_ns = ctx->view->now_ns;
    if (synergy->is_in_round && now_ns < synergy->ends_ns) {
        if (synergy->is_reference)
            synergy_stop_reached(ctx, plan, synergy);
        synergy_place(ctx, plan, synergy);
        return;
    }
    synergy_find_busy(ctx, synergy);
    if (synergy->is_in_round)
        synergy_end_round(ctx, plan, synergy);
    synergy->is_in_round = false;
    if (synergy->n_active == 0)
        return;
    int64_t begin_ns = next_begin_ns(synergy, now_ns);
    if (begin_ns > now_ns) {
        gsim_plan_wake(plan, begin_ns);
        return;
    }
    synergy_begin_round(ctx, plan, synergy);
    synergy->is_in_round = true;
    synergy->ends_ns = now_ns + synergy->round_ns;
    gsim_plan_wake(plan, synergy->ends_ns);
    synergy_place(ctx, plan, synergy);
    synergy_take_home(ctx, plan, synergy);
}

/* --- the table -------------------------------------------------------------------------------- */

static enum gsim_status open_synergy(struct gsim_ctx *ctx) {
    struct synergy *synergy = own(ctx);
    uint32_t n = ctx->view->trace->n_jobs;
    if (ctx->view->pool.is_used)
        return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0, "synergy: a pool has no servers");
    synergy->mode = (enum synergy_mode)gsim_param(ctx->params, "mode");
    synergy->rule = (enum synergy_order)gsim_param(ctx->params, "order");
    synergy->consolidates = gsim_param(ctx->params, "consolidate") != 0;
    synergy->is_reference = ctx->reference == GSIM_REFERENCE_SYNERGY;
    synergy->round_ns = gsim_param(ctx->params, "round");
    synergy->first_ns = gsim_param(ctx->params, "first");
    synergy->way = gsim_settings_preemption(ctx, GSIM_KEEP_STORAGE);
    synergy->job = gsim_arena_array(ctx->arena, n, sizeof *synergy->job);
    synergy->unplaced = gsim_arena_array(ctx->arena, n, sizeof *synergy->unplaced);
    synergy->may_be_busy = gsim_arena_array(ctx->arena, n, sizeof *synergy->may_be_busy);
    synergy->busy = gsim_arena_array(ctx->arena, n, sizeof *synergy->busy);
    return synergy->job && synergy->may_be_busy && synergy->busy &&
                   synergy_open_order(ctx, synergy) && synergy->unplaced &&
                   synergy_open_servers(ctx, synergy)
               ? GSIM_OK
               : gsim_no_memory(ctx->log, "opening synergy");
}

static const struct gsim_param_def params[] = {
    {.name = "mode",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "tune",
     .choices = "tune|greedy|fair",
     .help = "what a job gets of its servers beside its GPUs: tune: what makes it fastest where "
             "there is room, else its fair part; greedy: what makes it fastest, or no GPUs in this "
             "round; fair: the part that falls to its GPUs"},
    {.name = "order",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "fifo",
     .choices = "fifo|srtf|las|ftf",
     .help = "which jobs come first: fifo: the first to come; srtf: the least time left; las: the "
             "least GPU time so far, and only as many jobs as there are GPUs for are offered any; "
             "ftf: the job that is slowed down most; a job that has waited for 1000 hours goes "
             "first, except with fifo"},
    {.name = "consolidate",
     .type = GSIM_PARAM_BOOL,
     .fallback = "off",
     .help = "on: a gang goes to one server where it can, the one with the fewest free GPUs; off: "
             "to the first servers that have room"},
    {.name = "round",
     .type = GSIM_PARAM_TIME,
     .fallback = "300s",
     .min = 1,
     .max = INT64_MAX / 4,
     .help = "length of a round"},
    {.name = "first",
     .type = GSIM_PARAM_TIME,
     .fallback = "0s",
     .help = "reference=synergy: when the first round may begin; the program takes 1s for jobs "
             "that are all there at once"},
    GSIM_PREEMPT_PARAM_AS(
        "restart, as in Synergy, whose jobs write a checkpoint at the end of their "
        "lease"),
    {0}};

const struct gsim_policy gsim_policy_synergy = {
    .name = "synergy",
    .summary = "GPUs in rounds, with CPUs and host memory by what jobs make of them",
    .paper = "Mohan et al., OSDI 2022",
    .deviations =
        "opt, by two linear programmes, is not there; bandwidth of storage is not given "
        "out; on GPUs of several types, jobs that want another part of a host on some of them "
        "are refused (mode=tune, mode=greedy), and so are jobs that are faster on some "
        "(order=srtf, order=ftf); else the types count as equal",
    .names_gpus = true,
    .asks_speeds = true,
    .references = 1u << GSIM_REFERENCE_SYNERGY,
    .params = params,
    .state_size = sizeof(struct synergy),
    .open = open_synergy,
    .on_arrival = on_arrival,
    .on_completion = on_completion,
    .on_watch = on_watch,
    .decide = decide,
};
