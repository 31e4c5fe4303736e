/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reference=elasticflow: the plan of a job under mode=edf. */
#ifndef GSIM_POLICIES_ELASTICFLOW_EDF_H
#define GSIM_POLICIES_ELASTICFLOW_EDF_H

#include "policies/elasticflow/state.h"

/* Gives the job the widest level, or as much as is free, until it ends. */
void elasticflow_edf_take(struct elasticflow *elasticflow, struct elasticflow_job *job,
                          int64_t now);

#endif
