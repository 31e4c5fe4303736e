/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fits a distribution to positive samples by maximum likelihood, and gives its quantiles: a history
 * of service that is smooth where the samples were few (tiresias.history). */
#ifndef GSIM_TRACES_FIT_H
#define GSIM_TRACES_FIT_H

#include "traces/distribution.h"

struct gsim_fit {
    struct gsim_dist dist;
    /* Kolmogorov and Smirnov's: the largest difference of the distribution functions */
    double distance;
};

/* Whether this kind can be fitted: exponential, lognormal, weibull and pareto. */
bool gsim_fit_knows(enum gsim_dist_kind kind);
/* Fits ascending samples, all above 0. false: all samples are equal, so there is no scale to
 * fit. */
bool gsim_fit_samples(enum gsim_dist_kind kind, const double *sample, uint32_t n,
                      struct gsim_fit *out);
/* The value that a share p of all values does not exceed, 0 < p < 1. */
double gsim_fit_quantile(const struct gsim_dist *dist, double p);

#endif
