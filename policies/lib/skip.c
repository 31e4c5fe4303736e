/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/lib/skip.h"

void gsim_skip_begin(struct gsim_skip *skip, const struct gsim_view *view,
                     const struct gsim_waiting *waiting, enum gsim_rule rule) {
    skip->view = view;
    skip->waiting = waiting;
    skip->rule = rule;
    skip->misfits = gsim_misfits_none(view, rule, false);
    gsim_unmet_begin(&skip->unmet, view, rule, skip->misfits.is_size_by_wish);
}

int64_t gsim_skip_most(const void *of, const struct gsim_waiting_row *row) {
    enum { NONE = -1 };
    const struct gsim_skip *skip = of;
    const struct gsim_waiting_kind *kind = &skip->waiting->kind[row->kind];
    return gsim_misfits_has_width(&skip->misfits, skip->view, kind->gpus) ||
                   gsim_unmet_has_wish(&skip->unmet, kind->wish, kind->gpus)
               ? NONE
               : INT64_MAX;
}

bool gsim_skip_place(struct gsim_skip *skip, const struct gsim_ctx *ctx, struct gsim_plan *plan,
                     gsim_slot slot) {
    if (gsim_unmet_has(&skip->unmet, ctx, slot))
        return false;
    if (gsim_misfits_place(&skip->misfits, ctx, plan, slot, skip->rule))
        return true;
    gsim_unmet_note(&skip->unmet, ctx, slot);
    return false;
}
