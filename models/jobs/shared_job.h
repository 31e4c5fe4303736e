/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job that takes turns, as its row describes it. */
#ifndef GSIM_MODELS_JOBS_SHARED_JOB_H
#define GSIM_MODELS_JOBS_SHARED_JOB_H

#include "models/jobs/machine.h"

/* false: no memory. */
bool gsim_shared_job_reserve(struct gsim_model *model, gsim_slot slot);
/* The overflow of an iteration of the job's context, by its cap. */
struct gsim_overflow gsim_shared_job_overflow(struct gsim_model *model, gsim_slot slot,
                                              const struct gsim_profile *profile);
/* The time that the job's work takes alone, up to where this service is done: kernels count with
 * the pause behind them, of which a part may be left. */
int64_t gsim_shared_job_alone_ns(const struct gsim_model *model, gsim_slot slot, gsim_work done);
/* Of the time alone that the job has done, what its last checkpoint holds: there is one after each
 * checkpoint_ns (0: none), and one of its last stop that went to storage. */
int64_t gsim_shared_job_kept_ns(const struct gsim_model *model, gsim_slot slot, int64_t done_ns,
                                int64_t checkpoint_ns);
/* The member as which the job joins the arbiter of this GPU, with kernels in the form in which its
 * lane can halt them, unless its entry keeps them. */
struct gsim_member gsim_shared_job_member(struct gsim_model *model, gsim_slot slot, uint32_t gpu,
                                          const struct gsim_profile *profile);
/* The job comes to its GPUs, where it runs alone at this rate: describes it by its row as the
 * member that joins the arbiter, and finds where its context goes on. Requests of an open loop
 * arrive from its first coming on. NULL: no memory left. */
struct gsim_shared_job *gsim_shared_job_come(struct gsim_model *model, gsim_slot slot,
                                             uint64_t rate_q32, int64_t now_ns,
                                             struct gsim_member *newcomer);
/* Completes the newcomer that joins now: its context begins, or goes on from where it was left,
 * with the cap of its launches and the progress that is watched; and takes its parked memory. */
enum gsim_arrival gsim_shared_job_ready(struct gsim_model *model, gsim_slot slot,
                                        struct gsim_member *newcomer, int64_t now_ns);

/* What of the context's launches may begin in a period. */
struct gsim_launch_cap gsim_shared_job_cap(const struct gsim_model *model,
                                           const struct gsim_entry *how,
                                           const struct gsim_context *context);
bool gsim_shared_job_is_capped_alike(const struct gsim_model *model, const struct gsim_entry *was,
                                     const struct gsim_entry *is);
/* The iterations, and the part of the next, at which the job is as far as is watched for;
 * iterations < 0: nothing is. */
struct gsim_watched_work {
    int64_t iterations;
    gsim_work done;
};
struct gsim_watched_work gsim_shared_job_watched(const struct gsim_model *model, gsim_slot slot,
                                                 const struct gsim_context *context);

#endif
