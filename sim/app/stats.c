/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Student's t, Holm, and the percentile bootstrap (Efron 1979). */
#include "sim/app/stats.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/rng.h"
#include "sim/base/sort.h"
#include "sim/core/stats.h"

/* Of the mean; n > 1. */
static double standard_error(const double *values, size_t n, double mean) {
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return sqrt(squares / (double)(n - 1) / (double)n);
}

static double mean_of(const double *values, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

struct gsim_interval gsim_t_interval(const double *values, size_t n) {
    double mean = mean_of(values, n);
    if (n < 2)
        return (struct gsim_interval){mean, -(double)INFINITY, (double)INFINITY};
    double half = gsl_cdf_tdist_Pinv(0.975, (double)(n - 1)) * standard_error(values, n, mean);
    return (struct gsim_interval){mean, mean - half, mean + half};
}

double gsim_t_p(const double *differences, size_t n) {
    if (n < 2)
        return (double)NAN;
    double mean = mean_of(differences, n), error = standard_error(differences, n, mean);
    if (!(error > 0)) /* always the same difference */
        return mean != 0 ? 0 : 1;
    return 2 * gsl_cdf_tdist_Q(fabs(mean / error), (double)(n - 1));
}

/* --- Holm ------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
    double x = **(double *const *)a, y = **(double *const *)b;
    return (x > y) - (x < y);
}

bool gsim_holm(double *p, size_t n) {
    double **sorted = malloc((n ? n : 1) * sizeof *sorted);
    size_t m = 0;
    double least = 0;
    if (!sorted)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!isnan(p[i]))
            sorted[m++] = &p[i];
    qsort(sorted, m, sizeof *sorted, by_value);
    for (size_t i = 0; i < m; i++) {
        double adjusted = *sorted[i] * (double)(m - i);
        least = fmax(least, fmin(adjusted, 1));
        *sorted[i] = least;
    }
    free(sorted);
    return true;
}

/* --- bootstrap -------------------------------------------------------------------------------- */

bool gsim_bootstrap_begin(struct gsim_bootstrap *b, size_t n_units, uint64_t seed) {
    *b = (struct gsim_bootstrap){.n_units = n_units};
    b->weight = calloc(n_units ? n_units : 1, sizeof *b->weight);
    b->rng = gsim_rng_stream(seed, 0, "bootstrap");
    return b->weight && b->rng;
}

void gsim_bootstrap_draw(struct gsim_bootstrap *b) {
    memset(b->weight, 0, b->n_units * sizeof *b->weight);
    for (size_t i = 0; i < b->n_units; i++)
        b->weight[gsl_rng_uniform_int(b->rng, b->n_units)]++;
}

void gsim_bootstrap_end(struct gsim_bootstrap *b) {
    free(b->weight);
    if (b->rng)
        gsl_rng_free(b->rng);
    *b = (struct gsim_bootstrap){0};
}

bool gsim_bootstrap_interval(double *resampled, double estimate, struct gsim_interval *out) {
    *out = (struct gsim_interval){estimate, (double)NAN, (double)NAN};
    for (int i = 0; i < GSIM_RESAMPLES; i++)
        if (isnan(resampled[i]))
            return true; /* some draw had nothing in it: there is no interval */
    if (!gsim_sort_f64(resampled, GSIM_RESAMPLES))
        return false;
    out->low = gsim_quantile_sorted(resampled, GSIM_RESAMPLES, 0.025);
    out->high = gsim_quantile_sorted(resampled, GSIM_RESAMPLES, 0.975);
    return true;
}

double gsim_bootstrap_p(const double *resampled, double value) {
    int n_below = 0, n_above = 0;
    for (int i = 0; i < GSIM_RESAMPLES; i++) {
        if (isnan(resampled[i]))
            return (double)NAN;
        n_below += resampled[i] <= value;
        n_above += resampled[i] >= value;
    }
    int least = n_below < n_above ? n_below : n_above;
    return fmin(1, 2.0 * (least + 1) / (GSIM_RESAMPLES + 1));
}
