/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What durations are thought to be: drawn around the truth, for runs in which policies look at
 * durations and must not know them exactly. */
#ifndef GSIM_TRACES_ESTIMATE_H
#define GSIM_TRACES_ESTIMATE_H

#include "gsim/trace.h"
#include "traces/distribution.h"

struct gsim_estimate {
    const char *text; /* "duration x lognormal(0, 0.5)", in one spelling for all; NULL: none */
    struct gsim_dist dist;
    bool times_duration; /* else the draw is the estimate, in seconds */
};

/* Reads "duration x NAME(PARAMETERS)", "NAME(PARAMETERS)", or a number in place of the
 * distribution. */
enum gsim_status gsim_estimate_read(const char *text, struct gsim_arena *arena,
                                    struct gsim_estimate *out, struct gsim_log *log);

/* Fills the column estimate_s of each job, whatever stands there, and says so in `assumed`. Other
 * columns are shared with `from`. */
enum gsim_status gsim_trace_estimate(const struct gsim_trace *from, const struct gsim_estimate *how,
                                     uint64_t seed, uint64_t replication, struct gsim_arena *arena,
                                     struct gsim_trace *out, struct gsim_log *log);

#endif
