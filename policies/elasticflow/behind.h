/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The end of a long line. Jobs without a deadline that wait have their shares one behind the other,
 * on one GPU each (patient.h), and spare GPUs go to the first jobs that have none. So a plan gives
 * no GPU to those that come behind enough of such jobs, and needs to know of them how long their
 * shares are, all together: a plan is made of the others. */
#ifndef GSIM_POLICIES_ELASTICFLOW_BEHIND_H
#define GSIM_POLICIES_ELASTICFLOW_BEHIND_H

#include "policies/elasticflow/state.h"

/* Whether the job, of which the work has been read, may stand there; then adds the ticks of its
 * share. */
bool elasticflow_behind_fits(const struct elasticflow *elasticflow,
                             const struct elasticflow_job *job, int64_t *ticks);
/* Puts a job there that fits, as the last one of due. */
void elasticflow_behind_add(struct elasticflow *elasticflow, uint32_t number);
/* Finds those of due that may stand there, by a plan of all jobs. */
void elasticflow_behind_find(const struct gsim_ctx *ctx, struct elasticflow *elasticflow);
/* The next plan is of all jobs. */
void elasticflow_behind_drop(struct elasticflow *elasticflow);
/* The jobs of order, which are all others, have their shares; the line goes on behind them there.
 * Spare GPUs go to jobs that have none: moves as many to the others as these may be. false: there
 * are not as many, or their shares are none that can be added up. */
bool elasticflow_behind_part(struct elasticflow *elasticflow, int64_t now);
/* Takes the shares of those that stand there from the free GPUs, after that. */
void elasticflow_behind_take(struct elasticflow *elasticflow);

#endif
