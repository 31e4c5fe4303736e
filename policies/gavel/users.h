/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hierarchical water filling (Narayanan et al., OSDI 2020, section 4.3): users share the cluster by
 * their weights, and the jobs of a user share its part. */
#ifndef GSIM_POLICIES_GAVEL_USERS_H
#define GSIM_POLICIES_GAVEL_USERS_H

#include "policies/gavel/state.h"

/* Reads the parameters users= and user_weights=. */
enum gsim_status gavel_open_users(struct gsim_ctx *ctx, struct gavel *gavel);
/* The number of the job's user; jobs without one are those of one user more. */
uint32_t gavel_user_of(const struct gsim_ctx *ctx, uint32_t number);

#endif
