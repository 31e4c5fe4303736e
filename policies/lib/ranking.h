/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Policies that rank jobs by facts known from the start: sjf, srtf, srsf. */
#ifndef GSIM_POLICIES_LIB_RANKING_H
#define GSIM_POLICIES_LIB_RANKING_H

#include "policies/lib/ranked.h"
#include "policies/lib/tiresias_pass.h"

/* The whole state of sjf, srtf and srsf, which differ in their ranks only. The hooks are ready
 * made; open sets the ranks. */
struct gsim_ranking {
    struct gsim_ranked ranked;
    struct gsim_tiresias_pass tiresias;
    int64_t share_unit; /* of srsf: the unit in which GPUs are counted, in ppm */
};
void gsim_ranking_on_completion(struct gsim_ctx *ctx, gsim_slot slot);
void gsim_ranking_decide(struct gsim_ctx *ctx, struct gsim_plan *plan);

#endif
