/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/shockwave/plan.h"

#include <stddef.h>

#include "policies/lib/real.h"

/* --- one job ---------------------------------------------------------------------------------- */

/* The logarithm in straight pieces between these parts of a job, as its authors have it; at 0 it is
 * that of a millionth. */
static void open_logs(struct gsim_future *f) {
    const double nothing = 1e-6, pieces = GSIM_FUTURE_PIECES;
    f->log_at[0] = gsim_real_log(nothing);
    for (uint32_t at = 1; at <= GSIM_FUTURE_PIECES; at++)
        f->log_at[at] = gsim_real_log(at / pieces);
}

static double log_of(const struct gsim_future *f, double part) {
    const double pieces = GSIM_FUTURE_PIECES;
    uint32_t at = 0;
    for (uint32_t next = 1; next < GSIM_FUTURE_PIECES; next++) /* without a branch to foresee */
        at += part * pieces > next;
    double low = f->log_at[at], high = f->log_at[at + 1];
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
    return job->weight * log_of(f, part) / ((double)f->n * f->n_rounds);
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

static double sum_utilities(const struct gsim_future *f) {
    double sum = 0;
    for (uint32_t i = 0; i < f->n; i++)
        sum += f->job[i].utility;
    return sum;
}

/* What the job gains by one round more than it has, with which it has its utility. */
static void find_gain(const struct gsim_future *f, struct gsim_future_job *job) {
    job->gain = -1;
    job->next_utility = job->utility;
    if (job->next == f->n_rounds || work_s(f, job, job->next + 1) <= work_s(f, job, job->next))
        return;
    job->next_utility = utility(f, job, job->next + 1);
    job->gain = (job->next_utility - job->utility) / job->gpus;
}

/* Most jobs of a long queue have no round under most bounds: what they gain by the first one is
 * found once for all of them. */
static void find_first_gains(struct gsim_future *f) {
    f->narrowest = UINT32_MAX;
    for (uint32_t i = 0; i < f->n; i++) {
        struct gsim_future_job *job = &f->job[i];
        job->next = 0;
        job->utility = job->first_utility = utility(f, job, 0);
        find_gain(f, job);
        job->first_gain = job->gain;
        job->first_next_utility = job->next_utility;
        f->narrowest = job->gpus < f->narrowest ? job->gpus : f->narrowest;
    }
}

static void begin(const struct gsim_future *f, struct gsim_future_job *job) {
    job->utility = job->first_utility;
    job->next_utility = job->first_next_utility;
    job->gain = job->first_gain;
    if (job->next == 0)
        return;
    job->utility = utility(f, job, job->next);
    find_gain(f, job);
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
        begin(f, job);
    }
    return left;
}

/* The heap of the jobs that gain by one more round: the job that gains more is before another; of
 * equal ones the first to come. It is made and emptied for each bound, and so has its numbers in
 * place where gsim_heap would ask for each comparison. */
static bool is_before(struct gsim_future_rank a, struct gsim_future_rank b) {
    return a.gain > b.gain || (!(a.gain < b.gain) && a.job < b.job);
}

static void sink(struct gsim_future_rank *heap, uint32_t n, uint32_t at) {
    struct gsim_future_rank moved = heap[at];
    for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
        child += child + 1 < n && is_before(heap[child + 1], heap[child]);
        if (is_before(moved, heap[child]))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

static uint32_t pile(const struct gsim_future *f) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n; i++)
        if (f->job[i].gain > 0)
            f->by_gain[n++] = (struct gsim_future_rank){f->job[i].gain, i};
    for (uint32_t at = n / 2; at-- > 0;)
        sink(f->by_gain, n, at);
    return n;
}

