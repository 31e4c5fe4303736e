/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The arrival times of open-loop jobs' requests: periodic, uniform around the period, or Poisson.
 * They are drawn by integer arithmetic only, from a stream of the job's own, so that every policy
 * and machine sees equal times. */
#ifndef GSIM_MODELS_JOBS_REQUESTS_H
#define GSIM_MODELS_JOBS_REQUESTS_H

#include "gsim/trace.h"

enum gsim_arrivals { GSIM_ARRIVALS_PERIODIC = 0, GSIM_ARRIVALS_POISSON, GSIM_ARRIVALS_UNIFORM };

/* How the gap to the next request is drawn: a share of the period between low and high, in ppm. */
struct gsim_request_law {
    enum gsim_arrivals kind;
    int64_t low_ppm, high_ppm;
};

/* Reads "periodic", "poisson" or "uniform:LO:HI"; NULL is periodic. Returns false for any other
 * text. */
bool gsim_request_law_parse(const char *text, struct gsim_request_law *out);
/* Fills arrival_ns[i], rising, from start_ns; the first request comes after the first gap. Returns
 * false if there is no memory left. */
bool gsim_requests_draw(const struct gsim_request_law *law, int64_t period_ns, uint64_t seed,
                        uint64_t replication, uint32_t job, int64_t start_ns, int64_t *arrival_ns,
                        int64_t n);

/* Checks the rows of open-loop jobs, and of applications that were not looked up. */
enum gsim_status gsim_requests_check(const struct gsim_trace *trace, struct gsim_log *log);

#endif
