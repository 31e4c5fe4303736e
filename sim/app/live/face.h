/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run as the live view shows it. */
#ifndef GSIM_APP_LIVE_FACE_H
#define GSIM_APP_LIVE_FACE_H

#include <stdint.h>

enum { GSIM_LIVE_STEPS = 48, GSIM_LIVE_NAME = 128 };

struct gsim_live_face {
    char name[GSIM_LIVE_NAME];
    double simulated_s; /* since the first arrival */
    uint32_t n_jobs, n_done, n_waiting, n_gpus;
    double busy_gpus;
    double wait_mean_s; /* until the first start, of jobs that have started */
    double wait_longest_s; /* so far, of jobs that have not */
    uint32_t n_steps; /* of simulated time up to now, alike wide but for the last */
    double waiting[GSIM_LIVE_STEPS], busy[GSIM_LIVE_STEPS]; /* means over each step */
};

#endif
