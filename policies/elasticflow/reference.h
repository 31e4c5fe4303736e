/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reference=elasticflow: the loop of the authors' simulator. */
#ifndef GSIM_POLICIES_ELASTICFLOW_REFERENCE_H
#define GSIM_POLICIES_ELASTICFLOW_REFERENCE_H

#include "policies/elasticflow/state.h"

/* Returns false where there is no memory. */
bool elasticflow_open_reference(struct gsim_ctx *ctx, struct elasticflow *elasticflow);
void elasticflow_decide_reference(struct gsim_ctx *ctx, struct gsim_plan *plan,
                                  struct elasticflow *elasticflow);

#endif
