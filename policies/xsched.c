/* SPDX-License-Identifier: GPL-3.0-or-later */
/* XSched: a preemptible command queue in front of the device, at one of three levels of hardware
 * support. Level 1 withholds launches, and kernels in flight (xsched.threshold of them) run out;
 * level 2 deactivates the hardware queue, and only the running kernel runs out; level 3 interrupts
 * it. Jobs of class realtime come before all others, then the larger column `priority`.
 * Source: Shen et al., "XSched: Preemptive scheduling for diverse XPUs", OSDI 2025. */
#include "policies/lib/settings.h"
#include "policies/lib/sharing.h"

static enum gsim_status open_xsched(struct gsim_ctx *ctx) {
    int64_t level = gsim_param(ctx->params, "level");
    struct gsim_lane lane = {.discipline = GSIM_DISCIPLINE_PRIORITY,
                             .urgent.stop = level == 3 ? GSIM_STOP_SAVE : GSIM_STOP_KERNEL,
                             .urgent.in_flight =
                                 level == 1 ? gsim_param(ctx->params, "threshold") : 1};
    gsim_sharing_init(ctx->state, ctx, &lane);
    return GSIM_OK;
}

static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM,
    GSIM_QUEUE_PARAM,
    {.name = "level",
     .type = GSIM_PARAM_INT,
     .fallback = "2",
     .min = 1,
     .max = 3,
     .help = "1 withholds launches, 2 deactivates the queue, 3 interrupts the running kernel"},
    {.name = "threshold",
     .type = GSIM_PARAM_INT,
     .fallback = "8",
     .min = 1,
     .max = 1024,
     .help = "level 1: kernels in flight"},
    {0}};

const struct gsim_policy gsim_policy_xsched = {
    .name = "xsched",
    .summary = "the urgent first, by preemptible queues at hardware level 1, 2 or 3",
    .paper = "Shen et al., XSched: Preemptive scheduling for diverse XPUs, OSDI 2025",
    .deviations =
        "jobs of equal priority take turns by the driver's quantum; the cost of its queues on the "
        "host is not modelled; jobs wait in one queue, of which the head holds up all jobs behind "
        "it unless queue= says another",
    GSIM_QUEUE_ORACLE,
    .shares_gpus = true,
    .has_contexts = true,
    .params = params,
    .state_size = sizeof(struct gsim_sharing),
    .job_size = sizeof(struct gsim_sharing_job),
    .open = open_xsched,
    .on_arrival = gsim_sharing_on_arrival,
    .decide = gsim_sharing_on_decide,
};
