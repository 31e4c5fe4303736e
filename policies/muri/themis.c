/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/muri/themis.h"
bool muri_themis(struct gsim_ctx *ctx, struct muri *muri, double now) { (void)ctx; (void)muri; (void)now; return false; }
