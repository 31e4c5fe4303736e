/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GSL draws; the means are the textbook formulas (Johnson, Kotz and Balakrishnan, Continuous
 * Univariate Distributions, 1994), the bounded Pareto's as in Harchol-Balter's work on heavy
 * tails. */
#include "traces/distribution.h"

#include <gsl/gsl_randist.h>
#include <math.h>

const struct gsim_dist_def gsim_dists[GSIM_DIST_COUNT] = {
    [GSIM_DIST_DETERMINISTIC] = {"deterministic", {"value"}, "value >= 0"},
    [GSIM_DIST_UNIFORM] = {"uniform", {"lo", "hi"}, "0 <= lo <= hi"},
    [GSIM_DIST_EXPONENTIAL] = {"exponential", {"mean"}, "mean > 0"},
    [GSIM_DIST_LOGNORMAL] = {"lognormal", {"mu", "sigma"}, "sigma >= 0"},
    [GSIM_DIST_WEIBULL] = {"weibull", {"scale", "shape"}, "scale > 0 and shape > 0"},
    [GSIM_DIST_PARETO] = {"pareto", {"scale", "alpha"}, "scale > 0 and alpha > 0"},
    [GSIM_DIST_BOUNDED_PARETO] = {"bounded-pareto",
                                  {"lo", "hi", "alpha"},
                                  "0 < lo < hi and alpha > 0"},
    [GSIM_DIST_CHOICE] = {"choice", {NULL}, "values and weights >= 0, not all weights 0"},
    [GSIM_DIST_EMPIRICAL] = {"empirical", {NULL}, "values >= 0"},
    [GSIM_DIST_QUANTILES] = {"quantiles", {NULL}, "two or more values >= 0, rising"},
};

bool gsim_dist_is_valid(const struct gsim_dist *dist) {
    double a = dist->param[0], b = dist->param[1], c = dist->param[2];
    switch (dist->kind) {
    case GSIM_DIST_DETERMINISTIC:
        return a >= 0;
    case GSIM_DIST_UNIFORM:
        return 0 <= a && a <= b;
    case GSIM_DIST_EXPONENTIAL:
        return a > 0;
    case GSIM_DIST_LOGNORMAL:
        return b >= 0;
    case GSIM_DIST_WEIBULL:
    case GSIM_DIST_PARETO:
        return a > 0 && b > 0;
    case GSIM_DIST_BOUNDED_PARETO:
        return 0 < a && a < b && c > 0;
    case GSIM_DIST_CHOICE:
    case GSIM_DIST_EMPIRICAL:
        return dist->n > 0;
    case GSIM_DIST_QUANTILES:
    case GSIM_DIST_COUNT:
        break;
    }
    return dist->n > 1;
}

uint32_t gsim_dist_draw_choice(const struct gsim_dist *dist, gsl_rng *rng) {
    double u = gsl_rng_uniform(rng);
    uint32_t low = 0, high = dist->n - 1; /* the first place with a cumulative weight above u */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (dist->cumulative[middle] > u)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Draws by the inverse of the distribution function. */
static double draw_bounded_pareto(const double *param, gsl_rng *rng) {
    double lo = param[0], hi = param[1], alpha = param[2];
    double u = gsl_rng_uniform(rng);
    return lo / pow(1 - u * (1 - pow(lo / hi, alpha)), 1 / alpha);
}

/* Between two quantiles the logarithm is uniform: durations spread over orders of magnitude. */
static double draw_quantiles(const struct gsim_dist *dist, gsl_rng *rng) {
    double at = gsl_rng_uniform(rng) * (dist->n - 1), part = at - floor(at);
    double low = dist->value[(uint32_t)at], high = dist->value[(uint32_t)at + 1];
    return low > 0 ? low * pow(high / low, part) : low + (high - low) * part;
}

double gsim_dist_draw(const struct gsim_dist *dist, gsl_rng *rng) {
    const double *p = dist->param;
    switch (dist->kind) {
    case GSIM_DIST_DETERMINISTIC:
        return p[0];
    case GSIM_DIST_UNIFORM:
        return p[0] + (p[1] - p[0]) * gsl_rng_uniform(rng);
    case GSIM_DIST_EXPONENTIAL:
        return gsl_ran_exponential(rng, p[0]);
    case GSIM_DIST_LOGNORMAL:
        return gsl_ran_lognormal(rng, p[0], p[1]);
    case GSIM_DIST_WEIBULL:
        return gsl_ran_weibull(rng, p[0], p[1]);
    case GSIM_DIST_PARETO:
        return gsl_ran_pareto(rng, p[1], p[0]);
    case GSIM_DIST_BOUNDED_PARETO:
        return draw_bounded_pareto(p, rng);
    case GSIM_DIST_CHOICE:
        return dist->value[gsim_dist_draw_choice(dist, rng)];
    case GSIM_DIST_EMPIRICAL:
        return dist->value[(uint32_t)(gsl_rng_uniform(rng) * dist->n)];
    case GSIM_DIST_QUANTILES:
        return draw_quantiles(dist, rng);
    case GSIM_DIST_COUNT:
        break;
    }
    return NAN;
}

static double mean_of_values(const struct gsim_dist *dist) {
    double sum = 0, before = 0;
    for (uint32_t i = 0; i < dist->n; i++) {
        double share = dist->cumulative ? dist->cumulative[i] - before : 1.0 / dist->n;
        sum += share * dist->value[i];
        before = dist->cumulative ? dist->cumulative[i] : 0;
    }
    return sum;
}

static double mean_of_bounded_pareto(double lo, double hi, double alpha) {
    if (fabs(alpha - 1) < 1e-9)
        return lo * hi / (hi - lo) * log(hi / lo);
    double ratio = pow(lo / hi, alpha);
    return alpha / (alpha - 1) * (lo - hi * ratio) / (1 - ratio);
}

static double mean_of_quantiles(const struct gsim_dist *dist) {
    double sum = 0;
    for (uint32_t i = 0; i + 1 < dist->n; i++) {
        double low = dist->value[i], high = dist->value[i + 1];
        sum += low > 0 && high > low ? (high - low) / log(high / low) : (low + high) / 2;
    }
    return sum / (dist->n - 1);
}

double gsim_dist_mean(const struct gsim_dist *dist) {
    const double *p = dist->param;
    switch (dist->kind) {
    case GSIM_DIST_DETERMINISTIC:
    case GSIM_DIST_EXPONENTIAL:
        return p[0];
    case GSIM_DIST_UNIFORM:
        return (p[0] + p[1]) / 2;
    case GSIM_DIST_LOGNORMAL:
        return exp(p[0] + p[1] * p[1] / 2);
    case GSIM_DIST_WEIBULL:
        return p[0] * tgamma(1 + 1 / p[1]);
    case GSIM_DIST_PARETO:
        return p[1] > 1 ? p[0] * p[1] / (p[1] - 1) : INFINITY;
    case GSIM_DIST_BOUNDED_PARETO:
        return mean_of_bounded_pareto(p[0], p[1], p[2]);
    case GSIM_DIST_CHOICE:
    case GSIM_DIST_EMPIRICAL:
        return mean_of_values(dist);
    case GSIM_DIST_QUANTILES:
        return mean_of_quantiles(dist);
    case GSIM_DIST_COUNT:
        break;
    }
    return NAN;
}
