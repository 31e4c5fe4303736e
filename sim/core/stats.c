/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Only the two values beside a quantile's place are looked up: sorting all of them for that would
 * cost more than simulating some jobs. */
#include "sim/core/stats.h"

#include <assert.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "sim/base/sort.h"

double gsim_quantile_sorted(const double *sorted, size_t n, double p) {
    return n ? gsl_stats_quantile_from_sorted_data(sorted, 1, n, p) : (double)NAN;
}

bool gsim_quantiles(const double *values, size_t n, const double *p, double *quantiles,
                    size_t n_p) {
    size_t at[GSIM_MAX_PICKS];
    double pair[GSIM_MAX_PICKS];
    assert(2 * n_p <= GSIM_MAX_PICKS);
    for (size_t k = 0; n && k < n_p; k++) {
        at[2 * k] = (size_t)(p[k] * (double)(n - 1));
        at[2 * k + 1] = at[2 * k] + (at[2 * k] < n - 1);
    }
    if (n && !gsim_pick_f64(values, n, at, pair, 2 * n_p))
        return false;
    for (size_t k = 0; k < n_p; k++) {
        double into = n ? p[k] * (double)(n - 1) - (double)at[2 * k] : 0;
        quantiles[k] = gsim_quantile_sorted(&pair[2 * k], n ? 2 : 0, into);
    }
    return true;
}
