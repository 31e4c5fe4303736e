/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gangs over several nodes that meet on one: they share its network. */
#ifndef GSIM_MODELS_JOBS_MEETINGS_H
#define GSIM_MODELS_JOBS_MEETINGS_H

#include "models/jobs/machine.h"

/* Nothing is kept where no device says that meeting costs anything. false: no memory. */
bool gsim_meetings_init(struct gsim_model *model);
/* A job comes to its units, or leaves them; the gangs that it meets go on at another speed. A job
 * that is not there leaves nothing. */
void gsim_meetings_join(struct gsim_model *model, gsim_slot slot, int64_t now_ns);
void gsim_meetings_leave(struct gsim_model *model, gsim_slot slot, int64_t now_ns);

#endif
