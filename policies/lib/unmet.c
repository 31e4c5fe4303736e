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

/* The place of the wish; n: it was not noted. */
static uint32_t place_of(const struct gsim_unmet *unmet, uint64_t wish) {
    uint32_t at = 0;
    while (at < unmet->n && unmet->wish[at] != wish)
        at++;
    return at;
}

bool gsim_unmet_has_wish(const struct gsim_unmet *unmet, uint64_t wish, uint32_t gpus) {
    uint32_t at = unmet->is_on ? place_of(unmet, wish) : unmet->n;
    return at < unmet->n && gpus >= unmet->smallest[at];
}

bool gsim_unmet_has(const struct gsim_unmet *unmet, const struct gsim_ctx *ctx, gsim_slot slot) {
    return unmet->n > 0 &&
           gsim_unmet_has_wish(unmet, gsim_ask_wish(ctx, slot), ctx->view->jobs.gpus[slot]);
}

void gsim_unmet_note(struct gsim_unmet *unmet, const struct gsim_ctx *ctx, gsim_slot slot) {
    if (!unmet->is_on)
        return;
    uint64_t wish = gsim_ask_wish(ctx, slot);
    uint32_t at = place_of(unmet, wish), gpus = ctx->view->jobs.gpus[slot];
    if (at == GSIM_UNMET_MOST)
        return;
    if (at == unmet->n) {
        unmet->wish[at] = wish;
        unmet->smallest[at] = gpus;
        unmet->n++;
    } else if (gpus < unmet->smallest[at])
        unmet->smallest[at] = gpus;
}
