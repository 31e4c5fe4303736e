/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What one run of one trace can say about the mean that a longer trace would have. Jobs that met in
 * one queue are not independent, so n jobs say as much as n / memory independent ones would. Where
 * that is little, no interval is honest, and none is given (coverage: docs/compare.md). */
#ifndef GSIM_APP_DEPENDENCE_H
#define GSIM_APP_DEPENDENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/app/statistics/stats.h"

/* Five batches rather than the usual 10 to 30: fewer are longer and less alike, and where jobs are
 * 15 times as many as their memory this is what covers the mean (docs/compare.md has the study). */
enum { GSIM_BATCHES = 5, GSIM_LEAST_MEMORIES = 15 };

/* Over how many jobs, summed over all lags and both directions, completion times of one queue are
 * correlated, as arrivals and work alone imply: the workload near saturation is a reflected Brownian
 * motion, whose time constant is (ca^2 + cs^2) / (1 - load)^2 jobs and whose correlations sum to two
 * of them (Whitt, Planning queueing simulations, Management Science 35(11), 1989). The data alone
 * would not do: in a short trace it is the runs that saw little of it that look independent.
 * INFINITY from load 1 on. gap_s: n - 1 gaps between n arrivals; work_s: GPU time of each job. */
double gsim_memory_of_queue(const double *gap_s, const double *work_s, size_t n, double gpus);
/* The same as the values show it: the autocorrelations up to where Geyer's initial positive sequence
 * ends (Practical Markov chain Monte Carlo, Statistical Science 7(4), 1992). At least 1. */
double gsim_memory_of_values(const double *values, size_t n);
static inline bool gsim_is_enough(size_t n, double memory) {
    return n >= 2 * GSIM_BATCHES && (double)n >= GSIM_LEAST_MEMORIES * memory;
}
/* Means of GSIM_BATCHES stretches of equally many values, the first n % GSIM_BATCHES left out. */
void gsim_batch_means(const double *values, size_t n, double *means);

#endif
