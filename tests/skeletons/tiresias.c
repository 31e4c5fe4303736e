/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compile-only: can the interface say Tiresias? Discretised 2D-LAS: three queues by attained GPU
 * time, a watch at the limit of a job's queue demotes it, greedy with skip over the queues. Nothing
 * was missing; Gittins needs only another rank within a queue. */
#include "sim/api/policy.h"

enum { QUEUES = 3 };

struct own {
    uint8_t queue;
};

static const int64_t limit_gpu_ns[QUEUES] = {3250 * GSIM_NS_PER_S, 7200 * GSIM_NS_PER_S, INT64_MAX};

static void on_watch(struct gsim_ctx *ctx, gsim_slot slot, enum gsim_watch_kind kind) {
    struct own *own = gsim_job_state(ctx, slot);
    (void)kind;
    if (own->queue + 1 < QUEUES)
        own->queue++;
}

static void choose(struct gsim_ctx *ctx, struct gsim_plan *plan, uint8_t queue, uint32_t *left) {
    const struct gsim_view *view = ctx->view;
    for (uint32_t i = 0; i < view->n_active; i++) {
        gsim_slot slot = view->active[i];
        struct gsim_shape shape = gsim_shape_of(view, slot, GSIM_RULE_CONSOLIDATE);
        if (((struct own *)gsim_job_state(ctx, slot))->queue != queue)
            continue;
        if (view->gpus[slot] <= *left) {
            *left -= view->gpus[slot];
            if ((view->state[slot] == GSIM_QUEUED || view->state[slot] == GSIM_HELD) &&
                gsim_plan_place(plan, slot, &shape) && limit_gpu_ns[queue] != INT64_MAX)
                gsim_plan_watch(plan, slot, GSIM_WATCH_ATTAINED,
                                limit_gpu_ns[queue] / view->gpus[slot]);
        } else if (view->state[slot] == GSIM_RUNNING) {
            (void)gsim_plan_preempt(plan, slot, GSIM_STOP_ITERATION, GSIM_KEEP_STORAGE);
        }
    }
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    uint32_t left = ctx->view->n_gpus;
    for (uint8_t queue = 0; queue < QUEUES; queue++)
        choose(ctx, plan, queue, &left);
}

const struct gsim_policy skeleton_tiresias = {
    .name = "tiresias", .job_size = sizeof(struct own), .on_watch = on_watch, .decide = decide};
