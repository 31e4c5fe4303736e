/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Promotion of starved jobs, and the ranks within a queue that go with it. */
#ifndef GSIM_POLICIES_TIRESIAS_PROMOTION_H
#define GSIM_POLICIES_TIRESIAS_PROMOTION_H

#include "gsim/policy.h"
#include "sim/base/index.h"

/* Ranks: the queue, then the order within it. Those that have started come by when they did; behind
 * them, by when they came into the queue, those that have not. */
#define GSIM_QUEUE_RANK (INT64_C(1) << 44)
#define GSIM_NOT_STARTED (INT64_C(1) << 43)

/* Of a job: what it has had since its last promotion, and its place in a queue. */
struct gsim_promotion_job {
    int64_t base_ns; /* attained when it was last promoted */
    int64_t waited_ns, since_ns; /* after it has run; up to since_ns, when it began to wait */
    int64_t order;
    bool is_counting; /* its waiting counts */
};

struct gsim_promotion {
    int64_t knob_ppm; /* after waiting so many times what it ran; 0: never */
    struct gsim_index due; /* waiting jobs by the time of their promotion */
    int64_t n_started, n_rounds; /* rounds: instants at which jobs were promoted */
};

void gsim_promotion_arrive(const struct gsim_promotion *promotion, struct gsim_promotion_job *job);
/* A job of another queue than the first begins to wait, or one of the first does. */
void gsim_promotion_wait(struct gsim_promotion *promotion, struct gsim_ctx *ctx, gsim_slot slot,
                         struct gsim_promotion_job *job, bool is_in_first);
void gsim_promotion_run(struct gsim_promotion *promotion, const struct gsim_ctx *ctx,
                        gsim_slot slot, struct gsim_promotion_job *job);
/* Takes a waiting job that is due; GSIM_NO_SLOT: none. */
gsim_slot gsim_promotion_take(struct gsim_promotion *promotion, const struct gsim_ctx *ctx);
/* Jobs that this plan has placed wait no more: nothing is to happen when the first of them were due. */
void gsim_promotion_forget_placed(struct gsim_promotion *promotion, const struct gsim_plan *plan);
/* A clean sheet: it is the last of those that wait in the first queue now. */
void gsim_promotion_promote(const struct gsim_promotion *promotion, const struct gsim_ctx *ctx,
                            gsim_slot slot, struct gsim_promotion_job *job);

#endif
