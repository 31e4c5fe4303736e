/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the policy share: the site's settings, jobs, nodes, usage and counters. */
#ifndef GSIM_POLICIES_SLURM_STATE_H
#define GSIM_POLICIES_SLURM_STATE_H

#include "gsim/policy.h"
#include "sim/site/slurm.h"

#define GSIM_SLURM_NONE UINT32_MAX

/* A way for a job to run: its partition, and nodes of it. */
struct gsim_slurm_way {
    uint32_t partition;
    uint32_t set; /* of nodes, see nodes.h */
    uint32_t widest; /* the most GPUs that the job could have on one of them */
    uint32_t n_nodes; /* that it asked for, as even a part of its GPUs on each; 0: any number */
    bool is_spread; /* no nodes of the set could hold it as whole nodes and a part of one */
    int64_t limit_ns; /* GSIM_TIME_MAX: none */
    struct gsim_host each; /* beside each of its GPUs; 0: not asked for, or not counted */
};

/* A way of a job that has several, in a list: the nodes of one partition for each choice of its
 * constraint, [rack1|rack2]. */
struct gsim_slurm_choice {
    struct gsim_slurm_way way;
    uint32_t next; /* of the partition, or of those that are not in use */
};

/* Per job. */
struct gsim_slurm_job {
    struct gsim_slurm_way way; /* where it runs, or is tried */
    bool has_choices; /* it waits in entries with lists of ways; else `way` is its only one */
    uint32_t qos, assoc; /* GSIM_SLURM_NONE: no QOS */
    uint32_t running_at; /* position in the list of running jobs; GSIM_SLURM_NONE: none */
    int64_t eligible_ns;
    int64_t lasting; /* factors of its priority that do not change, see ranking.c */
    int64_t billed_milli; /* while the job runs */
    int64_t end_ns; /* while the job runs: the latest time at which it ends */
    int64_t wants[GSIM_SLURM_FIRST_TYPE]; /* by TRES */
    /* CPUs and memory beside each of its GPUs; 0: not asked for, or not counted */
    struct gsim_host each;
    uint32_t share_ppm; /* of a GPU, that its shards are; 0: it has whole GPUs */
    uint32_t gpu; /* while it runs with shards: on which */
    gsim_slot next_on; /* of the jobs with shards of that GPU */
    bool is_freed; /* preemption that is being tried would free its shards */
    uint32_t array; /* its array, a name of the trace's column; GSIM_SLURM_NONE: it has none */
    uint32_t first_piece; /* the first of its nodes; GSIM_SLURM_NONE: it does not run */
    /* the type of GPU that it asks for, among the types of limits, counted from 1; 0: none of
     * them */
    uint8_t type;
    uint32_t of_type[GSIM_SLURM_MOST_TYPES]; /* GPUs that it has, by such a type */
};

/* A job that waits, in one of its partitions. */
struct gsim_slurm_entry {
    gsim_slot slot;
    uint32_t first_choice; /* GSIM_SLURM_NONE: the job has one way */
    uint32_t nth; /* of the job's partitions, as it names them */
    uint32_t partition, part; /* part: some node needs as many free GPUs */
    uint32_t array; /* of the job */
    int64_t key; /* tier and priority as of the last ranking; the least comes first */
};

/* What running jobs hold, by counter and TRES: a row of n_tres for each counter. */
struct gsim_slurm_counts {
    int64_t *held;
    gsim_i128 *left; /* sum of amounts * what was left of limits at counted_ns */
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
    /* Children and siblings: while the tree is built those of `parent`, then those that share with
     * each other. */
    uint32_t first_child, next;
    bool is_user;
    const struct gsim_slurm_assoc *conf; /* NULL: the site's file does not have it */
    const char *name;
    int64_t shares, child_shares;
    uint32_t shares_with; /* it shares with the children of this account */
    bool is_as_parent; /* fairshare=parent: it has no shares of its own */
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
    struct gsim_host host; /* CPUs and memory of the node; GSIM_TIME_MAX: not counted */
    struct gsim_slurm_room free;
    uint32_t type; /* of its GPUs, among the types of limits, counted from 1; 0: none of them */
    int64_t weight;
};

/* A time in which a node is not to be used. */
struct gsim_slurm_window {
    int64_t from_ns, to_ns;
    uint32_t next; /* window of the node; GSIM_SLURM_NONE: this is the last */
    /* the site's reservation; GSIM_SLURM_NONE: the window is of a job that backfill plans */
    uint32_t reservation;
};

