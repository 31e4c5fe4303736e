/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reference=muri, rule=themis: finish-time fairness. */
#ifndef GSIM_POLICIES_MURI_THEMIS_H
#define GSIM_POLICIES_MURI_THEMIS_H

#include "policies/muri/state.h"

enum gsim_status muri_themis_open(struct gsim_ctx *ctx, struct muri *muri);
/* Decides which jobs run. */
void muri_themis(struct muri *muri, double now);

#endif
