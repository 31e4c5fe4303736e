/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shortest remaining time first, preemptive, with gangs: waiting jobs in the order of what they
 * have left; one that does not fit pushes out running jobs that have more left. Source: Schrage,
 * "A proof of the optimality of the shortest remaining processing time discipline" (1968); with
 * gangs it is a greedy heuristic. An oracle: it knows true durations.
 *
 * reference=tiresias: the public simulator's `shortest`. */
#include "policies/common.h"

struct state {
    struct gsim_ranked ranked;
    struct gsim_tiresias tiresias;
};

static int64_t value(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_remaining_ns(ctx->view, slot);
}

static enum gsim_status open_srtf(struct gsim_ctx *ctx) {
    struct state *state = ctx->state;
    gsim_ranked_init(&state->ranked, ctx);
    state->ranked.is_preemptive = true;
    state->ranked.preemption = gsim_common_preemption(ctx);
    state->ranked.slope_sign = -1;
    state->ranked.value = value;
    state->tiresias.rank = value;
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

static const struct gsim_param_def params[] = {GSIM_PLACEMENT_PARAM, GSIM_PREEMPT_PARAM, {0}};

const struct gsim_policy gsim_policy_srtf = {
    .name = "srtf",
    .summary = "shortest remaining time first, preemptive",
    .paper = "Schrage, Operations Research 16(3), 1968",
    .deviations = "greedy over gangs; victims are chosen worst first",
    .is_oracle = true,
    .references = 1u << GSIM_REFERENCE_TIRESIAS,
    .params = params,
    .state_size = sizeof(struct state),
    .open = open_srtf,
    .on_completion = on_completion,
    .decide = decide,
};