/* Room on a node that a running job frees. */
struct gsim_slurm_freeing {
    int64_t end_ns;
    struct gsim_slurm_room room;
    uint32_t next;
};

/* A candidate for preemption, and on how many nodes of the job that needs room. */
struct gsim_slurm_victim {
    gsim_slot slot;
    uint32_t n_shared;
};

/* The GPUs of a running job on one node. */
struct gsim_slurm_piece {
    uint32_t node, gpus;
    uint32_t next; /* piece of the job, or of those that are not in use */
};

/* How jobs that ask for as much may lie on the nodes of a set, as gsim_slurm_nodes_shape finds. */
struct gsim_slurm_shape {
    uint32_t set, gpus, n_nodes, share_ppm;
    struct gsim_host each;
    bool is_forced; /* memory that the nodes lack does not count */
    bool fits, is_spread;
    uint32_t widest;
};
/* As many as there are outlooks below; what more there are is forgotten in turn. */
#define GSIM_SLURM_SHAPES 16

/* When jobs may start on a node, or on one of several: those with a limit up to fits_ns from
 * first_ns on, others from then_ns on. No earlier, that is: it may be later. */
struct gsim_slurm_times {
    int64_t first_ns, fits_ns, then_ns; /* fits_ns of -1: no limit is that short */
};

/* Jobs that ask for as much of a node. */
struct gsim_slurm_outlook {
    uint32_t set, part, share_ppm; /* part: GPUs of a node, GSIM_SLURM_NONE: all of them */
    struct gsim_host each;
    /* by node, behind n_leaves; before these the branches of a tree, each of its two, 2i and 2i + 1
     */
    struct gsim_slurm_times *times;
    int64_t *room_ns; /* by node: since when running jobs leave room; -1: not known */
    int64_t opened_ns; /* the pass to which all but room_ns belongs */
    int64_t none_from_limit_ns; /* jobs of one node with that limit or more find no time */
};
/* Most sites have jobs of 1, 2, 4, 8 GPUs; what more there are is forgotten in turn. */
#define GSIM_SLURM_OUTLOOKS 16

