/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact statistics over all jobs: never a streaming estimate. */
#ifndef GSIM_CORE_STATS_H
#define GSIM_CORE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Interpolates linearly at (n - 1) p, by GSL; NaN when n is 0. */
double gsim_quantile_sorted(const double *sorted, size_t n, double p);

#endif
