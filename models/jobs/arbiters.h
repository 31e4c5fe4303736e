/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The arbiters of GPUs on which contexts take turns, made from the profiles. */
#ifndef GSIM_MODELS_JOBS_ARBITERS_H
#define GSIM_MODELS_JOBS_ARBITERS_H

#include "models/jobs/machine.h"

/* The arbiter of this GPU, made if there is none yet. NULL: no memory left. */
struct gsim_arbiter *gsim_arbiters_at(struct gsim_model *model, uint32_t gpu);
struct gsim_switch_costs gsim_arbiters_switch_costs(const struct gsim_profile *profile);
/* The length of a turn in a lane of this device. */
int64_t gsim_arbiters_quantum_ns(const struct gsim_lane *lane, const struct gsim_profile *profile);

#endif
