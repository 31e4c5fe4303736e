/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/shockwave/plan.h"

#include <stddef.h>

#include "policies/lib/real.h"

/* --- one job ---------------------------------------------------------------------------------- */

/* The logarithm in straight pieces between these parts of a job, as its authors have it; at 0 it is
 * that of a millionth. */
static double log_of(double part) {
    const double nothing = 1e-6, pieces = 5;
    uint32_t at = 0;
    while (at + 1 < (uint32_t)pieces && part * pieces > at + 1)
        at++;
    double low = gsim_real_log(at == 0 ? nothing : at / pieces);
    double high = gsim_real_log((at + 1) / pieces);
    double inside = part * pieces - at;
    return low + (high - low) * (inside < 1 ? inside : 1);
}

/* Its work in that many rounds, at most all its epochs. */
static double work_s(const struct gsim_future *f, const struct gsim_future_job *job, uint32_t n) {
    double most_s = (job->all - job->done) * job->epoch_s, given_s = n * f->round_s;
    return given_s < most_s ? given_s : most_s;
}

static double utility(const struct gsim_future *f, const struct gsim_future_job *job, uint32_t n) {
    double part = (job->done + work_s(f, job, n) / job->epoch_s) / job->all;
    return job->weight * log_of(part) / ((double)f->n * f->n_rounds);
}

static double left_s(const struct gsim_future *f, const struct gsim_future_job *job, uint32_t n) {
    double left = job->left_s - work_s(f, job, n);
    return left > 0 ? left : 0;
}

/* The fewest rounds after which no more is left; more than there are: none do. */
static uint32_t rounds_for(const struct gsim_future *f, const struct gsim_future_job *job,
                           double most_left_s) {
    uint32_t n = 0;
    while (n <= f->n_rounds && left_s(f, job, n) > most_left_s)
        n++;
    return n;
}

/* --- all jobs --------------------------------------------------------------------------------- */

static double longest_left_s(const struct gsim_future *f) {
    double longest = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        double left = left_s(f, &f->job[i], f->job[i].next);
        longest = left > longest ? left : longest;
    }
    return longest;
}

static double value(const struct gsim_future *f) {
    double sum = 0;
    for (uint32_t i = 0; i < f->n; i++)
        sum += utility(f, &f->job[i], f->job[i].next);
    return sum - f->price * longest_left_s(f);
}

static void find_gain(const struct gsim_future *f, struct gsim_future_job *job) {
    job->gain = -1;
    if (job->next < f->n_rounds && work_s(f, job, job->next + 1) > work_s(f, job, job->next))
        job->gain = (utility(f, job, job->next + 1) - utility(f, job, job->next)) / job->gpus;
}

/* Gives what the bounds demand. Returns the rounds of GPUs that are left; -1: there are too few. */
static int64_t give_demanded(struct gsim_future *f, bool has_bounds, double most_left_s) {
    int64_t left = (int64_t)f->n_gpus * f->n_rounds;
    for (uint32_t i = 0; i < f->n; i++) {
        struct gsim_future_job *job = &f->job[i];
        double most = has_bounds && job->most_left_s < most_left_s ? job->most_left_s : most_left_s;
        job->next = rounds_for(f, job, most);
        if (job->next > f->n_rounds)
            return -1;
        left -= (int64_t)job->next * job->gpus;
        if (left < 0)
            return -1;
        find_gain(f, job);
    }
    return left;
}

static void give_others(struct gsim_future *f, int64_t left) {
    for (;;) {
        struct gsim_future_job *best = NULL;
        for (uint32_t i = 0; i < f->n; i++)
            if (f->job[i].gain > 0 && f->job[i].gpus <= left &&
                (!best || f->job[i].gain > best->gain))
                best = &f->job[i];
        if (!best)
            return;
        best->next++;
        left -= best->gpus;
        find_gain(f, best);
    }
}

bool gsim_future_plan(struct gsim_future *f, bool has_bounds) {
    double first_s = 0, best = 0;
    bool has_plan = false;
    for (uint32_t i = 0; i < f->n; i++)
        first_s = f->job[i].left_s > first_s ? f->job[i].left_s : first_s;
    for (uint32_t step = 0; step <= f->n_rounds; step++) {
        double most_s = first_s - step * f->round_s;
        int64_t left = give_demanded(f, has_bounds, most_s > 0 ? most_s : 0);
        if (left < 0)
            break;
        give_others(f, left);
        double found = value(f);
        if (!has_plan || found > best) {
            for (uint32_t i = 0; i < f->n; i++)
                f->job[i].rounds = f->job[i].next;
            best = found;
        }
        has_plan = true;
    }
    return has_plan;
}

double gsim_future_value(const struct gsim_future *f) {
    for (uint32_t i = 0; i < f->n; i++)
        f->job[i].next = f->job[i].rounds;
    return value(f);
}
