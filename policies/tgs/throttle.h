/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How TGS throttles an opportunistic job beside a production job: it knows nothing of either but how
 * many thread blocks the production job launches between two reports. Integers only, no time: one
 * call a report.
 *
 * Alone first: with the opportunistic budget at 0 the production job's rate is measured. Then, as a
 * network connection does, the budget grows fast until the production job is seen to suffer, and
 * creeps around that point afterwards.
 *
 * Source: Wu et al., "Transparent GPU sharing in container clouds for deep learning workloads", NSDI
 * 2023; the numbers are those of its public code (github.com/pkusys/TGS). */
#ifndef GSIM_POLICIES_COMMON_THROTTLE_H
#define GSIM_POLICIES_COMMON_THROTTLE_H

#include <stdint.h>

enum { GSIM_THROTTLE_WINDOW = 5 };

enum gsim_throttle_phase {
    GSIM_THROTTLE_PROFILING = 0,
    GSIM_THROTTLE_SLOW_START,
    GSIM_THROTTLE_AVOIDANCE,
    GSIM_THROTTLE_REPROFILING, /* the production job does something else: its rate is measured
                                  beside the other, whose budget stays */
};

struct gsim_throttle {
    /* Settings. */
    int64_t initial; /* budget after profiling, in blocks a refill */
    int64_t tolerance_ppm; /* loss of rate that counts as none */
    int profile_reports;

    enum gsim_throttle_phase phase;
    enum gsim_throttle_phase resumed; /* after reprofiling */
    int64_t budget; /* answer: blocks a refill; GSIM_THROTTLE_FREE: as many as it likes */
    int64_t best; /* the production job's rate when it is alone, in blocks a report */
    int64_t window[GSIM_THROTTLE_WINDOW]; /* the latest reports, latest first; < 0: none */
    int n_profiled, n_far;
};

#define GSIM_THROTTLE_FREE (INT64_C(1) << 40)

/* A production job and an opportunistic one have met; settings stay. */
void gsim_throttle_start(struct gsim_throttle *throttle);
/* The production job has launched so much since the last report. */
void gsim_throttle_report(struct gsim_throttle *throttle, int64_t launched);

#endif
