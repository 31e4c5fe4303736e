/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limits of running jobs (limit_s), as batch systems have them: the latest end of a job, by which
 * EASY plans, and the end of a job that reaches its limit (kill=on). A limit counts the time that a
 * job runs, without loading: durations of traces include loading. Where a trace gives no limit, the
 * time that the job really takes on its units stands in for it. */
#include "policies/lib/common.h"
#include "policies/lib/easy.h"
#include "policies/lib/settings.h"

static int64_t limit_of(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_trace_get(ctx->view->trace, GSIM_COL_LIMIT_NS, ctx->view->jobs.index[slot]);
}

int64_t gsim_easy_limit_ns(const struct gsim_ctx *ctx, gsim_slot slot) {
    int64_t limit = limit_of(ctx, slot);
    return limit >= 0 ? limit : gsim_ask_left_ns(ctx, slot);
}

/* The number of jobs without a limit. */
static uint32_t count_unlimited(const struct gsim_trace *trace) {
    uint32_t n = 0;
    for (uint32_t job = 0; job < trace->n_jobs; job++)
        n += gsim_trace_get(trace, GSIM_COL_LIMIT_NS, job) < 0;
    return n;
}

enum gsim_status gsim_easy_init(struct gsim_easy *easy, struct gsim_ctx *ctx, const char *policy,
                                bool plans) {
    uint32_t n_unlimited = count_unlimited(ctx->view->trace);
    gsim_index_init(&easy->ending, ctx->arena);
    gsim_index_init(&easy->coming, ctx->arena);
    easy->rule = gsim_settings_rule(ctx);
    easy->kills = gsim_param(ctx->params, "kill") != 0;
    easy->is_booked = plans || easy->kills;
    if (plans && !gsim_easy_open(easy, ctx))
        return gsim_no_memory(ctx->log, "backfilling");
    if (easy->kills && n_unlimited == ctx->view->trace->n_jobs)
        return gsim_fail(ctx->log, GSIM_BAD_INPUT, ctx->view->trace->path, 0,
                         "column 'limit_s': kill=on ends jobs at their limit, and the trace gives "
                         "none; give it with --assume limit_s=TIME, or leave kill off");
    if (!plans || n_unlimited == 0)
        return GSIM_OK;
    ctx->assumed = "limit_s=duration_s";
    gsim_warn(ctx->log, NULL, 0,
              "%s: the trace has no limit_s for some jobs; their true service time stands in for "
              "it, as if users knew it exactly",
              policy);
    return GSIM_OK;
}

/* --- running jobs ----------------------------------------------------------------------------- */

uint32_t gsim_easy_started(struct gsim_easy *easy, struct gsim_ctx *ctx, struct gsim_queue *queue) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < easy->n; i++) {
        gsim_slot slot = easy->order[i];
        if (!easy->is_placed[i])
            continue;
        if (easy->is_booked)
            gsim_common_insert(ctx, &easy->coming, slot, gsim_easy_limit_ns(ctx, slot));
        gsim_queue_remove(queue, ctx, slot);
        n++;
    }
    return n;
}

void gsim_easy_completed(struct gsim_easy *easy, gsim_slot slot) {
    gsim_index_remove(&easy->coming, slot);
    gsim_index_remove(&easy->ending, slot);
}

/* Those that began to run since the last decide. */
static void book_settled(struct gsim_easy *easy, struct gsim_ctx *ctx) {
    const struct gsim_view *view = ctx->view;
    for (uint32_t i = 0; easy->is_booked && i < view->changes.n_settled; i++) {
        gsim_slot slot = view->changes.settled[i];
        if (view->jobs.state[slot] != GSIM_RUNNING || gsim_index_has(&easy->ending, slot))
            continue;
        int64_t limit = limit_of(ctx, slot);
        gsim_index_remove(&easy->coming, slot);
        gsim_common_insert(ctx, &easy->ending, slot,
                           limit >= 0 ? view->jobs.changed_ns[slot] + limit
                                      : view->now_ns + gsim_ask_left_ns(ctx, slot));
    }
}

/* --- the end of jobs past their limit --------------------------------------------------------- */

static void end_overdue(struct gsim_easy *easy, struct gsim_ctx *ctx, struct gsim_plan *plan) {
    gsim_slot slot = gsim_index_first(&easy->ending), after;
    for (; easy->kills && slot != GSIM_NO_ID &&
           gsim_index_key(&easy->ending, slot) <= ctx->view->now_ns;
         slot = after) {
        after = gsim_index_next(&easy->ending, slot);
        if (limit_of(ctx, slot) >= 0 && gsim_plan_end(plan, slot))
            gsim_index_remove(&easy->ending, slot);
    }
}

/* A job that is placed and runs at once is heard of at the next decide, which has to come before it is
 * at its limit. */
static void wake_at_next(const struct gsim_easy *easy, const struct gsim_ctx *ctx,
                         struct gsim_plan *plan) {
    int64_t now_ns = ctx->view->now_ns;
    gsim_slot next = gsim_index_seek(&easy->ending, now_ns + 1, 0);
    gsim_slot coming = gsim_index_first(&easy->coming);
    int64_t then_ns = next == GSIM_NO_ID ? GSIM_NEVER : gsim_index_key(&easy->ending, next);
    if (!easy->kills)
        return;
    for (; coming != GSIM_NO_ID && gsim_index_key(&easy->coming, coming) <= 0;)
        coming = gsim_index_next(&easy->coming, coming);
    if (coming != GSIM_NO_ID && now_ns + gsim_index_key(&easy->coming, coming) < then_ns)
        then_ns = now_ns + gsim_index_key(&easy->coming, coming);
    gsim_plan_wake(plan, then_ns);
}

void gsim_easy_decide(struct gsim_easy *easy, struct gsim_ctx *ctx, struct gsim_plan *plan,
                      void (*place_waiting)(struct gsim_ctx *ctx, struct gsim_plan *plan)) {
    book_settled(easy, ctx);
    end_overdue(easy, ctx, plan);
    place_waiting(ctx, plan);
    wake_at_next(easy, ctx, plan);
}
