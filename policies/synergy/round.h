/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rounds: which jobs run where in the next, and the count of the last. */
#ifndef GSIM_POLICIES_SYNERGY_ROUND_H
#define GSIM_POLICIES_SYNERGY_ROUND_H

#include "policies/synergy/state.h"

/* Lists the jobs that may have GPUs, or to which the last round gave some; no other one has any.
 * The end of a round and the begin of the next look at these. */
void synergy_find_busy(const struct gsim_ctx *ctx, struct synergy *synergy);
/* Chooses the jobs of a round and their GPUs, and preempts running jobs that have other ones. */
void synergy_begin_round(struct gsim_ctx *ctx, struct gsim_plan *plan, struct synergy *synergy);
/* Places the round's jobs that wait. */
void synergy_place(struct gsim_ctx *ctx, struct gsim_plan *plan, struct synergy *synergy);
/* Where no job of the round finds room, since paused jobs have the memory, these have the round. */
void synergy_take_home(const struct gsim_ctx *ctx, struct gsim_plan *plan, struct synergy *synergy);
/* Reference: jobs stop when they have made the round's iterations. */
void synergy_stop_reached(const struct gsim_ctx *ctx, struct gsim_plan *plan,
                          struct synergy *synergy);
/* Counts the round that is over; in the reference jobs end with it. */
void synergy_end_round(const struct gsim_ctx *ctx, struct gsim_plan *plan, struct synergy *synergy);

#endif
