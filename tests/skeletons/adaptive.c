/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiled, never run: whether the interface can say what `adaptive` does. At each preemption it
 * asks for quotes and takes the way out that costs least in expectation: leave the job resident,
 * evict it to the host, checkpoint it, or let it finish its iteration. What a job has left is its
 * own guess, since true durations are hidden.
 * Not expressible: whether leaving a job resident leaves room for the newcomer: the view tells no
 * GPU's memory, so it is found out by trying in the plan. */
#include "sim/api/policy.h"

struct way {
    enum gsim_stop stop;
    enum gsim_keep keep;
};

static const struct way ways[] = {
    {GSIM_STOP_KERNEL, GSIM_KEEP_RESIDENT}, /* leave it resident */
    {GSIM_STOP_KERNEL, GSIM_KEEP_HOST}, /* evict it to the host */
    {GSIM_STOP_ITERATION, GSIM_KEEP_STORAGE}, /* checkpoint */
    {GSIM_STOP_ITERATION, GSIM_KEEP_HOST}, /* let it finish the iteration */
};

enum { WAYS = sizeof ways / sizeof *ways };

struct state {
    int64_t arrivals; /* to predict when a job can return */
    int64_t first_arrival_ns;
};

struct job_state {
    uint32_t n_preempted;
};

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    (void)slot;
    if (state->arrivals++ == 0)
        state->first_arrival_ns = ctx->view->now_ns;
}

/* Of heavy-tailed jobs half of those that have run for t run for another t: the guess is t. */
static int64_t guess_left_ns(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_attained_ns(ctx->view, slot);
}

/* Memory that stays blocked until the job returns, in terms of time lost by others. */
static int64_t holding_ns(const struct gsim_ctx *ctx, gsim_slot slot, enum gsim_keep keep) {
    const struct state *state = ctx->state;
    if (keep != GSIM_KEEP_RESIDENT || state->arrivals < 2)
        return 0;
    int64_t gap_ns = (ctx->view->now_ns - state->first_arrival_ns) / (state->arrivals - 1);
    int64_t left_ns = guess_left_ns(ctx, slot);
    return gap_ns > 0 ? gsim_muldiv_floor(left_ns, ctx->view->gpus[slot], gap_ns + left_ns) : 0;
}

static int64_t cost_ns(const struct gsim_ctx *ctx, gsim_slot slot, const struct way *way) {
    struct gsim_quote quote = gsim_ask(ctx, slot, way->stop, way->keep, NULL, 0);
    if (!quote.is_possible)
        return INT64_MAX;
    return quote.stop_ns + quote.save_ns + quote.resume_ns + quote.lost_ns +
           holding_ns(ctx, slot, way->keep);
}

/* The cheapest way in which this victim makes room; the plan is left with it, or unchanged. */
static bool make_room(const struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot victim,
                      gsim_slot newcomer) {
    struct gsim_shape shape = gsim_shape_of(ctx->view, newcomer, GSIM_RULE_CONSOLIDATE);
    uint32_t mark = gsim_plan_mark(plan);
    const struct way *best = NULL;
    int64_t least = INT64_MAX;
    for (int i = 0; i < WAYS; i++) {
        int64_t cost = cost_ns(ctx, victim, &ways[i]);
        if (cost >= least)
            continue;
        if (gsim_plan_preempt(plan, victim, ways[i].stop, ways[i].keep) &&
            gsim_plan_place(plan, newcomer, &shape)) {
            best = &ways[i];
            least = cost;
        }
        gsim_plan_rollback(plan, mark);
    }
    if (!best || least > guess_left_ns(ctx, victim)) /* waiting for its end is cheaper */
        return false;
    return gsim_plan_preempt(plan, victim, best->stop, best->keep) &&
           gsim_plan_place(plan, newcomer, &shape);
}

static gsim_slot most_attained(const struct gsim_ctx *ctx, const struct gsim_plan *plan) {
    const struct gsim_view *view = ctx->view;
    gsim_slot most = GSIM_NO_SLOT;
    const struct gsim_unit *units;
    for (uint32_t i = 0; i < view->n_active; i++) {
        gsim_slot slot = view->active[i];
        if (view->state[slot] == GSIM_RUNNING && gsim_plan_units(plan, slot, &units) > 0 &&
            (most == GSIM_NO_SLOT || gsim_attained_ns(view, slot) > gsim_attained_ns(view, most)))
            most = slot;
    }
    return most;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    const struct gsim_view *view = ctx->view;
    for (uint32_t i = 0; i < view->n_active; i++) {
        gsim_slot slot = view->active[i];
        enum gsim_state state = view->state[slot];
        if (state != GSIM_QUEUED && state != GSIM_PAUSED && state != GSIM_HELD)
            continue;
        struct gsim_shape shape = gsim_shape_of(view, slot, GSIM_RULE_CONSOLIDATE);
        if (gsim_plan_place(plan, slot, &shape))
            continue;
        gsim_slot victim = most_attained(ctx, plan);
        if (victim != GSIM_NO_SLOT &&
            gsim_attained_ns(view, victim) > gsim_attained_ns(view, slot) &&
            make_room(ctx, plan, victim, slot))
            ((struct job_state *)gsim_job_state(ctx, victim))->n_preempted++;
    }
}

const struct gsim_policy skeleton_adaptive = {
    .name = "adaptive",
    .summary = "the cheapest way out, by quotes",
    .paper = "none",
    .deviations = "a sketch",
    .state_size = sizeof(struct state),
    .job_size = sizeof(struct job_state),
    .on_arrival = on_arrival,
    .decide = decide,
};
