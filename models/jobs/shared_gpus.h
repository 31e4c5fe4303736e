/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs that are contexts in a lane of their GPU: on GPUs arranged to take turns, on GPUs with
 * managed memory, and open-loop jobs wherever they run. Each such GPU has an arbiter. A gang on
 * managed GPUs is one context, on its first GPU, with the memory of the others
 * (models/memory/gang_memory.h). */
#ifndef GSIM_MODELS_JOBS_SHARED_GPUS_H
#define GSIM_MODELS_JOBS_SHARED_GPUS_H

#include "models/jobs/machine.h"

/* The job, which takes turns where it is placed, joins the arbiter there. */
void gsim_shared_join(struct gsim_model *model, gsim_slot slot, int64_t now_ns);
/* keeps_memory: the memory stays, and other jobs may push it out of the GPU while the job is
 * away. */
void gsim_shared_leave(struct gsim_model *model, gsim_slot slot, bool keeps_memory, int64_t now_ns);
/* Returns true if the job is at such a boundary now; else its STOPS follows. */
bool gsim_shared_exit(struct gsim_model *model, gsim_slot slot, enum gsim_stop stop,
                      int64_t now_ns);
/* Whether only the job's host still works, so that it can stop at any time. */
bool gsim_shared_has_worked(const struct gsim_model *model, gsim_slot slot);
/* Sets the watch of the job's member by its threshold and boundary watch. */
void gsim_shared_watch(struct gsim_model *model, gsim_slot slot, int64_t now_ns);
/* `lose`: the job has lost its work, but not its costs of moving memory. `inherit`: it comes anew
 * with these costs. */
void gsim_shared_lose(struct gsim_model *model, gsim_slot slot);
void gsim_shared_inherit(struct gsim_model *model, gsim_slot slot, gsim_slot failed);
/* The slot is given to another job. */
void gsim_shared_forget(struct gsim_model *model, gsim_slot slot);
/* Whether the job may have taken turns. */
bool gsim_shared_knows_of(const struct gsim_model *model, gsim_slot slot);
/* NULL when devices can have these lanes, else the reason why not. */
const char *gsim_shared_refuse(const struct gsim_model *model, const struct gsim_unit *units,
                               uint32_t n_units, const struct gsim_arrangement *arrangement);
/* Shares this GPU by the lanes and entries of the arrangement. Returns false if there is no memory
 * left. */
bool gsim_shared_arrange(struct gsim_model *model, uint32_t gpu,
                         const struct gsim_arrangement *arrangement, int64_t now_ns);

/* This GPU has jobs by reservation, and its memory is managed. Returns false if there is no memory
 * left. */
bool gsim_shared_manage(struct gsim_model *model, uint32_t gpu,
                        const struct gsim_arrangement *arrangement);

/* Cuts this GPU into instances, each a lane of its own that neighbours do not disturb. Returns
 * false if there is no memory left. */
bool gsim_shared_cut(struct gsim_model *model, uint32_t gpu, const struct gsim_space *instances,
                     uint16_t n, int64_t now_ns);
/* This GPU, which has no jobs, is arranged in another way. */
void gsim_shared_disband(struct gsim_model *model, uint32_t gpu, int64_t now_ns);

/* Brings the GPUs that have something to report, and the progress of their jobs, to now_ns; a
 * report becomes the next event of its job. The other GPUs stay behind until they are
 * asked. */
void gsim_shared_settle(struct gsim_model *model, int64_t now_ns);
/* Brings the GPU of a job that takes turns, and the progress of all jobs on it, to now_ns. */
void gsim_shared_tell(struct gsim_model *model, gsim_slot slot, int64_t now_ns);

/* The memory that was moved for a job. */
struct gsim_memory_use gsim_shared_memory_use(const struct gsim_model *model, gsim_slot slot);
/* GPU time of a request of an open-loop job; 0: the job has not been on a GPU. */
int64_t gsim_shared_request_ns(const struct gsim_model *model, gsim_slot slot);
/* Time that a job's iterations took (models/gpu/context.h); < 0: the job takes no turns. */
int64_t gsim_shared_taken_ns(const struct gsim_model *model, gsim_slot slot);
void gsim_shared_stats(const struct gsim_shared *shared, struct gsim_model_stats *out);

#endif
