/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The decision of fifo: a job that is placed on arrival never enters the line. */
#include "policies/lib/line.h"

#include "policies/lib/common.h"
#include "policies/lib/misfits.h"
#include "policies/lib/settings.h"
#include "sim/base/hints.h"

void gsim_line_init(struct gsim_line *line, const struct gsim_ctx *ctx, bool is_strict) {
    gsim_queue_init(&line->queue);
    line->rule = gsim_settings_rule(ctx);
    line->is_strict = is_strict;
}

static inline bool place_of_line(const struct gsim_line *line, struct gsim_misfits *misfits,
                                 const struct gsim_ctx *ctx, struct gsim_plan *plan,
                                 gsim_slot slot) {
    return line->is_strict ? gsim_settings_place(ctx, plan, slot, line->rule)
                           : gsim_misfits_place(misfits, ctx, plan, slot, line->rule);
}

/* Tries waiting jobs when capacity was freed, or came back from repair: no other event lets them
 * fit. */
GSIM_APART static void place_waiting(struct gsim_line *line, struct gsim_misfits *misfits,
                                     const struct gsim_ctx *ctx, struct gsim_plan *plan) {
    gsim_slot after;
    for (gsim_slot slot = line->queue.first;
         slot != GSIM_NO_SLOT && !gsim_common_is_full(ctx->view); slot = after) {
        after = gsim_queue_after(ctx, slot);
        if (!line->is_strict && gsim_misfits_has(misfits, ctx->view, slot))
            continue; /* true of most jobs in a long line */
        if (place_of_line(line, misfits, ctx, plan, slot))
            gsim_queue_remove(&line->queue, ctx, slot);
        else if (line->is_strict)
            return;
    }
}

void gsim_line_decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct gsim_line *line = ctx->state;
    const struct gsim_view *view = ctx->view;
    struct gsim_misfits misfits = {0};
    if (!line->is_strict)
        misfits = gsim_misfits_none(view, line->rule, false);
    bool is_freed = view->changes.n_completed > 0 || view->cluster.n_repairs != line->n_repairs;
    if (is_freed && line->queue.first != GSIM_NO_SLOT)
        place_waiting(line, &misfits, ctx, plan);
    line->n_repairs = view->cluster.n_repairs;
    for (uint32_t i = 0; i < view->changes.n_arrived; i++) {
        bool is_behind = line->is_strict && line->queue.first != GSIM_NO_SLOT;
        if (is_behind || gsim_common_is_full(view) ||
            !place_of_line(line, &misfits, ctx, plan, view->changes.arrived[i]))
            gsim_queue_append(&line->queue, ctx, view->changes.arrived[i]);
    }
}
