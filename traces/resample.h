/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces that a real trace might have been: each user's work is cut into blocks of whole weeks, and
 * the blocks change places with their neighbours, each user's for itself. Zakay and Feitelson
 * recombine users' weeks ("Preserving user behavior characteristics in trace-based simulation",
 * MASCOTS 2014); blocks that stay near their time are those of the local block bootstrap
 * (Paparoditis and Politis, 2002). Bursts, batches, sessions, hours and weekdays stay as they
 * were within a block, and slow changes of the load over months stay where they were; the
 * coincidence of users' weeks is new. */
#ifndef GSIM_TRACES_RESAMPLE_H
#define GSIM_TRACES_RESAMPLE_H

#include "gsim/trace.h"

struct gsim_resampling {
    int by; /* enum gsim_column: a user is a value of it; negative: all jobs are one user's */
    int64_t block_ns;
    int64_t near; /* places that a block moves at most; negative: any number */
    int64_t load_ppm; /* blocks drawn, relative to the blocks there are */
};

/* At a load of 1, each job of `from` is there once, at another time; more load repeats blocks, less
 * leaves some out, evenly over each user's time. Equal seed and replication give an equal trace.
 * Jobs come after others as they did where both moved by as much; a warning counts the others.
 * Unchanged columns are shared with `from`, which must outlive the result. */
enum gsim_status gsim_trace_resample(const struct gsim_trace *from,
                                     const struct gsim_resampling *how, uint64_t seed,
                                     uint64_t replication, struct gsim_arena *arena,
                                     struct gsim_trace *out, struct gsim_log *log);

#endif
