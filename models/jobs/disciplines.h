/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The disciplines that this model knows, and which of its files an arrangement gives a GPU to. */
#ifndef GSIM_MODELS_JOBS_DISCIPLINES_H
#define GSIM_MODELS_JOBS_DISCIPLINES_H

#include "models/jobs/machine.h"

/* NULL, or why these units cannot be arranged so. */
const char *gsim_disciplines_refuse(const struct gsim_model *model, const struct gsim_unit *units,
                                    uint32_t n_units, const struct gsim_arrangement *arrangement);
void gsim_disciplines_arrange(struct gsim_model *model, const struct gsim_unit *units,
                              uint32_t n_units, const struct gsim_arrangement *arrangement,
                              int64_t now_ns);
uint32_t gsim_disciplines_client_limit(const struct gsim_model *model, uint32_t gpu,
                                       const struct gsim_arrangement *arrangement);

#endif
