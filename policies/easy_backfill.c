/* SPDX-License-Identifier: GPL-3.0-or-later */
/* EASY backfilling, what Slurm's backfill scheduler does for its head job: jobs start in order of
 * arrival; the first that does not fit gets a reservation at the earliest time that running jobs'
 * limits allow; later jobs may pass it if they do not delay it. Source: Lifka, "The ANL/IBM SP
 * scheduling system", JSSPP 1995. Deviations: Slurm kills jobs at their limit and reserves for more
 * than one job (bf_max_job_test); here nobody is killed and the head alone has a reservation. */
#include "policies/common.h"

struct state {
    struct gsim_queue queue;
    struct gsim_index ending; /* running jobs by latest end */
    enum gsim_rule rule;
    gsim_slot *order;
    bool *is_placed;
    uint32_t n_waiting, capacity;
};

static enum gsim_status open_easy(struct gsim_ctx *ctx) {
    struct state *state = ctx->state;
    gsim_queue_init(&state->queue);
    gsim_index_init(&state->ending, ctx->arena);
    state->rule = gsim_common_rule(ctx);
    gsim_easy_warn(ctx, "easy-backfill");
    return GSIM_OK;
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    gsim_queue_append(&state->queue, ctx, slot);
    state->n_waiting++;
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    gsim_index_remove(&((struct state *)ctx->state)->ending, slot);
}

static bool reserve_order(struct state *state, struct gsim_ctx *ctx) {
    if (state->n_waiting <= state->capacity)
        return true;
    uint32_t capacity = state->n_waiting * 2;
    gsim_slot *order = gsim_arena_grow_raw(ctx->arena, state->order, capacity * sizeof *order);
    if (order)
        state->order = order;
    bool *is_placed = order ? gsim_arena_grow_raw(ctx->arena, state->is_placed, capacity) : NULL;
    if (!is_placed)
        return false;
    state->is_placed = is_placed;
    state->capacity = capacity;
    return true;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    gsim_easy_settled(&state->ending, ctx);
    if (state->n_waiting == 0 || gsim_common_is_full(ctx->view))
        return;
    if (!reserve_order(state, ctx)) {
        (void)gsim_no_memory(ctx->log, "ordering jobs");
        return;
    }
    uint32_t n = 0;
    for (gsim_slot slot = state->queue.first; slot != GSIM_NO_SLOT;
         slot = gsim_queue_after(ctx, slot)) {
        state->is_placed[n] = false;
        state->order[n++] = slot;
    }
    struct gsim_easy easy = {.rule = state->rule,
                             .order = state->order,
                             .n = n,
                             .limit_ns = gsim_easy_limit_ns,
                             .ending = &state->ending};
    gsim_easy_pass(&easy, ctx, plan, state->is_placed);
    for (uint32_t i = 0; i < n; i++)
        if (state->is_placed[i]) {
            gsim_queue_remove(&state->queue, ctx, state->order[i]);
            state->n_waiting--;
        }
}

static const struct gsim_param_def params[] = {GSIM_PLACEMENT_PARAM, {0}};

const struct gsim_policy gsim_policy_easy_backfill = {
    .name = "easy-backfill",
    .summary =
        "in order of arrival with a reservation for the head; others pass if they do not delay it",
    .paper = "Lifka, The ANL/IBM SP scheduling system, JSSPP 1995; Slurm's sched/backfill",
    .deviations = "jobs are not killed at limit_s; one reservation, for the head",
    .is_oracle = true,
    .params = params,
    .state_size = sizeof(struct state),
    .job_size = sizeof(struct gsim_link),
    .open = open_easy,
    .on_arrival = on_arrival,
    .on_completion = on_completion,
    .decide = decide,
};
