/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics of comparisons. */
#ifndef GSIM_STUDY_STATS_H
#define GSIM_STUDY_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gsim_interval {
    double mean, low, high;
};

double gsim_mean_of(const double *values, size_t n);
/* The mean and its 95 % interval by Student's t, of which the end towards which the values are
 * skewed lies farther out (Johnson 1978). For n = 1 the interval is from -inf to inf. Of a
 * family of comparisons the interval is wider: `times` says how many times rarer than one in twenty
 * it may miss (gsim_holm); 1: an interval for itself. */
struct gsim_interval gsim_t_interval(const double *values, size_t n, double times);
/* As gsim_t_interval, on the logarithm of the mean: both ends of the interval stay above 0, and the
 * upper one lies farther out once more, since few units show less skewness than there is. How often
 * such intervals hold the mean: docs/compare.md. */
struct gsim_interval gsim_t_log_interval(const double *values, size_t n);
/* As gsim_t_log_interval, by Student's t whatever the skewness, where the interval allows for what
 * the values have not seen in another way; n > 1, and a mean above 0. */
struct gsim_interval gsim_student_log_interval(const double *values, size_t n);
/* What a reader of intervals over runs has to know where lengths and loads of the runs are not at
 * hand (gsim compare has them): a clause, which ends a sentence. */
extern const char gsim_intervals_caution[];
/* The ratio of two means over the same units, with the interval of its logarithm by Student's t;
 * `times` as above. */
struct gsim_interval gsim_t_ratio(const double *above, const double *below, size_t n, double times);
/* An interval of gsim_t_ratio over n units with times 1, as it is with `times`: for a family of
 * which the p values are known only when all intervals are. */
struct gsim_interval gsim_t_ratio_widened(struct gsim_interval interval, size_t n, double times);
/* The half width of a 95 % interval of a normal distribution with this standard error. */
double gsim_normal_half(double error);
/* The two-sided p value of "both means are equal" over the same units, of the logarithm of their
 * ratio: it is below 0.05 where the interval of gsim_t_ratio is without 1. Where a mean is 0 there
 * is no such interval, and the p is that of the paired differences. NaN for n = 1. */
double gsim_t_ratio_p(const double *above, const double *below, size_t n);
/* Adjusts p values for their number by Holm's step-down procedure, and says by how many times it
 * raised each, before those above 1 became 1: an interval that may miss that many times more rarely
 * leaves out "no difference" exactly where the adjusted p is below 0.05. A NaN stays and is not
 * counted, with times of 1. `times` may be NULL. false: no memory. */
bool gsim_holm(double *p, double *times, size_t n);

#endif
