/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/core/stats.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>

double gsim_quantile_sorted(const double *sorted, size_t n, double p) {
    return n ? gsl_stats_quantile_from_sorted_data(sorted, 1, n, p) : (double)NAN;
}
