/* SPDX-License-Identifier: GPL-3.0-or-later */
/* EASY backfilling over any placement rule, and the time limits that it plans with. */
#ifndef GSIM_POLICIES_LIB_EASY_H
#define GSIM_POLICIES_LIB_EASY_H

#include "gsim/policy.h"
#include "policies/lib/queue.h"
#include "sim/base/index.h"

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
    struct gsim_index ending; /* running jobs by latest end */
    struct gsim_index coming; /* jobs on their way to their GPUs, by limit */
    bool kills, is_booked; /* kills: of kill=; is_booked: the two indices are kept */
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
/* Part of it, for the pass. false: no memory. */
bool gsim_easy_open(struct gsim_easy *easy, struct gsim_ctx *ctx);
/* limit_s, or the time that the job takes where it is, where the trace gives none: then the policy is
 * an oracle. */
int64_t gsim_easy_limit_ns(const struct gsim_ctx *ctx, gsim_slot slot);
/* A decide: books jobs that began to run and, with kill=on, ends those that are at their limit,
 * before the policy places waiting ones; sets the timer for the next limit behind it. */
void gsim_easy_decide(struct gsim_easy *easy, struct gsim_ctx *ctx, struct gsim_plan *plan,
                      void (*place_waiting)(struct gsim_ctx *ctx, struct gsim_plan *plan));
/* Jobs of the order that were placed are booked and leave the queue; how many. */
uint32_t gsim_easy_started(struct gsim_easy *easy, struct gsim_ctx *ctx, struct gsim_queue *queue);
void gsim_easy_completed(struct gsim_easy *easy, gsim_slot slot);
#define GSIM_KILL_PARAM                                                                            \
    {                                                                                              \
        .name = "kill", .type = GSIM_PARAM_BOOL, .fallback = "off",                                \
        .help = "jobs end when they have run for their limit_s, as in Slurm; off: no job is "      \
                "stopped, since a trace gives the time that jobs ran"                              \
    }
/* Begins a new order of at most n jobs, none of them placed. false: no memory, which the log
 * notes. */
bool gsim_easy_begin(struct gsim_easy *easy, const struct gsim_ctx *ctx, uint32_t n);
void gsim_easy_add(struct gsim_easy *easy, gsim_slot slot);
void gsim_easy_pass(struct gsim_easy *easy, struct gsim_ctx *ctx, struct gsim_plan *plan);

#endif
