/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The precision with which one run of one trace estimates the mean of a longer trace. Jobs that met
 * in one queue are not independent, so n jobs are worth n / memory independent jobs. If that number
 * is small, no interval would be honest, and none is computed (coverage: docs/compare.md). */
#ifndef GSIM_STUDY_DEPENDENCE_H
#define GSIM_STUDY_DEPENDENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/study/stats.h"

/* Five batches instead of the usual 10 to 30: fewer batches are longer and less correlated. */
enum { GSIM_BATCHES = 5 };

/* What the arrivals and the work of a run say of the queue that they make, whatever the policy. A
 * run knows its load from its own jobs only, and one that has seen less than its share of work has
 * a mean that is too low and looks long enough. So it is judged by the highest load that it leaves
 * open: its own and three standard errors. */
struct gsim_dependence {
    double load; /* as the run has it; INFINITY: all work arrives at once */
    /* The correlations of completion times at that highest load, summed over all lags in both
     * directions, in jobs. The workload near saturation is a reflected Brownian motion with a time
     * constant of (ca^2 + cs^2) / (1 - load)^2 jobs, and its correlations sum to twice that (Whitt,
     * Planning queueing simulations, Management Science 35(11), 1989). INFINITY: that load may be
     * one or more. */
    double memory;
    /* The share by which jobs larger than any of the run may raise the mean. A mean wait is
     * proportional to the second moment of work (Pollaczek and Khinchine), and by the rule of three
     * (Hanley and Lippman-Hand, JAMA 249(13), 1983) what n jobs have not shown may be 3 in n. */
    double unseen;
};

/* gap_s: n - 1 gaps between n arrivals; work_s: GPU time of each job. */
struct gsim_dependence gsim_dependence_of(const double *gap_s, const double *work_s, size_t n,
                                          double gpus);
/* The memory as the values show it: their autocorrelations up to the end of Geyer's initial
 * positive sequence (Practical Markov chain Monte Carlo, Statistical Science 7(4), 1992). At least
 * 1. The values alone would mislead: among short runs, those that have seen little of the
 * correlation look independent. */
double gsim_memory_of_values(const double *values, size_t n);
/* Whether each batch is as long as the memory. */
static inline bool gsim_is_enough(size_t n, double memory) {
    return n >= 2 * GSIM_BATCHES && (double)n >= GSIM_BATCHES * memory;
}
/* Computes the means of GSIM_BATCHES batches of equal size; the first n % GSIM_BATCHES values are
 * left out. */
void gsim_batch_means(const double *values, size_t n, double *means);
/* The mean of the batches with its interval: Student's t over them, but no narrower than the memory
 * implies, and raised above by what the run cannot have seen. What a value has beyond alone[i], its
 * time without others, is correlated over the memory; the rest varies from job to job. The memory
 * is the larger of two, the queue's and that of the values. NaN at the ends: too few values. */
struct gsim_interval gsim_interval_of_run(const double *values, const double *alone, size_t n,
                                          const struct gsim_dependence *queue);

#endif
