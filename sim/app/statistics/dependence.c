/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/statistics/dependence.h"

#include <math.h>

static double mean_of(const double *values, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

static double covariance(const double *values, size_t n, size_t lag, double mean) {
    double sum = 0;
    for (size_t i = 0; i + lag < n; i++)
        sum += (values[i] - mean) * (values[i + lag] - mean);
    return sum / (double)n;
}

/* The variance over the square of the mean. */
static double variation(const double *values, size_t n) {
    double mean = mean_of(values, n);
    return mean > 0 ? covariance(values, n, 0, mean) / (mean * mean) : 0;
}

double gsim_memory_of_queue(const double *gap_s, const double *work_s, size_t n, double gpus) {
    double gap = n > 1 ? mean_of(gap_s, n - 1) : 0;
    double load = gap > 0 ? mean_of(work_s, n) / gap / gpus : 1;
    if (load >= 1)
        return (double)INFINITY;
    return 2 * (variation(gap_s, n - 1) + variation(work_s, n)) / ((1 - load) * (1 - load));
}

/* The most points. A longer series is averaged in groups: that keeps the sum over all lags, and
 * bounds the cost, which grows with the square of the number of points. */
enum { MOST_POINTS = 1000 };

double gsim_memory_of_values(const double *values, size_t n) {
    double point[MOST_POINTS];
    size_t each = (n + MOST_POINTS - 1) / MOST_POINTS, n_points = each ? n / each : 0;
    if (n_points < 4)
        return (double)INFINITY;
    for (size_t i = 0; i < n_points; i++)
        point[i] = mean_of(values + i * each, each);
    double one = covariance(values, n, 0, mean_of(values, n)), mean = mean_of(point, n_points);
    double sum = -covariance(point, n_points, 0, mean), last = (double)INFINITY;
    if (!(one > 0))
        return 1; /* all values are equal */
    for (size_t lag = 0; lag + 1 < n_points && last > 0; lag += 2) {
        double pair =
            covariance(point, n_points, lag, mean) + covariance(point, n_points, lag + 1, mean);
        last = fmin(last, pair); /* pairs decrease in any reversible chain */
        sum += 2 * fmax(last, 0);
    }
    return fmax((double)each * sum / one, 1);
}

void gsim_batch_means(const double *values, size_t n, double *means) {
    size_t each = n / GSIM_BATCHES;
    values += n % GSIM_BATCHES;
    for (int b = 0; b < GSIM_BATCHES; b++)
        means[b] = mean_of(values + (size_t)b * each, each);
}
