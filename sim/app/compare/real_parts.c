/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What both the tables and the figure of gsim compare --real ask of a run. */
#include "sim/app/compare/real.h"

#include <math.h>

/* Below this part of itself a time is as the simulation has it. */
#define NOTABLE 0.1

const char *const gsim_real_part_names[GSIM_REAL_PARTS] = {"starts", "durations", "sharing",
                                                           "overhead", "queueing"};

bool gsim_real_finished(const struct gsim_real *r, uint32_t job) {
    return r->jobs[job].exit_code == 0 && r->asked.jobs.end_ns[job] >= 0 &&
           r->started.jobs.end_ns[job] >= 0 && r->observed.jobs.end_ns[job] >= 0;
}

/* Where jobs share GPUs, durations cannot be told apart from what neighbours do. */
bool gsim_real_has(const struct gsim_real *r, enum gsim_real_part part) {
    if (part == GSIM_REAL_STARTS)
        return r->knows_starts;
    return part == GSIM_REAL_DURATIONS ? !r->shares : part != GSIM_REAL_SHARING || r->shares;
}

bool gsim_real_is_notable(double real_s, double simulated_s) {
    return fabs(real_s - simulated_s) >= NOTABLE * real_s;
}
