/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What did not fit in a pass, where jobs differ in the nodes that they may have: a gang speaks for
 * those that ask for these nodes, as many of them, and no fewer GPUs. */
#ifndef GSIM_POLICIES_LIB_UNMET_H
#define GSIM_POLICIES_LIB_UNMET_H

#include "gsim/policy.h"

/* Wishes that a pass tells apart; jobs of further ones are tried, each for itself. */
enum { GSIM_UNMET_MOST = 64 };

struct gsim_unmet {
    bool is_on; /* jobs have wishes, and a wish and the number of GPUs are all that decides */
    uint32_t n;
    uint64_t wish[GSIM_UNMET_MOST]; /* gsim_ask_wish */
    uint32_t smallest[GSIM_UNMET_MOST]; /* the smallest gang of its wish that did not fit */
};

/* Begins a pass. is_size_by_wish: of the pass's misfits. Where a trial matters to the next one
 * (policies/lib/misfits.h), nothing is noted. */
void gsim_unmet_begin(struct gsim_unmet *unmet, const struct gsim_view *view, enum gsim_rule rule,
                      bool is_size_by_wish);
/* Whether a gang of this wish that has no more than these GPUs did not fit. */
bool gsim_unmet_has_wish(const struct gsim_unmet *unmet, uint64_t wish, uint32_t gpus);
/* Likewise, of the job's wish and GPUs. */
bool gsim_unmet_has(const struct gsim_unmet *unmet, const struct gsim_ctx *ctx, gsim_slot slot);
/* The job did not fit. */
void gsim_unmet_note(struct gsim_unmet *unmet, const struct gsim_ctx *ctx, gsim_slot slot);

#endif
