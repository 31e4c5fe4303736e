/* SPDX-License-Identifier: GPL-3.0-or-later */
/* EASY backfilling (Lifka, "The ANL/IBM SP scheduling system", 1995) over any placement rule. When
 * the head will fit is found by trying: in a plan that is rolled back, running jobs end one after
 * the other, by their limits, until the head can be placed; its units are then the reservation. */
#include "policies/common.h"

#include <string.h>

struct reservation {
    int64_t time_ns; /* GSIM_NEVER: no head waits, or its time is not known */
    bool is_held;
    struct gsim_unit *units;
    uint32_t n_units;
};

/* Running jobs end in the order of their limits; one in transition keeps its units. */
static bool end_next(const struct gsim_easy *easy, struct gsim_ctx *ctx, struct gsim_plan *plan,
                     gsim_slot *at, int64_t *end_ns) {
    for (; *at != GSIM_NO_ID; *at = gsim_index_next(easy->ending, *at)) {
        if (ctx->view->state[*at] != GSIM_RUNNING)
            continue;
        *end_ns = gsim_index_key(easy->ending, *at);
        bool is_ended = gsim_plan_preempt(plan, *at, GSIM_STOP_SAVE, GSIM_KEEP_DISCARD);
        *at = gsim_index_next(easy->ending, *at);
        return is_ended;
    }
    return false;
}

static void keep_units(struct reservation *r, struct gsim_ctx *ctx, const struct gsim_plan *plan,
                       gsim_slot head) {
    const struct gsim_unit *units;
    r->n_units = gsim_plan_units(plan, head, &units);
    r->units = gsim_arena_grow(ctx->arena, NULL, 0, (r->n_units + 1) * sizeof *r->units);
    if (r->units && r->n_units)
        memcpy(r->units, units, r->n_units * sizeof *units);
    r->is_held = r->units != NULL;
}

static void reserve(const struct gsim_easy *easy, struct gsim_ctx *ctx, struct gsim_plan *plan,
                    gsim_slot head, struct reservation *r) {
    uint32_t mark = gsim_plan_mark(plan);
    gsim_slot at = gsim_index_first(easy->ending);
    uint64_t room = ctx->view->n_idle_gpus;
    int64_t end_ns;
    r->time_ns = GSIM_NEVER;
    while (end_next(easy, ctx, plan, &at, &end_ns)) {
        room = ctx->view->n_idle_gpus;
        if (room < ctx->view->gpus[head] && ctx->view->share_ppm[head] == GSIM_PPM)
            continue;
        if (!gsim_common_place(ctx, plan, head, easy->rule))
            continue;
        r->time_ns = end_ns > ctx->view->now_ns ? end_ns : ctx->view->now_ns;
        keep_units(r, ctx, plan, head);
        break;
    }
    gsim_plan_rollback(plan, mark);
}

static bool touches(const struct gsim_plan *plan, gsim_slot slot, const struct reservation *r) {
    const struct gsim_unit *units;
    uint32_t n = gsim_plan_units(plan, slot, &units);
    for (uint32_t u = 0; u < n; u++)
        for (uint32_t k = 0; k < r->n_units; k++)
            if (units[u].gpu == r->units[k].gpu)
                return true;
    return false;
}

/* Starts a job behind the head if the head does not wait longer for it. */
static bool backfill(const struct gsim_easy *easy, struct gsim_ctx *ctx, struct gsim_plan *plan,
                     gsim_slot slot, const struct reservation *r) {
    uint32_t mark = gsim_plan_mark(plan);
    if (!gsim_common_place(ctx, plan, slot, easy->rule))
        return false;
    int64_t limit_ns = easy->limit_ns(ctx, slot);
    bool ends_before = limit_ns <= r->time_ns - ctx->view->now_ns;
    if (r->time_ns == GSIM_NEVER || ends_before || (!ctx->view->is_pool && !touches(plan, slot, r)))
        return true;
    gsim_plan_rollback(plan, mark);
    return false;
}

void gsim_easy_pass(const struct gsim_easy *easy, struct gsim_ctx *ctx, struct gsim_plan *plan,
                    bool *is_placed) {
    struct reservation r = {.time_ns = GSIM_NEVER};
    uint32_t i = 0;
    while (i < easy->n && gsim_common_place(ctx, plan, easy->order[i], easy->rule))
        is_placed[i++] = true;
    if (i < easy->n && !gsim_common_is_full(ctx->view))
        reserve(easy, ctx, plan, easy->order[i], &r);
    for (i++; i < easy->n && r.is_held && !gsim_common_is_full(ctx->view); i++)
        is_placed[i] = backfill(easy, ctx, plan, easy->order[i], &r);
    gsim_arena_drop(ctx->arena, r.units);
}

/* --- the running jobs, and the limits
 * --------------------------------------------------------------- */

int64_t gsim_easy_limit_ns(const struct gsim_ctx *ctx, gsim_slot slot) {
    int64_t limit = gsim_trace_get(ctx->view->trace, GSIM_COL_LIMIT_NS, ctx->view->job[slot]);
    return limit >= 0 ? limit : ctx->view->service_ns[slot];
}

void gsim_easy_warn(struct gsim_ctx *ctx, const char *policy) {
    const int64_t *limit = ctx->view->trace->column[GSIM_COL_LIMIT_NS];
    for (uint32_t job = 0; job < ctx->view->trace->n_jobs; job++)
        if (!limit || limit[job] < 0) {
            gsim_warn(ctx->log, NULL, 0,
                      "%s: the trace has no limit_s for some jobs; their true service time stands "
                      "in for it, as if users knew it exactly",
                      policy);
            return;
        }
}

void gsim_easy_settled(struct gsim_index *ending, const struct gsim_ctx *ctx) {
    const struct gsim_view *view = ctx->view;
    for (uint32_t i = 0; i < view->n_settled; i++) {
        gsim_slot slot = view->settled[i];
        if (view->state[slot] != GSIM_RUNNING || gsim_index_has(ending, slot))
            continue;
        int64_t end_ns = view->changed_ns[slot] + gsim_easy_limit_ns(ctx, slot);
        if (!gsim_index_insert(ending, slot, end_ns, view->job[slot]))
            (void)gsim_no_memory(ctx->log, "ranking jobs");
    }
}
