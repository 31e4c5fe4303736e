/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which GPU a job shares, and when a shared GPU is given back to be had whole. */
#include "policies/common.h"

enum { MOST_URGENT_BATCH = 1 << 20 };

int32_t gsim_common_urgency(const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_trace *trace = ctx->view->trace;
    uint32_t job = ctx->view->job[slot];
    const int64_t *column = trace->column[GSIM_COL_PRIORITY];
    int64_t priority = column ? column[job] : 0;
    if (priority > MOST_URGENT_BATCH)
        priority = MOST_URGENT_BATCH;
    if (priority < -MOST_URGENT_BATCH)
        priority = -MOST_URGENT_BATCH;
    bool is_realtime = gsim_trace_get(trace, GSIM_COL_CLASS, job) == GSIM_CLASS_REALTIME;
    return (int32_t)priority + (is_realtime ? 4 * MOST_URGENT_BATCH : 0);
}

void gsim_sharing_init(struct gsim_sharing *sharing, const struct gsim_ctx *ctx,
                       const struct gsim_lane *lane) {
    gsim_queue_init(&sharing->queue);
    sharing->lane = *lane;
    sharing->rule = gsim_common_rule(ctx);
}

void gsim_sharing_on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    gsim_queue_append(&((struct gsim_sharing *)ctx->state)->queue, ctx, slot);
}

static const struct gsim_lane whole_lane = {.discipline = GSIM_DISCIPLINE_EXCLUSIVE};
static const struct gsim_arrangement whole = {.lanes = &whole_lane, .n_lanes = 1};

/* GPUs that the last sharer has left can be had whole again. */
static void give_back(const struct gsim_ctx *ctx, struct gsim_plan *plan) {
    const struct gsim_view *view = ctx->view;
    for (uint32_t i = 0; i < view->n_completed; i++) {
        struct gsim_sharing_job *job = gsim_job_state(ctx, view->completed[i]);
        struct gsim_unit unit = {.gpu = job->gpu - 1};
        if (job->gpu && view->gpu_clients[unit.gpu] == 0 && view->gpu_free_ppm[unit.gpu] == 0)
            (void)gsim_plan_arrange(plan, &unit, 1, &whole);
        job->gpu = 0;
    }
}

static bool has_room(const struct gsim_view *view, uint32_t gpu, gsim_slot slot) {
    int64_t bytes = gsim_trace_get(view->trace, GSIM_COL_MEM_BYTES, view->job[slot]);
    bool is_idle = view->gpu_free_ppm[gpu] == GSIM_PPM;
    bool is_shared =
        view->gpu_clients[gpu] > 0 && view->gpu_clients[gpu] < view->gpu_client_limit[gpu];
    return (is_idle || is_shared) &&
           (bytes <= 0 || view->gpu_mem_used[gpu] + bytes <= view->gpu_hbm_bytes[gpu]);
}

/* The GPU with the fewest jobs that has room; the cluster's size when there is none. */
static uint32_t emptiest(const struct gsim_view *view, gsim_slot slot) {
    uint32_t best = view->n_gpus;
    for (uint32_t gpu = 0; gpu < view->n_gpus; gpu++)
        if (has_room(view, gpu, slot) &&
            (best == view->n_gpus || view->gpu_clients[gpu] < view->gpu_clients[best]))
            best = gpu;
    return best;
}

static int32_t urgency(const struct gsim_sharing *sharing, const struct gsim_ctx *ctx,
                       gsim_slot slot) {
    if (!sharing->has_two_levels)
        return gsim_common_urgency(ctx, slot);
    uint32_t job = ctx->view->job[slot];
    return gsim_trace_get(ctx->view->trace, GSIM_COL_CLASS, job) == GSIM_CLASS_REALTIME;
}

/* In one lane with the others; of these, only an order of urgency has to be said. */
static bool enter_lane(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot,
                       struct gsim_unit unit) {
    struct gsim_sharing *sharing = ctx->state;
    struct gsim_entry entry = {.job = slot, .priority = urgency(sharing, ctx, slot)};
    struct gsim_arrangement arrangement = {
        .lanes = &sharing->lane, .n_lanes = 1, .entries = &entry, .n_entries = 1};
    bool says_something = ctx->view->gpu_clients[unit.gpu] == 0 ||
                          sharing->lane.discipline == GSIM_DISCIPLINE_PRIORITY;
    return !says_something || gsim_plan_arrange(plan, &unit, 1, &arrangement);
}

static bool share(struct gsim_sharing *sharing, struct gsim_ctx *ctx, struct gsim_plan *plan,
                  gsim_slot slot) {
    struct gsim_unit unit = {.gpu = emptiest(ctx->view, slot)};
    struct gsim_sharing_job *job = gsim_job_state(ctx, slot);
    if (unit.gpu == ctx->view->n_gpus)
        return false;
    if (!(sharing->arrange ? sharing->arrange : enter_lane)(ctx, plan, slot, unit))
        return false;
    job->gpu = unit.gpu + 1;
    return gsim_plan_place_on(plan, slot, &unit, 1);
}

void gsim_sharing_on_decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct gsim_sharing *sharing = ctx->state;
    give_back(ctx, plan);
    for (gsim_slot slot; (slot = sharing->queue.first) != GSIM_NO_SLOT;) {
        bool is_placed = ctx->view->gpus[slot] == 1
                             ? share(sharing, ctx, plan, slot)
                             : gsim_common_place(ctx, plan, slot, sharing->rule);
        if (!is_placed)
            return;
        gsim_queue_remove(&sharing->queue, ctx, slot);
    }
}
