/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Student's t of values and of logarithms, with Johnson's correction for skewness, and Holm's for
 * families. */
#include "sim/study/stats.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

const char gsim_intervals_caution[] =
    "intervals over few runs that are short for their load miss more often than one time in 20";

double gsim_mean_of(const double *values, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

/* The error of an estimate over n units, and what their skewness does to its t. Where the units are
 * skewed to the right, few of them show too little of the rare large ones: the mean is too low, and
 * so is its error, and the true mean lies above the interval. The distribution of t is moved by
 * (2 t^2 + 1) times the skewness over 6 sqrt(n) (Johnson, Modified t tests and confidence intervals
 * for asymmetrical populations, JASA 73(363), 1978; Hall, Edgeworth expansion for Student's t
 * statistic, Annals of Probability 15(3), 1987), and `skew` is that factor. */
struct error {
    double error, skew;
    size_t n;
};

/* The sums are over the n units, of the squares and of the cubes of what each differs by; n > 1.
 * The skewness is the adjusted one of Fisher and Pearson, g sqrt(n (n - 1)) / (n - 2). Since g is
 * at most (n - 2) / sqrt(n - 1) (Wilkins, Annals of Mathematical Statistics 15, 1944), the factor
 * is at most 1/6 for any n; below three units it cannot be told. */
static struct error error_of(double squares, double cubes, size_t n) {
    struct error e = {.error = sqrt(squares / (double)(n - 1) / (double)n), .n = n};
    double deviation = sqrt(squares / (double)n);
    if (n > 2 && deviation > 0)
        e.skew = cubes / (double)n / (deviation * deviation * deviation) * sqrt((double)(n - 1)) /
                 (6 * (double)(n - 2));
    return e;
}

/* The errors between an estimate and either end of its interval by Student's t: 2.5 % lie beyond
 * each, or that many times less. */
static double errors_to_end(size_t n, double times) {
    return gsl_cdf_tdist_Pinv(1 - 0.025 / times, (double)(n - 1));
}

/* The errors to the end towards which the units are skewed by that factor. No end is nearer than
 * Student's t has it: few units show less skewness than there is. */
static double skewed(double t, double skew) {
    return t + fmax(skew, 0) * (2 * t * t + 1);
}

static double errors_down(const struct error *e, double times) {
    return e->error * skewed(errors_to_end(e->n, times), -e->skew);
}

static double errors_up(const struct error *e, double times) {
    return e->error * skewed(errors_to_end(e->n, times), e->skew);
}

/* What each value has beyond the mean, over `unit`. */
static struct error error_of_mean(const double *values, size_t n, double mean, double unit) {
    double squares = 0, cubes = 0;
    for (size_t i = 0; i < n; i++) {
        double part = (values[i] - mean) / unit;
        squares += part * part;
        cubes += part * part * part;
    }
    return error_of(squares, cubes, n);
}

struct gsim_interval gsim_t_interval(const double *values, size_t n, double times) {
    double mean = gsim_mean_of(values, n);
    if (n < 2)
        return (struct gsim_interval){mean, -(double)INFINITY, (double)INFINITY};
    struct error e = error_of_mean(values, n, mean, 1);
    return (struct gsim_interval){mean, mean - errors_down(&e, times), mean + errors_up(&e, times)};
}

/* An interval of the logarithm of an estimate. */
static struct gsim_interval around(double estimate, const struct error *e, double times) {
    return (struct gsim_interval){estimate, estimate * exp(-errors_down(e, times)),
                                  estimate * exp(errors_up(e, times))};
}

struct gsim_interval gsim_t_log_interval(const double *values, size_t n) {
    double mean = gsim_mean_of(values, n);
    if (n < 2)
        return (struct gsim_interval){mean, 0, (double)INFINITY};
    if (!(mean > 0)) /* a mean of 0 has no logarithm */
        return gsim_t_interval(values, n, 1);
    struct error e = error_of_mean(values, n, mean, mean);
    return around(mean, &e, 1);
}

struct gsim_interval gsim_student_log_interval(const double *values, size_t n) {
    double mean = gsim_mean_of(values, n);
    struct error e = error_of_mean(values, n, mean, mean);
    e.skew = 0;
    return around(mean, &e, 1);
}

/* The error of log(x / y), of the means x and y; both above 0, n > 1. A small change moves it by
 * dx / x - dy / y. So its variance is that of the differences, unit by unit, of the values relative
 * to their means. */
static struct error error_of_ratio(const double *above, const double *below, size_t n) {
    double x = gsim_mean_of(above, n), y = gsim_mean_of(below, n), squares = 0, cubes = 0;
    for (size_t i = 0; i < n; i++) {
        double part = above[i] / x - below[i] / y;
        squares += part * part;
        cubes += part * part * part;
    }
    return error_of(squares, cubes, n);
}

struct gsim_interval gsim_t_ratio(const double *above, const double *below, size_t n,
                                  double times) {
    double x = gsim_mean_of(above, n), y = gsim_mean_of(below, n);
    if (n < 2)
        return (struct gsim_interval){x / y, 0, (double)INFINITY};
    if (!(x > 0 && y > 0))
        return (struct gsim_interval){x / y, (double)NAN, (double)NAN};
    struct error e = error_of_ratio(above, below, n);
    return around(x / y, &e, times);
}

/* The nearer end is Student's t of the error; how much farther the other is says how skewed. */
struct gsim_interval gsim_t_ratio_widened(struct gsim_interval interval, size_t n, double times) {
    if (n < 2 || !(interval.low > 0) || !isfinite(interval.high))
        return interval;
    double down = log(interval.mean / interval.low), up = log(interval.high / interval.mean);
    double t = errors_to_end(n, 1), nearer = fmin(down, up);
    if (!(nearer > 0)) /* every unit shows the ratio exactly */
        return interval;
    double skew = (fmax(down, up) * t / nearer - t) / (2 * t * t + 1);
    struct error e = {.error = nearer / t, .skew = up > down ? skew : -skew, .n = n};
    return around(interval.mean, &e, times);
}

/* The t of which an end lies that number of errors from the estimate: the inverse of skewed(). */
static double t_of(double errors, double skew) {
    double rest = errors - fmax(skew, 0);
    return skew > 0 ? 2 * rest / (1 + sqrt(1 + 8 * skew * rest)) : errors;
}

/* The two-sided p value of "zero" for an estimate with this error: of the interval that just
 * reaches zero. */
static double p_of_zero(double estimate, const struct error *e) {
    if (!(e->error > 0)) /* every unit shows the estimate exactly */
        return estimate != 0 ? 0 : 1;
    double t = t_of(fabs(estimate / e->error), estimate > 0 ? -e->skew : e->skew);
    return 2 * gsl_cdf_tdist_Q(fmax(t, 0), (double)(e->n - 1));
}

double gsim_normal_half(double error) {
    return gsl_cdf_ugaussian_Pinv(0.975) * error;
}

/* A mean of 0 has no logarithm; there the differences are tested, which need none. */
static double p_of_differences(const double *above, const double *below, size_t n) {
    double mean = gsim_mean_of(above, n) - gsim_mean_of(below, n), squares = 0, cubes = 0;
    for (size_t i = 0; i < n; i++) {
        double part = above[i] - below[i] - mean;
        squares += part * part;
        cubes += part * part * part;
    }
    struct error e = error_of(squares, cubes, n);
    return p_of_zero(mean, &e);
}

double gsim_t_ratio_p(const double *above, const double *below, size_t n) {
    double x = gsim_mean_of(above, n), y = gsim_mean_of(below, n);
    if (n < 2)
        return (double)NAN;
    if (!(x > 0 && y > 0))
        return p_of_differences(above, below, n);
    struct error e = error_of_ratio(above, below, n);
    return p_of_zero(log(x / y), &e);
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
