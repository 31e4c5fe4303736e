/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NVIDIA's multi-process service: processes on a GPU run at the same time, as clients of one
 * server. The hardware divides the GPU between them: SMs by the blocks that clients have on them,
 * memory bandwidth by SMs (models/gpu/space.h). A client may be limited to a percentage of the SMs,
 * which is a cap and no reservation, so caps may sum past 100 %; and to an amount of memory.
 * Nothing is ever moved out of the device's memory: a job that finds none waits, or the run ends as
 * the process would (oom=error). Jobs go to the GPU with the fewest jobs, in order of arrival;
 * gangs have whole GPUs.
 * Source: NVIDIA, "Multi-Process Service" (CUDA_MPS_ACTIVE_THREAD_PERCENTAGE,
 * CUDA_MPS_PINNED_DEVICE_MEM_LIMIT). */
#include "policies/lib/clients.h"
#include "policies/lib/settings.h"

enum { OOM_WAIT = 0, OOM_ERROR };

struct mps {
    struct gsim_clients clients; /* first: shared hooks find it there */
    bool is_oom_error;
};

/* --- memory ----------------------------------------------------------------------------------- */

/* Refuses a job with more memory than mem_limit; the core refuses memory that no GPU has. */
static enum gsim_status check_limit(const struct gsim_ctx *ctx) {
    const struct gsim_trace *trace = ctx->view->trace;
    const struct gsim_param_value *limit = gsim_param_full(ctx->params, "mem_limit");
    for (uint32_t job = 0; limit->value > 0 && job < trace->n_jobs; job++)
        if (gsim_trace_get(trace, GSIM_COL_MEM_BYTES, job) > limit->value)
            return gsim_fail(ctx->log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, job),
                             "column 'mem_gib': job '%s' runs out of memory: mps.mem_limit is %s",
                             gsim_trace_id(trace, job), limit->text);
    return GSIM_OK;
}

/* Whether a process that starts now would find too little memory on every GPU. */
static bool runs_out(const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_view *view = ctx->view;
    int64_t bytes = gsim_job_memory(view, slot);
    for (uint32_t gpu = 0; gpu < view->cluster.n_gpus; gpu++)
        if (bytes <= 0 || view->cluster.mem_used[gpu] + bytes <= view->cluster.hbm_bytes[gpu])
            return false;
    return true;
}

/* --- lanes ------------------------------------------------------------------------------------ */

/* A job that asks for a part of a GPU gets at most that part. */
static uint32_t cap_ppm(const struct gsim_ctx *ctx, gsim_slot slot) {
    uint32_t cap = (uint32_t)gsim_param(ctx->params, "cap");
    return ctx->view->jobs.share_ppm[slot] < cap ? ctx->view->jobs.share_ppm[slot] : cap;
}

static bool arrange(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot,
                    struct gsim_unit unit) {
    struct gsim_lane lane = {.discipline = GSIM_DISCIPLINE_RR, .cap_ppm = cap_ppm(ctx, slot)};
    struct gsim_arrangement how = {.max_clients = GSIM_MOST_CLIENTS, .is_served = true};
    return gsim_clients_enter(ctx, plan, slot, unit, &lane, &how);
}

/* --- the policy ------------------------------------------------------------------------------- */

static enum gsim_status open_mps(struct gsim_ctx *ctx) {
    struct mps *mps = ctx->state;
    enum gsim_status status = check_limit(ctx);
    if (status != GSIM_OK)
        return status;
    status = gsim_clients_init(&mps->clients, ctx);
    mps->clients.sharing.arrange = arrange;
    mps->is_oom_error = gsim_param(ctx->params, "oom") == OOM_ERROR;
    if (!ctx->view->trace->column[GSIM_COL_SM_PPM])
        gsim_warn(ctx->log, ctx->view->trace->path, 0,
                  "the trace has no column 'sm_fraction': under mps every job is taken to fill all "
                  "SMs that it may have");
    return status;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct mps *mps = ctx->state;
    const struct gsim_trace *trace = ctx->view->trace;
    gsim_sharing_on_decide(ctx, plan);
    const struct gsim_sharing *sharing = &mps->clients.sharing;
    gsim_slot first = gsim_order_first(&sharing->order, &sharing->queue);
    if (!mps->is_oom_error || first == GSIM_NO_SLOT || !runs_out(ctx, first))
        return;
    uint32_t job = ctx->view->jobs.index[first];
    ctx->status = gsim_fail(ctx->log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, job),
                            "column 'mem_gib': job '%s' runs out of memory: other jobs leave too "
                            "little on every GPU (mps.oom=wait lets it wait)",
                            gsim_trace_id(trace, job));
}

static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM,
    GSIM_QUEUE_PARAM,
    {.name = "cap",
     .type = GSIM_PARAM_PPM,
     .fallback = "100%",
     .min = 10000,
     .max = GSIM_PPM,
     .help = "the part of the SMs that one client gets at most, 1% to 100%"},
    {.name = "mem_limit",
     .type = GSIM_PARAM_BYTES,
     .fallback = "0",
     .min = 0,
     .max = INT64_MAX,
     .help = "the memory that one client gets at most; 0 is all of it"},
    {.name = "oom",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "wait",
     .choices = "wait|error",
     .help = "a job that finds too little memory left waits, or ends the run"},
    {0}};

const struct gsim_policy gsim_policy_mps = {
    .name = "mps",
    .summary = "processes run at the same time: SMs by caps, bandwidth by contention",
    .paper = "NVIDIA Multi-Process Service; contention as measured on an H200",
    .deviations =
        "gangs of several GPUs have them to themselves; a job's kernels are all alike, "
        "of its average demand; what the server costs on the host is not modelled; jobs wait in "
        "one queue, of which the head holds up all jobs behind it unless queue= says another",
    GSIM_QUEUE_ORACLE,
    .shares_gpus = true,
    .has_contexts = true,
    .params = params,
    .state_size = sizeof(struct mps),
    .job_size = sizeof(struct gsim_client),
    .open = open_mps,
    .on_arrival = gsim_sharing_on_arrival,
    .on_completion = gsim_clients_on_completion,
    .decide = decide,
};
