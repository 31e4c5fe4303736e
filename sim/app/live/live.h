/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The live view (--live) of runs while they go on: queue, GPUs and waits of each. A run hands a
 * face of itself to the view whenever the view has asked for new ones, so the view reads nothing
 * that a run is writing, and changes no run. A thread shows the faces: on a terminal it draws them
 * anew some times a second, elsewhere it writes a line a run from time to time. */
#ifndef GSIM_APP_LIVE_H
#define GSIM_APP_LIVE_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/app/live/face.h"

struct gsim_live;

/* The place of a run in the view; the view's own, but for `answered`, which is the run's. */
struct gsim_live_seat {
    struct gsim_live_face shown;
    unsigned answered; /* the last question that the run has answered */
    struct gsim_live_seat *next, *before;
};

/* NULL: there is no memory or no thread for it, and the runs go on without a view. */
struct gsim_live *gsim_live_begin(FILE *err, bool is_terminal);
/* Sets the line above all runs, which says how many are done. */
void gsim_live_note(struct gsim_live *live, const char *text);
/* Wipes the view; outside of a terminal it writes the last state. live may be NULL. */
void gsim_live_end(struct gsim_live *live);

/* Seats a run with its first face. The seat lives until the run leaves it. */
void gsim_live_enter(struct gsim_live *live, struct gsim_live_seat *seat,
                     const struct gsim_live_face *face);
void gsim_live_leave(struct gsim_live *live, struct gsim_live_seat *seat);
/* Whether the view wants a new face of the run; true once for each question. */
bool gsim_live_is_asked(struct gsim_live *live, struct gsim_live_seat *seat);
void gsim_live_hand_over(struct gsim_live *live, struct gsim_live_seat *seat,
                         const struct gsim_live_face *face);

#endif
