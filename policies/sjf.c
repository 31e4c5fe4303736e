/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shortest job first, without preemption: whenever GPUs are free, the waiting job of the shortest
 * true duration that fits starts. Source: the classic; an oracle.
 *
 * reference=tiresias: the public simulator's `sjf`, which sorts by GPUs and preempts.
 * reference=pai: the order (duration, job), greedy with skip. */
#include "policies/lib/ranked.h"
#include "policies/lib/ranking.h"
#include "policies/lib/settings.h"

static int64_t value(const struct gsim_ctx *ctx, gsim_slot slot) {
    return ctx->view->jobs.service_ns[slot];
}

static int64_t tiresias_rank(const struct gsim_ctx *ctx, gsim_slot slot) {
    return ctx->view->jobs.gpus[slot];
}

static enum gsim_status open_sjf(struct gsim_ctx *ctx) {
    struct gsim_ranking *state = ctx->state;
    gsim_ranked_init(&state->ranked, ctx);
    state->ranked.value = value;
    state->tiresias.rank = tiresias_rank;
    return gsim_settings_open_memory(ctx);
}

static const struct gsim_param_def params[] = {GSIM_PLACEMENT_PARAM, GSIM_MEMORY_PARAM, {0}};

const struct gsim_policy gsim_policy_sjf = {
    .name = "sjf",
    .summary = "shortest job first, not preemptive",
    .paper = "the classic baseline",
    .deviations = "none known",
    .is_oracle = true,
    .references = 1u << GSIM_REFERENCE_TIRESIAS | 1u << GSIM_REFERENCE_PAI,
    .params = params,
    .state_size = sizeof(struct gsim_ranking),
    .open = open_sjf,
    .on_completion = gsim_ranking_on_completion,
    .decide = gsim_ranking_decide,
};
