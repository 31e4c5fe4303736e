/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The work and the costs of a job, for policies: two operations of models. */
#ifndef GSIM_MODELS_JOBS_COUNTERS_H
#define GSIM_MODELS_JOBS_COUNTERS_H

#include "models/jobs/machine.h"

struct gsim_costs gsim_counters_costs(const struct gsim_model *model, gsim_slot slot);
void gsim_counters_of(const struct gsim_model *model, gsim_slot slot, int64_t now_ns,
                      struct gsim_counters *out);

#endif
