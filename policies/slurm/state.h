/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the policy share: the site's settings, jobs, nodes, usage and counters. */
#ifndef GSIM_POLICIES_SLURM_STATE_H
#define GSIM_POLICIES_SLURM_STATE_H

#include "gsim/policy.h"
#include "sim/site/slurm.h"

#define GSIM_SLURM_NONE UINT32_MAX

/* Per job. */
struct gsim_slurm_job {
    uint32_t partition, qos, assoc; /* GSIM_SLURM_NONE: no QOS */
    uint32_t set; /* of nodes, see nodes.h */
    uint32_t widest; /* the most GPUs that it could have on one of them */
    bool is_spread; /* no nodes of the set could hold it as whole nodes and a part of one */
    uint32_t running_at; /* position in the list of running jobs; GSIM_SLURM_NONE: none */
    int64_t eligible_ns;
    int64_t limit_ns; /* GSIM_TIME_MAX: none */
    int64_t end_ns; /* latest end of a running job */
    int64_t priority; /* as of the last ranking */
    int64_t wants[GSIM_SLURM_FIRST_TYPE]; /* by TRES */
    struct gsim_host each; /* beside each of its GPUs; 0: not asked for, or not counted */
    uint32_t first_piece; /* where it runs; GSIM_SLURM_NONE: nowhere */
    uint8_t type; /* that it asks for, among the types of limits, counted from 1; 0: none of them */
    uint32_t of_type[GSIM_SLURM_MOST_TYPES]; /* GPUs that it has, by such a type */
};

/* What running jobs hold, by counter and TRES: a row of n_tres for each counter. */
struct gsim_slurm_counts {
    int64_t *held;
    gsim_i128 *ends; /* sum of amounts * end_ns */
};

/* Running jobs of a QOS: of all, of a user, of an account; and of an association with those below
 * it. */
enum gsim_slurm_counter {
    GSIM_SLURM_OF_QOS,
    GSIM_SLURM_OF_USER,
    GSIM_SLURM_OF_NAME,
    GSIM_SLURM_OF_ASSOC,
    GSIM_SLURM_COUNTERS
};

/* A limit that some QOS or association sets. */
struct gsim_slurm_asked {
    enum gsim_slurm_limit limit;
    enum gsim_slurm_tres tres;
};

/* A node of the tree of accounts: an account, or a user of one. */
struct gsim_slurm_account {
    uint32_t parent; /* GSIM_SLURM_NONE: the root, which is account 0 */
    uint32_t first_child, next; /* of its parent */
    bool is_user;
    const struct gsim_slurm_assoc *conf; /* NULL: the site's file does not have it */
    const char *name;
    int64_t shares, child_shares;
    gsim_i128 usage; /* billing milli * ns, up to updated_ns */
    int64_t updated_ns, running_milli;
    int64_t factor_q32; /* fair-share factor of a user */
};

/* GPUs of a node, and CPUs and memory beside them. */
struct gsim_slurm_room {
    uint32_t gpus;
    struct gsim_host host;
};

/* A node, and its free room now, as the plan has it. */
struct gsim_slurm_node_state {
    uint32_t n_gpus;
    struct gsim_host host; /* of the node; GSIM_TIME_MAX: not counted */
    struct gsim_slurm_room free;
    uint32_t type; /* among the types of limits, counted from 1; 0: none of them */
    int64_t weight;
    bool is_closed; /* to the rest of this pass of the main scheduler */
};

/* A time in which a node is not to be used. */
struct gsim_slurm_window {
    int64_t from_ns, to_ns;
    uint32_t next; /* of its node; GSIM_SLURM_NONE: the last */
    uint32_t reservation; /* of the site; GSIM_SLURM_NONE: a job's of this backfill pass */
};

/* Room on a node that a running job frees. */
struct gsim_slurm_freeing {
    int64_t end_ns;
    struct gsim_slurm_room room;
    uint32_t next;
};

/* The GPUs of a running job on one node. */
struct gsim_slurm_piece {
    uint32_t node, gpus;
    uint32_t next; /* of the job, or of those that are not in use */
};

