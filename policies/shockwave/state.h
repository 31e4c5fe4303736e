/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of shockwave share. */
#ifndef GSIM_POLICIES_SHOCKWAVE_STATE_H
#define GSIM_POLICIES_SHOCKWAVE_STATE_H

#include "policies/lib/heap.h"
#include "policies/lib/settings.h"
#include "policies/shockwave/plan.h"

/* A job, by its number in the trace. */
struct shockwave_job {
    gsim_slot slot;
    uint32_t gpus;
    /* Times at which it would end with an equal part of the cluster: as found last, the sum of
     * those before, each times the rounds for which it held, and their mean. */
    double fair_s, fair_sum, mean_fair_s;
    uint64_t first_round, last_round;
    double submit_s; /* since the origin */
    double had_s; /* how long it has run */
    /* of a known job that has no GPUs, the estimates stay until a node fails */
    uint32_t n_failures; /* of nodes by then */
    bool is_estimated, is_measured;
    bool is_holder;
    bool has_fair;
    bool has_ended;
    struct gsim_future_job future; /* what a plan asks of it, and its weight there */
    uint32_t rounds_left; /* of the plan */
    double weight; /* of the plan that it is in */
    double pace; /* its speed, of that in the trace, where that stays; 0: not known */
    uint64_t came; /* among all that have come */
    bool is_chosen, was_chosen; /* the job runs in this round; it ran in the last one */
    uint64_t shut_out_round; /* the round in which it finds no room; 0: it had some since */
};

/* Some of all jobs, by number. */
struct shockwave_list {
    uint32_t *number, n;
};

/* A job that may have a turn in a round. */
struct shockwave_turn {
    struct shockwave_job *job;
    uint32_t number;
    bool must; /* the job needs every round that is left of the plan */
};

enum { SHOCKWAVE_PIECES = 256, SHOCKWAVE_BOUNDS = 8 * SHOCKWAVE_PIECES };

struct shockwave {
    struct shockwave_job *job;
    struct shockwave_turn *turn; /* a heap, as long as the trace */
    uint32_t *active, n_active; /* by arrival */
    uint64_t n_came;
    struct gsim_future future; /* of the active jobs */
    struct shockwave_list ended; /* active ones that have */
    struct shockwave_list planned; /* jobs to which the plan gave rounds */
    struct shockwave_list chosen, before; /* jobs of this round, and of the one before */
    /* by arrival: jobs that this round places, and all that may have GPUs still */
    struct shockwave_list holders;
    uint32_t *merged; /* scratch */
    bool is_pending; /* some holder has GPUs to give up, or waits for some, or soon will */
    uint32_t n_gpus; /* GPUs of nodes that are up */
    bool is_one_type; /* all GPUs are */
    int64_t round_ns, ends_ns; /* the length of a round; the end of the round under way */
    /* from when lateness counts: the first submission since the cluster was last without jobs */
    int64_t origin_ns;
    /* the number of the round under way; of the round in which the plan was made */
    uint64_t round, planned_round;
    /* rounds that a plan reaches; rounds after which a plan is made anew */
    uint32_t n_rounds, most_rounds;
    uint32_t lambda;
    double plan_now_s, plan_part; /* since the origin; an equal part of the cluster */
    /* by whether a job is almost done, and lateness in pieces beyond 1 */
    double most_weight[2][SHOCKWAVE_BOUNDS];
    double *late; /* scratch: how late jobs are, and these jobs */
    struct shockwave_job **late_job;
    enum gsim_rule rule;
    struct gsim_preemption way;
    bool is_due; /* jobs came or ended since the last plan */
    bool is_counted; /* the fair ends take these jobs into account already */
};

double shockwave_since_origin_s(const struct shockwave *s, int64_t at_ns);
/* estimate.c: fills in what the plan asks of each active job, in their order. */
void shockwave_look_ahead(struct gsim_ctx *ctx, struct shockwave *s);
/* Weighs jobs that will end late by how late they are. */
void shockwave_weigh(struct gsim_ctx *ctx, struct shockwave *s);

#endif
