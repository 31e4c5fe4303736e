/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Accounts are brought up to date when they are asked for, and all of them at the end of a
 * period. */
#include "policies/lib/usage.h"

#include "policies/lib/common.h"

#define ONE (INT64_C(1) << 32)

/* An account of which no job is has no share. */
static enum gsim_status open_accounts(struct gsim_usage *usage, struct gsim_ctx *ctx) {
    const bool *is_named = gsim_common_named(ctx, usage->owner);
    usage->n_accounts = ctx->view->trace->names[usage->owner].n + 1;
    usage->accounts = gsim_arena_array(ctx->arena, usage->n_accounts, sizeof *usage->accounts);
    if (!usage->accounts || !is_named)
        return gsim_no_memory(ctx->log, "opening accounts");
    for (uint32_t account = 0; account < usage->n_accounts; account++)
        usage->n_shares += is_named[account];
    return GSIM_OK;
}

enum gsim_status gsim_usage_init(struct gsim_usage *usage, struct gsim_ctx *ctx, const char *what,
                                 int64_t half_life_ns, int64_t period_ns) {
    const struct gsim_trace *trace = ctx->view->trace;
    usage->owner = trace->column[GSIM_COL_USER] ? GSIM_COL_USER : GSIM_COL_VC;
    if (!trace->column[usage->owner])
        gsim_warn(ctx->log, NULL, 0,
                  "%s: the trace has neither a column 'user' nor 'vc'; all jobs share one account",
                  what);
    usage->period_ns = period_ns;
    usage->decay_q32 = gsim_exp2_neg_q32(period_ns, half_life_ns);
    return open_accounts(usage, ctx);
}

uint32_t gsim_usage_owner(const struct gsim_usage *usage, const struct gsim_ctx *ctx,
                          gsim_slot slot) {
    int64_t name = gsim_trace_get(ctx->view->trace, usage->owner, ctx->view->jobs.index[slot]);
    return name >= 0 ? (uint32_t)name : usage->n_accounts - 1;
}

static void charge(struct gsim_usage_account *account, int64_t until_ns) {
    account->usage_ns += (gsim_i128)(until_ns - account->updated_ns) * account->running_gpus;
    account->updated_ns = until_ns;
}

/* Decays period by period, so that the result does not depend on the times of the calls. */
static void bring_up(const struct gsim_usage *usage, struct gsim_usage_account *account,
                     int64_t now_ns) {
    int64_t last_ns = now_ns - now_ns % usage->period_ns;
    while (account->updated_ns < last_ns && (account->usage_ns > 0 || account->running_gpus > 0)) {
        charge(account,
               account->updated_ns - account->updated_ns % usage->period_ns + usage->period_ns);
        account->usage_ns = (account->usage_ns >> 16) * (gsim_i128)usage->decay_q32 >> 16;
    }
    charge(account, now_ns);
}

/* At the end of a period each account is decayed and rounded by itself. */
static void sum(struct gsim_usage *usage, int64_t now_ns) {
    bool is_new_period = now_ns / usage->period_ns != usage->all_at_ns / usage->period_ns;
    usage->all_usage_ns += (gsim_i128)(now_ns - usage->all_at_ns) * usage->all_gpus;
    usage->all_at_ns = now_ns;
    if (!is_new_period)
        return;
    usage->all_usage_ns = 0;
    for (uint32_t a = 0; a < usage->n_accounts; a++) {
        bring_up(usage, &usage->accounts[a], now_ns);
        usage->all_usage_ns += usage->accounts[a].usage_ns;
    }
}

void gsim_usage_change(struct gsim_usage *usage, const struct gsim_ctx *ctx, gsim_slot slot,
                       int sign) {
    struct gsim_usage_account *account = &usage->accounts[gsim_usage_owner(usage, ctx, slot)];
    int64_t more = sign * (int64_t)ctx->view->jobs.gpus[slot];
    sum(usage, ctx->view->now_ns);
    bring_up(usage, account, ctx->view->now_ns);
    account->running_gpus += more;
    usage->all_gpus += more;
}

void gsim_usage_look(struct gsim_usage *usage, const struct gsim_ctx *ctx) {
    usage->n_looks++;
    sum(usage, ctx->view->now_ns);
}

int64_t gsim_usage_factor_q32(struct gsim_usage *usage, uint32_t owner) {
    struct gsim_usage_account *account = &usage->accounts[owner];
    gsim_i128 all = usage->all_usage_ns;
    if (account->n_look == usage->n_looks)
        return account->factor_q32;
    bring_up(usage, account, usage->all_at_ns);
    gsim_i128 shares = account->usage_ns * usage->n_shares;
    int shift = 0;
    while (shares >> shift > INT64_MAX || all >> shift > INT64_MAX)
        shift++;
    account->factor_q32 =
        all == 0 ? ONE
                 : (int64_t)gsim_exp2_neg_q32((int64_t)(shares >> shift), (int64_t)(all >> shift));
    account->n_look = usage->n_looks;
    return account->factor_q32;
}
