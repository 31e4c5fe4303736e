/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs that interleave the stages of their iterations. */
#ifndef GSIM_MODELS_JOBS_INTERLEAVING_H
#define GSIM_MODELS_JOBS_INTERLEAVING_H

#include "models/jobs/machine.h"

/* How fast a job runs beside the others on its GPUs. */
uint64_t gsim_interleaving_q32(struct gsim_model *model, gsim_slot slot);

#endif
