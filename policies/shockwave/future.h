/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rounds to come, as a plan sees them (policies/shockwave/plan.h). */
#ifndef GSIM_POLICIES_SHOCKWAVE_FUTURE_H
#define GSIM_POLICIES_SHOCKWAVE_FUTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "gsim/arena.h"

struct gsim_future_job {
    double left_s; /* the time until the job's end, as expected */
    /* the time that may be left after the plan; below 0: no plan leaves so little */
    double most_left_s;
    double weight; /* of its utility */
    /* with is_bound, by gsim_future_measure: the logarithm of its progress; no less than what a
     * round adds to that, by GPU, or 0 where it cannot have one */
    double log_so_far, most_log_gain;
    uint32_t gpus;
    uint32_t rounds; /* the answer */
    uint32_t next; /* work of the search: rounds of the bound under way */
    uint32_t base, most_base; /* first rounds that gain more than the level; no less than these */
    double base_utility, base_next_utility, base_gain; /* with these rounds */
    bool is_bound; /* its weight is no more than that, and is asked for where it matters */
    double done, all; /* epochs */
    double epoch_s; /* the mean length of the epochs so far */
    double utility, next_utility; /* work of the search: with these rounds; with one more */
    double gain; /* the gain of one more round, by GPU; below 0: the job cannot have one */
    double first_utility, first_next_utility, first_gain; /* without a round */
};

/* A job and a number of it. */
struct gsim_future_rank {
    double value;
    uint32_t job;
};

/* A round that the first bound of a plan gave to a job, by its gain; or would have, had it fit. */
struct gsim_future_gift {
    struct gsim_future_rank rank;
    double utility; /* of the job with it */
    bool fits;
};

/* Jobs by a number, the largest first, of equal ones the first to come. They are put in order as
 * far as they are asked for: those that were stand at the end, the first one last. */
struct gsim_future_order {
    struct gsim_future_rank *rank;
    uint32_t n, n_piled; /* the others are a heap */
};

enum { GSIM_FUTURE_PIECES = 5 }; /* straight pieces of the logarithm */

struct gsim_future {
    struct gsim_future_job **job;
    uint32_t n;
    uint32_t n_gpus, n_rounds;
    double round_s;
    double price; /* what a second of the longest time left costs */
    /* where there are bounds: has the weights of these of the jobs from one on that have bounds */
    void (*weigh)(void *of, uint32_t from, uint32_t to);
    void *of;
    /* found: */
    uint32_t *kept, n_kept; /* the jobs that have rounds */
    struct gsim_future_order by_left; /* the time that each job has left without a round */
    uint32_t narrowest; /* GPUs of the narrowest job */
    /* work of the search, each as long as the jobs: */
    struct gsim_future_order by_gain; /* what each job gains by a first round, if it does */
    struct gsim_future_rank *more; /* a heap: what jobs with a round gain by one more */
    uint32_t n_more;
    uint32_t *demanding, n_demanding; /* jobs that need rounds whatever the bound on all */
    uint32_t *holder, n_holders; /* jobs with rounds under the bound under way */
    double filled_s; /* the bound under way */
    double *first_most; /* by job: what it gains by a first round, or no less than that */
    /* Rounds that gain more than the level are given without a look at their order: the jobs that
     * have some, and the rounds of all, by GPU, at most. */
    double level, least; /* least: of the rounds given one by one, what the last one gained */
    uint32_t *based, n_based;
    int64_t base_rounds;
    /* What the first bound gave jobs of which it demanded nothing, in its order, where there are
     * few rounds. */
    struct gsim_future_gift *gift;
    uint32_t n_gifts, room_gifts;
    bool has_gifts, are_gifts_all; /* they are noted; no other job gains by a round */
    uint32_t n_filled; /* bounds so far, of this plan */
    uint32_t *apart; /* by job: the last bound that did not give it rounds as the first one did */
    struct gsim_arena *arena;
    double slack; /* two values that differ by less may be in the other order when added up */
    double log_at[GSIM_FUTURE_PIECES + 1]; /* the logarithm where its pieces meet */
};

#endif
