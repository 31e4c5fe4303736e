/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wishes that were not met are few: a list is searched from its front. */
#include "policies/lib/unmet.h"

#include "policies/lib/misfits.h"

void gsim_unmet_begin(struct gsim_unmet *unmet, const struct gsim_view *view, enum gsim_rule rule,
                      bool is_size_by_wish) {
    unmet->n = 0;
    unmet->is_on = is_size_by_wish && gsim_ask_has_wishes_under(view, rule) &&
                   !gsim_misfits_trial_matters(rule);
}

/* The place of the job's wish; n: it was not noted. */
static uint32_t place_of(const struct gsim_unmet *unmet, const struct gsim_ctx *ctx,
                         gsim_slot slot) {
    uint32_t at = 0;
    while (at < unmet->n && !gsim_ask_are_alike(ctx, unmet->slot[at], slot))
        at++;
    return at;
}

bool gsim_unmet_has(const struct gsim_unmet *unmet, const struct gsim_ctx *ctx, gsim_slot slot) {
    uint32_t at = unmet->is_on ? place_of(unmet, ctx, slot) : unmet->n;
    return at < unmet->n && ctx->view->jobs.gpus[slot] >= unmet->smallest[at];
}

void gsim_unmet_note(struct gsim_unmet *unmet, const struct gsim_ctx *ctx, gsim_slot slot) {
    if (!unmet->is_on)
        return;
    uint32_t at = place_of(unmet, ctx, slot), gpus = ctx->view->jobs.gpus[slot];
    if (at == GSIM_UNMET_MOST)
        return;
    if (at == unmet->n) {
        unmet->slot[at] = slot;
        unmet->smallest[at] = gpus;
        unmet->n++;
    } else if (gpus < unmet->smallest[at])
        unmet->smallest[at] = gpus;
}
