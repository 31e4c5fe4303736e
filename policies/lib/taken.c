/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A policy tries a placement, rolls it back, and asks which running jobs were on the units that the
 * placement had. */
#include "policies/lib/taken.h"

#include "policies/lib/common.h"

bool gsim_taken_reserve(struct gsim_taken *taken, struct gsim_ctx *ctx, uint32_t n) {
    if (n <= taken->capacity)
        return true;
    struct gsim_unit *grown = gsim_arena_array(ctx->arena, 2 * (size_t)n, sizeof *grown);
    if (!grown) {
        gsim_common_no_memory(ctx);
        return false;
    }
    taken->units = grown;
    taken->capacity = 2 * n;
    return true;
}

bool gsim_taken_note(struct gsim_taken *taken, struct gsim_ctx *ctx, const struct gsim_plan *plan,
                     gsim_slot slot) {
    const struct gsim_unit *units;
    uint32_t n = gsim_plan_units(plan, slot, &units);
    if (!gsim_taken_reserve(taken, ctx, n))
        return false;
    for (uint32_t u = 0; u < n; u++)
        taken->units[u] = units[u];
    taken->n = n;
    return n > 0;
}

bool gsim_taken_overlaps(const struct gsim_taken *taken, const struct gsim_plan *plan,
                         gsim_slot slot) {
    const struct gsim_unit *own;
    uint32_t n_own = gsim_plan_units(plan, slot, &own);
    for (uint32_t i = 0; i < n_own; i++)
        for (uint32_t u = 0; u < taken->n; u++)
            if (own[i].gpu == taken->units[u].gpu)
                return true;
    return false;
}
