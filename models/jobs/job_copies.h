/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory on its way to and from the units of jobs. */
#ifndef GSIM_MODELS_JOBS_JOB_COPIES_H
#define GSIM_MODELS_JOBS_JOB_COPIES_H

#include "models/jobs/machine.h"
#include "models/jobs/suspension.h"

/* A job's memory on its way to its units, or from them. */
struct gsim_loading {
    struct gsim_cargo cargo;
    int64_t after_ns; /* time after the copies */
    int64_t process_ns; /* of that, the part in which its process starts, or ends */
};

/* How many GPUs the job has, or had when it stopped or a node failed, if it has not run since. */
uint32_t gsim_job_copies_had(const struct gsim_model *model, gsim_slot slot);
/* Whether these are other units than those where the job is, or those that it left while its memory
 * lies there. */
bool gsim_job_copies_are_elsewhere(const struct gsim_model *model, gsim_slot slot,
                                   const struct gsim_unit *units, uint32_t n_units);
/* Whether a waiting job's memory lies on a node, from which it would take time to cross to another
 * node. */
bool gsim_job_copies_is_bound(const struct gsim_model *model, gsim_slot slot);
/* Brings the memory of an admitted job to its units; the job is LOADING until it RUNS there.
 * Returns false if that takes no time. */
bool gsim_job_copies_bring(struct gsim_model *model, gsim_slot slot, enum gsim_state from,
                           int64_t now_ns);
/* What a job that begins, or begins anew, needs on these units. */
struct gsim_loading gsim_job_copies_fresh(const struct gsim_model *model, gsim_slot slot,
                                          const struct gsim_unit *units, uint32_t n_units);
/* What a job needs that comes back to these units, from where it is or was, after a stop that keeps
 * its state there. */
struct gsim_loading gsim_job_copies_again(const struct gsim_model *model, gsim_slot slot,
                                          enum gsim_keep keep,
                                          const struct gsim_suspension_cost *cost,
                                          const struct gsim_unit *units, uint32_t n_units);
/* The time of the copies alone, on idle links. */
int64_t gsim_job_copies_ns(const struct gsim_model *model, const struct gsim_loading *loading,
                           const struct gsim_unit *units, uint32_t n_units);
/* Begins a copy that takes takes_ns on idle links. job.is_carried says whether it is on its way:
 * not a copy that takes no time, nor a copy of a pool, which has no links. */
void gsim_job_copies_begin(struct gsim_model *model, gsim_slot slot,
                           const struct gsim_loading *loading, int64_t takes_ns, int64_t now_ns);
/* Jobs with memory that has arrived by now_ns go on with the time that follows. Returns false if
 * there is no memory left. */
bool gsim_job_copies_serve(struct gsim_model *model, int64_t now_ns);

#endif
