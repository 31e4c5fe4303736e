/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gangs that page: their memory on GPUs other than the first. */
#ifndef GSIM_MODELS_JOBS_GANG_PAGING_H
#define GSIM_MODELS_JOBS_GANG_PAGING_H

#include "models/jobs/machine.h"

/* The job is about to join the arbiter of its first GPU: drops memory that it has parked elsewhere,
 * and takes in the other GPUs, if the job is a gang with managed memory that has them to itself.
 * Returns false if there is no memory left. */
bool gsim_gang_paging_gather(struct gsim_model *model, gsim_slot slot, int64_t now_ns);
/* The gang has left, and parked its memory or not. */
void gsim_gang_paging_scatter(struct gsim_model *model, gsim_slot slot, int64_t now_ns);
/* The job will not come back to the memory that it has parked, if it has parked any. */
void gsim_gang_paging_drop(struct gsim_model *model, gsim_slot slot, int64_t now_ns);

#endif
