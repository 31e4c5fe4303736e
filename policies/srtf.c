/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shortest remaining time first, preemptive, with gangs: waiting jobs in the order of their
 * remaining time; a job that does not fit pushes out running jobs with more time left. Source:
 * Schrage, "A proof of the optimality of the shortest remaining processing time discipline" (1968);
 * with gangs it is a greedy heuristic. An oracle: it knows true durations.
 *
 * reference=tiresias: the public simulator's `shortest`. */
#include "policies/lib/ranked.h"
#include "policies/lib/ranking.h"
#include "policies/lib/settings.h"

static int64_t value(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_remaining_ns(ctx->view, slot);
}

static enum gsim_status open_srtf(struct gsim_ctx *ctx) {
    struct gsim_ranking *state = ctx->state;
    enum gsim_status status = gsim_settings_open_memory(ctx);
    gsim_ranked_init(&state->ranked, ctx);
    state->ranked.is_preemptive = true;
    state->ranked.preemption = gsim_settings_preemption(ctx, GSIM_KEEP_STORAGE);
    state->ranked.slope_sign = -1;
    state->ranked.value = value;
    state->tiresias.rank = value;
    return status;
}

static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM, GSIM_PREEMPT_PARAM_FREE, GSIM_MEMORY_PARAM, {0}};

const struct gsim_policy gsim_policy_srtf = {
    .name = "srtf",
    .summary = "shortest remaining time first, preemptive",
    .paper = "Schrage, Operations Research 16(3), 1968",
    .deviations = "greedy over gangs; victims are chosen worst first (docs/clusters.md)",
    .is_oracle = true,
    .references = 1u << GSIM_REFERENCE_TIRESIAS,
    .params = params,
    .state_size = sizeof(struct gsim_ranking),
    .open = open_srtf,
    .on_completion = gsim_ranking_on_completion,
    .decide = gsim_ranking_decide,
};
