/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reference=muri: the loop of the authors' simulator. */
#ifndef GSIM_POLICIES_MURI_REFERENCE_H
#define GSIM_POLICIES_MURI_REFERENCE_H

#include "policies/muri/state.h"

enum gsim_status muri_open_reference(struct gsim_ctx *ctx, struct muri *muri);
/* Serves the events of the loop that are due, ends jobs, and sets the timer. */
void muri_run_reference(struct gsim_ctx *ctx, struct gsim_plan *plan, struct muri *muri);

#endif
