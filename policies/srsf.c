/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shortest remaining service first: as srtf, ranked by remaining time times GPUs, so that a wide
 * job counts for all its GPUs. Source: Gu et al., "Tiresias", NSDI 2019 (its SRSF baseline). An
 * oracle: it knows true durations.
 *
 * reference=tiresias: the public simulator's `shortest-gpu`. */
#include "policies/lib/common.h"
#include "policies/lib/ranked.h"
#include "policies/lib/ranking.h"
#include "policies/lib/settings.h"

static int64_t value(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_remaining_ns(ctx->view, slot);
}

static int64_t weight(const struct gsim_ctx *ctx, gsim_slot slot) {
    int64_t unit = ((const struct gsim_ranking *)ctx->state)->share_unit;
    return ctx->view->jobs.gpus[slot] * ((ctx->view->jobs.share_ppm[slot] + unit - 1) / unit);
}

static int64_t tiresias_rank(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_common_times(value(ctx, slot), weight(ctx, slot));
}

static enum gsim_status open_srsf(struct gsim_ctx *ctx) {
    struct gsim_ranking *state = ctx->state;
    enum gsim_status status = gsim_settings_open_memory(ctx);
    state->share_unit = gsim_common_share_unit(ctx->view->trace);
    gsim_ranked_init(&state->ranked, ctx);
    state->ranked.is_preemptive = true;
    state->ranked.preemption = gsim_settings_preemption(ctx, GSIM_KEEP_STORAGE);
    state->ranked.slope_sign = -1;
    state->ranked.value = value;
    state->ranked.weight = weight;
    state->tiresias.rank = tiresias_rank;
    return status;
}

static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM, GSIM_PREEMPT_PARAM_FREE, GSIM_MEMORY_PARAM, {0}};

const struct gsim_policy gsim_policy_srsf = {
    .name = "srsf",
    .summary = "shortest remaining service (time x GPUs) first, preemptive",
    .paper = "Gu et al., Tiresias, NSDI 2019 (baseline)",
    .deviations = "greedy over gangs; victims are chosen worst first (docs/clusters.md)",
    .is_oracle = true,
    .references = 1u << GSIM_REFERENCE_TIRESIAS,
    .params = params,
    .state_size = sizeof(struct gsim_ranking),
    .open = open_srsf,
    .on_completion = gsim_ranking_on_completion,
    .decide = gsim_ranking_decide,
};
