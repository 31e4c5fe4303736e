/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Muri on the cluster as gsim models it, not as its simulator does. */
#ifndef GSIM_POLICIES_MURI_OWN_H
#define GSIM_POLICIES_MURI_OWN_H

#include "policies/muri/state.h"

enum gsim_status muri_open_own(struct gsim_ctx *ctx, struct muri *muri);
/* Decides anew where a job has come or gone, or a node. false: all that follows from it is done. */
bool muri_run_own(struct gsim_ctx *ctx, struct gsim_plan *plan, struct muri *muri);

#endif
