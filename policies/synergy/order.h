/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which jobs a round is offered to, and in which order. */
#ifndef GSIM_POLICIES_SYNERGY_ORDER_H
#define GSIM_POLICIES_SYNERGY_ORDER_H

#include "policies/synergy/state.h"

/* Fills synergy->order with the jobs that may be placed, the first in line first; n_gpus of them
 * are free. */
void synergy_find_order(const struct gsim_ctx *ctx, struct synergy *synergy, uint32_t n_gpus);

#endif
