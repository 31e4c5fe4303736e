/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GSIM_POLICIES_ELASTICFLOW_PLACE_H
#define GSIM_POLICIES_ELASTICFLOW_PLACE_H

#include "policies/elasticflow/state.h"

/* Gives each active job the GPUs of its level, as far as no other job is still on them. */
void elasticflow_place(const struct gsim_ctx *ctx, struct gsim_plan *plan,
                       struct elasticflow *elasticflow);

#endif
