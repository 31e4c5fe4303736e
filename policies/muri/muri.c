/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Muri: jobs of one width share GPUs and interleave the stages of their iterations, so that one
 * loads data while another computes and a third sends. Source: Zhao et al., "Multi-Resource
 * Interleaving for Deep Learning Training", SIGCOMM 2022, and its simulator (Rivendile/Muri).
 *
 * At each arrival and each end all is decided anew (pack.c). rule=muri-s serves the job with the
 * least GPU time left first; rule=muri-l knows no durations and serves the job that has had the
 * least GPU time first. Neither keeps a job that runs before one that comes before it in the order:
 * jobs change places at every event, and pay for it as preempt= says.
 * rule=in-order packs the jobs that have had the least GPU time, in that order, without a matching.
 * The other rules are those that Muri is compared with in its simulator. The simulator's three
 * queues of GPU time (3250 and 7200 s) are of rule=queues alone: its muri-l has none, as its ends
 * say (elastic/muri).
 *
 * How fast a packing is, the model says (models/jobs/interleaving.c); what a start and a restart
 * take, the device. A job of which the trace does not give the stages has its GPUs to itself.
 *
 * reference=muri copies the simulator's loop (reference.c). */
#include "policies/lib/common.h"
#include "policies/lib/one_type.h"
#include "policies/muri/calm.h"
#include "policies/muri/line.h"
#include "policies/muri/order.h"
#include "policies/muri/own.h"
#include "policies/muri/pack.h"
#include "policies/muri/place.h"
#include "policies/muri/reference.h"
#include "policies/muri/room.h"

/* How much longer iterations of 2, 3 and 4 jobs take than their stages say: itertime_overhead_list
 * of simulator/jobs.py, measured on its authors' cluster. */
static const double slower[] = {1.33 / 1.015, 1.5 / 1.015, 1.37 / 1.015};
static const double slower_in_order = 1.3 / 1.015;

static struct muri *own_of(const struct gsim_ctx *ctx) {
    return ctx->state;
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct muri_job *job = &own_of(ctx)->job[ctx->view->jobs.index[slot]];
    own_of(ctx)->has_returned |= job->is_active;
    job->slot = slot;
    job->is_here = true;
    job->is_placed = job->has_wanted = false;
    if (ctx->view->cluster.room == GSIM_ROOM_SCARCE)
        (void)gsim_one_type(ctx, slot, (struct gsim_one_type){.gpus = 1});
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct muri *muri = own_of(ctx);
    uint32_t number = ctx->view->jobs.index[slot];
    muri->job[number].is_here = false;
    if (muri->n_ended < muri->n_jobs)
        muri->ended[muri->n_ended++] = number;
}

/* --- all GPUs are shared ---------------------------------------------------------------------- */

/* Returns false where there is no memory. */
static bool arrange(struct gsim_plan *plan, struct muri *muri) {
    static const struct gsim_lane lane = {.discipline = GSIM_DISCIPLINE_INTERLEAVED};
    static const struct gsim_arrangement arrangement = {.lanes = &lane, .n_lanes = 1};
    struct gsim_unit *all = gsim_arena_array(muri->scratch_arena, muri->n_gpus, sizeof *all);
    for (uint32_t gpu = 0; all && gpu < muri->n_gpus; gpu++)
        all[gpu].gpu = gpu;
    if (all)
        muri->is_arranged = gsim_plan_arrange(plan, all, muri->n_gpus, &arrangement);
    return all != NULL;
}

static void decide_anew(struct gsim_ctx *ctx, struct gsim_plan *plan, struct muri *muri) {
    if (muri->rule != MURI_ANTMAN)
        muri_assign(muri);
    muri_place(ctx, plan, muri, muri->order, muri->n_order);
    if (muri->is_reference)
        return;
    muri->n_up_gpus = muri_room_up(&muri->room);
    muri_calm_note(muri);
    muri_line_note(muri);
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct muri *muri = own_of(ctx);
    muri->scratch_arena = gsim_plan_scratch(plan);
    if (!muri->scratch_arena || (!muri->is_arranged && !arrange(plan, muri))) {
        gsim_common_no_memory(ctx);
        return;
    }
    bool is_anew = true;
    if (muri->is_reference)
        muri_run_reference(ctx, plan, muri);
    else
        is_anew = muri_run_own(ctx, plan, muri);
    if (is_anew)
        decide_anew(ctx, plan, muri);
    muri->n_ended = 0;
    if (muri->is_out_of_memory)
        ctx->status = gsim_no_memory(ctx->log, "scheduling");
}

/* --- the table -------------------------------------------------------------------------------- */

