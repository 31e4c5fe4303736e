/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a GPU says of itself and what can be measured on it while nobody else uses it. */
#ifndef GSIM_APP_CALIBRATE_H
#define GSIM_APP_CALIBRATE_H

#include <stdbool.h>
#include <stdio.h>

#include "models/profile.h"
#include "sim/app/cuda.h"

struct gsim_measured {
    const char *text; /* in the key's unit; NULL: not measured */
    const char *how; /* "1 GiB from pinned memory, median of 5" */
};

struct gsim_measurement {
    const struct gsim_cuda *cuda;
    struct gsim_arena *arena;
    struct gsim_log *log;
    FILE *turns; /* of gsim_watch_turns */
    struct gsim_measured of[GSIM_KEY_COUNT];
};

/* Only what is above 0 and finite: a call that failed has no time. */
void gsim_measured_put(struct gsim_measurement *m, enum gsim_key key, double value,
                       const char *how);
/* A part of it that fails is a warning; its keys stay without a value. */
enum gsim_status gsim_measure(struct gsim_measurement *m);
/* One of two processes that want the GPU all the time: a line for each turn, how long it had the GPU and
 * how long it then had not, in ns. */
enum gsim_status gsim_watch_turns(struct gsim_measurement *m);
/* Starts two such processes and measures time slices and switches by what they say. */
void gsim_measure_turns(struct gsim_measurement *m);

#endif
