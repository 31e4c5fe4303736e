/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A limit counts the time that a job runs, without loading: durations of traces include loading.
 * Where a trace gives no limit, the time that the job really takes on its units stands in for
 * it. */
#include "policies/lib/time_limits.h"

#include "policies/lib/common.h"

static int64_t limit_of(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_trace_get(ctx->view->trace, GSIM_COL_LIMIT_NS, ctx->view->jobs.index[slot]);
}

int64_t gsim_time_limit_ns(const struct gsim_ctx *ctx, gsim_slot slot) {
    int64_t limit = limit_of(ctx, slot);
    return limit >= 0 ? limit : gsim_ask_left_ns(ctx, slot);
}

int64_t gsim_time_limit_least_ns(const struct gsim_ctx *ctx, gsim_slot slot) {
    int64_t limit = limit_of(ctx, slot);
    return limit >= 0 ? limit : gsim_ask_least_ns(ctx, slot);
}

/* The number of jobs without a limit. */
static uint32_t count_unlimited(const struct gsim_trace *trace) {
    uint32_t n = 0;
    for (uint32_t job = 0; job < trace->n_jobs; job++)
        n += gsim_trace_get(trace, GSIM_COL_LIMIT_NS, job) < 0;
    return n;
}

void gsim_time_limits_assume(struct gsim_ctx *ctx, const char *what) {
    bool is_estimated = ctx->view->trace->column[GSIM_COL_ESTIMATE_NS] != NULL;
    if (count_unlimited(ctx->view->trace) == 0)
        return;
    ctx->assumed = is_estimated ? "limit_s=estimate_s" : "limit_s=duration_s";
    if (!is_estimated)
        gsim_warn(ctx->log, NULL, 0,
                  "%s: the trace has no limit_s for some jobs; their true service time stands in "
                  "for it, as if users knew it exactly",
                  what);
}

enum gsim_status gsim_time_limits_refuse(const struct gsim_ctx *ctx) {
    return gsim_fail(ctx->log, GSIM_BAD_INPUT, ctx->view->trace->path, 0,
                     "column 'limit_s': kill=on ends jobs at their limit, and the trace gives "
                     "none; give it with --assume limit_s=TIME, or leave kill off");
}

enum gsim_status gsim_time_limits_init(struct gsim_time_limits *limits, struct gsim_ctx *ctx,
                                       const char *policy, bool plans) {
    gsim_index_init(&limits->ending, ctx->arena);
    gsim_index_init(&limits->coming, ctx->arena);
    limits->kills = gsim_param(ctx->params, "kill") != 0;
    limits->is_booked = plans || limits->kills;
    if (limits->kills && count_unlimited(ctx->view->trace) == ctx->view->trace->n_jobs)
        return gsim_time_limits_refuse(ctx);
    if (plans)
        gsim_time_limits_assume(ctx, policy);
    return GSIM_OK;
}

/* --- running jobs ----------------------------------------------------------------------------- */

void gsim_time_limits_placed(struct gsim_time_limits *limits, struct gsim_ctx *ctx,
                             gsim_slot slot) {
    if (limits->is_booked)
        gsim_common_insert(ctx, &limits->coming, slot, gsim_time_limit_ns(ctx, slot));
}

void gsim_time_limits_completed(struct gsim_time_limits *limits, gsim_slot slot) {
    gsim_index_remove(&limits->coming, slot);
    gsim_index_remove(&limits->ending, slot);
}

/* Books jobs that have begun to run since the last decide. */
static void book_settled(struct gsim_time_limits *limits, struct gsim_ctx *ctx) {
    const struct gsim_view *view = ctx->view;
    for (uint32_t i = 0; limits->is_booked && i < view->changes.n_settled; i++) {
        gsim_slot slot = view->changes.settled[i];
        if (view->jobs.state[slot] != GSIM_RUNNING || gsim_index_has(&limits->ending, slot))
            continue;
        int64_t limit = limit_of(ctx, slot);
        gsim_index_remove(&limits->coming, slot);
        gsim_common_insert(ctx, &limits->ending, slot,
                           limit >= 0 ? view->jobs.changed_ns[slot] + limit
                                      : view->now_ns + gsim_ask_left_ns(ctx, slot));
    }
}

/* --- the end of jobs past their limit --------------------------------------------------------- */

static void end_overdue(struct gsim_time_limits *limits, struct gsim_ctx *ctx,
                        struct gsim_plan *plan) {
    gsim_slot slot = gsim_index_first(&limits->ending), after;
    for (; limits->kills && slot != GSIM_NO_ID &&
           gsim_index_key(&limits->ending, slot) <= ctx->view->now_ns;
         slot = after) {
        after = gsim_index_next(&limits->ending, slot);
        if (limit_of(ctx, slot) >= 0 && gsim_plan_end(plan, slot))
            gsim_index_remove(&limits->ending, slot);
    }
}

/* A job that is placed and runs at once is heard of at the next decide, which has to come before it
 * is at its limit. */
void gsim_time_limits_wake(const struct gsim_time_limits *limits, const struct gsim_ctx *ctx,
                           struct gsim_plan *plan) {
    int64_t now_ns = ctx->view->now_ns;
    gsim_slot next = gsim_index_seek(&limits->ending, now_ns + 1, 0);
    gsim_slot coming = gsim_index_first(&limits->coming);
    int64_t then_ns = next == GSIM_NO_ID ? GSIM_NEVER : gsim_index_key(&limits->ending, next);
    if (!limits->kills)
        return;
    while (coming != GSIM_NO_ID && gsim_index_key(&limits->coming, coming) <= 0)
        coming = gsim_index_next(&limits->coming, coming);
    if (coming != GSIM_NO_ID && now_ns + gsim_index_key(&limits->coming, coming) < then_ns)
        then_ns = now_ns + gsim_index_key(&limits->coming, coming);
    gsim_plan_wake(plan, then_ns);
}

void gsim_time_limits_begin(struct gsim_time_limits *limits, struct gsim_ctx *ctx,
                            struct gsim_plan *plan) {
    book_settled(limits, ctx);
    end_overdue(limits, ctx, plan);
}
