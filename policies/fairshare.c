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

#include "sim/base/wide.h"

struct account {
    gsim_i128 usage_ns; /* GPU ns, up to updated_ns */
    int64_t updated_ns;
    int64_t running_gpus;
    int64_t factor_q32; /* valid in the decide of that number: */
    uint64_t n_decide;
};

struct state {
    struct gsim_easy easy; /* its queue is used without EASY as well */
    struct account *accounts;
    uint32_t n_accounts;
    enum gsim_column owner;
    int64_t max_age_ns, weight_fairshare, weight_age, weight_size;
    int64_t period_ns;
    uint64_t decay_q32; /* decay of a period */
    int64_t mode; /* off, skip, easy */
    uint64_t n_decides;
    /* of all accounts, up to all_at_ns; within a period it grows with the GPUs that run */
    gsim_i128 all_usage_ns;
    int64_t all_at_ns, all_gpus;
};

enum { OFF, SKIP, EASY };
#define ONE (INT64_C(1) << 32)

/* An account for each name, and a last account if there are jobs without an owner. */
static uint32_t count_accounts(const struct gsim_trace *trace, enum gsim_column owner) {
    for (uint32_t job = 0; job < trace->n_jobs; job++)
        if (gsim_trace_get(trace, owner, job) < 0)
            return trace->names[owner].n + 1;
    return trace->names[owner].n;
}

static enum gsim_status open_fairshare(struct gsim_ctx *ctx) {
    struct state *state = ctx->state;
    const struct gsim_trace *trace = ctx->view->trace;
    state->owner = trace->column[GSIM_COL_USER] ? GSIM_COL_USER : GSIM_COL_VC;
    if (!trace->column[state->owner])
        gsim_warn(ctx->log, NULL, 0,
                  "fairshare: the trace has neither a column 'user' nor 'vc'; all jobs share one "
                  "account, which leaves age and size");
    state->n_accounts = count_accounts(trace, state->owner);
    state->accounts = gsim_arena_array(ctx->arena, state->n_accounts, sizeof *state->accounts);
    state->period_ns = gsim_param(ctx->params, "calc_period");
    state->decay_q32 = gsim_exp2_neg_q32(state->period_ns, gsim_param(ctx->params, "half_life"));
    state->max_age_ns = gsim_param(ctx->params, "max_age");
    state->weight_fairshare = gsim_param(ctx->params, "weight_fairshare");
    state->weight_age = gsim_param(ctx->params, "weight_age");
    state->weight_size = gsim_param(ctx->params, "weight_size");
    state->mode = gsim_param(ctx->params, "backfill");
    if (!state->accounts)
        return gsim_no_memory(ctx->log, "opening accounts");
    enum gsim_status status =
        gsim_easy_init(&state->easy, ctx, "fairshare", state->n_accounts, state->mode == EASY);
    return status == GSIM_OK ? gsim_settings_open_memory(ctx) : status;
}

/* --- usage ------------------------------------------------------------------------------------ */

static uint32_t owner_of(const struct state *state, const struct gsim_ctx *ctx, gsim_slot slot) {
    int64_t name = gsim_trace_get(ctx->view->trace, state->owner, ctx->view->jobs.index[slot]);
    return name >= 0 ? (uint32_t)name : state->n_accounts - 1;
}

static void charge(struct account *account, int64_t until_ns) {
    account->usage_ns += (gsim_i128)(until_ns - account->updated_ns) * account->running_gpus;
    account->updated_ns = until_ns;
}

/* Decays period by period, so that the result does not depend on the times of the calls. */
static void bring_up(const struct state *state, struct account *account, int64_t now_ns) {
    int64_t last_ns = now_ns - now_ns % state->period_ns;
    while (account->updated_ns < last_ns && (account->usage_ns > 0 || account->running_gpus > 0)) {
        charge(account,
               account->updated_ns - account->updated_ns % state->period_ns + state->period_ns);
        account->usage_ns = (account->usage_ns >> 16) * (gsim_i128)state->decay_q32 >> 16;
    }
    charge(account, now_ns);
}

/* At the end of a period each account is decayed and rounded by itself. */
static void sum_usage(struct state *state, int64_t now_ns) {
    bool is_new_period = now_ns / state->period_ns != state->all_at_ns / state->period_ns;
    state->all_usage_ns += (gsim_i128)(now_ns - state->all_at_ns) * state->all_gpus;
    state->all_at_ns = now_ns;
    if (!is_new_period)
        return;
    state->all_usage_ns = 0;
    for (uint32_t a = 0; a < state->n_accounts; a++) {
        bring_up(state, &state->accounts[a], now_ns);
        state->all_usage_ns += state->accounts[a].usage_ns;
    }
}

static void change_gpus(const struct gsim_ctx *ctx, gsim_slot slot, int sign) {
    struct state *state = ctx->state;
    struct account *account = &state->accounts[owner_of(state, ctx, slot)];
    int64_t more = sign * (int64_t)ctx->view->jobs.gpus[slot];
    sum_usage(state, ctx->view->now_ns);
    bring_up(state, account, ctx->view->now_ns);
    account->running_gpus += more;
    state->all_gpus += more;
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    gsim_easy_arrived(&state->easy, ctx, slot, owner_of(state, ctx, slot));
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    change_gpus(ctx, slot, -1);
    gsim_easy_completed(&((struct state *)ctx->state)->easy, slot);
}

/* --- priorities ------------------------------------------------------------------------------- */

/* 2^(-(usage / all usage) / (1 / accounts)), Q32. */
static int64_t fair_factor(struct state *state, struct account *account) {
    gsim_i128 all = state->all_usage_ns;
    if (account->n_decide == state->n_decides)
        return account->factor_q32;
    bring_up(state, account, state->all_at_ns);
    gsim_i128 shares = account->usage_ns * state->n_accounts;
    int shift = 0;
    while (shares >> shift > INT64_MAX || all >> shift > INT64_MAX)
        shift++;
    account->factor_q32 =
        all == 0 ? ONE
                 : (int64_t)gsim_exp2_neg_q32((int64_t)(shares >> shift), (int64_t)(all >> shift));
    account->n_decide = state->n_decides;
    return account->factor_q32;
}

static int64_t priority_of(struct state *state, const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_view *view = ctx->view;
    struct account *account = &state->accounts[owner_of(state, ctx, slot)];
    int64_t age_ns = view->now_ns - view->jobs.submit_ns[slot];
    if (age_ns > state->max_age_ns)
        age_ns = state->max_age_ns;
    int64_t age = gsim_muldiv_floor(age_ns, ONE, state->max_age_ns);
    int64_t size = gsim_muldiv_floor(view->jobs.gpus[slot], ONE, view->cluster.n_gpus);
    return state->weight_fairshare * (fair_factor(state, account) >> 8) +
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
    state->n_decides++;
    sum_usage(state, ctx->view->now_ns);
    if (state->mode == EASY)
        gsim_easy_pass(easy, ctx, plan, rank);
    else
        gsim_easy_pass_without(easy, ctx, plan, rank, state->mode == OFF);
    for (uint32_t i = 0; i < easy->n_placed; i++)
        change_gpus(ctx, gsim_easy_placed(easy, i), 1);
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
