/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reference=elasticflow: the plan of a job that misses its deadline. It gets all it can, before the
 * deadline and after it. */
#ifndef GSIM_POLICIES_ELASTICFLOW_LATE_H
#define GSIM_POLICIES_ELASTICFLOW_LATE_H

#include "policies/elasticflow/state.h"

struct elasticflow_late {
    double left;
    int64_t from; /* the plan is made up to there */
    int64_t limit; /* the deadline's end of a slot */
    uint32_t widest; /* level that the cluster has GPUs for */
};

struct elasticflow_answer elasticflow_late(struct elasticflow *elasticflow,
                                           const struct elasticflow_question *question,
                                           struct elasticflow_late *late);

#endif
