/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact statistics over all jobs: never a streaming estimate. */
#ifndef GSIM_CORE_STATS_H
#define GSIM_CORE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gsim/arena.h"
#include "sim/base/hints.h"
#include "sim/base/pick.h"

/* What stands at place (n - 1) p of sorted values, between two of them interpolated linearly by GSL;
 * NaN when n is 0. */
double gsim_quantile_sorted(const double *sorted, size_t n, double p);
/* The same for each p (ascending) of values in any order, which are not sorted for it. false: no
 * memory. */
bool gsim_quantiles(const double *values, size_t n, const double *p, double *quantiles, size_t n_p);

/* The same in two steps for who finds the values himself: which places two a p are looked up, and
 * the quantiles from what stands there (from none when n is 0). */
void gsim_quantile_places(size_t n, const double *p, size_t n_p, size_t *at);
void gsim_quantiles_between(const double *pairs, size_t n, const double *p, double *quantiles,
                            size_t n_p);

/* The same of times, which are moved about, in seconds. */
void gsim_quantiles_s(int64_t *times_ns, size_t n, const double *p, double *quantiles, size_t n_p);

/* --- of values that come one by one ------------------------------------------------------------ */

/* The largest of them, which is what high quantiles need. */
struct gsim_tail {
    double floor; /* what is not above it is not needed */
    int64_t *kept; /* as keys */
    size_t n_kept, n_needed, capacity;
};

/* Of up to n_most values, for quantiles from lowest_p on; false: no memory. */
bool gsim_tail_open(struct gsim_tail *tail, struct gsim_arena *arena, size_t n_most,
                    double lowest_p);
GSIM_APART void gsim_tail_keep(struct gsim_tail *tail, double value);
/* Not NaN. */
static inline void gsim_tail_add(struct gsim_tail *tail, double value) {
    if (value > tail->floor)
        gsim_tail_keep(tail, value);
}
/* For each p, ascending, of all n values that were added. */
void gsim_tail_quantiles(struct gsim_tail *tail, size_t n, const double *p, double *quantiles,
                         size_t n_p);

#endif
