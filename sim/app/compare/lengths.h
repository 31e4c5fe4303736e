/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far a simulation hangs on the lengths of jobs, and on what processes take to start: it is run
 * again, each time with all lengths a little off, and all starts by one factor. Where all decisions
 * stay, no event moves by more than that part of its time, and of the starts before it, since times
 * are sums of lengths and starts, and maxima of these; a job that ends further away than that is
 * behind a decision that fell otherwise. */
#ifndef GSIM_APP_LENGTHS_H
#define GSIM_APP_LENGTHS_H

#include "sim/app/setup/setup.h"

struct gsim_lengths_job {
    double least_s, most_s; /* JCT over all runs */
    int64_t hangs_on_ppm; /* the smallest change with which it ended elsewhere; 0: none did that */
};

struct gsim_lengths {
    int64_t off_ppm, runs; /* --shake, --reps */
    int64_t starts_off_ppm; /* by which starts are off at most; 0: they are not varied */
    struct gsim_lengths_job *job; /* by job of the trace */
    struct gsim_lengths_job mean; /* over jobs that ended */
    uint32_t n_hanging;
};

/* Around `result`, the simulation of the setup's own trace. starts_off_ppm is below GSIM_PPM. */
enum gsim_status gsim_lengths_try(struct gsim_cli *cli, const struct gsim_setup *setup,
                                  const struct gsim_result *result, int64_t starts_off_ppm,
                                  struct gsim_lengths *out);

#endif
