/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run of the live view: it counts what its observer is told, and hands over a face of itself when
 * one is asked for. */
#ifndef GSIM_APP_LIVE_RUN_H
#define GSIM_APP_LIVE_RUN_H

#include "gsim/arena.h"
#include "gsim/observe.h"
#include "sim/app/live/live.h"

struct gsim_live_run;

/* Adds a run to the view; its observer stands before `next`. NULL: no memory. */
struct gsim_live_run *gsim_live_open(struct gsim_live *live, const char *name,
                                     struct gsim_arena *arena, const struct gsim_observer *next);
const struct gsim_observer *gsim_live_observer(struct gsim_live_run *run);
/* Takes the run out. */
void gsim_live_close(struct gsim_live_run *run);

#endif
