/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cycles of admission: the head of each ClusterQueue is held against quota. */
#ifndef GSIM_POLICIES_KUEUE_CYCLE_H
#define GSIM_POLICIES_KUEUE_CYCLE_H

#include "policies/kueue/state.h"

/* Finds the best flavor for a head, and the jobs that would be evicted for it. */
void gsim_kueue_assign(struct gsim_kueue_state *state, struct gsim_ctx *ctx,
                       struct gsim_kueue_entry *entry);
/* Makes cycles until one changes nothing. */
void gsim_kueue_admit(struct gsim_kueue_state *state, struct gsim_ctx *ctx, struct gsim_plan *plan);

#endif
