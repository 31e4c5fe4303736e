/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ways of a job: pending, admitted, placed, evicted; and the quota that goes with it. */
#ifndef GSIM_POLICIES_KUEUE_JOBS_H
#define GSIM_POLICIES_KUEUE_JOBS_H

#include "policies/kueue/state.h"

enum gsim_status gsim_kueue_jobs_open(struct gsim_kueue_state *state, struct gsim_ctx *ctx);
/* Puts a job into the order of its queue. */
void gsim_kueue_pend(struct gsim_kueue_state *state, struct gsim_ctx *ctx, gsim_slot slot);
/* The first pending job that is not parked; GSIM_NO_SLOT: all are. */
gsim_slot gsim_kueue_head(struct gsim_kueue_state *state, const struct gsim_ctx *ctx,
                          uint32_t queue);
/* Passes a head over until quota of its cohort comes free. */
void gsim_kueue_park(struct gsim_kueue_state *state, const struct gsim_ctx *ctx, gsim_slot slot);
/* Gives a pending job its quota; it waits for nodes then. */
void gsim_kueue_take_quota(struct gsim_kueue_state *state, struct gsim_ctx *ctx, gsim_slot slot,
                           uint32_t flavor);
/* Takes a job's quota back, and lets parked jobs of its cohort be tried again. */
void gsim_kueue_give_quota(struct gsim_kueue_state *state, struct gsim_ctx *ctx, gsim_slot slot);
void gsim_kueue_evict(struct gsim_kueue_state *state, struct gsim_ctx *ctx, struct gsim_plan *plan,
                      gsim_slot slot);
static inline bool gsim_kueue_is_evicted(const struct gsim_kueue_job *job) {
    return job->phase == GSIM_KUEUE_EVICTED || job->phase == GSIM_KUEUE_WITHDRAWN;
}
/* Jobs that were evicted without GPUs are pending again. Whether cycles go on with their quota:
 * where other jobs leave their GPUs they wait for these, since all leave for one head. */
bool gsim_kueue_withdraw(struct gsim_kueue_state *state, struct gsim_ctx *ctx);
/* Books that a transition of the job has ended. */
void gsim_kueue_settle(struct gsim_kueue_state *state, struct gsim_ctx *ctx, struct gsim_plan *plan,
                       gsim_slot slot);
/* Places admitted jobs on nodes of their flavors, as far as these have room. */
void gsim_kueue_place(struct gsim_kueue_state *state, struct gsim_ctx *ctx, struct gsim_plan *plan);

#endif
