/* SPDX-License-Identifier: GPL-3.0-or-later */
/* EASY backfilling over any placement rule, and the time limits that it plans with. */
#ifndef GSIM_POLICIES_LIB_EASY_H
#define GSIM_POLICIES_LIB_EASY_H

#include "gsim/policy.h"
#include "sim/base/index.h"

/* Places waiting jobs in an order: strictly until a job does not fit, the head; it gets a
 * reservation at the earliest time at which running jobs' limits make room for it; later jobs start
 * only if the head can still start then. A job that would not fit if all others ended has no
 * reservation, and the next job is the head. Zeroed at first, then gsim_easy_init. */
struct gsim_easy_placed;
struct gsim_easy {
    enum gsim_rule rule;
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
/* limit_s, or where the trace gives none the time that the job takes on its units: the policy is
 * then an oracle. */
int64_t gsim_easy_limit_ns(const struct gsim_ctx *ctx, gsim_slot slot);
/* Book jobs that began to run, that the plan under way has placed, and that are gone. */
void gsim_easy_settled(struct gsim_easy *easy, struct gsim_ctx *ctx);
void gsim_easy_started(struct gsim_easy *easy, struct gsim_ctx *ctx, gsim_slot slot);
void gsim_easy_completed(struct gsim_easy *easy, gsim_slot slot);
/* kill=on: ends jobs that are at their limit; wake, called last in a decide, sets the timer for the
 * next. */
void gsim_easy_kill(struct gsim_easy *easy, struct gsim_ctx *ctx, struct gsim_plan *plan);
void gsim_easy_wake(const struct gsim_easy *easy, const struct gsim_ctx *ctx,
                    struct gsim_plan *plan);
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
