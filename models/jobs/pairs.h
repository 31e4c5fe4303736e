/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs that share their GPUs in pairs. */
#ifndef GSIM_MODELS_JOBS_PAIRS_H
#define GSIM_MODELS_JOBS_PAIRS_H

#include "models/jobs/machine.h"

/* Why these devices cannot be shared so; NULL: they can. */
const char *gsim_pairs_refuse(const struct gsim_model *model,
                              const struct gsim_arrangement *arrangement);
/* Marks the GPU as shared in pairs, or not. false: no memory. */
bool gsim_pairs_arrange(struct gsim_model *model, uint32_t gpu, bool is_paired);
/* Whether GPUs of the job are shared in pairs. */
bool gsim_pairs_take(const struct gsim_model *model, gsim_slot slot);
/* The job begins to run on its units, or is off them. */
void gsim_pairs_join(struct gsim_model *model, gsim_slot slot, int64_t now_ns);
void gsim_pairs_leave(struct gsim_model *model, gsim_slot slot, int64_t now_ns);
/* The job goes on in another phase, at speeds of their own for it and for those beside it. */
void gsim_pairs_change(struct gsim_model *model, gsim_slot slot, int64_t now_ns);
/* Whether the job, which runs, cannot do so beside the other one of its pair. */
bool gsim_pairs_stand_still(const struct gsim_model *model, gsim_slot slot);
/* Whether the job, which has reached its end or a threshold, waits there for the job beside it
 * (gsim_compat.ends_pairs_together). */
bool gsim_pairs_waits(struct gsim_model *model, gsim_slot slot, int64_t now_ns);

#endif
