/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the policy share: the site's objects, quotas in use, jobs. */
#ifndef GSIM_POLICIES_KUEUE_STATE_H
#define GSIM_POLICIES_KUEUE_STATE_H

#include "gsim/policy.h"
#include "policies/lib/settings.h"
#include "sim/base/index.h"
#include "sim/site/kueue.h"

enum gsim_kueue_phase {
    GSIM_KUEUE_PENDING, /* the job waits for quota, in the order of its queue */
    GSIM_KUEUE_ADMITTED, /* the job has quota, and waits for nodes */
    GSIM_KUEUE_PLACED, /* the job has GPUs */
    GSIM_KUEUE_EVICTED, /* the job leaves its GPUs; it uses its quota until it has left */
    GSIM_KUEUE_WITHDRAWN, /* evicted without GPUs; it uses its quota until no cycle changes more */
};

/* Per job. */
struct gsim_kueue_job {
    uint32_t queue;
    uint32_t flavor; /* of its quota */
    uint64_t may_have; /* bits by flavor: it has nodes for the job */
    enum gsim_kueue_phase phase;
    uint64_t parked_in; /* the round of its queue in which it was found not to fit; 0: none */
    int64_t priority;
    uint32_t nth; /* in the order of arrivals, whatever the trace's rows are in */
    int64_t arrived_s; /* Kubernetes keeps whole seconds */
    uint64_t admitted_nth; /* the number of the job's admission: a later one is larger */
    uint32_t admitted_at; /* position in the list of admitted jobs */
    bool is_target; /* chosen for eviction in the cycle under way */
};

/* Quota in use of a ClusterQueue or a Cohort, for a flavor. */
struct gsim_kueue_use {
    int64_t subtree; /* quota of the node with what those below it lend */
    int64_t used;
};

/* The pending jobs of a ClusterQueue: by priority, then by arrival. */
struct gsim_kueue_line {
    struct gsim_index pending;
    gsim_slot head; /* no job before it may be tried; GSIM_NO_SLOT: all are parked */
    /* Under BestEffortFIFO: the job for which others are evicted. It is the head until it is
     * admitted, or finds no more to evict; GSIM_NO_SLOT: none. */
    gsim_slot preemptor;
    uint64_t round; /* counts the times at which parked jobs become heads again */
};

/* How well a job fits a flavor; a larger value is better. */
enum gsim_kueue_mode {
    GSIM_KUEUE_NO_FIT,
    GSIM_KUEUE_NO_CANDIDATES, /* the job needs preemption, and no set of jobs makes room enough */
    GSIM_KUEUE_PREEMPT, /* by evicting jobs of its own queue, and perhaps of others */
    GSIM_KUEUE_RECLAIM, /* by evicting jobs of other queues alone */
    GSIM_KUEUE_FIT,
};

/* In the order in which candidates go first. */
enum gsim_kueue_variant {
    GSIM_KUEUE_BY_PLACE, /* its queue borrows quota that the job's subtree owns */
    /* it is evicted only if the job's queue then borrows nothing itself */
    GSIM_KUEUE_WITHOUT_BORROWING,
    GSIM_KUEUE_WHILE_BORROWING,
    GSIM_KUEUE_WITHIN, /* of the job's own queue */
};

/* A job that may be evicted for another. */
struct gsim_kueue_candidate {
    gsim_slot slot;
    uint32_t meets_at; /* the lowest cohort that both jobs' queues are in */
    enum gsim_kueue_variant variant;
    bool leaves; /* the job leaves its GPUs already */
    int64_t priority;
    uint64_t admitted_nth;
};

/* A head of a cycle. */
struct gsim_kueue_entry {
    gsim_slot slot;
    uint32_t flavor;
    enum gsim_kueue_mode mode;
    int borrows; /* height of the subtree that has room; 0: within its own quota */
    int64_t booked; /* GPUs booked for it until the cycle is over */
    /* the place of its targets in the list of all; how many they are */
    uint32_t first_target, n_targets;
    bool is_chosen; /* it is admitted, or evicts its targets, when the cycle is over */
    bool is_skipped; /* it fitted until other heads of the cycle were admitted */
};

struct gsim_kueue_state {
    struct gsim_kueue conf;
    struct gsim_kueue_use *use; /* by node, by flavor */
    int *height; /* by node: the longest way down */
    struct gsim_kueue_line *line; /* by ClusterQueue */
    uint32_t *queue_of; /* by name of the trace's column queue */
    bool *is_of; /* by flavor, by node of the cluster: the node's GPUs have this flavor */
    bool has_kinds; /* jobs may have some nodes of a flavor and not others */
    gsim_slot *admitted; /* jobs with quota, in no order */
    uint32_t n_admitted, admitted_capacity;
    uint64_t n_admissions;
    uint32_t n_withdrawals; /* in a decide */
    bool has_withdrawals; /* an admitted job is to be withdrawn */
    uint64_t *gpus_of_flavor; /* free or not */
    uint32_t n_arrived;
    struct gsim_index waiting; /* admitted jobs without GPUs: by priority, then by admission */
    struct gsim_kueue_entry *entry; /* by ClusterQueue, of the cycle under way */
    uint32_t n_entries;
    struct gsim_kueue_candidate *candidate; /* scratch; as large as the list of admitted jobs */
    uint32_t n_candidates;
    gsim_slot *target; /* targets of the entries of a cycle, one entry after the other */
    uint32_t n_targets, targets_capacity;
    uint32_t *free_gpus; /* scratch of placing, by node of the cluster */
    struct gsim_unit *unit;
    struct gsim_preemption preemption;
    bool is_due; /* a job arrived, or quota came free */
};

static inline struct gsim_kueue_job *gsim_kueue_job(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_job_state(ctx, slot);
}

#endif
