/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The precision with which one run of one trace estimates the mean of a longer trace. Jobs that met
 * in one queue are not independent, so n jobs are worth n / memory independent jobs. If that number
 * is small, no interval would be honest, and none is computed (coverage: docs/compare.md). */
#ifndef GSIM_APP_DEPENDENCE_H
#define GSIM_APP_DEPENDENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/app/statistics/stats.h"

/* Five batches instead of the usual 10 to 30: fewer batches are longer and less correlated. If a
 * run has 15 times as many jobs as its memory, intervals over five batches cover the mean
 * (docs/compare.md has the study). */
enum { GSIM_BATCHES = 5, GSIM_LEAST_MEMORIES = 15 };

/* The memory of a queue: the correlations of completion times, summed over all lags in both
 * directions, in jobs, as they follow from arrivals and work alone. The workload near saturation is
 * a reflected Brownian motion with a time constant of (ca^2 + cs^2) / (1 - load)^2 jobs, and its
 * correlations sum to twice that (Whitt, Planning queueing simulations, Management Science 35(11),
 * 1989). The completion times alone would mislead: among short runs, those that have seen little of
 * the correlation look independent. INFINITY from load 1 on. gap_s: n - 1 gaps between n arrivals;
 * work_s: GPU time of each job. */
double gsim_memory_of_queue(const double *gap_s, const double *work_s, size_t n, double gpus);
/* The memory as the values show it: their autocorrelations up to the end of Geyer's initial
 * positive sequence (Practical Markov chain Monte Carlo, Statistical Science 7(4), 1992). At least
 * 1. */
double gsim_memory_of_values(const double *values, size_t n);
static inline bool gsim_is_enough(size_t n, double memory) {
    return n >= 2 * GSIM_BATCHES && (double)n >= GSIM_LEAST_MEMORIES * memory;
}
/* Computes the means of GSIM_BATCHES batches of equal size; the first n % GSIM_BATCHES values are
 * left out. */
void gsim_batch_means(const double *values, size_t n, double *means);

#endif
