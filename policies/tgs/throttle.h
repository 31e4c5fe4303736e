/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TGS's throttle of an opportunistic job beside a production job: its only input is the number of
 * thread blocks that the production job launches between two reports. Integers only, no time: one
 * call per report.
 *
 * Alone first: with the opportunistic budget at 0 the production job's rate is measured. Then, as a
 * network connection does, the budget grows fast until the production job is seen to suffer, and
 * creeps around that point afterwards.
 *
 * Source: Wu et al., "Transparent GPU sharing in container clouds for deep learning workloads",
 * NSDI 2023; the numbers are those of its public code (github.com/pkusys/TGS). */
#ifndef GSIM_POLICIES_TGS_THROTTLE_H
#define GSIM_POLICIES_TGS_THROTTLE_H

#include <stdint.h>

enum { GSIM_THROTTLE_WINDOW = 5 };

enum gsim_throttle_phase {
    GSIM_THROTTLE_PROFILING = 0,
    GSIM_THROTTLE_PROFILED, /* the next report opens the cap, unless the rate has changed */
    GSIM_THROTTLE_SLOW_START,
    GSIM_THROTTLE_AVOIDANCE,
    /* the production job has changed: its rate is measured beside the opportunistic job, which
     * keeps its budget */
    GSIM_THROTTLE_REPROFILING,
};

struct gsim_throttle {
    /* Settings. */
    int64_t initial; /* budget after profiling, in blocks a refill */
    int64_t tolerance_ppm; /* loss of rate that is ignored */
    int profile_reports;

    enum gsim_throttle_phase phase;
    enum gsim_throttle_phase resumed; /* phase after reprofiling */
    int64_t budget; /* result: blocks per refill; GSIM_THROTTLE_FREE: no limit */
    int64_t best; /* the production job's rate when it is alone, in blocks per report */
    int64_t window[GSIM_THROTTLE_WINDOW]; /* the latest reports, latest first; < 0: none */
    int n_profiled, n_far;
};

#define GSIM_THROTTLE_FREE (INT64_C(1) << 40)

/* Begins when a production job and an opportunistic job have met; settings stay. */
void gsim_throttle_start(struct gsim_throttle *throttle);
/* Takes the number of blocks that the production job has launched since the last report. */
void gsim_throttle_report(struct gsim_throttle *throttle, int64_t launched);

#endif
