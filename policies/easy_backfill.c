/* SPDX-License-Identifier: GPL-3.0-or-later */
/* EASY backfilling, what Slurm's backfill scheduler does for its head job: jobs start in order of
 * arrival; the first that does not fit gets a reservation at the earliest time that running jobs'
 * limits allow; later jobs may pass it if they do not delay it. Source: Lifka, "The ANL/IBM SP
 * scheduling system", JSSPP 1995. Deviations: Slurm kills jobs at their limit and reserves for more
 * than one job (bf_max_job_test); here nobody is killed and the head alone has a reservation. */
#include "policies/common.h"

struct state {
    struct gsim_queue queue;
    struct gsim_easy easy;
    uint32_t n_waiting;
};

static enum gsim_status open_easy(struct gsim_ctx *ctx) {
    struct state *state = ctx->state;
    gsim_queue_init(&state->queue);
    gsim_easy_init(&state->easy, ctx);
    gsim_easy_warn(ctx, "easy-backfill");
    return gsim_common_open_memory(ctx);
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    gsim_queue_append(&state->queue, ctx, slot);
    state->n_waiting++;
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    gsim_index_remove(&((struct state *)ctx->state)->easy.ending, slot);
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    struct gsim_easy *easy = &state->easy;
    gsim_easy_settled(easy, ctx);
    if (state->n_waiting == 0 || gsim_common_is_full(ctx->view) ||
        !gsim_easy_begin(easy, ctx, state->n_waiting))
        return;
    for (gsim_slot slot = state->queue.first; slot != GSIM_NO_SLOT;
         slot = gsim_queue_after(ctx, slot))
        gsim_easy_add(easy, slot);
    gsim_easy_pass(easy, ctx, plan);
    for (uint32_t i = 0; i < easy->n; i++)
        if (easy->is_placed[i]) {
            gsim_queue_remove(&state->queue, ctx, easy->order[i]);
            state->n_waiting--;
        }
}

static const struct gsim_param_def params[] = {GSIM_PLACEMENT_PARAM, GSIM_MEMORY_PARAM, {0}};

const struct gsim_policy gsim_policy_easy_backfill = {
    .name = "easy-backfill",
    .summary =
        "in order of arrival with a reservation for the head; others pass if they do not delay it",
    .paper = "Lifka, The ANL/IBM SP scheduling system, JSSPP 1995; Slurm's sched/backfill",
    .deviations =
        "jobs are not killed at limit_s; one reservation, for the head; jobs that still load keep "
        "their GPUs when it is computed",
    .is_oracle = true,
    .params = params,
    .state_size = sizeof(struct state),
    .job_size = sizeof(struct gsim_link),
    .open = open_easy,
    .on_arrival = on_arrival,
    .on_completion = on_completion,
    .decide = decide,
};
