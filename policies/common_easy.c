/* SPDX-License-Identifier: GPL-3.0-or-later */
/* EASY backfilling (Lifka, "The ANL/IBM SP scheduling system", 1995) over any placement rule.
 *
 * When the head will fit is found by trying: in a plan that is rolled back, jobs end one after the
 * other, by their limits, until the head can be placed. That is its reservation. Whether a later
 * job delays it is found in the same way: with that job placed, does the head still fit then? So
 * "uses none of what is reserved" needs no notion of its own, whatever the placement rule.
 *
 * Jobs that this very plan has placed count as running from now on; one that is still loading or
 * restoring keeps its units in these trials, since nobody knows yet when its limit begins. */
#include "policies/common.h"

#include <assert.h>

/* A job that the plan under way has placed. */
struct gsim_easy_placed {
    gsim_slot slot;
    int64_t end_ns;
    uint32_t first_unit, n_units; /* in easy->units; none in a pool */
};

/* One pass; what all its steps need. */
struct pass {
    struct gsim_easy *easy;
    struct gsim_ctx *ctx;
    struct gsim_plan *plan;
    uint32_t start; /* the plan before the pass */
};

/* --- remembering what the plan has placed ---------------------------------------------------- */

static bool reserve_units(struct gsim_easy *easy, struct gsim_arena *arena, uint32_t n) {
    if (n <= easy->units_capacity)
        return true;
    struct gsim_unit *units =
        gsim_arena_grow_raw(arena, easy->units, 2 * (size_t)n * sizeof *units);
    if (!units)
        return false;
    easy->units = units;
    easy->units_capacity = 2 * n;
    return true;
}

/* easy->placed has room for every job of the order. */
static bool remember(const struct pass *p, gsim_slot slot) {
    struct gsim_easy *easy = p->easy;
    const struct gsim_unit *units;
    uint32_t n_units = gsim_plan_units(p->plan, slot, &units);
    if (!reserve_units(easy, p->ctx->arena, easy->n_units + n_units)) {
        (void)gsim_no_memory(p->ctx->log, "backfilling");
        return false;
    }
    for (uint32_t u = 0; u < n_units; u++)
        easy->units[easy->n_units + u] = units[u];
    easy->placed[easy->n_placed++] =
        (struct gsim_easy_placed){.slot = slot,
                                  .end_ns = p->ctx->view->now_ns + gsim_easy_limit_ns(p->ctx, slot),
                                  .first_unit = easy->n_units,
                                  .n_units = n_units};
    easy->n_units += n_units;
    return true;
}

static void forget_last(struct gsim_easy *easy) {
    easy->n_units = easy->placed[--easy->n_placed].first_unit;
}

/* Places those again that end after end_ns, on the same units. */
static void place_again(const struct pass *p, int64_t end_ns) {
    const struct gsim_easy *easy = p->easy;
    for (uint32_t i = 0; i < easy->n_placed; i++) {
        const struct gsim_easy_placed *placed = &easy->placed[i];
        if (placed->end_ns <= end_ns)
            continue;
        bool is_back = placed->n_units
                           ? gsim_plan_place_on(p->plan, placed->slot,
                                                &easy->units[placed->first_unit], placed->n_units)
                           : gsim_common_place(p->ctx, p->plan, placed->slot, easy->rule);
        assert(is_back);
        (void)is_back;
    }
}

/* --- trials ----------------------------------------------------------------------------------- */

/* The running job at or after *at in the order of ends; GSIM_NO_ID: no more. */
static gsim_slot next_running(const struct pass *p, gsim_slot at) {
    while (at != GSIM_NO_ID && p->ctx->view->state[at] != GSIM_RUNNING)
        at = gsim_index_next(&p->easy->ending, at);
    return at;
}

/* The world as it will be when all limits up to end_ns have passed; returns who ends next. */
static gsim_slot imagine(const struct pass *p, int64_t end_ns) {
    const struct gsim_index *ending = &p->easy->ending;
    gsim_plan_rollback(p->plan, p->start);
    gsim_slot at = next_running(p, gsim_index_first(ending));
    for (; at != GSIM_NO_ID && gsim_index_key(ending, at) <= end_ns;
         at = next_running(p, gsim_index_next(ending, at)))
        (void)gsim_plan_preempt(p->plan, at, GSIM_STOP_SAVE, GSIM_KEEP_DISCARD);
    place_again(p, end_ns);
    return at;
}

static void back_to_now(const struct pass *p) {
    gsim_plan_rollback(p->plan, p->start);
    place_again(p, INT64_MIN);
}

static int64_t next_placed_end(const struct gsim_easy *easy, int64_t after_ns) {
    int64_t next = GSIM_NEVER;
    for (uint32_t i = 0; i < easy->n_placed; i++)
        if (easy->placed[i].end_ns > after_ns && easy->placed[i].end_ns < next)
            next = easy->placed[i].end_ns;
    return next;
}

