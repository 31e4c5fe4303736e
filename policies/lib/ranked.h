/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranked, preemptive scheduling: one pass for all policies that rank jobs. */
#ifndef GSIM_POLICIES_LIB_RANKED_H
#define GSIM_POLICIES_LIB_RANKED_H

#include "policies/lib/depths.h"
#include "policies/lib/eviction.h"
#include "policies/lib/reach.h"
#include "policies/lib/settings.h"
#include "policies/lib/wish_lines.h"
#include "sim/base/index.h"

/* A running job's rank moves with time. Rising ranks: rank = (key + now) * weight. Jobs of one
 * weight keep their order while they run, so there is one ordered index per weight, and per nodes
 * that jobs may use, since those of other nodes give way in vain. Falling ranks
 * fall at any speed: a key is rank / weight as of its last computation, and no rank is above it. */
struct gsim_rank_group {
    int64_t weight;
    uint32_t nodes; /* that its jobs may use: gsim_reach_nodes_of; 0 where all may help all */
    struct gsim_index running; /* by key */
    gsim_slot passed; /* in a search for victims: this job and all worse ones are passed over */
};

/* Waiting jobs by rank (smaller goes first), running jobs in groups. The policy defines a job's
 * rank by value and weight; the pass does the rest. */
struct gsim_ranked {
    struct gsim_wish_lines waiting;
    struct gsim_rank_group *group;
    uint32_t n_groups, groups_capacity;
    int slope_sign; /* -1: ranks of running jobs fall with time, +1: they rise */
    int64_t slack_rank; /* a victim's rank exceeds the waiting job's by more than this */
    bool breaks_ties; /* of equal ranks the later job is a victim too */
    enum gsim_rule rule;
    /* Whether a running job may hold GPUs that are of no use to the job that waits. Where a trial
     * matters to the next one, each job counts as useful, so that there are as many trials. */
    bool knows_nodes;
    struct gsim_preemption preemption;
    bool is_preemptive;
    int64_t decided_ns; /* time of the last decide */
    uint32_t n_repairs; /* seen so far */
    uint32_t n_failures; /* of nodes, up to the last pass */
    /* capacity was freed, or running jobs' ranks may have passed those of waiting jobs */
    bool needs_full_pass;
    int64_t (*value)(const struct gsim_ctx *ctx, gsim_slot slot); /* rank / weight, now */
    int64_t (*weight)(const struct gsim_ctx *ctx, gsim_slot slot); /* 1 in most policies */
    struct gsim_eviction eviction;
    struct gsim_reach reach;
    struct gsim_depths depths; /* of ranks without what time adds to all of them alike */
};

/* Notes that the rank of a running or waiting job has changed by itself. */
void gsim_ranked_changed(struct gsim_ranked *ranked, struct gsim_ctx *ctx, gsim_slot slot);
/* Computes the ranks of running jobs anew, is_all: of waiting jobs too. To be called when every job
 * is booked except those that settled or arrived since. */
void gsim_ranked_rerank(struct gsim_ranked *ranked, struct gsim_ctx *ctx, bool is_all);
void gsim_ranked_init(struct gsim_ranked *ranked, struct gsim_ctx *ctx);
/* Hooks to be called from the policy's own. */
void gsim_ranked_completed(struct gsim_ranked *ranked, gsim_slot slot);
/* Books changes, then places waiting jobs in order of rank, preempting worse jobs. */
void gsim_ranked_decide(struct gsim_ranked *ranked, struct gsim_ctx *ctx, struct gsim_plan *plan);

#endif
