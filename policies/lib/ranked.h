/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranked, preemptive scheduling: one pass for all policies whose jobs have a rank. */
#ifndef GSIM_POLICIES_LIB_RANKED_H
#define GSIM_POLICIES_LIB_RANKED_H

#include "policies/lib/settings.h"
#include "policies/lib/taken.h"
#include "sim/base/index.h"

/* A running job's rank moves with time: rank = (key + slope_sign * now) * weight. Jobs of one
 * weight keep their order while they run, so there is one ordered index a weight. Where GPUs page,
 * ranks that fall do so at any speed: a key is then the rank / weight when it was last asked for, and
 * no rank is above that. */
struct gsim_rank_group {
    int64_t weight;
    struct gsim_index running; /* by key */
};

/* Waiting jobs by rank (smaller goes first), running jobs in groups. The policy says what a job's
 * rank is made of; the pass does the rest. */
struct gsim_ranked {
    struct gsim_index waiting; /* key: rank */
    struct gsim_rank_group *group;
    uint32_t n_groups, groups_capacity;
    int slope_sign; /* -1: ranks of running jobs fall with time, +1: they rise */
    int64_t slack_rank; /* a victim's rank exceeds the waiting job's by more than this */
    bool breaks_ties; /* of equal ranks the later job is a victim too */
    enum gsim_rule rule;
    struct gsim_preemption preemption;
    bool is_preemptive;
    int64_t decided_ns; /* time of the last decide */
    uint32_t n_repairs; /* that it knows of */
    bool needs_full_pass; /* capacity was freed, or ranks of waiting jobs may have been passed */
    int64_t (*value)(const struct gsim_ctx *ctx, gsim_slot slot); /* rank / weight, now */
    int64_t (*weight)(const struct gsim_ctx *ctx, gsim_slot slot); /* 1 for most */
    gsim_slot *victims;
    uint32_t n_victims, victims_capacity;
    struct gsim_taken taken;
};

/* The rank of a running or waiting job has changed by itself. */
void gsim_ranked_changed(struct gsim_ranked *ranked, struct gsim_ctx *ctx, gsim_slot slot);
/* Ranks of running jobs have changed in a way of their own; is_all: those of waiting ones too. To be
 * called when nothing but what has settled or arrived since is unbooked. */
void gsim_ranked_rerank(struct gsim_ranked *ranked, struct gsim_ctx *ctx, bool is_all);
void gsim_ranked_init(struct gsim_ranked *ranked, const struct gsim_ctx *ctx);
/* Hooks to be called from the policy's own. */
void gsim_ranked_completed(struct gsim_ranked *ranked, gsim_slot slot);
/* Books what changed, then places waiting jobs in order of rank, preempting worse ones. */
void gsim_ranked_decide(struct gsim_ranked *ranked, struct gsim_ctx *ctx, struct gsim_plan *plan);

#endif
