/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The last plan in which all jobs that were admitted met their deadlines. The least GPUs of jobs
 * (share.h), computed anew as they go on, need not fit beside each other though they did before: a
 * job that is ahead of its plan may do with fewer GPUs for longer, which a job with a later
 * deadline was to have. Then each has the GPUs that it was promised. */
#ifndef GSIM_POLICIES_ELASTICFLOW_PROMISE_H
#define GSIM_POLICIES_ELASTICFLOW_PROMISE_H

#include "policies/elasticflow/state.h"

/* The plans of all jobs, spare GPUs included, are what they are promised. */
void elasticflow_promise(struct elasticflow *elasticflow);
/* Whether each job with a deadline has a promise, by which it still ends in time; then the promises
 * are the plans, and jobs without a deadline have their shares of the rest. */
bool elasticflow_keep_promises(struct elasticflow *elasticflow, int64_t now);

#endif
