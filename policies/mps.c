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
#include "policies/lib/common.h"
#include "policies/lib/settings.h"
#include "policies/lib/sharing.h"

enum { MOST_CLIENTS = 64 }; /* of a GPU: bits of a word; devices name a smaller number */
enum { OOM_WAIT = 0, OOM_ERROR };

/* A GPU's clients, each in a lane of its own. */
struct mps_gpu {
    struct gsim_lane lane[MOST_CLIENTS];
    uint64_t taken; /* lanes, as bits */
    uint16_t n_lanes; /* lanes ever taken */
};

struct mps {
    struct gsim_sharing sharing; /* first: shared hooks find it there */
    struct mps_gpu **gpu; /* by GPU; NULL until a job was there */
    bool is_oom_error;
};

struct mps_job {
    struct gsim_sharing_job sharing; /* first */
    uint16_t lane;
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

static struct mps_gpu *gpu_of(struct gsim_ctx *ctx, uint32_t gpu) {
    struct mps *mps = ctx->state;
    if (!mps->gpu[gpu])
        mps->gpu[gpu] = gsim_arena_alloc(ctx->arena, sizeof *mps->gpu[gpu]);
    if (!mps->gpu[gpu])
        gsim_common_no_memory(ctx);
    return mps->gpu[gpu];
}

/* A job that asks for a part of a GPU gets at most that part. */
static uint32_t cap_ppm(const struct gsim_ctx *ctx, gsim_slot slot) {
    uint32_t cap = (uint32_t)gsim_param(ctx->params, "cap");
    return ctx->view->jobs.share_ppm[slot] < cap ? ctx->view->jobs.share_ppm[slot] : cap;
}

static bool arrange(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot,
                    struct gsim_unit unit) {
    struct mps_gpu *gpu = gpu_of(ctx, unit.gpu);
    struct mps_job *job = gsim_job_state(ctx, slot);
    uint16_t n = 0;
    while (gpu && n < MOST_CLIENTS && gpu->taken >> n & 1)
        n++;
    if (!gpu || n == MOST_CLIENTS)
        return false;
    if (n == gpu->n_lanes)
        gpu->n_lanes++;
    gpu->lane[n] =
        (struct gsim_lane){.discipline = GSIM_DISCIPLINE_RR, .cap_ppm = cap_ppm(ctx, slot)};
    struct gsim_entry entry = {.job = slot, .lane = n};
    struct gsim_arrangement arrangement = {.lanes = gpu->lane,
                                           .n_lanes = gpu->n_lanes,
                                           .entries = &entry,
                                           .n_entries = 1,
                                           .max_clients = MOST_CLIENTS,
                                           .is_served = true};
    if (!gsim_plan_arrange(plan, &unit, 1, &arrangement))
        return false;
    gpu->taken |= UINT64_C(1) << n;
    job->lane = n;
    return true;
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct mps *mps = ctx->state;
    const struct mps_job *job = gsim_job_state(ctx, slot);
    if (job->sharing.gpu)
        mps->gpu[job->sharing.gpu - 1]->taken &= ~(UINT64_C(1) << job->lane);
}

/* --- the policy ------------------------------------------------------------------------------- */

static enum gsim_status open_mps(struct gsim_ctx *ctx) {
    struct mps *mps = ctx->state;
    enum gsim_status status = check_limit(ctx);
    if (status != GSIM_OK)
        return status;
    gsim_sharing_init(&mps->sharing, ctx, &(struct gsim_lane){0});
    mps->sharing.arrange = arrange;
    mps->is_oom_error = gsim_param(ctx->params, "oom") == OOM_ERROR;
    mps->gpu = gsim_arena_array(ctx->arena, ctx->view->cluster.n_gpus, sizeof *mps->gpu);
    if (!mps->gpu)
        return gsim_no_memory(ctx->log, "opening policy mps");
    if (!ctx->view->trace->column[GSIM_COL_SM_PPM])
        gsim_warn(ctx->log, ctx->view->trace->path, 0,
                  "the trace has no column 'sm_fraction': under mps every job is taken to fill all "
                  "SMs that it may have");
    return GSIM_OK;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct mps *mps = ctx->state;
    const struct gsim_trace *trace = ctx->view->trace;
    gsim_sharing_on_decide(ctx, plan);
    gsim_slot first = mps->sharing.queue.first;
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
        "one queue, of which the head holds up all jobs behind it unless queue=backfill",
    .shares_gpus = true,
    .has_contexts = true,
    .params = params,
    .state_size = sizeof(struct mps),
    .job_size = sizeof(struct mps_job),
    .open = open_mps,
    .on_arrival = gsim_sharing_on_arrival,
    .on_completion = on_completion,
    .decide = decide,
};
