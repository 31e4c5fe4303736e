/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "sim/exec/exec.h"

#include <stdlib.h>
#include <string.h>

/* A scheduler that has jobs refused, or asks for costs, this often in one decision does not come to
 * a plan. */
enum { MOST_ROUNDS = 1000 };

/* What a name begins with says what the program sees and may do. */
struct prefix {
    const char *text;
    bool is_oracle; /* it sees true durations */
    bool shares; /* it may have jobs share GPUs */
};

static const struct prefix *prefix_of(const char *text) {
    static const struct prefix prefixes[] = {{"exec:", false, false},
                                             {"exec-oracle:", true, false},
                                             {"exec-sharing:", false, true},
                                             {"exec-sharing-oracle:", true, true}};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(text, prefixes[i].text, strlen(prefixes[i].text)) == 0)
            return &prefixes[i];
    return NULL;
}

const char *gsim_exec_command(const char *text) {
    const struct prefix *prefix = prefix_of(text);
    return prefix ? text + strlen(prefix->text) : NULL;
}

/* --- hooks ------------------------------------------------------------------------------------ */

/* Sends what `write` writes; NULL: the status says why there is no answer. */
static const char *ask(struct gsim_ctx *ctx, const struct gsim_plan *plan,
                       void (*write)(FILE *out, const struct gsim_ctx *ctx,
                                     const struct gsim_plan *plan)) {
    struct gsim_exec *exec = ctx->state;
    const char *answer = NULL;
    char *line = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&line, &length);
    if (out)
        write(out, ctx, plan);
    if (out && fclose(out) == 0)
        ctx->status = gsim_scheduler_ask(&exec->scheduler, line, length, &answer, ctx->log);
    else
        ctx->status = gsim_no_memory(ctx->log, "asking a scheduler");
    free(line);
    exec->n_asked++;
    return ctx->status == GSIM_OK ? answer : NULL;
}

static void write_hello(FILE *out, const struct gsim_ctx *ctx, const struct gsim_plan *plan) {
    (void)plan;
    gsim_exec_write_hello(out, ctx);
}

static void write_refused(FILE *out, const struct gsim_ctx *ctx, const struct gsim_plan *plan) {
    (void)plan;
    gsim_exec_write_refused(out, ctx);
}

static enum gsim_status open_exec(struct gsim_ctx *ctx) {
    struct gsim_exec *exec = ctx->state;
    uint32_t n = ctx->view->trace->n_jobs;
    exec->scheduler =
        (struct gsim_scheduler){.command = gsim_param_full(ctx->params, "command")->text,
                                .timeout_ns = gsim_param(ctx->params, "timeout"),
                                .arena = ctx->arena,
                                .to = -1,
                                .from = -1};
    if (ctx->view->pool.is_used)
        return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                         "exec: schedulers place jobs on nodes; reference=pai has none");
    exec->slot_of = gsim_arena_array(ctx->arena, n, sizeof *exec->slot_of);
    if (!exec->slot_of)
        return gsim_no_memory(ctx->log, "starting a scheduler");
    for (uint32_t job = 0; job < n; job++)
        exec->slot_of[job] = GSIM_NO_SLOT;
    enum gsim_status status = gsim_scheduler_start(&exec->scheduler, ctx->log);
    if (status != GSIM_OK)
        return status;
    const char *answer = ask(ctx, NULL, write_hello);
    return answer ? gsim_exec_apply(ctx, NULL, answer) : ctx->status;
}

static void on_timer(struct gsim_ctx *ctx) {
    ((struct gsim_exec *)ctx->state)->is_timer = true;
}

/* A watch is over: the decision that follows shows what the job has attained. */
static void on_watch(struct gsim_ctx *ctx, gsim_slot slot, enum gsim_watch_kind kind) {
    (void)ctx;
    (void)slot;
    (void)kind;
}

/* A job that fell back with its node has ended and come again, in one decision. */
static void note_changes(struct gsim_ctx *ctx) {
    struct gsim_exec *exec = ctx->state;
    const struct gsim_view *view = ctx->view;
    for (uint32_t i = 0; i < view->changes.n_completed; i++)
        exec->slot_of[view->jobs.index[view->changes.completed[i]]] = GSIM_NO_SLOT;
    for (uint32_t i = 0; i < view->changes.n_arrived; i++)
        exec->slot_of[view->jobs.index[view->changes.arrived[i]]] = view->changes.arrived[i];
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct gsim_exec *exec = ctx->state;
    note_changes(ctx);
    const char *answer = ask(ctx, plan, gsim_exec_write_changes);
    exec->is_timer = false;
    for (int round = 0; answer; round++) {
        exec->n_refused = exec->n_quotes = 0;
        if (gsim_exec_apply(ctx, plan, answer) != GSIM_OK || exec->n_refused + exec->n_quotes == 0)
            return;
        if (round == MOST_ROUNDS)
            ctx->status =
                gsim_fail(ctx->log, GSIM_FAILED, NULL, 0,
                          "exec:%s: %d answers to one decision had jobs that do not fit, or "
                          "questions",
                          exec->scheduler.command, MOST_ROUNDS);
        answer = round == MOST_ROUNDS ? NULL : ask(ctx, plan, write_refused);
    }
}

static void close_exec(struct gsim_ctx *ctx) {
    struct gsim_exec *exec = ctx->state;
    gsim_scheduler_end(&exec->scheduler);
}

/* --- the policy ------------------------------------------------------------------------------- */

const struct gsim_policy *gsim_exec_make(const char *text, struct gsim_arena *arena,
                                         struct gsim_log *log) {
    const char *command = gsim_exec_command(text);
    struct gsim_policy *policy = gsim_arena_alloc(arena, sizeof *policy);
    struct gsim_param_def *params = gsim_arena_array(arena, 3, sizeof *params);
    if (!policy || !params) {
        (void)gsim_no_memory(log, "starting a scheduler");
        return NULL;
    }
    params[0] = (struct gsim_param_def){.name = "command",
                                        .type = GSIM_PARAM_TEXT,
                                        .fallback = command,
                                        .help = "the program that decides"};
    params[1] = (struct gsim_param_def){.name = "timeout",
                                        .type = GSIM_PARAM_TIME,
                                        .fallback = "10s",
                                        .min = GSIM_NS_PER_MS,
                                        .max = GSIM_TIME_MAX / 2,
                                        .help = "the longest wait for one of its answers, on the "
                                                "clock"};
    *policy = (struct gsim_policy){.name = gsim_arena_strdup(arena, text),
                                   .summary = "decided by another program, line by line",
                                   .paper = "that program's",
                                   .deviations = "that program's",
                                   .is_oracle = prefix_of(text)->is_oracle,
                                   .shares_gpus = prefix_of(text)->shares,
                                   .params = params,
                                   .state_size = sizeof(struct gsim_exec),
                                   .open = open_exec,
                                   .on_watch = on_watch,
                                   .on_timer = on_timer,
                                   .decide = decide,
                                   .close = close_exec};
    return policy->name && gsim_scheduler_words(command, arena, log) ? policy : NULL;
}
