/* SPDX-License-Identifier: GPL-3.0-or-later */
/* EASY backfilling, as Slurm's backfill scheduler does for its head job: jobs start in order of
 * arrival; the first job that does not fit gets a reservation at the earliest time that running
 * jobs' limits allow; later jobs may pass it if they do not delay it. Source: Lifka, "The ANL/IBM
 * SP scheduling system", JSSPP 1995. A job that could not start even if all others ended, since a
 * node is down, gets no reservation and holds no job back, as in Slurm. Deviations: Slurm kills
 * jobs at their limit, here with kill=on, and reserves for more than one job (bf_max_job_test);
 * here the head alone has a reservation. */
#include "policies/lib/common.h"
#include "policies/lib/easy.h"
#include "policies/lib/queue.h"
#include "policies/lib/settings.h"

struct state {
    struct gsim_queue queue;
    struct gsim_easy easy;
    uint32_t n_waiting;
};

static enum gsim_status open_easy(struct gsim_ctx *ctx) {
    struct state *state = ctx->state;
    gsim_queue_init(&state->queue);
    enum gsim_status status = gsim_easy_init(&state->easy, ctx, "easy-backfill", true);
    return status == GSIM_OK ? gsim_settings_open_memory(ctx) : status;
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    gsim_queue_append(&state->queue, ctx, slot);
    state->n_waiting++;
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    gsim_easy_completed(&((struct state *)ctx->state)->easy, slot);
}

static void place_waiting(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    struct gsim_easy *easy = &state->easy;
    if (state->n_waiting == 0 || gsim_common_is_full(ctx->view) ||
        !gsim_easy_begin(easy, ctx, state->n_waiting))
        return;
    for (gsim_slot slot = state->queue.first; slot != GSIM_NO_SLOT;
         slot = gsim_queue_after(ctx, slot))
        gsim_easy_add(easy, slot);
    gsim_easy_pass(easy, ctx, plan);
    state->n_waiting -= gsim_easy_started(easy, ctx, &state->queue);
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    gsim_easy_decide(&((struct state *)ctx->state)->easy, ctx, plan, place_waiting);
}

static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM, GSIM_MEMORY_PARAM, GSIM_KILL_PARAM, {0}};

const struct gsim_policy gsim_policy_easy_backfill = {
    .name = "easy-backfill",
    .summary =
        "in order of arrival with a reservation for the head; others pass if they do not delay it",
    .paper = "Lifka, The ANL/IBM SP scheduling system, JSSPP 1995; Slurm's sched/backfill",
    .deviations = "jobs are killed at limit_s with kill=on alone; one reservation, for the first "
                  "that can have "
                  "one; a job past its limit is taken to end now",
    .is_oracle = true,
    .oracle_where = "where the trace has no limit_s",
    .params = params,
    .state_size = sizeof(struct state),
    .job_size = sizeof(struct gsim_queue_link),
    .open = open_easy,
    .on_arrival = on_arrival,
    .on_completion = on_completion,
    .decide = decide,
};
