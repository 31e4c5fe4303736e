/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact statistics over all jobs: never a streaming estimate. */
#ifndef GSIM_CORE_STATS_H
#define GSIM_CORE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What stands at place (n - 1) p of sorted values, between two of them interpolated linearly by GSL;
 * NaN when n is 0. */
double gsim_quantile_sorted(const double *sorted, size_t n, double p);
/* The same for each p (ascending) of values in any order, which are not sorted for it. false: no
 * memory. */
bool gsim_quantiles(const double *values, size_t n, const double *p, double *quantiles, size_t n_p);

#endif
