/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shortest job first, without preemption: whenever GPUs are free, the waiting job of the shortest
 * true duration that fits starts. Source: the classic; an oracle.
 *
 * reference=tiresias: the public simulator's `sjf`, which sorts by GPUs and preempts.
 * reference=pai: the order (duration, job), greedy with skip. */
#include "policies/common.h"

struct state {
    struct gsim_ranked ranked;
    struct gsim_tiresias tiresias;
};

static int64_t value(const struct gsim_ctx *ctx, gsim_slot slot) {
    return ctx->view->service_ns[slot];
}

static int64_t tiresias_rank(const struct gsim_ctx *ctx, gsim_slot slot) {
    return ctx->view->gpus[slot];
}

static enum gsim_status open_sjf(struct gsim_ctx *ctx) {
    struct state *state = ctx->state;
    gsim_ranked_init(&state->ranked, ctx);
    state->ranked.value = value;
    state->tiresias.rank = tiresias_rank;
    return GSIM_OK;
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    gsim_ranked_completed(&((struct state *)ctx->state)->ranked, slot);
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    if (ctx->reference == GSIM_REFERENCE_TIRESIAS)
        gsim_tiresias_decide(&state->tiresias, ctx, plan);
    else
        gsim_ranked_decide(&state->ranked, ctx, plan);
}

static const struct gsim_param_def params[] = {GSIM_PLACEMENT_PARAM, {0}};

const struct gsim_policy gsim_policy_sjf = {
    .name = "sjf",
    .summary = "shortest job first, not preemptive",
    .paper = "the classic baseline",
    .deviations = "none known",
    .is_oracle = true,
    .references = 1u << GSIM_REFERENCE_TIRESIAS | 1u << GSIM_REFERENCE_PAI,
    .params = params,
    .state_size = sizeof(struct state),
    .open = open_sjf,
    .on_completion = on_completion,
    .decide = decide,
};
