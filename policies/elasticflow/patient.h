/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shares of jobs without a deadline. Such a job never has to hurry, and so its share is its least
 * level behind all steps of the free GPUs, until it ends: what elasticflow_share finds by a look at
 * every step is found by the last one. Each function returns false where that cannot be said
 * (reference=elasticflow, or ends past any time of a run), and has then done nothing. */
#ifndef GSIM_POLICIES_ELASTICFLOW_PATIENT_H
#define GSIM_POLICIES_ELASTICFLOW_PATIENT_H

#include "policies/elasticflow/state.h"

/* As elasticflow_take. */
bool elasticflow_patient_take(struct elasticflow *elasticflow, struct elasticflow_job *job,
                              int64_t now);
/* Takes the shares of several jobs, on one GPU each, from the free GPUs, of which there is one
 * behind all steps: as many ticks as theirs together, in whole slots. */
void elasticflow_patient_book(struct elasticflow *elasticflow, int64_t ticks);
/* What the gains of most jobs have of the free GPUs: when these first change, and how many there
 * are in the end. */
struct elasticflow_edges {
    int64_t first, last_gpus;
    int64_t rise; /* GPUs that get free at the first change; below 0: that are taken */
    bool are_known;
};
struct elasticflow_edges elasticflow_patient_edges(const struct elasticflow *elasticflow,
                                                   int64_t now);
/* The GPU time that the job still takes if it begins with its next level; the job's is_steady and
 * releases say when that stays, while its plan does. */
bool elasticflow_patient_weigh(const struct elasticflow *elasticflow, struct elasticflow_job *job,
                               int64_t now, int64_t *area);

#endif
