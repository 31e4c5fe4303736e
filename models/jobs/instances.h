/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs that are cut into instances (MIG): two operations of models. */
#ifndef GSIM_MODELS_JOBS_INSTANCES_H
#define GSIM_MODELS_JOBS_INSTANCES_H

#include "models/jobs/machine.h"

enum gsim_status gsim_instances_read(const struct gsim_model *model, uint32_t gpu,
                                     const char *layout, struct gsim_partition *out,
                                     struct gsim_log *log);
void gsim_instances_cut(struct gsim_model *model, uint32_t gpu, const char *layout, int64_t now_ns);
/* Time until the last of these GPUs is cut. */
int64_t gsim_instances_wait_ns(const struct gsim_model *model, const struct gsim_unit *units,
                               uint32_t n_units, int64_t now_ns);

#endif
