/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics of comparisons. Everything random is seeded: the same results give the same text. */
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
/* Two-sided p of "the mean is zero". n = 1: NaN. */
double gsim_t_p(const double *differences, size_t n);
/* Holm's step-down: p values become those adjusted for their number. NaN stays and is not counted.
 * false: no memory. */
bool gsim_holm(double *p, size_t n);

/* --- bootstrap -------------------------------------------------------------------------------- */

/* What is drawn with replacement: replications, or blocks of consecutive jobs. Every contender is
 * resampled alike, since its runs met the same randomness. */
struct gsim_bootstrap {
    size_t n_units;
    uint32_t *weight; /* how often the present draw has each unit */
    void *rng;
};

enum { GSIM_RESAMPLES = 1000 };

/* false: no memory. The caller ends it either way. */
bool gsim_bootstrap_begin(struct gsim_bootstrap *b, size_t n_units, uint64_t seed);
void gsim_bootstrap_draw(struct gsim_bootstrap *b);
void gsim_bootstrap_end(struct gsim_bootstrap *b);
/* 2.5 and 97.5 % of the resampled values, which are sorted; mean is `estimate`. false: no memory. */
bool gsim_bootstrap_interval(double *resampled, double estimate, struct gsim_interval *out);
/* Two-sided p of "it is not `value`"; resampled is sorted. */
double gsim_bootstrap_p(const double *resampled, double value);

#endif
