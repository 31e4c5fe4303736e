/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Usage of users that decays, and the fair-share factor that it gives: fairshare, and
 * queue=fairshare of policies that share GPUs. A user's usage is GPU time; at the end of every
 * period all usage is decayed so that it halves every half-life. Users have equal shares. Integer
 * arithmetic only. */
#ifndef GSIM_POLICIES_LIB_USAGE_H
#define GSIM_POLICIES_LIB_USAGE_H

#include "gsim/policy.h"
#include "sim/base/wide.h"

struct gsim_usage_account {
    gsim_i128 usage_ns; /* GPU ns, up to updated_ns */
    int64_t updated_ns;
    int64_t running_gpus;
    int64_t factor_q32; /* valid at the look of that number: */
    uint64_t n_look;
};

struct gsim_usage {
    struct gsim_usage_account *accounts;
    uint32_t n_accounts, n_shares; /* n_shares: accounts that have jobs */
    enum gsim_column owner; /* user, or vc where the trace has no users */
    int64_t period_ns;
    uint64_t decay_q32; /* decay of a period */
    uint64_t n_looks;
    /* of all accounts, up to all_at_ns; within a period it grows with the GPUs that run */
    gsim_i128 all_usage_ns;
    int64_t all_at_ns, all_gpus;
};

/* An account for each name, and a last account for jobs without an owner. what: in the
 * warning that the trace names no owners. */
enum gsim_status gsim_usage_init(struct gsim_usage *usage, struct gsim_ctx *ctx, const char *what,
                                 int64_t half_life_ns, int64_t period_ns);
uint32_t gsim_usage_owner(const struct gsim_usage *usage, const struct gsim_ctx *ctx,
                          gsim_slot slot);
/* The job begins to be charged (1), or is no longer (-1). */
void gsim_usage_change(struct gsim_usage *usage, const struct gsim_ctx *ctx, gsim_slot slot,
                       int sign);
/* Begins a look at the factors, as of now. */
void gsim_usage_look(struct gsim_usage *usage, const struct gsim_ctx *ctx);
/* 2^(-(usage / all usage) / (1 / accounts that have jobs)), Q32, as of the last look. */
int64_t gsim_usage_factor_q32(struct gsim_usage *usage, uint32_t owner);

#endif