struct gsim_slurm_state {
    struct gsim_slurm conf;
    gsim_slot *running;
    uint32_t n_running, running_capacity;
    bool kills, has_time_limits;
    bool bills_as_logged; /* what the log says of a job goes before weights */
    bool has_told_billing; /* that the two differ */
    int64_t next_edge_ns; /* when the next reservation begins or ends */
    bool is_due; /* the main scheduler: something has happened */
    bool has_changed; /* something has happened since the last backfill pass */
    /* time of the last backfill pass; time for which priorities were computed */
    int64_t backfilled_ns, ranked_ns;
    int64_t counted_ns; /* the period at which minutes of GrpTRESRunMins were counted */
    uint64_t n_turns; /* failures and repairs of nodes that were seen */
    /* the largest among the site's QOS, and among its partitions */
    int64_t most_priority, most_factor;
    int64_t *gpus_of_partition;
    struct gsim_slurm_entry *order; /* waiting jobs, first to last */
    struct gsim_slurm_entry *before; /* scratch of sorting, as large as the order */
    int64_t *key;
    uint32_t *sorted;
    uint32_t n_order, order_capacity;
    uint32_t n_skipped; /* entries of the block before the first of the order, which left it */
    uint32_t n_stale; /* jobs of several entries that have started in this pass */
    struct gsim_slurm_choice *choice;
    uint32_t first_idle_choice, n_choices, choices_capacity;
    /* by name of the column; plans of a backfill pass, and bits of the partitions, as a job names
     * them, in which it looks at no more tasks */
    uint32_t *array_running, *array_plans;
    uint64_t *array_is_done;
    uint32_t n_arrays;
    /* by user and account of the trace: the place in the tree of accounts */
    uint32_t *account_of;
    uint32_t n_users, n_names; /* users and accounts of the trace, and one more for jobs without */
    struct gsim_slurm_account *account;
    uint32_t n_accounts, n_ranked_users;
    uint64_t decay_q32; /* the part of usage that is left after a period */
    uint32_t *walk; /* accounts in the order of a fair tree that is being made */
    gsim_u128 *level; /* by account: level fair share */
    struct gsim_slurm_counts count[GSIM_SLURM_COUNTERS];
    uint32_t n_tres; /* the TRES that are counted are the first n_tres ones */
    struct gsim_slurm_asked asked[GSIM_SLURM_LIMITS * GSIM_SLURM_TRES];
    uint32_t n_asked;
    uint32_t *qos_of_partition; /* GSIM_SLURM_NONE: none */
    uint32_t *qos_of; /* by name of the trace's column */
    uint32_t *partitions_of; /* by name of the trace's column: a place in the list */
    uint32_t *partition_list; /* partitions of names, each list ends with GSIM_SLURM_NONE */
    uint32_t n_listed;
    uint32_t default_partition;
    const struct gsim_slurm_node **of_file; /* by node: the one that it stands for; NULL: none */
    struct gsim_slurm_node_state *node;
    uint32_t n_nodes, widest_node; /* widest_node: GPUs of the largest one */
    bool has_one_weight, has_one_width; /* of all nodes */
    int64_t least_hbm_bytes; /* of all GPUs */
    /* Bits of nodes, of set_words words for each number of free GPUs up to widest_node. */
    uint64_t *with_free;
    uint64_t *seen_idle; /* by node: bits of its idle GPUs when they were counted last */
    uint64_t n_seen_turns; /* failures and repairs of nodes by then */
    bool has_looked; /* free GPUs were counted */
    uint64_t *closed; /* a bit a node: no job starts there in the rest of a main pass */
    struct gsim_slurm_shape shape[GSIM_SLURM_SHAPES];
    uint32_t n_shapes; /* met so far */
    bool has_shards; /* some GPUs may be had in shards */
    uint32_t *used_ppm; /* by GPU: in use by jobs with shards */
    gsim_slot *first_on; /* by GPU: of the jobs with shards */
    uint64_t *set; /* sets of nodes, a bit a node */
    uint32_t *set_of; /* by wish: its nodes, behind which those of its choices follow */
    uint32_t n_sets, set_words, n_types, n_constraints; /* the first sets are those of partitions */
    struct gsim_slurm_window *window;
    uint32_t *first_window, n_windows, n_lasting_windows, windows_capacity;
    struct gsim_slurm_freeing *freeing;
    uint32_t *first_freeing, first_idle_freeing, n_freeing, freeing_capacity;
    bool *is_stale, *has_overdue; /* by node: what jobs free is to be listed anew; some are late */
    struct gsim_slurm_outlook outlook[GSIM_SLURM_OUTLOOKS];
    uint32_t n_outlooks; /* met so far */
    uint32_t n_leaves; /* the nodes, up to a power of two */
    bool *is_blocked; /* by partition, in a pass */
    uint32_t *waiting_in; /* by partition: entries of the order */
    uint32_t *most_free; /* by partition: the most free GPUs of a node, when they were tried last */
    uint32_t n_open; /* partitions in which jobs wait, and are not held up in this pass */
    bool has_taken; /* free GPUs: a job has started or was planned since jobs were tried on them */
    uint32_t *user_tests, *part_tests; /* in a backfill pass */
    int64_t origin_s; /* the date of the trace's time 0 */
    struct gsim_slurm_victim *victim;
    uint32_t n_victims, victims_capacity;
    bool has_exempt; /* some jobs may be preempted only when they have run for some time */
    int64_t next_exempt_ns; /* when the next of them may be */
    uint32_t *qos_level; /* by QOS, see ranking.c; NULL: preemption is not by QOS */
    /* of the cluster, with the nodes of the site's file that have no GPU; 0 CPUs: not known */
    int64_t all_nodes, all_cpus;
    uint32_t *chosen; /* nodes of a job that is being placed, and the GPUs on each */
    uint32_t *chosen_gpus, n_chosen;
    struct gsim_slurm_piece *piece;
    uint32_t first_idle_piece, n_pieces, pieces_capacity;
    struct gsim_slurm_room *freed; /* by node: what preemption would free */
    uint32_t *usable; /* by node: GPUs that the job at hand could have */
    uint32_t *offered, n_offered; /* nodes of which the job at hand could have GPUs first */
    int64_t *in_order; /* the least of times by node */
    struct gsim_unit *unit;
};

static inline struct gsim_slurm_job *gsim_slurm_job(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_job_state(ctx, slot);
}

static inline const struct gsim_slurm_partition *
gsim_slurm_partition_of(const struct gsim_slurm_state *state, const struct gsim_slurm_job *job) {
    return &state->conf.partition[job->way.partition];
}

/* Jobs have their ids since sbatch, those that depend on others too: their rows tell these, while
 * gsim_nth tells when the job that such a job waits for has ended. */
static inline uint32_t gsim_slurm_id(const struct gsim_ctx *ctx, gsim_slot slot) {
    return ctx->view->trace->column[GSIM_COL_AFTER] ? ctx->view->jobs.index[slot]
                                                    : gsim_nth(ctx->view, slot);
}

static inline int64_t gsim_slurm_least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

#endif
