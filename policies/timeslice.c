/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The driver's default when several processes are started on one GPU: their contexts take turns in
 * a ring, a quantum each, and all memory stays resident. Jobs go to the GPU with the fewest jobs
 * that has memory left, in order of arrival; gangs have whole GPUs, which are not shared.
 * Source: NVIDIA's time-sliced scheduling; quanta and switches as measured (devices' profiles). */
#include "policies/lib/settings.h"
#include "policies/lib/sharing.h"

static enum gsim_status open_timeslice(struct gsim_ctx *ctx) {
    struct gsim_lane lane = {.discipline = GSIM_DISCIPLINE_RR,
                             .quantum_ns = gsim_sharing_quantum(ctx)};
    gsim_sharing_init(ctx->state, ctx, &lane);
    return gsim_sharing_set_memory(ctx->state, ctx);
}

static const struct gsim_param_def params[] = {GSIM_PLACEMENT_PARAM,
                                               GSIM_QUEUE_PARAM,
                                               GSIM_QUANTUM_PARAMS,
                                               GSIM_MEMORY_PARAM_AS("resident"),
                                               {0}};

const struct gsim_policy gsim_policy_timeslice = {
    .name = "timeslice",
    .summary = "the driver's default: contexts on a GPU take turns, all memory resident",
    .paper = "NVIDIA's time-sliced scheduling of contexts, as measured on an H200",
    .deviations = "gangs of several GPUs have them to themselves; jobs wait in one queue, of which "
                  "the head holds up all jobs behind it unless queue= says another",
    GSIM_QUEUE_ORACLE,
    .shares_gpus = true,
    .has_contexts = true,
    .params = params,
    .state_size = sizeof(struct gsim_sharing),
    .job_size = sizeof(struct gsim_sharing_job),
    .open = open_timeslice,
    .on_arrival = gsim_sharing_on_arrival,
    .decide = gsim_sharing_on_decide,
};
