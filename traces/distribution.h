/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Distributions by name: their parameters as data, draws through GSL, exact means. */
#ifndef GSIM_TRACES_DISTRIBUTION_H
#define GSIM_TRACES_DISTRIBUTION_H

#include <gsl/gsl_rng.h>
#include <stdbool.h>
#include <stdint.h>

enum { GSIM_DIST_PARAMS = 3 };

enum gsim_dist_kind {
    GSIM_DIST_DETERMINISTIC, /* value */
    GSIM_DIST_UNIFORM, /* lo, hi */
    GSIM_DIST_EXPONENTIAL, /* mean */
    GSIM_DIST_LOGNORMAL, /* mu, sigma of the logarithm */
    GSIM_DIST_WEIBULL, /* scale, shape */
    GSIM_DIST_PARETO, /* scale (the least value), alpha */
    GSIM_DIST_BOUNDED_PARETO, /* lo, hi, alpha */
    GSIM_DIST_CHOICE, /* values with weights */
    GSIM_DIST_EMPIRICAL, /* values from a file, equally likely */
    GSIM_DIST_QUANTILES, /* ascending values, with equal shares of the draws between them */
    GSIM_DIST_COUNT
};

struct gsim_dist_def {
    const char *name; /* as in distribution = */
    const char *param[GSIM_DIST_PARAMS];
    const char *accepts; /* condition on the parameters, for messages */
};
extern const struct gsim_dist_def gsim_dists[GSIM_DIST_COUNT];

struct gsim_dist {
    enum gsim_dist_kind kind;
    double param[GSIM_DIST_PARAMS];
    const double *value; /* choice, empirical, quantiles */
    const double *cumulative; /* choice: cumulative weights, the last is 1 */
    uint32_t n;
};

bool gsim_dist_is_valid(const struct gsim_dist *dist);
double gsim_dist_draw(const struct gsim_dist *dist, gsl_rng *rng);
/* Draws the position of a choice, for values that may be texts of the caller. */
uint32_t gsim_dist_draw_choice(const struct gsim_dist *dist, gsl_rng *rng);
/* Infinite for a Pareto with alpha <= 1. */
double gsim_dist_mean(const struct gsim_dist *dist);

#endif
