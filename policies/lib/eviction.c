/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job that needs few GPUs of one node may push out jobs all over the cluster before it fits,
 * since a policy goes by ranks and not by places. Trying again with the units known keeps that from
 * showing. */
#include "policies/lib/eviction.h"

#include <assert.h>

#include "policies/lib/common.h"

void gsim_eviction_begin(struct gsim_eviction *eviction) {
    eviction->n = eviction->n_spared = 0;
}

bool gsim_eviction_note(struct gsim_eviction *eviction, struct gsim_ctx *ctx, gsim_slot victim,
                        struct gsim_preemption way) {
    struct gsim_victim *grown = gsim_arena_room(ctx->arena, eviction->victims, eviction->n,
                                                &eviction->capacity, sizeof *grown);
    if (!grown) {
        gsim_common_no_memory(ctx);
        return false;
    }
    eviction->victims = grown;
    eviction->victims[eviction->n++] = (struct gsim_victim){victim, way};
    return true;
}

static bool preempt(struct gsim_plan *plan, const struct gsim_victim *victim) {
    return gsim_plan_preempt(plan, victim->slot, victim->way.stop, victim->way.keep);
}

bool gsim_eviction_push_out(struct gsim_eviction *eviction, struct gsim_ctx *ctx,
                            struct gsim_plan *plan, gsim_slot victim, struct gsim_preemption way) {
    return gsim_eviction_note(eviction, ctx, victim, way) &&
           preempt(plan, &eviction->victims[eviction->n - 1]);
}

void gsim_eviction_spare(struct gsim_eviction *eviction, struct gsim_ctx *ctx,
                         struct gsim_plan *plan, gsim_slot slot, uint32_t mark,
                         uint32_t *placed_at) {
    struct gsim_taken *taken = &eviction->taken;
    uint32_t n = eviction->n, kept = 0;
    if (n < 2 || !gsim_taken_note(taken, ctx, plan, slot))
        return;
    gsim_plan_rollback(plan, mark);
    for (uint32_t v = 0; v < n; v++) {
        struct gsim_victim victim = eviction->victims[v];
        if (!gsim_taken_overlaps(taken, plan, victim.slot) || !preempt(plan, &victim))
            continue;
        eviction->victims[v] = eviction->victims[kept]; /* a spared victim, if any was before */
        eviction->victims[kept++] = victim;
    }
    eviction->n = kept;
    eviction->n_spared = n - kept;
    *placed_at = gsim_plan_mark(plan);
    bool is_placed = gsim_plan_place_on(plan, slot, taken->units, taken->n);
    assert(is_placed);
}
