/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ideal processor sharing. */
#ifndef GSIM_MODELS_JOBS_PROCESSOR_SHARING_H
#define GSIM_MODELS_JOBS_PROCESSOR_SHARING_H

#include "models/jobs/machine.h"

void gsim_processor_sharing_join(struct gsim_model *model, gsim_slot slot, uint32_t gpu,
                                 int64_t now_ns);
void gsim_processor_sharing_leave(struct gsim_model *model, gsim_slot slot, int64_t now_ns);

#endif