static bool head_fits(const struct pass *p, gsim_slot head) {
    const struct gsim_view *view = p->ctx->view;
    if (view->share_ppm[head] == GSIM_PPM && view->n_idle_gpus < view->gpus[head])
        return false;
    return gsim_common_place(p->ctx, p->plan, head, p->easy->rule);
}

/* The earliest end at which the head fits; GSIM_NEVER when jobs in transition are in its way. */
static int64_t reserve(const struct pass *p, gsim_slot head) {
    const struct gsim_index *ending = &p->easy->ending;
    gsim_slot at = next_running(p, gsim_index_first(ending));
    int64_t end_ns = INT64_MIN, placed_ns = next_placed_end(p->easy, end_ns);
    bool is_found = false;
    while (!is_found && (at != GSIM_NO_ID || placed_ns != GSIM_NEVER)) {
        if (at != GSIM_NO_ID && gsim_index_key(ending, at) < placed_ns) {
            end_ns = gsim_index_key(ending, at);
            (void)gsim_plan_preempt(p->plan, at, GSIM_STOP_SAVE, GSIM_KEEP_DISCARD);
            at = next_running(p, gsim_index_next(ending, at));
        } else { /* what was placed can only be left out from the start */
            end_ns = placed_ns;
            at = imagine(p, end_ns);
            placed_ns = next_placed_end(p->easy, end_ns);
        }
        is_found = head_fits(p, head);
    }
    back_to_now(p);
    return is_found ? end_ns : GSIM_NEVER;
}

/* Starts a job behind the head if the head can still start when it was to. */
static bool backfill(const struct pass *p, gsim_slot slot, gsim_slot head, int64_t reserved_ns) {
    uint32_t mark = gsim_plan_mark(p->plan);
    if (!gsim_common_place(p->ctx, p->plan, slot, p->easy->rule))
        return false;
    if (!remember(p, slot)) {
        gsim_plan_rollback(p->plan, mark);
        return false;
    }
    if (p->easy->placed[p->easy->n_placed - 1].end_ns <= reserved_ns)
        return true;
    (void)imagine(p, reserved_ns);
    bool is_harmless = head_fits(p, head);
    if (!is_harmless)
        forget_last(p->easy);
    back_to_now(p);
    return is_harmless;
}

void gsim_easy_pass(struct gsim_easy *easy, struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct pass p = {.easy = easy, .ctx = ctx, .plan = plan, .start = gsim_plan_mark(plan)};
    uint32_t i = 0;
    easy->n_placed = easy->n_units = 0;
    while (i < easy->n && gsim_common_place(ctx, plan, easy->order[i], easy->rule)) {
        easy->is_placed[i] = true;
        if (!remember(&p, easy->order[i++]))
            return;
    }
    if (i + 1 >= easy->n || gsim_common_is_full(ctx->view))
        return;
    gsim_slot head = easy->order[i];
    int64_t reserved_ns = reserve(&p, head);
    for (i++; reserved_ns != GSIM_NEVER && i < easy->n && !gsim_common_is_full(ctx->view); i++)
        easy->is_placed[i] = backfill(&p, easy->order[i], head, reserved_ns);
}

/* --- the order, the running jobs, and the limits ---------------------------------------------- */

void gsim_easy_init(struct gsim_easy *easy, const struct gsim_ctx *ctx) {
    gsim_index_init(&easy->ending, ctx->arena);
    easy->rule = gsim_common_rule(ctx);
}

bool gsim_easy_begin(struct gsim_easy *easy, const struct gsim_ctx *ctx, uint32_t n) {
    easy->n = 0;
    if (n <= easy->capacity)
        return true;
    size_t capacity = (size_t)n * 2;
    gsim_slot *order = gsim_arena_grow_raw(ctx->arena, easy->order, capacity * sizeof *order);
    if (order)
        easy->order = order;
    bool *is_placed = gsim_arena_grow_raw(ctx->arena, easy->is_placed, capacity);
    if (is_placed)
        easy->is_placed = is_placed;
    struct gsim_easy_placed *placed =
        gsim_arena_grow_raw(ctx->arena, easy->placed, capacity * sizeof *placed);
    if (placed)
        easy->placed = placed;
    if (!order || !is_placed || !placed) {
        (void)gsim_no_memory(ctx->log, "ordering jobs");
        return false;
    }
    easy->capacity = (uint32_t)capacity;
    return true;
}

void gsim_easy_add(struct gsim_easy *easy, gsim_slot slot) {
    easy->is_placed[easy->n] = false;
    easy->order[easy->n++] = slot;
}

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

void gsim_easy_settled(struct gsim_easy *easy, const struct gsim_ctx *ctx) {
    const struct gsim_view *view = ctx->view;
    for (uint32_t i = 0; i < view->n_settled; i++) {
        gsim_slot slot = view->settled[i];
        if (view->state[slot] != GSIM_RUNNING || gsim_index_has(&easy->ending, slot))
            continue;
        int64_t end_ns = view->changed_ns[slot] + gsim_easy_limit_ns(ctx, slot);
        if (!gsim_index_insert(&easy->ending, slot, end_ns, view->job[slot]))
            (void)gsim_no_memory(ctx->log, "ranking jobs");
    }
}
