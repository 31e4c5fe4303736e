/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a job gets of hosts beside its GPUs, by the mode. */
#ifndef GSIM_POLICIES_SYNERGY_TUNE_H
#define GSIM_POLICIES_SYNERGY_TUNE_H

#include "policies/synergy/state.h"

/* Offers the round's free GPUs to a job, which may have too few with what they would need. */
void synergy_offer(const struct gsim_ctx *ctx, struct synergy *synergy, uint32_t number);

#endif
