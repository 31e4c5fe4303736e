/* SPDX-License-Identifier: GPL-3.0-or-later */
/* EASY backfilling over any placement rule, by the time limits of jobs, and the queue of the
 * waiting ones. */
#ifndef GSIM_POLICIES_LIB_EASY_H
#define GSIM_POLICIES_LIB_EASY_H

#include "gsim/policy.h"
#include "policies/lib/queue.h"
#include "policies/lib/time_limits.h"

/* Places waiting jobs in an order: strictly until a job does not fit, the head; it gets a
 * reservation at the earliest time at which running jobs' limits make room for it; later jobs start
 * only if the head can still start then. A job that would not fit if all others ended has no
 * reservation, and the next job is the head. Zeroed at first, then gsim_easy_init. */
struct gsim_easy_placed;
struct gsim_easy_failed;
struct gsim_easy {
    enum gsim_rule rule;
    struct gsim_easy_failed *failed; /* by gang size; NULL: its trials tell nothing of other jobs */
    uint64_t n_states; /* of the units that trials begin with, so far */
    struct gsim_time_limits limits;
    struct gsim_queue queue; /* waiting jobs, by arrival */
    uint32_t n_waiting;
    gsim_slot *order; /* waiting jobs, first to last */
    bool *is_placed; /* after the pass */
    uint32_t n, capacity;
    struct gsim_easy_placed *placed; /* placed in this pass, with their units */
    struct gsim_unit *units;
    uint32_t n_placed, n_units, units_capacity;
};
/* Reads kill=. plans: the policy plans by limits, and warns once if true durations stand in for
 * them. */
enum gsim_status gsim_easy_init(struct gsim_easy *easy, struct gsim_ctx *ctx, const char *policy,
                                bool plans);
void gsim_easy_arrived(struct gsim_easy *easy, struct gsim_ctx *ctx, gsim_slot slot);
void gsim_easy_completed(struct gsim_easy *easy, gsim_slot slot);
/* A decide. While jobs wait and GPUs are left, place_waiting fills the order and places jobs of it,
 * by gsim_easy_pass or by itself; jobs that it placed leave the queue. */
void gsim_easy_decide(struct gsim_easy *easy, struct gsim_ctx *ctx, struct gsim_plan *plan,
                      void (*place_waiting)(struct gsim_ctx *ctx, struct gsim_plan *plan));
/* Begins a new order of the waiting jobs, none of them placed. false: no memory, which the log
 * notes. */
bool gsim_easy_begin(struct gsim_easy *easy, const struct gsim_ctx *ctx);
void gsim_easy_add(struct gsim_easy *easy, gsim_slot slot);
void gsim_easy_pass(struct gsim_easy *easy, struct gsim_ctx *ctx, struct gsim_plan *plan);

#endif
