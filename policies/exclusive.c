/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One job at a time on each GPU, in arrival order, memory never oversubscribed, as in a lab that
 * hands out whole GPUs. A job that asks for a share of a GPU is given a whole GPU.
 * Source: the "exclusive" setting of cluster managers (Slurm --gpus without sharing). */
#include "policies/lib/queue.h"
#include "policies/lib/settings.h"

struct state {
    struct gsim_queue queue;
    enum gsim_rule rule;
};

static enum gsim_status open_exclusive(struct gsim_ctx *ctx) {
    struct state *state = ctx->state;
    gsim_queue_init(&state->queue);
    state->rule = gsim_settings_rule(ctx);
    return gsim_settings_open_memory(ctx);
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    gsim_queue_append(&((struct state *)ctx->state)->queue, ctx, slot);
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    while (state->queue.first != GSIM_NO_SLOT && ctx->view->cluster.n_idle_gpus > 0) {
        gsim_slot slot = state->queue.first;
        struct gsim_shape shape = gsim_shape_of(ctx->view, slot, state->rule);
        shape.share_ppm = (uint32_t)GSIM_PPM;
        if (!gsim_plan_place(plan, slot, &shape))
            return;
        gsim_queue_remove(&state->queue, ctx, slot);
    }
}

static const struct gsim_param_def params[] = {GSIM_PLACEMENT_PARAM, GSIM_MEMORY_PARAM, {0}};

const struct gsim_policy gsim_policy_exclusive = {
    .name = "exclusive",
    .summary = "one job at a time per GPU, first in, first out, whole GPUs only",
    .paper = "what cluster managers do without sharing",
    .deviations = "none known",
    .params = params,
    .state_size = sizeof(struct state),
    .job_size = sizeof(struct gsim_queue_link),
    .open = open_exclusive,
    .on_arrival = on_arrival,
    .decide = decide,
};
