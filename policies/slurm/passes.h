/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two schedulers, and what both do when a job starts. */
#ifndef GSIM_POLICIES_SLURM_PASSES_H
#define GSIM_POLICIES_SLURM_PASSES_H

#include "policies/slurm/state.h"

/* Takes a job off the books; it may not have run. */
void gsim_slurm_stop(struct gsim_slurm_state *state, struct gsim_ctx *ctx, gsim_slot slot);
/* Places a job on usable GPUs (state->usable), and books it. Where the core finds no room on the
 * nodes chosen, others are tried. */
bool gsim_slurm_place(struct gsim_slurm_state *state, struct gsim_ctx *ctx, struct gsim_plan *plan,
                      gsim_slot slot);
/* Finds the GPUs that the job could have now, and places and books it there. */
bool gsim_slurm_place_now(struct gsim_slurm_state *state, struct gsim_ctx *ctx,
                          struct gsim_plan *plan, gsim_slot slot);

/* The main scheduler: jobs in order; the first of a partition that does not fit holds up the rest
 * of the partition, and its nodes. */
void gsim_slurm_main_pass(struct gsim_slurm_state *state, struct gsim_ctx *ctx,
                          struct gsim_plan *plan);
/* The backfill scheduler: every job that does not fit has its nodes planned at the earliest time
 * at which they will be free. */
void gsim_slurm_backfill_pass(struct gsim_slurm_state *state, struct gsim_ctx *ctx,
                              struct gsim_plan *plan);
/* Makes room for a job by preemption. true: the job is placed. */
bool gsim_slurm_preempt(struct gsim_slurm_state *state, struct gsim_ctx *ctx,
                        struct gsim_plan *plan, gsim_slot slot);
/* The next time at which a running job may be preempted that may not be now (PreemptExemptTime). */
int64_t gsim_slurm_preempt_next(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx);

#endif
