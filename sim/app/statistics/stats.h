/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics of comparisons. */
#ifndef GSIM_APP_STATS_H
#define GSIM_APP_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gsim_interval {
    double mean, low, high;
};

/* Mean and 95 % interval by Student's t. n = 1: the interval is everything (-inf to inf). */
struct gsim_interval gsim_t_interval(const double *values, size_t n);
/* The same on the logarithm of the mean, for means of times over few units, which are skewed: both
 * ends are above 0. */
struct gsim_interval gsim_t_log_interval(const double *values, size_t n);
/* The ratio of two means over the same units, with the interval of its logarithm by Student's t. */
struct gsim_interval gsim_t_ratio(const double *above, const double *below, size_t n);
/* Two-sided p of "the mean is zero". n = 1: NaN. */
double gsim_t_p(const double *differences, size_t n);
/* Holm's step-down: p values become those adjusted for their number. NaN stays and is not counted.
 * false: no memory. */
bool gsim_holm(double *p, size_t n);

#endif
