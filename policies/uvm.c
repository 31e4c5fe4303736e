/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes with more memory than the GPU has, started on it over Unified Memory: contexts take
 * turns as under `timeslice`, each iteration faults in the pages that it misses, and the driver
 * makes room by evicting the pages that came to the GPU first.
 * Source: NVIDIA's open-gpu-kernel-modules (nvidia-uvm), costs as measured or fitted by device. */
#include "policies/lib/settings.h"
#include "policies/lib/sharing.h"

static enum gsim_status open_uvm(struct gsim_ctx *ctx) {
    struct gsim_lane lane = {.discipline = GSIM_DISCIPLINE_RR,
                             .quantum_ns = gsim_sharing_quantum(ctx)};
    gsim_sharing_init(ctx->state, ctx, &lane);
    return gsim_sharing_set_memory(ctx->state, ctx);
}

static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM, GSIM_QUEUE_PARAM, GSIM_QUANTUM_PARAMS, GSIM_MEMORY_PARAM_AS("uvm"), {0}};

const struct gsim_policy gsim_policy_uvm = {
    .name = "uvm",
    .alias = "demand-paging",
    .summary = "time slices over Unified Memory: a context that misses pages waits for them",
    .paper = "nvidia-uvm of NVIDIA's open-gpu-kernel-modules",
    .deviations = "memory is touched in order, evenly over an iteration; gangs of "
                  "several GPUs have them to themselves; jobs wait in one queue, of which the head "
                  "holds up all jobs behind it unless queue= says another",
    GSIM_QUEUE_ORACLE,
    .shares_gpus = true,
    .oversubscribes = true,
    .params = params,
    .state_size = sizeof(struct gsim_sharing),
    .job_size = sizeof(struct gsim_sharing_job),
    .open = open_uvm,
    .on_arrival = gsim_sharing_on_arrival,
    .decide = gsim_sharing_on_decide,
};
