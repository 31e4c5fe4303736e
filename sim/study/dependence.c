/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/dependence.h"

#include <math.h>

static double covariance(const double *values, size_t n, size_t lag, double mean) {
    double sum = 0;
    for (size_t i = 0; i + lag < n; i++)
        sum += (values[i] - mean) * (values[i + lag] - mean);
    return sum / (double)n;
}

/* The variance over the square of the mean. */
static double variation(const double *values, size_t n) {
    double mean = gsim_mean_of(values, n);
    return mean > 0 ? covariance(values, n, 0, mean) / (mean * mean) : 0;
}

/* The square of the largest over the sum of squares. */
static double share_of_largest(const double *values, size_t n) {
    double largest = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, values[i] * values[i]);
        sum += values[i] * values[i];
    }
    return sum > 0 ? largest / sum : 0;
}

enum { STANDARD_ERRORS = 3, RULE_OF_THREE = 3 };

struct gsim_dependence gsim_dependence_of(const double *gap_s, const double *work_s, size_t n,
                                          double gpus) {
    double gap = n > 1 ? gsim_mean_of(gap_s, n - 1) : 0;
    struct gsim_dependence d = {.load = (double)INFINITY, .memory = (double)INFINITY};
    if (!(gap > 0))
        return d;
    double ca2 = variation(gap_s, n - 1), cs2 = variation(work_s, n);
    d.load = gsim_mean_of(work_s, n) / gap / gpus;
    d.unseen = RULE_OF_THREE * share_of_largest(work_s, n);
    double highest = d.load * (1 + STANDARD_ERRORS * sqrt((ca2 + cs2) / (double)n));
    if (highest < 1)
        d.memory = 2 * (ca2 + cs2 + d.unseen * (1 + cs2)) / ((1 - highest) * (1 - highest));
    return d;
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
        point[i] = gsim_mean_of(values + i * each, each);
    double one = covariance(values, n, 0, gsim_mean_of(values, n)),
           mean = gsim_mean_of(point, n_points);
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
        means[b] = gsim_mean_of(values + (size_t)b * each, each);
}

/* The variance of what values have beyond their times alone. */
static double variance_of_delays(const double *values, const double *alone, size_t n) {
    double mean = gsim_mean_of(values, n) - gsim_mean_of(alone, n), sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (values[i] - alone[i] - mean) * (values[i] - alone[i] - mean);
    return sum / (double)n;
}

struct gsim_interval gsim_interval_of_run(const double *values, const double *alone, size_t n,
                                          const struct gsim_dependence *queue) {
    double means[GSIM_BATCHES], mean = n ? gsim_mean_of(values, n) : 0;
    struct gsim_interval unknown = {mean, (double)NAN, (double)NAN};
    if (!gsim_is_enough(n, queue->memory))
        return unknown;
    double memory = fmax(queue->memory, gsim_memory_of_values(values, n));
    if (!gsim_is_enough(n, memory))
        return unknown;
    gsim_batch_means(values, n, means);
    if (!(gsim_mean_of(means, GSIM_BATCHES) > 0))
        return gsim_t_interval(means, GSIM_BATCHES, 1); /* a mean of 0 has no logarithm */
    struct gsim_interval of_batches = gsim_student_log_interval(means, GSIM_BATCHES);
    double variance =
        covariance(values, n, 0, mean) + fmax(memory - 1, 0) * variance_of_delays(values, alone, n);
    double half = gsim_normal_half(sqrt(variance / (double)n)) / mean;
    return (struct gsim_interval){
        of_batches.mean, fmin(of_batches.low, of_batches.mean * exp(-half)),
        fmax(of_batches.high, of_batches.mean * exp(half)) * (1 + queue->unseen)};
}
