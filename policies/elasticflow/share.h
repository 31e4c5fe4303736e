/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The minimum satisfactory share of a job: the least GPUs over time with which it meets its
 * deadline (Gu et al., ASPLOS 2023, section 4.2). */
#ifndef GSIM_POLICIES_ELASTICFLOW_SHARE_H
#define GSIM_POLICIES_ELASTICFLOW_SHARE_H

#include "policies/elasticflow/state.h"

struct elasticflow_answer elasticflow_share(struct elasticflow *elasticflow,
                                            const struct elasticflow_question *question);
/* Gives the job its share of the GPUs that are free. Returns whether it meets its deadline. */
bool elasticflow_take(struct elasticflow *elasticflow, struct elasticflow_job *job, int64_t now);

#endif
