/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What happens when several processes are started on one GPU and nothing else is done: the driver
 * lets their contexts take turns in a ring, a quantum each, and everybody's memory stays resident.
 * Jobs go to the GPU with the fewest jobs that has memory left, in order of arrival; gangs have
 * whole GPUs, which are not shared.
 * Source: NVIDIA's time-sliced scheduling; quanta and switches as measured (devices' profiles). */
#include "policies/common.h"

enum { SHORT = -1, MEDIUM = -2, LONG = -3, AS_QUANTUM = -4 };

static int64_t quantum_ns(const struct gsim_ctx *ctx) {
    int64_t value = gsim_param(ctx->params, "slice");
    if (value == AS_QUANTUM)
        value = gsim_param(ctx->params, "quantum");
    switch (value) {
    case SHORT:
        return GSIM_QUANTUM_SHORT;
    case MEDIUM:
        return GSIM_QUANTUM_DEFAULT;
    case LONG:
        return GSIM_QUANTUM_LONG;
    default:
        return value;
    }
}

static enum gsim_status open_timeslice(struct gsim_ctx *ctx) {
    struct gsim_lane lane = {.discipline = GSIM_DISCIPLINE_RR, .quantum_ns = quantum_ns(ctx)};
    gsim_sharing_init(ctx->state, ctx, &lane);
    return GSIM_OK;
}

static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM,
    {.name = "quantum",
     .type = GSIM_PARAM_CHOICE_TIME,
     .fallback = "medium",
     .min = 1000,
     .max = GSIM_TIME_MAX,
     .choices = "short|medium|long",
     .help = "a context's turn: a setting of the driver, or a time of 1us or more"},
    {.name = "slice",
     .type = GSIM_PARAM_CHOICE_TIME,
     .fallback = "as-quantum",
     .min = 1000,
     .max = GSIM_TIME_MAX,
     .choices = "short|medium|long|as-quantum",
     .help = "another name for quantum"},
    {0}};

const struct gsim_policy gsim_policy_timeslice = {
    .name = "timeslice",
    .summary = "the driver's default: contexts on a GPU take turns, all memory resident",
    .paper = "NVIDIA's time-sliced scheduling of contexts, as measured on an H200",
    .deviations = "gangs of several GPUs have them to themselves",
    .shares_gpus = true,
    .params = params,
    .state_size = sizeof(struct gsim_sharing),
    .job_size = sizeof(struct gsim_sharing_job),
    .open = open_timeslice,
    .on_arrival = gsim_sharing_on_arrival,
    .decide = gsim_sharing_on_decide,
};
