/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many of the next rounds each job gets. The sum of the jobs' utilities, a logarithm of their
 * progress in straight pieces, less a price on the longest time that is left, is made large under
 * the GPUs that there are; each job may have a time that must not be left after the plan.
 *
 * A job's gain falls with each round. For a bound on the longest time left, the rounds that it and
 * the jobs' own bounds demand are given first, then one after the other where the gain per GPU is
 * largest and still fits. Bounds are the times that jobs can have left; one is passed over where
 * no plan under it can be worth more than the best so far. With gangs of one size the plan is the
 * best; with others, its value is short of the best by no more than the gain of the first round
 * that did not fit (the bound of the knapsack).
 *
 * A plan looks at each job once. A bound looks at the jobs that it gives rounds, which are no more
 * than there are rounds of GPUs, and at the first of the others by the time that they have left and
 * by what they gain. Rounds that gain more than a level, for all of which there is room, are given
 * in whichever order: how many they are of each job is found once for all bounds, from the
 * straight pieces of the logarithm, in which each round gains as much. The order matters to the
 * others, which are few where the level is near to what the last round gains: it was that in the
 * plan before. On few GPUs the first bound notes in which order it gives rounds, and each further
 * one goes through that, beside a heap of the jobs of which it demands rounds. Gains tell plans
 * apart; all utilities are added up for two plans alone that rounding could confuse. In a long
 * queue most jobs gain too little for a round whatever exactly they weigh: a bound of the weight
 * tells that, and the weight itself is found where the bound does not. */
#ifndef GSIM_POLICIES_SHOCKWAVE_PLAN_H
#define GSIM_POLICIES_SHOCKWAVE_PLAN_H

#include "policies/shockwave/future.h"

/* Makes room for plans of n_jobs at most. false: no memory. */
bool gsim_future_open(struct gsim_future *future, struct gsim_arena *arena, uint32_t n_jobs);
/* Fills in the logarithms of a job. */
void gsim_future_measure(const struct gsim_future *future, struct gsim_future_job *job);
/* false: no plan keeps what jobs may have left; has_bounds false: they are not looked at. */
bool gsim_future_plan(struct gsim_future *future, bool has_bounds);
/* The value of the rounds that the jobs have. */
double gsim_future_value(struct gsim_future *future);
/* The job that is nth in the order, from 0 on; the order has more jobs than that. */
struct gsim_future_rank gsim_future_nth(struct gsim_future_order *order, uint32_t nth);

#endif
