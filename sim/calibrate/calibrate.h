/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A GPU as its driver describes it, and the measurements that can be made on it while no other
 * program uses it. */
#ifndef GSIM_CALIBRATE_CALIBRATE_H
#define GSIM_CALIBRATE_CALIBRATE_H

#include <stdbool.h>
#include <stdio.h>

#include "models/hardware/profile.h"
#include "sim/calibrate/cuda.h"

/* A measurement of a shared machine's GPU is disturbed: by the host, by other programs on the GPU,
 * by the place of pinned memory. So every part is measured in rounds, each with buffers of its own,
 * until the middle half of a key's rounds lies close together. The key's value is their median, and
 * the profile says how many rounds there were and how far the middle half spreads. */
enum { GSIM_ROUNDS_LEAST = 5, GSIM_ROUNDS_MOST = 9, GSIM_CURVE_MOST = 8 };

struct gsim_calibrate_rounds {
    double value[GSIM_ROUNDS_MOST];
    int n;
};

struct gsim_measured {
    const char *how; /* "2000 queued copies of 4 KiB, less their bytes"; NULL: not measured */
    bool is_said; /* the driver states the value, or it is a median already: no rounds */
    int part; /* the part of measuring that adds the key's rounds */
    struct gsim_calibrate_rounds rounds;
    const char *text; /* the value in the key's unit; set by gsim_measured_settle */
};

struct gsim_measured_point {
    unsigned x;
    struct gsim_calibrate_rounds rounds;
};

struct gsim_measurement {
    const struct gsim_cuda *cuda;
    struct gsim_arena *arena;
    struct gsim_log *log;
    FILE *turns; /* output of gsim_watch_turns */
    struct gsim_measured of[GSIM_KEY_COUNT];
    struct gsim_measured_point curve[GSIM_CURVE_MOST]; /* points of GSIM_KEY_HBM_BY_SMS */
    int n_points;
    int part, n_rounds; /* the part under way, and the number of rounds that are over */
    bool is_steady; /* the last round found no part left to measure */
};

/* Adds one round of a key. A value that is not finite and above 0 is ignored: it comes from a call
 * that failed. */
void gsim_measured_put(struct gsim_measurement *m, enum gsim_key key, double value,
                       const char *how);
/* Sets a key that needs no rounds: a fact that the driver states, or a median of thousands of
 * turns. */
void gsim_measured_say(struct gsim_measurement *m, enum gsim_key key, double value,
                       const char *how);
/* Adds one round of a point of the curve of bandwidth by SMs. */
void gsim_measured_put_point(struct gsim_measurement *m, unsigned sms, double value,
                             const char *how);
/* The width of the middle half of the rounds, as a part of their median; 0 for fewer than two
 * rounds. */
double gsim_rounds_spread(const struct gsim_calibrate_rounds *rounds);
/* Whether no further round would help any key of a part: there are enough rounds, and they lie
 * close together. */
bool gsim_part_is_steady(const struct gsim_measurement *m, int part);
/* Computes the values that are written from all rounds, and warns of the keys that never became
 * steady. */
void gsim_measured_settle(struct gsim_measurement *m);
/* Measures all parts. A part that fails gives a warning; its keys stay without a value. */
enum gsim_status gsim_measure(struct gsim_measurement *m);
/* The work of one of two processes that want the GPU all the time. Prints a line for each turn: how
 * long the process had the GPU, and how long it was then off the GPU, in ns. */
enum gsim_status gsim_watch_turns(struct gsim_measurement *m);
/* Starts two such processes, and measures time slices and switches from the turns that they
 * print. */
void gsim_measure_turns(struct gsim_measurement *m);

#endif
