/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Multifactor fair share: waiting jobs in order of
 *     weight_fairshare * 2^(-usage share / fair share) + weight_age * age + weight_size * size,
 * all factors in 0..1. A user's usage is GPU time, halved every half life. Users have equal shares.
 * Source: the classic algorithm of Slurm's priority/multifactor plugin (its documentation).
 * Deviations: usage is charged when a job leaves its GPUs and, while it runs, as it runs; one level
 * of accounts (the column user, or vc). Never preempts. Integer arithmetic only. */
#include "policies/common.h"

#include <string.h>

struct account {
    gsim_i128 usage_ns; /* GPU ns at updated_ns, decayed */
    int64_t updated_ns;
    int64_t running_gpus;
};

struct state {
    struct gsim_queue queue;
    struct gsim_index ranked; /* waiting jobs by -priority, made anew at each decide */
    struct gsim_index ending;
    struct account *accounts;
    uint32_t n_accounts, n_waiting, capacity;
    enum gsim_column owner;
    enum gsim_rule rule;
    int64_t half_life_ns, max_age_ns, weight_fairshare, weight_age, weight_size;
    int64_t mode; /* off, skip, easy */
    gsim_slot *order;
    bool *is_placed;
};

enum { OFF, SKIP, EASY };
#define ONE (INT64_C(1) << 32)

static enum gsim_status open_fairshare(struct gsim_ctx *ctx) {
    struct state *state = ctx->state;
    const struct gsim_trace *trace = ctx->view->trace;
    gsim_queue_init(&state->queue);
    gsim_index_init(&state->ranked, ctx->arena);
    gsim_index_init(&state->ending, ctx->arena);
    state->owner = trace->column[GSIM_COL_USER] ? GSIM_COL_USER : GSIM_COL_VC;
    if (!trace->column[state->owner])
        gsim_warn(ctx->log, NULL, 0,
                  "fairshare: the trace has neither a column 'user' nor 'vc'; all jobs share one "
                  "account, which leaves age and size");
    state->n_accounts = trace->names[state->owner].n + 1; /* the last: jobs without an owner */
    state->accounts = gsim_arena_array(ctx->arena, state->n_accounts, sizeof *state->accounts);
    state->rule = gsim_common_rule(ctx);
    state->half_life_ns = gsim_param(ctx->params, "half_life");
    state->max_age_ns = gsim_param(ctx->params, "max_age");
    state->weight_fairshare = gsim_param(ctx->params, "weight_fairshare");
    state->weight_age = gsim_param(ctx->params, "weight_age");
    state->weight_size = gsim_param(ctx->params, "weight_size");
    state->mode = gsim_param(ctx->params, "backfill");
    if (state->mode == EASY)
        gsim_easy_warn(ctx, "fairshare");
    return state->accounts ? GSIM_OK : gsim_no_memory(ctx->log, "opening accounts");
}

static struct account *account_of(const struct state *state, const struct gsim_ctx *ctx,
                                  gsim_slot slot) {
    int64_t name = gsim_trace_get(ctx->view->trace, state->owner, ctx->view->job[slot]);
    return &state->accounts[name >= 0 ? (uint32_t)name : state->n_accounts - 1];
}

/* What is running adds up while the past decays. */
static void bring_up(const struct state *state, struct account *account, int64_t now_ns) {
    int64_t elapsed = now_ns - account->updated_ns;
    if (elapsed == 0)
        return;
    if (account->usage_ns > 0) {
        uint64_t left = gsim_exp2_neg_q32(elapsed, state->half_life_ns);
        account->usage_ns = (account->usage_ns >> 16) * (gsim_i128)left >> 16;
    }
    account->usage_ns += (gsim_i128)elapsed * account->running_gpus;
    account->updated_ns = now_ns;
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    gsim_queue_append(&state->queue, ctx, slot);
    state->n_waiting++;
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    struct account *account = account_of(state, ctx, slot);
    bring_up(state, account, ctx->view->now_ns);
    account->running_gpus -= ctx->view->gpus[slot];
    gsim_index_remove(&state->ending, slot);
}

/* 2^(-(usage / all usage) / (1 / accounts)), Q32. */
static int64_t fair_factor(const struct state *state, const struct account *account,
                           gsim_i128 all) {
    if (all == 0)
        return ONE;
    gsim_i128 shares = account->usage_ns * state->n_accounts;
    int shift = 0;
    while (shares >> shift > INT64_MAX || all >> shift > INT64_MAX)
        shift++;
    return (int64_t)gsim_exp2_neg_q32((int64_t)(shares >> shift), (int64_t)(all >> shift));
}

