/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job in the rounds to come: its work in some of them, its utility then, and the time left. */
#ifndef GSIM_POLICIES_SHOCKWAVE_ONE_JOB_H
#define GSIM_POLICIES_SHOCKWAVE_ONE_JOB_H

#include "policies/lib/real.h"
#include "policies/shockwave/future.h"

/* The logarithm in straight pieces between these parts of a job, as its authors have it; at 0 it is
 * that of a millionth. */
static inline void gsim_future_open_logs(struct gsim_future *f) {
    const double nothing = 1e-6, pieces = GSIM_FUTURE_PIECES;
    f->log_at[0] = gsim_real_log(nothing);
    for (uint32_t at = 1; at <= GSIM_FUTURE_PIECES; at++)
        f->log_at[at] = gsim_real_log(at / pieces);
}

static inline double gsim_future_log_of(const struct gsim_future *f, double part) {
    const double pieces = GSIM_FUTURE_PIECES;
    uint32_t at = 0;
    for (uint32_t next = 1; next < GSIM_FUTURE_PIECES; next++) /* without a branch to foresee */
        at += part * pieces > next;
    double low = f->log_at[at], high = f->log_at[at + 1];
    double inside = part * pieces - at;
    return low + (high - low) * (inside < 1 ? inside : 1);
}

/* Its work in that many rounds, at most all its epochs. */
static inline double gsim_future_work_s(const struct gsim_future *f,
                                        const struct gsim_future_job *job, uint32_t n) {
    double most_s = (job->all - job->done) * job->epoch_s, given_s = n * f->round_s;
    return given_s < most_s ? given_s : most_s;
}

static inline double gsim_future_part_done(const struct gsim_future *f,
                                           const struct gsim_future_job *job, uint32_t n) {
    return (job->done + gsim_future_work_s(f, job, n) / job->epoch_s) / job->all;
}

static inline double gsim_future_utility(const struct gsim_future *f,
                                         const struct gsim_future_job *job, uint32_t n) {
    return job->weight * gsim_future_log_of(f, gsim_future_part_done(f, job, n)) /
           ((double)f->n * f->n_rounds);
}

/* The gain of a round is a difference of two rounded utilities, each of which is off by less than
 * gsim_future_rounding_part of what it is. */
static const double gsim_future_rounding_part = 1e-13;

static inline double gsim_future_left_s(const struct gsim_future *f,
                                        const struct gsim_future_job *job, uint32_t n) {
    double left = job->left_s - gsim_future_work_s(f, job, n);
    return left > 0 ? left : 0;
}

/* More rounds never leave more. The fewest rounds after which no more is left; more than there are:
 * none do. */
static inline uint32_t gsim_future_rounds_for(const struct gsim_future *f,
                                              const struct gsim_future_job *job,
                                              double most_left_s) {
    uint32_t low = 0, high = f->n_rounds + 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (gsim_future_left_s(f, job, middle) > most_left_s)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The fewest rounds after which less is left, or all rounds. */
static inline uint32_t gsim_future_rounds_below(const struct gsim_future *f,
                                                const struct gsim_future_job *job, double less_s) {
    uint32_t low = 0, high = f->n_rounds;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (gsim_future_left_s(f, job, middle) >= less_s)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
