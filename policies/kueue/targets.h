/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which admitted jobs would be evicted for a job, by the classic algorithm of Kueue. */
#ifndef GSIM_POLICIES_KUEUE_TARGETS_H
#define GSIM_POLICIES_KUEUE_TARGETS_H

#include "policies/kueue/state.h"

/* Appends the targets to state->target; returns their number, 0: no set of jobs would do. Nothing
 * else changes. */
uint32_t gsim_kueue_find_targets(struct gsim_kueue_state *state, struct gsim_ctx *ctx,
                                 gsim_slot slot, uint32_t flavor);
/* Takes the quota of listed targets out of the books, or (sign 1) in again. */
void gsim_kueue_book_targets(struct gsim_kueue_state *state, const struct gsim_ctx *ctx,
                             uint32_t first, uint32_t n, int sign);

#endif
