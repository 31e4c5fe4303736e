/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Claims on Gandiva's servers: a job that has waited for patience= slices claims its servers, where
 * no job that came later pushes out any other then (turns.c). On several servers slices would
 * hardly ever be over at once while others take turns there: a gang that needs them claims them
 * after a slice at the latest. */
#include "policies/gandiva/servers.h"
#include "policies/lib/common.h"

int64_t gsim_claims_at_ns(const struct gsim_servers *servers,
                          const struct gsim_gandiva_turn *turn) {
    int64_t slices = servers->patience;
    if (turn->n_parts > 1 && slices == 0)
        slices = 1;
    return slices == 0 ? GSIM_NEVER : turn->since_ns + gsim_common_times(slices, servers->slice_ns);
}

bool gsim_claims_now(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                     gsim_slot slot) {
    return gsim_claims_at_ns(servers, gsim_turn_of(ctx, slot)) <= ctx->view->now_ns;
}

bool gsim_claims_before(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                        uint32_t server, gsim_slot slot) {
    gsim_slot claimant = servers->of[server].claimant;
    return claimant != GSIM_NO_SLOT && claimant != slot && gsim_turn_is_older(ctx, claimant, slot);
}

bool gsim_claims_keep_out(const struct gsim_servers *servers, const struct gsim_ctx *ctx,
                          gsim_slot slot) {
    const struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
    for (uint32_t p = 0; p < turn->n_parts; p++)
        if (gsim_claims_before(servers, ctx, gsim_turn_parts(turn)[p].server, slot))
            return true;
    return false;
}

void gsim_claims_make(struct gsim_servers *servers, const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
    for (uint32_t p = 0; p < turn->n_parts; p++) {
        uint32_t server = gsim_turn_parts(turn)[p].server;
        if (!gsim_claims_before(servers, ctx, server, slot))
            servers->of[server].claimant = slot;
    }
}

void gsim_claims_may_be(struct gsim_servers *servers, struct gsim_ctx *ctx, uint32_t server) {
    struct gsim_index *unclaimed = &servers->wide.unclaimed;
    gsim_index_remove(unclaimed, server);
    if (!gsim_index_insert(unclaimed, server, 0, server)) /* to be looked at next time */
        gsim_common_no_memory(ctx);
}

void gsim_claims_end(struct gsim_servers *servers, struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_gandiva_turn *turn = gsim_turn_of(ctx, slot);
    for (uint32_t p = 0; p < turn->n_parts; p++) {
        uint32_t server = gsim_turn_parts(turn)[p].server;
        struct gsim_server *at = &servers->of[server];
        if (at->claimant != slot)
            continue;
        at->claimant = GSIM_NO_SLOT;
        if (at->n_wide_waiting > 0)
            gsim_claims_may_be(servers, ctx, server);
    }
}
