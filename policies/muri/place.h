/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which GPUs a packing gets. It keeps those of one of its jobs where it can. */
#ifndef GSIM_POLICIES_MURI_PLACE_H
#define GSIM_POLICIES_MURI_PLACE_H

#include "policies/muri/state.h"

/* Chooses the GPUs of each packing that was granted some. */
void muri_assign(struct muri *muri);
/* Moves these jobs to the GPUs that they are to have; again in each decide, until they are there.
 * The list stands in the order of widths and ranks, and has all jobs that are elsewhere. */
/* Finds GPUs for one more job beside those that have theirs. false: there is no room as the nodes
 * are. */
bool muri_find(struct muri *muri, struct muri_job *job);
/* Has the job start on the GPUs that it is to have, if it can by now. */
void muri_start(const struct gsim_ctx *ctx, struct gsim_plan *plan, const struct muri *muri,
                struct muri_job *job);
/* Makes all GPUs free on nodes that are up. */
void muri_clear(struct muri *muri);
/* Makes the GPUs free that a job was to have. */
void muri_leave(struct muri *muri, const struct muri_job *job);
void muri_place(const struct gsim_ctx *ctx, struct gsim_plan *plan, struct muri *muri,
                const uint32_t *list, uint32_t n);

#endif