/* Jobs that ask for as much, in a backfill pass. */
struct gsim_slurm_outlook {
    uint32_t set, gpus;
    struct gsim_host each;
    int64_t *from_ns; /* by node: none of them starts there before */
    int64_t least_ns; /* none of them starts anywhere before */
};
/* Most sites have jobs of 1, 2, 4, 8 GPUs; what more there are is forgotten in turn. */
#define GSIM_SLURM_OUTLOOKS 16

struct gsim_slurm_state {
    struct gsim_slurm conf;
    gsim_slot *running;
    uint32_t n_running, running_capacity;
    bool kills, has_time_limits;
    int64_t next_edge_ns; /* of a reservation */
    bool is_due; /* the main scheduler: something has happened */
    bool has_changed; /* something has happened since the last backfill pass */
    int64_t backfilled_ns, ranked_ns; /* the last pass; the time of the priorities */
    uint32_t n_repairs;
    int64_t most_priority, most_factor; /* of the site's QOS and partitions */
    gsim_slot *order; /* waiting jobs, first to last */
    gsim_slot *before; /* scratch of sorting, as large as the order */
    int64_t *key;
    uint32_t *sorted;
    uint32_t n_order, order_capacity;
    /* by user and account of the trace: the account of the tree */
    uint32_t *account_of;
    uint32_t n_users, n_names; /* of the trace, and one more for jobs without */
    struct gsim_slurm_account *account;
    uint32_t n_accounts, n_ranked_users;
    uint64_t decay_q32; /* of usage, over a period */
    uint32_t *walk; /* accounts in the order of a fair tree that is being made */
    gsim_u128 *level; /* by account: level fair share */
    struct gsim_slurm_counts count[GSIM_SLURM_COUNTERS];
    uint32_t n_tres; /* those that are counted: the first ones */
    struct gsim_slurm_asked asked[GSIM_SLURM_LIMITS * GSIM_SLURM_TRES];
    uint32_t n_asked;
    uint32_t *qos_of_partition; /* GSIM_SLURM_NONE: none */
    uint32_t *qos_of, *partition_of; /* by name of the trace's columns */
    uint32_t default_partition;
    const struct gsim_slurm_node **of_file; /* by node: the one that it stands for; NULL: none */
    struct gsim_slurm_node_state *node;
    uint32_t n_nodes;
    uint64_t *set; /* sets of nodes, a bit a node */
    uint32_t *set_of; /* by partition and type of GPU of the trace */
    uint32_t n_sets, set_words, n_types;
    struct gsim_slurm_window *window;
    uint32_t *first_window, n_windows, n_lasting_windows, windows_capacity;
    struct gsim_slurm_freeing *freeing;
    uint32_t *first_freeing, n_freeing, freeing_capacity;
    struct gsim_slurm_outlook outlook[GSIM_SLURM_OUTLOOKS];
    uint32_t n_outlooks; /* met in this pass */
    bool *is_blocked; /* by partition, in a pass */
    uint32_t n_blocked;
    uint32_t *user_tests, *part_tests; /* in a backfill pass */
    int64_t origin_s; /* the date of the trace's time 0 */
    gsim_slot *victim; /* candidates for preemption, and what they would free */
    uint32_t n_victims, victims_capacity;
    uint32_t *chosen; /* nodes of a job that is being placed, and the GPUs on each */
    uint32_t *chosen_gpus, n_chosen;
    struct gsim_slurm_piece *piece;
    uint32_t first_idle_piece, n_pieces, pieces_capacity;
    struct gsim_slurm_room *freed; /* by node: what preemption would free */
    uint32_t *usable; /* by node: GPUs that the job at hand could have */
    int64_t *when; /* by node: the first time at which it could be used */
    struct gsim_unit *unit;
};

static inline struct gsim_slurm_job *gsim_slurm_job(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_job_state(ctx, slot);
}

static inline const struct gsim_slurm_partition *
gsim_slurm_partition_of(const struct gsim_slurm_state *state, const struct gsim_slurm_job *job) {
    return &state->conf.partition[job->partition];
}

#endif
