/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The latencies of requests with their intervals, for one run. */
#ifndef GSIM_STUDY_LATENCIES_H
#define GSIM_STUDY_LATENCIES_H

#include <stdio.h>

#include "gsim/arena.h"
#include "gsim/result.h"
#include "sim/study/stats.h"

enum gsim_latency { GSIM_LATENCY_MEAN = 0, GSIM_LATENCY_P50, GSIM_LATENCY_P99, GSIM_LATENCY_COUNT };
double gsim_latency_of(const struct gsim_summary *summary, enum gsim_latency which);

struct gsim_latencies {
    struct gsim_interval of_s[GSIM_LATENCY_COUNT];
    const char *none_why; /* the reason why the mean has no interval; NULL: it has one */
};

/* Computes the interval of the mean from a few long batches of the requests in the order of
 * arrival, if there are enough requests for their memory (dependence.h). One run gives no interval
 * of a quantile. false: no memory. A run without requests has NaN, and a reason. */
bool gsim_latencies_of_run(const struct gsim_result *result, struct gsim_arena *arena,
                           struct gsim_latencies *out);
/* Writes members of a JSON object, with a comma before each. */
void gsim_latencies_put_json(FILE *out, const struct gsim_latencies *latencies);

#endif
