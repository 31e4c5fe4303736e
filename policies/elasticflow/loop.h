/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reference=elasticflow: what the loops of the program's policies share. */
#ifndef GSIM_POLICIES_ELASTICFLOW_LOOP_H
#define GSIM_POLICIES_ELASTICFLOW_LOOP_H

#include "policies/elasticflow/events.h"
#include "policies/elasticflow/overhead.h"

struct elasticflow_las;
struct elasticflow_turns;

struct elasticflow_reference {
    struct elasticflow_events events;
    struct elasticflow_overheads overheads;
    int64_t last, next; /* events; -1: none */
    uint32_t n_started;
    struct elasticflow_las *las; /* mode=las */
    struct elasticflow_turns *turns; /* mode=gandiva */
};

/* Ends the jobs that are to end by now, or in the event that is due now. */
void elasticflow_end_jobs(struct gsim_plan *plan, struct elasticflow *elasticflow, int64_t now);
/* Drops the jobs that have ended from the active ones. */
void elasticflow_forget(struct elasticflow *elasticflow);
/* Adds the jobs that have come to the active ones. Returns how many have come; they are the last
 * ones of the order. */
uint32_t elasticflow_add_newcomers(struct elasticflow *elasticflow);

/* The baselines of the program: jobs have the GPUs that they ask for, and run as long as the trace
 * says. Each opens its state (false: no memory), and works through the event that is due, after
 * which reference->next is the next one. */
bool elasticflow_las_open(struct gsim_ctx *ctx, struct elasticflow *elasticflow);
void elasticflow_las_event(struct gsim_plan *plan, struct elasticflow *elasticflow);
bool elasticflow_turns_open(struct gsim_ctx *ctx, struct elasticflow *elasticflow);
void elasticflow_turns_event(struct gsim_plan *plan, struct elasticflow *elasticflow);

static inline bool elasticflow_is_baseline(const struct elasticflow *elasticflow) {
    return elasticflow->mode == ELASTICFLOW_LAS || elasticflow->mode == ELASTICFLOW_GANDIVA;
}

#endif
