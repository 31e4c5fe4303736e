/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far a result can be trusted, as far as the model of devices decides that. */
#ifndef GSIM_MODELS_JOBS_CLAIMS_H
#define GSIM_MODELS_JOBS_CLAIMS_H

#include "models/jobs/machine.h"

const char *gsim_claims_outside_validated(const struct gsim_model *model);
const char *const *gsim_claims_assumed(const struct gsim_model *model);
const char *const *gsim_claims_given(const struct gsim_model *model);

#endif
