/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How jobs come onto GPUs and leave them, as processes; and the events that their processes make
 * for the engine. */
#ifndef GSIM_APP_STOPS_H
#define GSIM_APP_STOPS_H

#include "sim/app/drive/tasks.h"

enum gsim_when gsim_stops_admit(struct gsim_model *model, gsim_slot slot, enum gsim_state from,
                                enum gsim_keep keep, int64_t now_ns);
enum gsim_when gsim_stops_evict(struct gsim_model *model, gsim_slot slot, enum gsim_stop stop,
                                enum gsim_keep keep, int64_t now_ns);
void gsim_stops_leave(struct gsim_model *model, gsim_slot slot, int64_t now_ns);
/* Takes what the job's process has said. */
void gsim_stops_hear(struct gsim_model *model, gsim_slot slot);
/* That, and its end, and the ends of what saves or moves its state. */
void gsim_stops_serve(struct gsim_model *model, gsim_slot slot);
/* Kills the job's process once its grace is over. */
void gsim_stops_serve_deadline(struct gsim_model *model, gsim_slot slot);

#endif
