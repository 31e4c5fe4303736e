/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shares of pairs that no programme finds. */
#ifndef GSIM_POLICIES_GAVEL_PACKING_H
#define GSIM_POLICIES_GAVEL_PACKING_H

#include "policies/gavel/state.h"

/* Gives the entry a part of each device type, one of n. */
void gavel_split_equally(const struct gavel *gavel, struct gsim_round_entry *entry, uint32_t n);
/* The entry of two jobs; NULL: they have none. It follows that of the job that came later. */
struct gsim_round_entry *gavel_pair(const struct gavel *gavel, uint32_t a, uint32_t b);
/* What both jobs of a pair make on a type, each as a part of what it makes there alone. */
double gavel_packed(const struct gavel *gavel, const struct gsim_round_entry *pair, uint32_t type);
/* The rule that Gavel calls gandiva. */
bool gavel_pair_at_random(struct gsim_ctx *ctx, struct gavel *gavel);

#endif
