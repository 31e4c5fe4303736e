/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gangs over several nodes that meet on one: they share its network. */
#ifndef GSIM_MODELS_JOBS_MEETINGS_H
#define GSIM_MODELS_JOBS_MEETINGS_H

#include "models/jobs/machine.h"
#include "sim/base/hints.h"

/* Nothing is kept where no device says that meeting costs anything. false: no memory. */
bool gsim_meetings_init(struct gsim_model *model);
void gsim_meetings_add(struct gsim_model *model, gsim_slot slot, int64_t now_ns);
void gsim_meetings_remove(struct gsim_model *model, gsim_slot slot, int64_t now_ns);

/* A job comes to its units, or leaves them; the gangs that it meets go on at another speed. A job
 * that is not there leaves nothing. */
static inline void gsim_meetings_join(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    if (gsim_rarely(model->meetings.is_open))
        gsim_meetings_add(model, slot, now_ns);
}
static inline void gsim_meetings_leave(struct gsim_model *model, gsim_slot slot, int64_t now_ns) {
    if (gsim_rarely(model->meetings.n_gangs > 0))
        gsim_meetings_remove(model, slot, now_ns);
}

#endif
