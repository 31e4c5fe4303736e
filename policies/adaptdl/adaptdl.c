/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The schedulers that Pollux is compared with in its own simulator, on jobs that learn by the table
 * of --goodput. Source: Qiao et al., "Pollux: Co-adaptive Cluster Scheduling for Goodput-Optimized
 * Deep Learning", OSDI 2021, and its simulator (petuum/adaptdl, branch osdi21-artifact,
 * simulator/), which ports Tiresias (Gu et al., NSDI 2019) and Optimus (Peng et al., EuroSys 2018).
 *
 * Jobs that have come since, or are done, are seen in ticks. rule=tiresias: two queues; a job that
 * has held GPUs for threshold= of GPU time goes to the tail of the second one, and never comes
 * back. A job keeps its GPUs as long as it runs; GPUs of others are taken from the node with the
 * most free ones, again and again. The time that a job takes to begin (rescale_s) counts as held.
 * rule=optimus: each job gets one GPU, then the next one again and again goes to the job that it
 * saves the most time, by the table and not by an estimate; a job with another number than before
 * moves, and the others keep theirs.
 *
 * reference=pollux copies the simulator's clock: its first tick is one interval after 0, and each
 * epoch ends at a whole second, the nearest. */
#include "policies/adaptdl/state.h"
#include "policies/lib/one_type.h"

/* The rules say nothing of GPUs on which a job cannot run. */
static void arrive(struct gsim_ctx *ctx, gsim_slot slot) {
    struct adaptdl *adaptdl = ctx->state;
    struct gsim_one_type alike = {.gpus = ctx->view->jobs.gpus[slot]};
    adaptdl_arrive(ctx, slot);
    if (!adaptdl->has_lines)
        return;
    if (!gsim_one_type(ctx, slot, alike) || !gsim_runs_somewhere(ctx, slot, alike.gpus))
        return;
    if (!adaptdl_tiresias_arrive(ctx, adaptdl, ctx->view->jobs.index[slot]) &&
        ctx->status == GSIM_OK)
        ctx->status = gsim_no_memory(ctx->log, "scheduling");
}

static void complete(struct gsim_ctx *ctx, gsim_slot slot) {
    struct adaptdl *adaptdl = ctx->state;
    adaptdl_complete(ctx, slot);
    if (adaptdl->has_lines)
        adaptdl_tiresias_complete(adaptdl, ctx->view->jobs.index[slot]);
}

static enum gsim_status open_adaptdl(struct gsim_ctx *ctx) {
    struct adaptdl *adaptdl = ctx->state;
    adaptdl->threshold_ns = gsim_param(ctx->params, "threshold");
    adaptdl->has_lines = gsim_param(ctx->params, "rule") == 0;
    adaptdl->give = adaptdl->has_lines ? adaptdl_tiresias : adaptdl_optimus;
    return adaptdl_open(ctx, adaptdl);
}

static const struct gsim_param_def params[] = {
    {.name = "rule",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "tiresias",
     .choices = "tiresias|optimus",
     .help = "which job gets which GPUs: tiresias: the GPUs that it asks for, in the order of two "
             "queues by the GPU time that it has had; optimus: one, and then the next one again "
             "and again goes where it saves the most time"},
    ADAPTDL_INTERVAL_PARAM,
    {.name = "threshold",
     .type = GSIM_PARAM_TIME,
     .fallback = "16h",
     .min = 1,
     .max = INT64_MAX / 4,
     .help = "rule=tiresias: the GPU time after which a job goes to the second queue"},
    GSIM_PREEMPT_PARAM_AS("restart, as in Pollux, whose jobs write a checkpoint"),
    {0}};

const struct gsim_policy gsim_policy_adaptdl = {
    .name = "adaptdl",
    .summary = "the schedulers that Pollux is compared with in its simulator, on jobs that learn",
    .paper = "Qiao et al., OSDI 2021; Gu et al., NSDI 2019; Peng et al., EuroSys 2018",
    .deviations = "a tick in which a job is still on its way to its GPUs is passed over; GPUs of "
                  "different types count as equal, and with rule=optimus jobs that are faster on "
                  "some of them are refused; nodes that fail are refused",
    .is_oracle = true,
    .oracle_where = "where rule=optimus, which counts the iterations that are left",
    .names_gpus = true,
    .asks_speeds = true,
    .chooses_widths = true,
    .references = 1u << GSIM_REFERENCE_POLLUX,
    .params = params,
    .state_size = sizeof(struct adaptdl),
    .open = open_adaptdl,
    .on_arrival = arrive,
    .on_completion = complete,
    .decide = adaptdl_decide,
};
