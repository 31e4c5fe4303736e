/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reference=elasticflow: what each event costs running jobs. */
#ifndef GSIM_POLICIES_ELASTICFLOW_OVERHEAD_H
#define GSIM_POLICIES_ELASTICFLOW_OVERHEAD_H

#include "policies/elasticflow/state.h"

struct elasticflow_overheads {
    int64_t n_events;
    int64_t node_gpus;
    bool *is_known; /* by first GPU and level: jobs have run there since all were restarted */
};

bool elasticflow_open_overheads(struct gsim_ctx *ctx, const struct elasticflow *elasticflow,
                                struct elasticflow_overheads *overheads);
/* Counts an event. Returns whether it is one in which all jobs load anew. */
bool elasticflow_restarts(const struct elasticflow *elasticflow,
                          struct elasticflow_overheads *overheads);
/* What a job costs where none has run before. */
int64_t elasticflow_overhead(const struct elasticflow *elasticflow, int64_t gpus, bool is_restart);
/* Sets the overhead of all jobs that have GPUs, which are placed in their order. */
void elasticflow_count_overheads(struct elasticflow *elasticflow,
                                 struct elasticflow_overheads *overheads, bool is_counted);

#endif