/* A job that no longer fits never will: the rounds that are left only get fewer. */
static void give_others(struct gsim_future *f, int64_t left) {
    struct gsim_future_rank *heap = f->by_gain;
    uint32_t n = pile(f);
    while (n > 0 && left >= f->narrowest) {
        struct gsim_future_job *best = &f->job[heap[0].job];
        bool fits = best->gpus <= left;
        if (fits) {
            best->next++;
            best->utility = best->next_utility;
            left -= best->gpus;
            find_gain(f, best);
        }
        if (fits && best->gain > 0)
            heap[0].gain = best->gain;
        else
            heap[0] = heap[--n];
        if (n > 1)
            sink(heap, n, 0);
    }
}

/* --- bounds on the longest time left ---------------------------------------------------------- */

struct search {
    struct gsim_future *f;
    bool has_bounds, has_plan;
    double best; /* the value of the plan that is kept */
};

/* Finds the rounds of the largest utility under a bound, and keeps them where their value is the
 * largest so far. false: no plan leaves so little. */
static bool try_bound(struct search *s, double most_left_s, double *utility) {
    struct gsim_future *f = s->f;
    int64_t left = give_demanded(f, s->has_bounds, most_left_s);
    if (left < 0)
        return false;
    give_others(f, left);
    *utility = sum_utilities(f);
    double found = *utility - f->price * longest_left_s(f);
    for (uint32_t i = 0; i < f->n && (!s->has_plan || found > s->best); i++)
        f->job[i].rounds = f->job[i].next;
    s->best = !s->has_plan || found > s->best ? found : s->best;
    s->has_plan = true;
    return true;
}

/* The longest time below `most_s` that some job has left after some number of rounds; 0: none. */
static double longest_below(const struct gsim_future *f, double most_s) {
    double longest = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t n = 0;
        while (n < f->n_rounds && left_s(f, &f->job[i], n) >= most_s)
            n++;
        double left = left_s(f, &f->job[i], n);
        longest = left < most_s && left > longest ? left : longest;
    }
    return longest;
}

/* The shortest such time from `least_s` on, of those up to `shortest`, which is one. */
static double shortest_from(const struct gsim_future *f, double least_s, double shortest) {
    for (uint32_t i = 0; i < f->n; i++)
        for (uint32_t n = 0; n <= f->n_rounds; n++) {
            double left = left_s(f, &f->job[i], n);
            if (left < least_s)
                break;
            shortest = left < shortest ? left : shortest;
        }
    return shortest;
}

/* Tries the bounds between two that were tried, in halves, the tighter one first. A tighter bound
 * has no more utility than a looser one, so that none is worth more than the utility of the loose
 * one less the price of the tight one. */
static void try_between(struct search *s, double tight_s, double loose_s, double utility) {
    const struct gsim_future *f = s->f;
    while (utility - f->price * tight_s > s->best) {
        double next_s = longest_below(f, loose_s), inner;
        if (next_s <= tight_s)
            return;
        double middle_s = shortest_from(f, tight_s + (next_s - tight_s) / 2, next_s);
        if (try_bound(s, middle_s, &inner))
            try_between(s, tight_s, middle_s, inner);
        tight_s = middle_s;
    }
}

bool gsim_future_plan(struct gsim_future *f, bool has_bounds) {
    struct search s = {.f = f, .has_bounds = has_bounds};
    double first_s = 0, utility, least;
    open_logs(f);
    find_first_gains(f);
    for (uint32_t i = 0; i < f->n; i++)
        first_s = f->job[i].left_s > first_s ? f->job[i].left_s : first_s;
    if (!try_bound(&s, first_s, &utility))
        return false;
    (void)try_bound(&s, 0, &least);
    try_between(&s, 0, first_s, utility);
    return true;
}

double gsim_future_value(struct gsim_future *f) {
    open_logs(f);
    for (uint32_t i = 0; i < f->n; i++) {
        f->job[i].next = f->job[i].rounds;
        f->job[i].utility = utility(f, &f->job[i], f->job[i].next);
    }
    return sum_utilities(f) - f->price * longest_left_s(f);
}
