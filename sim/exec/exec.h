/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A policy that is a program in any language: --policy 'exec:python3 sched.py'. The protocol stands
 * in docs/own-policy.md. */
#ifndef GSIM_EXEC_EXEC_H
#define GSIM_EXEC_EXEC_H

#include <stdio.h>

#include "sim/exec/scheduler.h"
#include "gsim/policy.h"

/* The command in the name of such a policy; NULL: it is another policy's name. */
const char *gsim_exec_command(const char *text);
/* Makes the policy of that name, which lives in the arena; NULL: the log says why. */
const struct gsim_policy *gsim_exec_make(const char *text, struct gsim_arena *arena,
                                         struct gsim_log *log);

/* --- its parts -------------------------------------------------------------------------------- */

/* The answer to a question about a job's costs. */
struct gsim_exec_quote {
    uint32_t job;
    struct gsim_quote quote;
};

struct gsim_exec {
    struct gsim_scheduler scheduler;
    gsim_slot *slot_of; /* by position in the trace; GSIM_NO_SLOT: the job is not in the system */
    int64_t n_asked; /* lines before the one that is under way */
    bool is_timer;
    /* of the answer under way: jobs that did not fit */
    uint32_t *refused;
    uint32_t n_refused, refused_capacity;
    struct gsim_exec_quote *quotes; /* what it asked */
    uint32_t n_quotes, quotes_capacity;
};

/* questions.c: the lines that go out. */
void gsim_exec_write_hello(FILE *out, const struct gsim_ctx *ctx);
void gsim_exec_write_changes(FILE *out, const struct gsim_ctx *ctx, const struct gsim_plan *plan);
void gsim_exec_write_refused(FILE *out, const struct gsim_ctx *ctx);

/* answers.c: fills the plan from an answer. */
enum gsim_status gsim_exec_apply(struct gsim_ctx *ctx, struct gsim_plan *plan, const char *answer);

#endif
