/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events while there are GPUs for all jobs: each job keeps those that it has, and only jobs that
 * have come are looked at, whatever runs beside them. */
#ifndef GSIM_POLICIES_MURI_CALM_H
#define GSIM_POLICIES_MURI_CALM_H

#include "policies/muri/state.h"

bool muri_calm_open(struct gsim_ctx *ctx, struct muri *muri);
/* After a whole decision: notes whether the next event may be one of these. */
void muri_calm_note(struct muri *muri);
/* Serves an event. false: it needs a whole decision, which finds all jobs as they were. */
bool muri_calm(const struct gsim_ctx *ctx, struct gsim_plan *plan, struct muri *muri);

#endif
