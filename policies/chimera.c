/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chimera: when an urgent job is ready, each SM is freed by the cheapest way within a latency
 * bound: letting its thread blocks run out (drain), saving them (save), or killing them (flush).
 * preempt= chooses one mechanism for all SMs instead, including mechanisms of other systems: whole
 * kernels (drain), thread blocks (block), kernels launched in pieces (kernel-slice), and
 * compiler-directed incremental checkpoints. Jobs of class realtime come before all others, then
 * the larger column `priority`.
 * Source: Park, Park and Mahlke, "Chimera: Collaborative preemption for multitasking on a shared
 * GPU", ASPLOS 2015; incremental checkpoints: IPDPS 2022. */
#include "policies/lib/settings.h"
#include "policies/lib/sharing.h"

static const enum gsim_stop stops[] = {
    GSIM_STOP_CHEAPEST, GSIM_STOP_SAVE,   GSIM_STOP_KERNEL,      GSIM_STOP_FLUSH,
    GSIM_STOP_BLOCK,    GSIM_STOP_KERNEL, GSIM_STOP_INCREMENTAL, GSIM_STOP_KERNEL,
};
enum { SLICED = 5, SLICED_TOO = 7 }; /* positions of kernel-slice and of its other name */

/* Killing a kernel that cannot run again would make the user's job wrong. */
static enum gsim_status check_idempotent(const struct gsim_ctx *ctx) {
    const struct gsim_trace *trace = ctx->view->trace;
    for (uint32_t job = 0; job < trace->n_jobs; job++)
        if (gsim_trace_get(trace, GSIM_COL_CLASS, job) != GSIM_CLASS_REALTIME &&
            gsim_trace_get(trace, GSIM_COL_IDEMPOTENT, job) != 1)
            return gsim_fail(ctx->log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, job),
                             "column 'idempotent': preempt=flush kills running kernels, so it must "
                             "be 1 for every job that is not of class realtime; give it with "
                             "--assume idempotent=1, or choose another mechanism");
    return GSIM_OK;
}

static enum gsim_status open_chimera(struct gsim_ctx *ctx) {
    int64_t choice = gsim_param(ctx->params, "preempt");
    bool is_sliced = choice == SLICED || choice == SLICED_TOO;
    struct gsim_lane lane = {.discipline = GSIM_DISCIPLINE_PRIORITY,
                             .urgent.stop = stops[choice],
                             .urgent.in_flight = stops[choice] == GSIM_STOP_KERNEL,
                             .urgent.pieces = is_sliced ? gsim_param(ctx->params, "pieces") : 1,
                             .urgent.bound_ns = gsim_param(ctx->params, "bound")};
    gsim_sharing_init(ctx->state, ctx, &lane);
    return lane.urgent.stop == GSIM_STOP_FLUSH ? check_idempotent(ctx) : GSIM_OK;
}

static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM,
    GSIM_QUEUE_PARAM,
    {.name = "preempt",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "cheapest",
     .choices = "cheapest|save|drain|flush|block|kernel-slice|incremental|slice",
     .help = "how running kernels give way; slice is another name for kernel-slice"},
    {.name = "bound",
     .type = GSIM_PARAM_TIME,
     .fallback = "15us",
     .min = 0,
     .max = GSIM_TIME_MAX,
     .help = "the latency within which cheapest must free the SMs"},
    {.name = "pieces",
     .type = GSIM_PARAM_INT,
     .fallback = "4",
     .min = 1,
     .max = 100000,
     .help = "kernel-slice: pieces that a kernel is cut into"},
    {0}};

const struct gsim_policy gsim_policy_chimera = {
    .name = "chimera",
    .summary = "the urgent first, each SM freed by the cheapest of drain, save and flush",
    .paper = "Park, Park and Mahlke, Chimera, ASPLOS 2015",
    .deviations = "thread blocks are equally long and SMs evenly out of step; costs are known, not "
                  "estimated from earlier blocks; an urgent job gets all SMs; jobs wait in one "
                  "queue, of which the head holds up all jobs behind it unless queue= says another",
    GSIM_QUEUE_ORACLE,
    .shares_gpus = true,
    .has_contexts = true,
    .params = params,
    .state_size = sizeof(struct gsim_sharing),
    .job_size = sizeof(struct gsim_sharing_job),
    .open = open_chimera,
    .on_arrival = gsim_sharing_on_arrival,
    .decide = gsim_sharing_on_decide,
};
