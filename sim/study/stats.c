/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Student's t of values and of logarithms, and Holm's correction. */
#include "sim/study/stats.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

/* The standard error of the mean; n > 1. */
static double standard_error(const double *values, size_t n, double mean) {
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return sqrt(squares / (double)(n - 1) / (double)n);
}

double gsim_mean_of(const double *values, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

/* The standard errors between a mean and either end of its interval: 2.5 % lie beyond each, or
 * that many times less. */
static double errors_to_end(size_t n, double times) {
    return gsl_cdf_tdist_Pinv(1 - 0.025 / times, (double)(n - 1));
}

struct gsim_interval gsim_t_interval(const double *values, size_t n, double times) {
    double mean = gsim_mean_of(values, n);
    if (n < 2)
        return (struct gsim_interval){mean, -(double)INFINITY, (double)INFINITY};
    double half = errors_to_end(n, times) * standard_error(values, n, mean);
    return (struct gsim_interval){mean, mean - half, mean + half};
}

struct gsim_interval gsim_t_log_interval(const double *values, size_t n) {
    double mean = gsim_mean_of(values, n);
    if (n < 2)
        return (struct gsim_interval){mean, 0, (double)INFINITY};
    if (!(mean > 0)) /* a mean of 0 has no logarithm */
        return gsim_t_interval(values, n, 1);
    double half = errors_to_end(n, 1) * standard_error(values, n, mean) / mean;
    return (struct gsim_interval){mean, mean * exp(-half), mean * exp(half)};
}

/* The standard error of log(x / y), of the means x and y; both above 0, n > 1. A small change moves
 * it by dx / x - dy / y. So its variance is that of the differences, unit by unit, of the values
 * relative to their means. */
static double ratio_error(const double *above, const double *below, size_t n) {
    double x = gsim_mean_of(above, n), y = gsim_mean_of(below, n), squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (above[i] / x - below[i] / y) * (above[i] / x - below[i] / y);
    return sqrt(squares / (double)(n - 1) / (double)n);
}

struct gsim_interval gsim_t_ratio(const double *above, const double *below, size_t n,
                                  double times) {
    double x = gsim_mean_of(above, n), y = gsim_mean_of(below, n);
    if (n < 2)
        return (struct gsim_interval){x / y, 0, (double)INFINITY};
    if (!(x > 0 && y > 0))
        return (struct gsim_interval){x / y, (double)NAN, (double)NAN};
    double half = errors_to_end(n, times) * ratio_error(above, below, n);
    return (struct gsim_interval){x / y, x / y * exp(-half), x / y * exp(half)};
}

struct gsim_interval gsim_t_ratio_widened(struct gsim_interval interval, size_t n, double times) {
    if (n < 2 || !(interval.low > 0) || !isfinite(interval.high))
        return interval;
    double half =
        log(interval.high / interval.low) / 2 * errors_to_end(n, times) / errors_to_end(n, 1);
    double middle = sqrt(interval.low * interval.high);
    return (struct gsim_interval){interval.mean, middle * exp(-half), middle * exp(half)};
}

/* The two-sided p value of "zero" for an estimate with this standard error, over n units. */
static double p_of_zero(double estimate, double error, size_t n) {
    if (!(error > 0)) /* every unit shows the estimate exactly */
        return estimate != 0 ? 0 : 1;
    return 2 * gsl_cdf_tdist_Q(fabs(estimate / error), (double)(n - 1));
}

double gsim_normal_half(double error) {
    return gsl_cdf_ugaussian_Pinv(0.975) * error;
}

/* A mean of 0 has no logarithm; there the differences are tested, which need none. */
static double p_of_differences(const double *above, const double *below, size_t n) {
    double mean = gsim_mean_of(above, n) - gsim_mean_of(below, n), squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (above[i] - below[i] - mean) * (above[i] - below[i] - mean);
    return p_of_zero(mean, sqrt(squares / (double)(n - 1) / (double)n), n);
}

double gsim_t_ratio_p(const double *above, const double *below, size_t n) {
    double x = gsim_mean_of(above, n), y = gsim_mean_of(below, n);
    if (n < 2)
        return (double)NAN;
    if (!(x > 0 && y > 0))
        return p_of_differences(above, below, n);
    return p_of_zero(log(x / y), ratio_error(above, below, n), n);
}

/* --- Holm ------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
    double x = **(double *const *)a, y = **(double *const *)b;
    return (x > y) - (x < y);
}

bool gsim_holm(double *p, double *times, size_t n) {
    double **sorted = malloc((n ? n : 1) * sizeof *sorted);
    size_t m = 0;
    double least = 0;
    if (!sorted)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (times)
            times[i] = 1;
        if (!isnan(p[i]))
            sorted[m++] = &p[i];
    }
    qsort(sorted, m, sizeof *sorted, by_value);
    for (size_t i = 0; i < m; i++) {
        double raw = *sorted[i];
        least = fmax(least, raw * (double)(m - i));
        if (times)
            times[sorted[i] - p] = raw > 0 ? least / raw : (double)(m - i);
        *sorted[i] = fmin(least, 1);
    }
    free(sorted);
    return true;
}
