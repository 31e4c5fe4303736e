/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loop of rounds. */
#ifndef GSIM_POLICIES_GAVEL_LOOP_H
#define GSIM_POLICIES_GAVEL_LOOP_H

#include "policies/gavel/state.h"

/* Reads the clock: the run's own or, in the reference, the program's. */
void gavel_read_clock(const struct gsim_ctx *ctx, struct gavel *gavel);
/* Counts the time of the round, and lets the jobs go that ended in it. */
void gavel_end_round(struct gsim_ctx *ctx, struct gsim_plan *plan, struct gavel *gavel);
/* Adds arrivals, computes shares where they are due, and gives the GPUs of the next round. */
void gavel_begin_round(struct gsim_ctx *ctx, struct gsim_plan *plan, struct gavel *gavel);

/* Asks for the speeds of both jobs of a pair beside each other. */
void gavel_learn_pair(struct gsim_ctx *ctx, const struct gavel *gavel,
                      struct gsim_round_entry *pair);

#endif
