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
/* The member as which the job joins the arbiter of this GPU. A job that may be halted runs in the
 * form that its lane needs: in pieces, or with checkpoints. */
struct gsim_member gsim_shared_job_member(struct gsim_model *model, gsim_slot slot, uint32_t gpu,
                                          const struct gsim_profile *profile);
/* The job comes to its GPUs, where it runs alone at this rate: describes it by its row as the
 * member that joins the arbiter, and finds where its context goes on. Requests of an open loop
 * arrive from its first coming on. NULL: no memory left. */
struct gsim_shared_job *gsim_shared_job_come(struct gsim_model *model, gsim_slot slot,
                                             uint64_t rate_q32, int64_t now_ns,
                                             struct gsim_member *newcomer);

#endif
