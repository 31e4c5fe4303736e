/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which jobs run, and which of them interleave. */
#ifndef GSIM_POLICIES_MURI_PACK_H
#define GSIM_POLICIES_MURI_PACK_H

#include "policies/muri/state.h"

/* Chooses packings from the line, and gives GPUs to those that fit. false: no memory. */
bool muri_pack(struct muri *muri);
/* Each job that runs is a packing of its own. */
void muri_pack_alone(struct muri *muri);
/* How long an iteration of each job of the packing takes. */
double muri_packing_time(const struct muri *muri, const struct muri_packing *packing);

#endif
