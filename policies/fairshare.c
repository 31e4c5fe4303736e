/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Multifactor fair share: waiting jobs in order of
 *     weight_fairshare * 2^(-usage share / fair share) + weight_age * age + weight_size * size,
 * all factors in 0..1. A user's usage is GPU time; at the end of every calc_period all usage is
 * decayed so that it halves every half_life, as Slurm's decay thread does. Users have equal shares.
 * Source: the classic algorithm of Slurm's priority/multifactor plugin (its documentation). A job
 * that does not fit gets a reservation and others pass if they do not delay it (backfill=easy),
 * since Slurm's default is sched/backfill ("will initiate lower-priority jobs if doing so does not
 * delay the expected initiation time of any higher priority job", slurm.conf), here of the first
 * job alone. Deviations: usage since the last decay counts at once, and priorities are those of the
 * moment (Slurm computes both anew only every calc_period); one level of accounts (the column user,
 * or vc). Never preempts. Integer arithmetic only. */
#include "policies/lib/common.h"
#include "policies/lib/easy.h"
#include "policies/lib/settings.h"
#include "policies/lib/usage.h"

struct state {
    struct gsim_easy easy; /* its queue is used without EASY as well */
    struct gsim_usage usage;
    int64_t max_age_ns, weight_fairshare, weight_age, weight_size;
    int64_t mode; /* off, skip, easy */
};

enum { OFF, SKIP, EASY };
#define ONE (INT64_C(1) << 32)

static enum gsim_status open_fairshare(struct gsim_ctx *ctx) {
    struct state *state = ctx->state;
    enum gsim_status status =
        gsim_usage_init(&state->usage, ctx, "fairshare", gsim_param(ctx->params, "half_life"),
                        gsim_param(ctx->params, "calc_period"));
    state->max_age_ns = gsim_param(ctx->params, "max_age");
    state->weight_fairshare = gsim_param(ctx->params, "weight_fairshare");
    state->weight_age = gsim_param(ctx->params, "weight_age");
    state->weight_size = gsim_param(ctx->params, "weight_size");
    state->mode = gsim_param(ctx->params, "backfill");
    if (status == GSIM_OK)
        status = gsim_easy_init(&state->easy, ctx, "fairshare", state->usage.n_accounts,
                                state->mode == EASY);
    return status == GSIM_OK ? gsim_settings_open_memory(ctx) : status;
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    gsim_easy_arrived(&state->easy, ctx, slot, gsim_usage_owner(&state->usage, ctx, slot));
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    gsim_usage_change(&state->usage, ctx, slot, -1);
    gsim_easy_completed(&state->easy, slot);
}

/* --- priorities ------------------------------------------------------------------------------- */

static int64_t priority_of(struct state *state, const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_view *view = ctx->view;
    uint32_t owner = gsim_usage_owner(&state->usage, ctx, slot);
    int64_t age_ns = view->now_ns - view->jobs.submit_ns[slot];
    if (age_ns > state->max_age_ns)
        age_ns = state->max_age_ns;
    int64_t age = gsim_muldiv_floor(age_ns, ONE, state->max_age_ns);
    int64_t size = state->weight_size == 0
                       ? 0
                       : gsim_muldiv_floor(view->jobs.gpus[slot], ONE, view->cluster.n_gpus);
    return state->weight_fairshare * (gsim_usage_factor_q32(&state->usage, owner) >> 8) +
           state->weight_age * (age >> 8) + state->weight_size * (size >> 8);
}

/* Jobs of one account that are as wide differ by their age alone. */
static int64_t rank(struct gsim_ctx *ctx, gsim_slot slot) {
    return -priority_of(ctx->state, ctx, slot);
}

/* --- placing ---------------------------------------------------------------------------------- */

static void place_waiting(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    struct gsim_easy *easy = &state->easy;
    gsim_usage_look(&state->usage, ctx);
    if (state->mode == EASY)
        gsim_easy_pass(easy, ctx, plan, rank);
    else
        gsim_easy_pass_without(easy, ctx, plan, rank, state->mode == OFF);
    for (uint32_t i = 0; i < easy->n_placed; i++)
        gsim_usage_change(&state->usage, ctx, gsim_easy_placed(easy, i), 1);
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    gsim_easy_decide(&((struct state *)ctx->state)->easy, ctx, plan, place_waiting);
}

#define WEIGHT_MAX 1000000
static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM,
    GSIM_MEMORY_PARAM,
    {.name = "half_life",
     .type = GSIM_PARAM_TIME,
     .fallback = "7d",
     .min = 1,
     .max = INT64_MAX,
     .help = "half-life of past usage (Slurm's PriorityDecayHalfLife)"},
    {.name = "calc_period",
     .type = GSIM_PARAM_TIME,
     .fallback = "5min",
     .min = GSIM_NS_PER_S,
     .max = INT64_MAX,
     .help = "interval between two decays of usage (Slurm's PriorityCalcPeriod)"},
    {.name = "max_age",
     .type = GSIM_PARAM_TIME,
     .fallback = "7d",
     .min = 1,
     .max = INT64_MAX,
     .help = "age at which the age factor is 1 (Slurm's PriorityMaxAge)"},
    {.name = "weight_fairshare",
     .type = GSIM_PARAM_INT,
     .fallback = "100000",
     .max = WEIGHT_MAX,
     .help = "weight of the fair-share factor"},
    {.name = "weight_age",
     .type = GSIM_PARAM_INT,
     .fallback = "1000",
     .max = WEIGHT_MAX,
     .help = "weight of the age factor"},
    {.name = "weight_size",
     .type = GSIM_PARAM_INT,
     .fallback = "0",
     .max = WEIGHT_MAX,
     .help = "weight of the size factor (wide jobs first)"},
    {.name = "backfill",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "easy",
     .choices = "off|skip|easy",
     .help = "if the first job does not fit: wait, pass it over, or EASY with a reservation, as "
             "Slurm's sched/backfill"},
    GSIM_KILL_PARAM,
    {0}};

const struct gsim_policy gsim_policy_fairshare = {
    .name = "fairshare",
    .summary = "multifactor fair share between users, with decaying usage; not preemptive",
    .paper = "Slurm documentation, priority/multifactor (classic fair share)",
    .deviations = "equal shares, one level of accounts, priorities of the moment, one reservation; "
                  "jobs are killed at limit_s with kill=on alone",
    .is_oracle = true,
    .oracle_where = "where the trace has no limit_s, unless backfill=off or skip",
    .params = params,
    .state_size = sizeof(struct state),
    .open = open_fairshare,
    .on_arrival = on_arrival,
    .on_completion = on_completion,
    .decide = decide,
};
