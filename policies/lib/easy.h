/* SPDX-License-Identifier: GPL-3.0-or-later */
/* EASY backfilling over any placement rule, by the time limits of jobs, and the queue of the
 * waiting ones. */
#ifndef GSIM_POLICIES_LIB_EASY_H
#define GSIM_POLICIES_LIB_EASY_H

#include "gsim/policy.h"
#include "policies/lib/reach.h"
#include "policies/lib/waiting.h"
#include "policies/lib/time_limits.h"

/* Places waiting jobs in an order: strictly until a job does not fit, the head; it gets a
 * reservation at the earliest time at which running jobs' limits make room for it; later jobs start
 * only if the head can still start then. A job that would not fit if all others ended has no
 * reservation, and the next job is the head. Zeroed at first, then gsim_easy_init. */
struct gsim_easy_placed;
struct gsim_easy_failed;
struct gsim_easy {
    enum gsim_rule rule;
    bool plans; /* by limits */
    /* by kind of waiting job; NULL: a trial tells nothing of other jobs */
    struct gsim_easy_failed *failed;
    uint32_t failed_capacity;
    uint64_t n_states; /* of the units and the reservation that trials begin with, so far */
    uint64_t n_freed; /* changes so far by which a job may have room that had none before */
    uint32_t n_outages; /* failures and repairs of nodes at the last decide */
    /* The last head, with its reservation; GSIM_NO_SLOT: it would have another one by now. */
    gsim_slot head;
    int64_t head_end_ns, head_reserved_ns;
    struct gsim_reach reach; /* what the head would have as jobs end */
    struct gsim_time_limits limits;
    struct gsim_waiting waiting;
    struct gsim_easy_placed *placed; /* in this decide, with their units */
    struct gsim_unit *units;
    uint32_t n_placed, placed_capacity, n_units, units_capacity;
};
/* Reads kill=. n_groups: jobs of one group rank by arrival. plans: the policy plans by limits, and
 * warns once if true durations stand in for them. */
enum gsim_status gsim_easy_init(struct gsim_easy *easy, struct gsim_ctx *ctx, const char *policy,
                                uint32_t n_groups, bool plans);
void gsim_easy_arrived(struct gsim_easy *easy, struct gsim_ctx *ctx, gsim_slot slot,
                       uint32_t group);
void gsim_easy_completed(struct gsim_easy *easy, gsim_slot slot);
/* A decide. While jobs wait and GPUs are left, place_waiting places jobs by one of the passes
 * below; jobs that they placed leave the queue. */
void gsim_easy_decide(struct gsim_easy *easy, struct gsim_ctx *ctx, struct gsim_plan *plan,
                      void (*place_waiting)(struct gsim_ctx *ctx, struct gsim_plan *plan));
/* rank: as in gsim_waiting_rule. */
void gsim_easy_pass(struct gsim_easy *easy, struct gsim_ctx *ctx, struct gsim_plan *plan,
                    int64_t (*rank)(struct gsim_ctx *ctx, gsim_slot slot));
/* Without reservations: jobs that do not fit are passed over; is_strict: the first of them holds
 * all others back. */
void gsim_easy_pass_without(struct gsim_easy *easy, struct gsim_ctx *ctx, struct gsim_plan *plan,
                            int64_t (*rank)(struct gsim_ctx *ctx, gsim_slot slot), bool is_strict);
/* A job that this decide has placed, of n_placed. */
gsim_slot gsim_easy_placed(const struct gsim_easy *easy, uint32_t i);

#endif
