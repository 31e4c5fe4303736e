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
    uint32_t rounds_left; /* of the plan */
    double weight, left_s; /* of the plan */
    double pace; /* its speed, of that in the trace, where that stays; 0: not known */
    bool has_ended;
    bool is_chosen, was_chosen; /* the job runs in this round; it ran in the last one */
    /* Times at which it would end with an equal part of the cluster: as found last, and the sum of
     * those before, each times the rounds for which it held. */
    double fair_s, fair_sum;
    uint64_t first_round, last_round;
    bool has_fair;
};

/* A job that may have a turn in a round; nth of the active ones. */
struct shockwave_turn {
    struct shockwave_job *job;
    uint32_t nth;
    bool must; /* the job needs every round that is left of the plan */
};

struct shockwave {
    struct shockwave_job *job;
    struct shockwave_turn *turn; /* a heap, as long as the trace */
    uint32_t *active, n_active; /* by arrival */
    struct gsim_future_job *future; /* of the active jobs */
    struct gsim_future_rank *by_gain; /* as long */
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
    double price;
    enum gsim_rule rule;
    struct gsim_preemption way;
    bool is_due; /* jobs came or ended since the last plan */
    bool is_counted; /* the fair ends take these jobs into account already */
};

/* estimate.c: fills in what the plan asks of each active job, in their order. */
void shockwave_look_ahead(struct gsim_ctx *ctx, struct shockwave *s);
/* Weighs jobs that will end late by how late they are. */
void shockwave_weigh(struct gsim_ctx *ctx, struct shockwave *s);

#endif
