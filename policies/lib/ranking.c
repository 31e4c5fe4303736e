/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hooks of sjf, srtf and srsf, which differ in their ranks only. */
#include "policies/lib/ranking.h"

void gsim_ranking_on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_ranking *ranking = ctx->state;
    gsim_ranked_completed(&ranking->ranked, slot);
}

void gsim_ranking_decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct gsim_ranking *ranking = ctx->state;
    if (ctx->reference == GSIM_REFERENCE_TIRESIAS)
        gsim_tiresias_pass_decide(&ranking->tiresias, ctx, plan);
    else
        gsim_ranked_decide(&ranking->ranked, ctx, plan);
}