static bool open_jobs(struct gsim_ctx *ctx, struct muri *muri) {
    const struct gsim_trace *trace = ctx->view->trace;
    for (uint32_t i = 0; i < muri->n_jobs; i++) {
        struct muri_job *job = &muri->job[i];
        job->gpus = gsim_trace_gpus(trace, i);
        job->packing = MURI_NONE;
        job->is_exclusive = !gsim_stages_of(trace, i, &job->stages);
        job->is_guest = gsim_trace_get(trace, GSIM_COL_CLASS, i) == GSIM_CLASS_OPPORTUNISTIC;
        job->units = gsim_arena_array(ctx->arena, job->gpus, sizeof *job->units);
        job->wanted = gsim_arena_array(ctx->arena, job->gpus, sizeof *job->wanted);
        if (!job->units || !job->wanted)
            return false;
    }
    return true;
}

static bool open_lists(struct gsim_ctx *ctx, struct muri *muri) {
    uint32_t n = muri->n_jobs, n_nodes = ctx->view->cluster.n_nodes;
    bool is_done = true;
    muri->job = gsim_arena_array(ctx->arena, n, sizeof *muri->job);
    muri->order = gsim_arena_array(ctx->arena, n, sizeof *muri->order);
    muri->line = gsim_arena_array(ctx->arena, n, sizeof *muri->line);
    muri->scratch = gsim_arena_array(ctx->arena, n > n_nodes ? n : n_nodes, sizeof *muri->scratch);
    muri->packings.list = gsim_arena_array(ctx->arena, n, sizeof *muri->packings.list);
    muri->known = gsim_arena_array(ctx->arena, MURI_KNOWN, sizeof *muri->known);
    muri->use = gsim_arena_array(ctx->arena, muri->n_gpus, sizeof *muri->use);
    muri->ended = gsim_arena_array(ctx->arena, n, sizeof *muri->ended);
    for (uint32_t q = 0; q < MURI_N_QUEUES; q++) {
        muri->queue[q].job = gsim_arena_array(ctx->arena, n, sizeof *muri->queue[q].job);
        is_done = is_done && muri->queue[q].job;
    }
    return is_done && muri->job && muri->order && muri->line && muri->scratch &&
           muri->packings.list && muri->known && muri->use && muri->ended &&
           muri_room_open(&muri->room, ctx) && open_jobs(ctx, muri);
}

static enum gsim_status open_muri(struct gsim_ctx *ctx) {
    struct muri *muri = own_of(ctx);
    if (ctx->view->pool.is_used)
        return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0, "muri: a pool has no GPUs to share");
    muri->rule = (enum muri_rule)gsim_param(ctx->params, "rule");
    muri->is_reference = ctx->reference == GSIM_REFERENCE_MURI;
    muri->n_jobs = ctx->view->trace->n_jobs;
    muri->n_gpus = ctx->view->cluster.n_gpus;
    muri->way = gsim_settings_preemption(ctx, GSIM_KEEP_STORAGE);
    if (muri->way.keep == GSIM_KEEP_RESIDENT)
        return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                         "muri: packings move to other GPUs, and the memory of a paused job stays: "
                         "preempt=pause is none of it");
    muri->slower[2] = slower[0];
    muri->slower[3] = slower[1];
    muri->slower[4] = muri->rule == MURI_IN_ORDER ? slower_in_order : slower[2];
    muri->tolerance = 1e-5; /* the tolerance of my_cmp in simulator/matching.py */
    muri->limit[0] = 3250; /* seconds: queue_limit in simulator/jobs.py */
    muri->limit[1] = 7200;
    if (!open_lists(ctx, muri))
        return gsim_no_memory(ctx->log, "opening muri");
    return muri->is_reference ? muri_open_reference(ctx, muri) : muri_open_own(ctx, muri);
}

static const struct gsim_param_def params[] = {
    {.name = "rule",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "muri-s",
     .choices = "muri-s|muri-l|in-order|shortest|shortest-gpu|queues|themis|antman",
     .help = "muri-s: the least GPU time left first, packed by a matching; muri-l: the least GPU "
             "time had first, packed by a matching; in-order: the least GPU time had first, packed "
             "in that order; the others, under reference=muri alone, are those that Muri is "
             "compared with: the least time left, the least GPU time left, queues, finish-time "
             "fairness, guaranteed jobs with opportunistic ones beside them"},
    GSIM_PREEMPT_PARAM_AS("restart, as in Muri, whose jobs go on from checkpoints"),
    {0}};

const struct gsim_policy gsim_policy_muri = {
    .name = "muri",
    .summary = "jobs share GPUs and interleave the stages of their iterations",
    .paper = "Zhao et al., SIGCOMM 2022",
    .deviations = "a job goes on where another joins its GPUs, or leaves them",
    .is_oracle = true,
    .oracle_where = "where rule=muri-s",
    .names_gpus = true,
    .shares_gpus = true,
    .references = 1u << GSIM_REFERENCE_MURI,
    .params = params,
    .state_size = sizeof(struct muri),
    .open = open_muri,
    .on_arrival = on_arrival,
    .on_completion = on_completion,
    .decide = decide,
};
