/* SPDX-License-Identifier: GPL-3.0-or-later */
/* EASY backfilling, as Slurm's backfill scheduler does for its head job: jobs start in order of
 * arrival; the first job that does not fit gets a reservation at the earliest time that running
 * jobs' limits allow; later jobs may pass it if they do not delay it. Source: Lifka, "The ANL/IBM
 * SP scheduling system", JSSPP 1995. A job that could not start even if all others ended, since a
 * node is down, gets no reservation and holds no job back, as in Slurm. Deviations: Slurm kills
 * jobs at their limit, here with kill=on, and reserves for more than one job (bf_max_job_test);
 * here the head alone has a reservation. */
#include "policies/lib/easy.h"
#include "policies/lib/settings.h"

static enum gsim_status open_easy(struct gsim_ctx *ctx) {
    enum gsim_status status = gsim_easy_init(ctx->state, ctx, "easy-backfill", 1, true);
    return status == GSIM_OK ? gsim_settings_open_memory(ctx) : status;
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    gsim_easy_arrived(ctx->state, ctx, slot, 0);
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    gsim_easy_completed(ctx->state, slot);
}

static void place_waiting(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    gsim_easy_pass(ctx->state, ctx, plan, NULL);
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    gsim_easy_decide(ctx->state, ctx, plan, place_waiting);
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
    .state_size = sizeof(struct gsim_easy),
    .open = open_easy,
    .on_arrival = on_arrival,
    .on_completion = on_completion,
    .decide = decide,
};
