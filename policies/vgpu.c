/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NVIDIA's time-sliced vGPUs: each job is a virtual machine with a vGPU, all of one kind, so that a
 * GPU has at most vgpu.per_gpu of them and each has that part of the memory. Their contexts take
 * turns by one of three schedulers: best effort hands on the turn of a vGPU that has nothing to
 * run; equal share gives every vGPU on the GPU its turn, used or not; fixed share gives a turn also
 * to vGPUs that could be there, so that the share of each never changes. Jobs go to the GPU with
 * the fewest jobs, in order of arrival; gangs have whole GPUs.
 * Source: NVIDIA, "Virtual GPU software user guide", vGPU schedulers and time slices. */
#include "policies/lib/settings.h"
#include "policies/lib/sharing.h"
#include "sim/base/units.h"

static enum gsim_status check_memory(const struct gsim_ctx *ctx, int64_t per_gpu) {
    const struct gsim_trace *trace = ctx->view->trace;
    int64_t least = INT64_MAX;
    char has[40];
    for (uint32_t gpu = 0; gpu < ctx->view->cluster.n_gpus; gpu++)
        if (ctx->view->cluster.hbm_bytes[gpu] / per_gpu < least)
            least = ctx->view->cluster.hbm_bytes[gpu] / per_gpu;
    (void)gsim_format_size(has, least);
    for (uint32_t job = 0; job < trace->n_jobs; job++)
        if (gsim_trace_gpus(trace, job) == 1 &&
            gsim_trace_get(trace, GSIM_COL_MEM_BYTES, job) > least)
            return gsim_fail(ctx->log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, job),
                             "column 'mem_gib': job '%s' needs more memory than a vGPU has, which "
                             "is %s with vgpu.per_gpu=%lld",
                             gsim_trace_id(trace, job), has, (long long)per_gpu);
    return GSIM_OK;
}

static enum gsim_status open_vgpu(struct gsim_ctx *ctx) {
    static const enum gsim_turns_rule rules[] = {GSIM_TURNS_USED, GSIM_TURNS_EQUAL,
                                                 GSIM_TURNS_FIXED};
    struct gsim_sharing *sharing = ctx->state;
    int64_t slice = gsim_param(ctx->params, "slice"), most = gsim_param(ctx->params, "per_gpu");
    struct gsim_lane lane = {.discipline = GSIM_DISCIPLINE_RR,
                             .quantum_ns = slice > 0 ? slice : GSIM_QUANTUM_DEFAULT,
                             .slices.turns = rules[gsim_param(ctx->params, "scheduler")],
                             .slices.most_vgpus = (uint16_t)most};
    gsim_sharing_init(sharing, ctx, &lane);
    sharing->how.max_clients = (uint16_t)most;
    return check_memory(ctx, most);
}

static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM,
    GSIM_QUEUE_PARAM,
    {.name = "scheduler",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "best-effort",
     .choices = "best-effort|equal-share|fixed-share",
     .help = "vGPUs that have a turn: those that can use it, all on the GPU, or all that it could "
             "have"},
    {.name = "per_gpu",
     .type = GSIM_PARAM_INT,
     .fallback = "4",
     .min = 1,
     .max = 32,
     .help = "vGPUs that a GPU can have; each has that part of its memory"},
    {.name = "slice",
     .type = GSIM_PARAM_CHOICE_TIME,
     .fallback = "default",
     .usual = "2ms",
     .min = 1000000,
     .max = 30000000,
     .choices = "default",
     .help = "a turn, 1ms to 30ms; by default 2 ms with up to 8 vGPUs a GPU, else 1 ms"},
    {0}};

const struct gsim_policy gsim_policy_vgpu = {
    .name = "vgpu",
    .summary = "vGPUs take turns: best effort, equal share or fixed share",
    .paper = "NVIDIA Virtual GPU software user guide",
    .deviations =
        "turns end on time, so there is no overshoot to be averaged; a switch is part of "
        "the turn that it leads to; gangs of several GPUs have them to themselves; jobs wait in "
        "one queue, of which the head holds up all jobs behind it unless queue= says another",
    GSIM_QUEUE_ORACLE,
    .shares_gpus = true,
    .params = params,
    .state_size = sizeof(struct gsim_sharing),
    .job_size = sizeof(struct gsim_sharing_job),
    .open = open_vgpu,
    .on_arrival = gsim_sharing_on_arrival,
    .decide = gsim_sharing_on_decide,
};
