/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The maximum likelihood estimates are the textbook formulas (Johnson, Kotz and Balakrishnan,
 * Continuous Univariate Distributions, 1994): closed forms, except for the Weibull's shape, which
 * is the root of a falling function. Distribution functions and their inverses are GSL's. */
#include "traces/fit.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* The range of a Weibull's shape; service times of clusters have 0.2 to 1. */
static const double LEAST_SHAPE = 0.01, MOST_SHAPE = 100;
enum { HALVINGS = 60 };

bool gsim_fit_knows(enum gsim_dist_kind kind) {
    return kind == GSIM_DIST_EXPONENTIAL || kind == GSIM_DIST_LOGNORMAL ||
           kind == GSIM_DIST_WEIBULL || kind == GSIM_DIST_PARETO;
}

static double mean(const double *sample, uint32_t n) {
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += sample[i];
    return sum / n;
}

static double mean_log(const double *sample, uint32_t n) {
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += log(sample[i]);
    return sum / n;
}

static double deviation_log(const double *sample, uint32_t n, double mu) {
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += (log(sample[i]) - mu) * (log(sample[i]) - mu);
    return sqrt(sum / n);
}

/* The derivative of the likelihood by the shape, with the best scale for that shape. Samples are
 * taken relative to the largest, so that no power overflows. */
static double weibull_slope(const double *sample, uint32_t n, double shape, double mu) {
    double largest = sample[n - 1], powers = 0, weighted = 0;
    for (uint32_t i = 0; i < n; i++) {
        double power = pow(sample[i] / largest, shape);
        powers += power;
        weighted += power * log(sample[i]);
    }
    return 1 / shape + mu - weighted / powers;
}

static void fit_weibull(const double *sample, uint32_t n, double mu, double *param) {
    double low = LEAST_SHAPE, high = MOST_SHAPE, powers = 0, largest = sample[n - 1];
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2;
        if (weibull_slope(sample, n, middle, mu) > 0)
            low = middle;
        else
            high = middle;
    }
    for (uint32_t i = 0; i < n; i++)
        powers += pow(sample[i] / largest, low);
    param[0] = largest * pow(powers / n, 1 / low);
    param[1] = low;
}

static double cdf(const struct gsim_dist *dist, double x) {
    const double *p = dist->param;
    switch (dist->kind) {
    case GSIM_DIST_EXPONENTIAL:
        return gsl_cdf_exponential_P(x, p[0]);
    case GSIM_DIST_LOGNORMAL:
        return gsl_cdf_lognormal_P(x, p[0], p[1]);
    case GSIM_DIST_WEIBULL:
        return gsl_cdf_weibull_P(x, p[0], p[1]);
    case GSIM_DIST_PARETO:
        return gsl_cdf_pareto_P(x, p[1], p[0]);
    default:
        return NAN;
    }
}

double gsim_fit_quantile(const struct gsim_dist *dist, double p) {
    const double *of = dist->param;
    switch (dist->kind) {
    case GSIM_DIST_EXPONENTIAL:
        return gsl_cdf_exponential_Pinv(p, of[0]);
    case GSIM_DIST_LOGNORMAL:
        return gsl_cdf_lognormal_Pinv(p, of[0], of[1]);
    case GSIM_DIST_WEIBULL:
        return gsl_cdf_weibull_Pinv(p, of[0], of[1]);
    case GSIM_DIST_PARETO:
        return gsl_cdf_pareto_Pinv(p, of[1], of[0]);
    default:
        return NAN;
    }
}

static double distance(const struct gsim_dist *dist, const double *sample, uint32_t n) {
    double most = 0;
    for (uint32_t i = 0; i < n; i++) {
        double is = cdf(dist, sample[i]), below = (double)i / n, with = (double)(i + 1) / n;
        most = fmax(most, fmax(fabs(is - below), fabs(is - with)));
    }
    return most;
}

bool gsim_fit_samples(enum gsim_dist_kind kind, const double *sample, uint32_t n,
                      struct gsim_fit *out) {
    if (n < 2 || sample[0] == sample[n - 1])
        return false;
    *out = (struct gsim_fit){.dist = {.kind = kind}};
    double *param = out->dist.param, mu = mean_log(sample, n);
    if (kind == GSIM_DIST_EXPONENTIAL) {
        param[0] = mean(sample, n);
    } else if (kind == GSIM_DIST_LOGNORMAL) {
        param[0] = mu;
        param[1] = deviation_log(sample, n, mu);
    } else if (kind == GSIM_DIST_WEIBULL) {
        fit_weibull(sample, n, mu, param);
    } else {
        param[0] = sample[0];
        param[1] = 1 / (mu - log(sample[0]));
    }
    out->distance = distance(&out->dist, sample, n);
    return true;
}
