/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a GPU says of itself and what can be measured on it while nobody else uses it. */
#ifndef GSIM_APP_CALIBRATE_H
#define GSIM_APP_CALIBRATE_H

#include <stdbool.h>
#include <stdio.h>

#include "models/hardware/profile.h"
#include "sim/app/calibrate/cuda.h"

/* A number of such a GPU is disturbed: by the host, by neighbours on it, by where pinned memory
 * happens to lie. So every part is measured in rounds, each with buffers of its own, until the middle
 * half of a key's rounds lies close together; its value is their median, and the profile says how many
 * rounds there were and how far the middle half spreads. */
enum { GSIM_ROUNDS_LEAST = 5, GSIM_ROUNDS_MOST = 9, GSIM_CURVE_MOST = 8 };

struct gsim_rounds {
    double value[GSIM_ROUNDS_MOST];
    int n;
};

struct gsim_measured {
    const char *how; /* "2000 queued copies of 4 KiB, less their bytes"; NULL: not measured */
    bool is_said; /* by the driver, or a median of its own: no rounds */
    int part; /* the part of measuring that puts its rounds */
    struct gsim_rounds rounds;
    const char *text; /* in the key's unit, once it is settled (gsim_measured_settle) */
};

struct gsim_measured_point {
    unsigned x;
    struct gsim_rounds rounds;
};

struct gsim_measurement {
    const struct gsim_cuda *cuda;
    struct gsim_arena *arena;
    struct gsim_log *log;
    FILE *turns; /* of gsim_watch_turns */
    struct gsim_measured of[GSIM_KEY_COUNT];
    struct gsim_measured_point curve[GSIM_CURVE_MOST]; /* of GSIM_KEY_HBM_BY_SMS */
    int n_points;
    int part, n_rounds; /* the part under way, the rounds that are over */
    bool is_steady; /* the last round found nothing left to measure */
};

/* One more round of a key. Only what is above 0 and finite: a call that failed has no time. */
void gsim_measured_put(struct gsim_measurement *m, enum gsim_key key, double value,
                       const char *how);
/* What the driver says is a fact, and what is the median of thousands of turns is one already. */
void gsim_measured_say(struct gsim_measurement *m, enum gsim_key key, double value,
                       const char *how);
/* One more round of a point of the curve of bandwidth by SMs. */
void gsim_measured_put_point(struct gsim_measurement *m, unsigned sms, double value,
                             const char *how);
/* The middle half of the rounds, as a part of their median; 0 for fewer than two. */
double gsim_rounds_spread(const struct gsim_rounds *rounds);
/* Whether no further round would help any key of a part: there are enough, and they lie close
 * together. */
bool gsim_part_is_steady(const struct gsim_measurement *m, int part);
/* Makes of all rounds the values that are written, and warns of those that never became steady. */
void gsim_measured_settle(struct gsim_measurement *m);
/* A part of it that fails is a warning; its keys stay without a value. */
enum gsim_status gsim_measure(struct gsim_measurement *m);
/* One of two processes that want the GPU all the time: a line for each turn, how long it had the GPU and
 * how long it then had not, in ns. */
enum gsim_status gsim_watch_turns(struct gsim_measurement *m);
/* Starts two such processes and measures time slices and switches by what they say. */
void gsim_measure_turns(struct gsim_measurement *m);

#endif
