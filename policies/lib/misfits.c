/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pass over waiting jobs tries many that cannot fit; the smallest gang that did not fit speaks
 * for all larger gangs. */
#include "policies/lib/misfits.h"

#include "policies/lib/settings.h"

struct gsim_misfits gsim_misfits_none(const struct gsim_view *view, enum gsim_rule rule,
                                      bool keeps_paused) {
    const struct gsim_trace *trace = view->trace;
    bool has_memory = view->cluster.room == GSIM_ROOM_AMPLE ||
                      (view->cluster.room == GSIM_ROOM_BUT_FOR_PAUSED && !keeps_paused);
    bool has_cpus = !trace->column[GSIM_COL_CPUS_MILLI] || !gsim_ask_counts_cpus(view);
    bool is_size = has_memory && has_cpus && !gsim_ask_pauses_in_place(view) &&
                   !trace->column[GSIM_COL_SHARE_PPM] && rule != GSIM_RULE_SKEW;
    return (struct gsim_misfits){
        .smallest = UINT32_MAX,
        .is_size_all = is_size && !gsim_ask_has_wishes_under(view, rule),
        .is_size_by_wish = is_size,
    };
}

bool gsim_misfits_place(struct gsim_misfits *misfits, const struct gsim_ctx *ctx,
                        struct gsim_plan *plan, gsim_slot slot, enum gsim_rule rule) {
    if (gsim_misfits_has(misfits, ctx->view, slot))
        return false;
    if (gsim_settings_place(ctx, plan, slot, rule))
        return true;
    if (ctx->view->jobs.gpus[slot] < misfits->smallest)
        misfits->smallest = ctx->view->jobs.gpus[slot];
    return false;
}
