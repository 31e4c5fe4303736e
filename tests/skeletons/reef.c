/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiled, never run: whether the interface can say what REEF does. When a real-time job comes,
 * the best-effort kernels on its GPU are reset (flush, the running kernel is done again), the
 * real-time job runs, and best-effort ones return in a lane that pads the SMs it leaves over. Not
 * expressible: the reset when a *request* of a lasting real-time job arrives. Requests lie inside
 * the model, so a lane has to declare how those below it are stopped (a stop, and its bound for
 * `cheapest`); struct gsim_lane has no such fields, and gsim_plan_preempt has no bound. */
#include "sim/api/policy.h"

enum { REALTIME_LANE = 0, PADDING_LANE = 1, MOST_ON_GPU = 32 };

struct gpu_jobs {
    struct gsim_entry entries[MOST_ON_GPU];
    uint32_t n;
    bool is_dirty;
};

struct state {
    struct gpu_jobs *gpus;
};

static bool is_realtime(const struct gsim_view *view, gsim_slot slot) {
    return gsim_trace_get(view->trace, GSIM_COL_CLASS, view->job[slot]) == GSIM_CLASS_REALTIME;
}

static enum gsim_status open_reef(struct gsim_ctx *ctx) {
    struct state *state = ctx->state;
    const struct gsim_trace *trace = ctx->view->trace;
    for (uint32_t job = 0; job < trace->n_jobs; job++)
        if (gsim_trace_get(trace, GSIM_COL_CLASS, job) != GSIM_CLASS_REALTIME &&
            gsim_trace_get(trace, GSIM_COL_IDEMPOTENT, job) != 1)
            return gsim_fail(ctx->log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, job),
                             "column 'idempotent': reef resets kernels, so it must be 1 for every "
                             "job that is not of class realtime");
    state->gpus = gsim_arena_array(ctx->arena, ctx->view->n_gpus, sizeof *state->gpus);
    return state->gpus ? GSIM_OK : gsim_no_memory(ctx->log, "opening GPUs");
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    bool is_urgent = is_realtime(ctx->view, slot);
    struct gpu_jobs *gpu = &state->gpus[ctx->view->job[slot] % ctx->view->n_gpus];
    if (gpu->n == MOST_ON_GPU)
        return;
    gpu->entries[gpu->n++] = (struct gsim_entry){
        .job = slot, .lane = is_urgent ? REALTIME_LANE : PADDING_LANE, .priority = is_urgent};
    gpu->is_dirty = true;
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    struct gpu_jobs *gpu = &state->gpus[ctx->view->job[slot] % ctx->view->n_gpus];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < gpu->n; i++)
        if (gpu->entries[i].job != slot)
            gpu->entries[kept++] = gpu->entries[i];
    gpu->n = kept;
    gpu->is_dirty = true;
}

/* Both lanes see all SMs: the second gets what the first leaves over. */
static void arrange(struct gsim_plan *plan, const struct gpu_jobs *gpu,
                    const struct gsim_unit *unit) {
    static const struct gsim_lane lanes[] = {
        [REALTIME_LANE] = {.discipline = GSIM_DISCIPLINE_PRIORITY, .eviction_rank = 1},
        [PADDING_LANE] = {.discipline = GSIM_DISCIPLINE_PADDING},
    };
    struct gsim_arrangement arrangement = {
        .lanes = lanes, .n_lanes = 2, .entries = gpu->entries, .n_entries = gpu->n};
    (void)gsim_plan_arrange(plan, unit, 1, &arrangement);
}

/* Newcomers in the urgent lane reset who runs below; those come back when they have settled. */
static void reset(const struct gsim_ctx *ctx, struct gsim_plan *plan, const struct gpu_jobs *gpu) {
    bool has_newcomer = false;
    for (uint32_t i = 0; i < gpu->n; i++)
        has_newcomer |= gpu->entries[i].lane == REALTIME_LANE &&
                        ctx->view->state[gpu->entries[i].job] == GSIM_QUEUED;
    for (uint32_t i = 0; has_newcomer && i < gpu->n; i++)
        if (gpu->entries[i].lane == PADDING_LANE &&
            ctx->view->state[gpu->entries[i].job] == GSIM_RUNNING)
            (void)gsim_plan_preempt(plan, gpu->entries[i].job, GSIM_STOP_FLUSH, GSIM_KEEP_RESIDENT);
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    const struct gsim_view *view = ctx->view;
    for (uint32_t i = 0; i < view->n_settled; i++)
        if (view->state[view->settled[i]] == GSIM_PAUSED)
            state->gpus[view->job[view->settled[i]] % view->n_gpus].is_dirty = true;
    for (uint32_t g = 0; g < view->n_gpus; g++) {
        struct gpu_jobs *gpu = &state->gpus[g];
        const struct gsim_unit unit = {g, 0};
        if (!gpu->is_dirty)
            continue;
        reset(ctx, plan, gpu);
        arrange(plan, gpu, &unit);
        for (uint32_t i = 0; i < gpu->n; i++) {
            enum gsim_state now = view->state[gpu->entries[i].job];
            if (now == GSIM_QUEUED || now == GSIM_PAUSED)
                (void)gsim_plan_place_on(plan, gpu->entries[i].job, &unit, 1);
        }
        gpu->is_dirty = false;
    }
}

const struct gsim_policy skeleton_reef = {
    .name = "reef",
    .summary = "reset-based preemption and dynamic kernel padding",
    .paper = "Han et al., REEF, OSDI 2022",
    .deviations = "a sketch",
    .state_size = sizeof(struct state),
    .open = open_reef,
    .on_arrival = on_arrival,
    .on_completion = on_completion,
    .decide = decide,
};
