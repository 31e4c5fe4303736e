/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GSIM_POLICIES_MURI_THEMIS_H
#define GSIM_POLICIES_MURI_THEMIS_H

#include "policies/muri/state.h"

/* Decides by finish-time fairness. false: no memory, or the context's status says why. */
bool muri_themis(struct gsim_ctx *ctx, struct muri *muri, double now);

#endif
