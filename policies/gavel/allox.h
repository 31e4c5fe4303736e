/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs for the first of the shortest queues. */
#ifndef GSIM_POLICIES_GAVEL_ALLOX_H
#define GSIM_POLICIES_GAVEL_ALLOX_H

#include "policies/gavel/state.h"

bool gavel_queue(struct gsim_ctx *ctx, struct gavel *gavel);

#endif
