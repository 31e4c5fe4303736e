/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact statistics over all jobs: never a streaming estimate. */
#ifndef GSIM_CORE_STATS_H
#define GSIM_CORE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gsim/arena.h"
#include "gsim/units.h"
#include "sim/base/hints.h"
#include "sim/base/pick.h"

/* A sum of times is wider than a time. */
static inline double gsim_sum_seconds(gsim_i128 ns) {
    return (double)ns / 1e9;
}

/* The value at place (n - 1) p of sorted values, interpolated linearly between two values by GSL;
 * NaN when n is 0. */
double gsim_quantile_sorted(const double *sorted, size_t n, double p);
/* Quantiles for each p (ascending) of values in any order, without sorting them. false: no
 * memory. */
bool gsim_quantiles(const double *values, size_t n, const double *p, double *quantiles, size_t n_p);

/* Quantiles in two steps, for callers that select values themselves: first the two ranks needed for
 * each p, then the interpolation of the values at these ranks (of none when n is 0). */
void gsim_quantile_places(size_t n, const double *p, size_t n_p, size_t *at);
void gsim_quantiles_between(const double *pairs, size_t n, const double *p, double *quantiles,
                            size_t n_p);

/* Like gsim_quantiles for times, in seconds; the times are reordered. */
void gsim_quantiles_s(int64_t *times_ns, size_t n, const double *p, double *quantiles, size_t n_p);

/* --- values that come one by one -------------------------------------------------------------- */

/* The largest values of a stream, enough for high quantiles. */
struct gsim_tail {
    double floor; /* values not above it are not needed */
    int64_t *kept; /* as keys */
    size_t n_kept, n_needed, capacity;
};

/* For up to n_most values and quantiles from lowest_p on; false: no memory. */
bool gsim_tail_open(struct gsim_tail *tail, struct gsim_arena *arena, size_t n_most,
                    double lowest_p);
GSIM_APART void gsim_tail_keep(struct gsim_tail *tail, double value);
/* value is not NaN. */
static inline void gsim_tail_add(struct gsim_tail *tail, double value) {
    if (value > tail->floor)
        gsim_tail_keep(tail, value);
}
/* Quantiles for each p, ascending, of all n values that were added. */
void gsim_tail_quantiles(struct gsim_tail *tail, size_t n, const double *p, double *quantiles,
                         size_t n_p);

#endif
