/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a job can be stopped. */
#ifndef GSIM_MODELS_JOBS_BOUNDARIES_H
#define GSIM_MODELS_JOBS_BOUNDARIES_H

#include "models/jobs/machine.h"

/* Fills in the lengths of iterations and kernels by the columns of the job's row. */
void gsim_boundaries_fill(struct gsim_model *model, gsim_slot slot);
/* The work between two boundaries; 0: the job can stop anywhere. */
int64_t gsim_boundaries_ns(const struct gsim_model *model, gsim_slot slot, bool is_iteration);
/* Whether such a stop waits for an iteration of this job, and not for a kernel. */
bool gsim_boundaries_are_iterations(const struct gsim_model *model, gsim_slot slot,
                                    enum gsim_stop stop);
/* The work at which a job stops that is told now to stop. */
gsim_work gsim_boundaries_stop(const struct gsim_model *model, gsim_slot slot, gsim_work done,
                               enum gsim_stop stop);
/* Notes that a stop waits for a boundary, so that its length has decided the result. */
void gsim_boundaries_note(struct gsim_model *model, gsim_slot slot, bool is_iteration);

#endif
