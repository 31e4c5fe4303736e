/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limits of running jobs (limit_s), as batch systems have them: the latest end of each job, and
 * with kill=on the end of a job that reaches its limit. */
#ifndef GSIM_POLICIES_LIB_TIME_LIMITS_H
#define GSIM_POLICIES_LIB_TIME_LIMITS_H

#include "gsim/policy.h"
#include "sim/base/index.h"

struct gsim_time_limits {
    struct gsim_index ending; /* running jobs by latest end */
    struct gsim_index coming; /* jobs on their way to their GPUs, by limit */
    bool kills; /* kill=on */
    bool is_booked; /* the two indices are kept */
};

#define GSIM_KILL_PARAM                                                                            \
    {                                                                                              \
        .name = "kill", .type = GSIM_PARAM_BOOL, .fallback = "off",                                \
        .help = "jobs end when they have run for their limit_s, as in Slurm; off: no job is "      \
                "stopped, since a trace gives the time that jobs ran"                              \
    }

/* Reads kill=. plans: the policy plans by limits, and warns once if true durations stand in for
 * them. */
enum gsim_status gsim_time_limits_init(struct gsim_time_limits *limits, struct gsim_ctx *ctx,
                                       const char *policy, bool plans);
/* The error of kill=on where nothing has a limit: a true duration ends no job before its time. */
enum gsim_status gsim_time_limits_refuse(const struct gsim_ctx *ctx);
/* Notes, and warns once, that true durations stand in for limits where the trace has none. what:
 * the policy, or the setting, that plans by them. */
void gsim_time_limits_assume(struct gsim_ctx *ctx, const char *what);
/* limit_s, or the time that the job takes where it is, where the trace gives none: then the policy
 * is an oracle. */
int64_t gsim_time_limit_ns(const struct gsim_ctx *ctx, gsim_slot slot);
/* What that is at the least, wherever the job is placed. */
int64_t gsim_time_limit_least_ns(const struct gsim_ctx *ctx, gsim_slot slot);
/* The plan has placed the job. */
void gsim_time_limits_placed(struct gsim_time_limits *limits, struct gsim_ctx *ctx, gsim_slot slot);
void gsim_time_limits_completed(struct gsim_time_limits *limits, gsim_slot slot);
/* Begins a decide: books jobs that have begun to run, and with kill=on ends jobs that are at their
 * limit. */
void gsim_time_limits_begin(struct gsim_time_limits *limits, struct gsim_ctx *ctx,
                            struct gsim_plan *plan);
/* Ends a decide: with kill=on it sets the timer for the next limit. */
void gsim_time_limits_wake(const struct gsim_time_limits *limits, const struct gsim_ctx *ctx,
                           struct gsim_plan *plan);

#endif
