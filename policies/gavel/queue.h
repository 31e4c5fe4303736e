/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shares of jobs that are served in the order of their arrival. */
#ifndef GSIM_POLICIES_GAVEL_QUEUE_H
#define GSIM_POLICIES_GAVEL_QUEUE_H

#include "policies/gavel/state.h"

bool gavel_serve(struct gsim_ctx *ctx, struct gavel *gavel);

#endif