static int64_t priority_of(const struct state *state, const struct gsim_ctx *ctx, gsim_slot slot,
                           gsim_i128 all) {
    const struct gsim_view *view = ctx->view;
    int64_t age_ns = view->now_ns - view->submit_ns[slot];
    if (age_ns > state->max_age_ns)
        age_ns = state->max_age_ns;
    int64_t age = gsim_muldiv_floor(age_ns, ONE, state->max_age_ns);
    int64_t size = gsim_muldiv_floor(view->gpus[slot], ONE, view->n_gpus);
    return state->weight_fairshare * (fair_factor(state, account_of(state, ctx, slot), all) >> 8) +
           state->weight_age * (age >> 8) + state->weight_size * (size >> 8);
}

static void rank_waiting(struct state *state, struct gsim_ctx *ctx) {
    gsim_i128 all = 0;
    for (uint32_t a = 0; a < state->n_accounts; a++) {
        bring_up(state, &state->accounts[a], ctx->view->now_ns);
        all += state->accounts[a].usage_ns;
    }
    gsim_slot old;
    while ((old = gsim_index_first(&state->ranked)) != GSIM_NO_ID)
        gsim_index_remove(&state->ranked, old);
    for (gsim_slot slot = state->queue.first; slot != GSIM_NO_SLOT;
         slot = gsim_queue_after(ctx, slot))
        if (!gsim_index_insert(&state->ranked, slot, -priority_of(state, ctx, slot, all),
                               ctx->view->job[slot]))
            (void)gsim_no_memory(ctx->log, "ranking jobs");
}

static bool reserve_order(struct state *state, struct gsim_ctx *ctx) {
    if (state->n_waiting > state->capacity) {
        state->capacity = state->n_waiting * 2;
        state->order =
            gsim_arena_grow_raw(ctx->arena, state->order, state->capacity * sizeof *state->order);
        state->is_placed = gsim_arena_grow_raw(ctx->arena, state->is_placed, state->capacity);
    }
    return state->order && state->is_placed;
}

static void place_in_order(struct state *state, struct gsim_ctx *ctx, struct gsim_plan *plan,
                           uint32_t n) {
    struct gsim_misfits misfits = gsim_misfits_none(ctx->view);
    if (state->mode == EASY) {
        struct gsim_easy easy = {.rule = state->rule,
                                 .order = state->order,
                                 .n = n,
                                 .limit_ns = gsim_easy_limit_ns,
                                 .ending = &state->ending};
        gsim_easy_pass(&easy, ctx, plan, state->is_placed);
        return;
    }
    for (uint32_t i = 0; i < n && !gsim_common_is_full(ctx->view); i++) {
        state->is_placed[i] = gsim_misfits_place(&misfits, ctx, plan, state->order[i], state->rule);
        if (!state->is_placed[i] && state->mode == OFF)
            return;
    }
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    gsim_easy_settled(&state->ending, ctx);
    if (state->n_waiting == 0 || gsim_common_is_full(ctx->view) || !reserve_order(state, ctx))
        return;
    rank_waiting(state, ctx);
    uint32_t n = 0;
    for (gsim_slot slot = gsim_index_first(&state->ranked); slot != GSIM_NO_ID;
         slot = gsim_index_next(&state->ranked, slot)) {
        state->is_placed[n] = false;
        state->order[n++] = slot;
    }
    place_in_order(state, ctx, plan, n);
    for (uint32_t i = 0; i < n; i++) {
        if (!state->is_placed[i])
            continue;
        gsim_queue_remove(&state->queue, ctx, state->order[i]);
        gsim_index_remove(&state->ranked, state->order[i]);
        state->n_waiting--;
        account_of(state, ctx, state->order[i])->running_gpus += ctx->view->gpus[state->order[i]];
    }
}

#define WEIGHT_MAX 1000000
static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM,
    {.name = "half_life",
     .type = GSIM_PARAM_TIME,
     .fallback = "7d",
     .min = 1,
     .max = INT64_MAX,
     .help = "in which past usage counts half (Slurm's PriorityDecayHalfLife)"},
    {.name = "max_age",
     .type = GSIM_PARAM_TIME,
     .fallback = "7d",
     .min = 1,
     .max = INT64_MAX,
     .help = "at which the age factor is 1 (Slurm's PriorityMaxAge)"},
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
     .fallback = "skip",
     .choices = "off|skip|easy",
     .help = "when the first does not fit: wait, pass it over, or EASY with a reservation"},
    {0}};

const struct gsim_policy gsim_policy_fairshare = {
    .name = "fairshare",
    .summary = "multifactor fair share between users, with decaying usage; not preemptive",
    .paper = "Slurm documentation, priority/multifactor (classic fair share)",
    .deviations = "equal shares, one level of accounts, jobs are not killed at limit_s",
    .is_oracle = true,
    .params = params,
    .state_size = sizeof(struct state),
    .job_size = sizeof(struct gsim_link),
    .open = open_fairshare,
    .on_arrival = on_arrival,
    .on_completion = on_completion,
    .decide = decide,
};
