/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs that no share needs now (Gu et al., ASPLOS 2023, section 4.3). */
#ifndef GSIM_POLICIES_ELASTICFLOW_SPARE_H
#define GSIM_POLICIES_ELASTICFLOW_SPARE_H

#include "policies/elasticflow/state.h"

/* Sorts the active jobs; equal ones keep their order. */
void elasticflow_sort(struct elasticflow *elasticflow,
                      bool (*is_before)(const struct elasticflow_job *a,
                                        const struct elasticflow_job *b));
/* Gives spare GPUs, level after level, to the job to which they bring most; jobs that have none go
 * first. */
void elasticflow_give_spare(struct elasticflow *elasticflow, int64_t now,
                            void (*on_grant)(struct elasticflow *elasticflow,
                                             struct elasticflow_job *job, int64_t old_end));

#endif
