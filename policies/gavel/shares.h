/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gives the entries their shares. */
#ifndef GSIM_POLICIES_GAVEL_SHARES_H
#define GSIM_POLICIES_GAVEL_SHARES_H

#include "policies/gavel/state.h"

enum gsim_status gavel_read_shares(struct gsim_ctx *ctx, struct gavel *gavel, const char *path);
bool gavel_share_out(struct gsim_ctx *ctx, struct gavel *gavel);

#endif
