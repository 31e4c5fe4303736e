/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Promotion of starved jobs, and the ranks within a queue that go with it. */
#ifndef GSIM_POLICIES_TIRESIAS_PROMOTION_H
#define GSIM_POLICIES_TIRESIAS_PROMOTION_H

#include "gsim/policy.h"
#include "sim/base/index.h"

/* Ranks: the queue, then the order within it. Jobs that have started come first, by the time of
 * their start; behind them jobs that have not, by the time they came into the queue. */
#define GSIM_QUEUE_RANK (INT64_C(1) << 44)
#define GSIM_NOT_STARTED (INT64_C(1) << 43)

/* A job's service and waiting since its last promotion, and its place in a queue. */
struct gsim_promotion_job {
    int64_t base_ns; /* attained service at its last promotion */
    /* waited_ns: after it has run, up to since_ns; since_ns: begin of its wait */
    int64_t waited_ns, since_ns;
    int64_t order;
    bool is_counting; /* its waiting counts */
};

struct gsim_promotion {
    int64_t knob_ppm; /* promote after waiting for the run time times this; 0: never */
    struct gsim_index due; /* waiting jobs by the time of their promotion */
    int64_t n_starts, n_rounds; /* n_rounds: instants at which jobs were promoted */
    int64_t started_ns, started_order; /* of the last start: when, and the job's place before it */
};

void gsim_promotion_arrive(const struct gsim_promotion *promotion, struct gsim_promotion_job *job);
/* A job begins to wait; is_in_first: in the first queue. */
void gsim_promotion_wait(struct gsim_promotion *promotion, struct gsim_ctx *ctx, gsim_slot slot,
                         struct gsim_promotion_job *job, bool is_in_first);
void gsim_promotion_run(struct gsim_promotion *promotion, const struct gsim_ctx *ctx,
                        gsim_slot slot, struct gsim_promotion_job *job);
/* A job has started for the first time, or since its last promotion. Those of one instant are told
 * in the order of their places; where these are equal their order is the trace's. */
void gsim_promotion_start(struct gsim_promotion *promotion, const struct gsim_ctx *ctx,
                          gsim_slot slot, struct gsim_promotion_job *job);
/* Takes a waiting job that is due; GSIM_NO_SLOT: none. */
gsim_slot gsim_promotion_take(struct gsim_promotion *promotion, const struct gsim_ctx *ctx);
/* Jobs that this plan has placed wait no more: the timer must not go off for them. */
void gsim_promotion_forget_placed(struct gsim_promotion *promotion, const struct gsim_plan *plan);
/* Gives the job a clean sheet: it becomes the last job that waits in the first queue. */
void gsim_promotion_promote(const struct gsim_promotion *promotion, const struct gsim_ctx *ctx,
                            gsim_slot slot, struct gsim_promotion_job *job);

#endif
