/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a site's own files say of its scheduler: slurm.conf, `scontrol show` and `sacctmgr show
 * --parsable2`, one after the other in one file. Keys that gsim does not model are kept as a list
 * of notes, each with the assumption that stands in. Sources: slurm.conf(5), sacctmgr(1) and
 * scontrol(1) of Slurm 23.11, for the keys, their defaults and the forms of times. */
#ifndef GSIM_SITE_SLURM_H
#define GSIM_SITE_SLURM_H

#include <stdbool.h>
#include <stdint.h>

#include "gsim/arena.h"
#include "gsim/cluster.h"
#include "gsim/status.h"

/* What limits count (Slurm's TRES, and jobs). */
enum gsim_slurm_tres {
    GSIM_SLURM_JOBS,
    GSIM_SLURM_GPUS, /* gres/gpu */
    GSIM_SLURM_CPUS,
    GSIM_SLURM_MEM, /* in MiB */
    GSIM_SLURM_SHARDS, /* gres/shard */
    GSIM_SLURM_FIRST_TYPE, /* gres/gpu:TYPE, of the types that limits name */
    GSIM_SLURM_MOST_TYPES = 8,
    GSIM_SLURM_TRES = GSIM_SLURM_FIRST_TYPE + GSIM_SLURM_MOST_TYPES
};

/* Limits of a QOS or of an association on the jobs that run together. */
enum gsim_slurm_limit {
    GSIM_SLURM_GROUP, /* GrpJobs, GrpTRES: of all its users together */
    GSIM_SLURM_GROUP_RUN, /* GrpTRESRunMins: amounts times the minutes that are left of limits */
    GSIM_SLURM_USER, /* MaxJobsPU, MaxTRESPU; of an association MaxJobs */
    GSIM_SLURM_ACCOUNT, /* MaxJobsPA, MaxTRESPA */
    GSIM_SLURM_LIMITS
};

struct gsim_slurm_limits {
    int64_t most[GSIM_SLURM_LIMITS][GSIM_SLURM_TRES]; /* -1: no limit */
};

enum gsim_slurm_preempt {
    GSIM_SLURM_PREEMPT_UNSET,
    GSIM_SLURM_PREEMPT_OFF,
    GSIM_SLURM_PREEMPT_CANCEL,
    GSIM_SLURM_PREEMPT_REQUEUE,
};

struct gsim_slurm_qos {
    const char *name;
    int64_t priority;
    int64_t usage_milli; /* UsageFactor */
    const char *preempts; /* "low,idle": the QOS of jobs that it may preempt; "": none */
    enum gsim_slurm_preempt mode;
    int64_t exempt_ns; /* PreemptExemptTime; -1: it is not set */
    bool goes_over_partition; /* the flag OverPartQOS */
    bool plans_nothing; /* the flag NoReserve */
    struct gsim_slurm_limits limits;
};

struct gsim_slurm_assoc {
    const char *cluster; /* "": the table does not say */
    const char *account;
    const char *user; /* "": the account itself */
    const char *parent; /* of an account; "": root */
    const char *qos; /* of jobs that name none; "": none */
    int64_t shares;
    bool is_as_parent; /* fairshare=parent: no shares of its own */
    struct gsim_slurm_limits limits;
};

struct gsim_slurm_partition {
    const char *name;
    const char *nodes; /* "gpu[01-04]", or "ALL" */
    const char *qos; /* "": none */
    int64_t max_ns, default_ns; /* limits of jobs; -1: none */
    int64_t tier, factor; /* PriorityTier, PriorityJobFactor */
    bool has_priority; /* Priority, which stands for both */
    bool has_billing; /* TRESBillingWeights are given */
    int64_t billing_milli[GSIM_SLURM_TRES]; /* they, of memory for each of these units */
    int64_t mem_unit_mib;
    enum gsim_slurm_preempt mode;
    bool is_default;
};

/* Counts of a node's record, of which its CPUs and memory follow. */
enum gsim_slurm_node_count {
    GSIM_SLURM_NODE_CPUS,
    GSIM_SLURM_NODE_EFFECTIVE, /* CPUEfctv: CPUs less those that are set aside */
    GSIM_SLURM_NODE_BOARDS,
    GSIM_SLURM_NODE_SOCKETS, /* of a board, or of all */
    GSIM_SLURM_NODE_CORES, /* of a socket */
    GSIM_SLURM_NODE_THREADS, /* of a core */
    GSIM_SLURM_NODE_CORES_ASIDE, /* CoreSpecCount */
    GSIM_SLURM_NODE_MEM, /* RealMemory, in MiB */
    GSIM_SLURM_NODE_MEM_ASIDE, /* MemSpecLimit */
    GSIM_SLURM_NODE_COUNTS
};

/* A node with GPUs. */
struct gsim_slurm_node {
    const char *name;
    const char *type; /* gres/gpu:TYPE; "": none */
    const char *features; /* "a100,ib"; "": none */
    uint32_t gpus;
    uint32_t shards; /* of all its GPUs together; 0: they are had as a whole */
    bool is_future; /* State=FUTURE: the node is not there yet */
    int64_t weight;
    int64_t cpus, mem_mib; /* that jobs can have; 0: the file does not say */
    int64_t said[GSIM_SLURM_NODE_COUNTS]; /* as the file says it; 0: it does not */
    int64_t line; /* on which its record begins */
};

struct gsim_slurm_reservation {
    const char *name, *nodes;
    const char *users, *accounts; /* "a,b": they may use its nodes; "": none may */
    int64_t from_s, to_s; /* since 1970, on the site's clock */
    int64_t line;
};

enum gsim_slurm_factor {
    GSIM_SLURM_AGE,
    GSIM_SLURM_FAIRSHARE,
    GSIM_SLURM_SIZE,
    GSIM_SLURM_PARTITION,
    GSIM_SLURM_QOS,
    GSIM_SLURM_BY_GPUS, /* PriorityWeightTRES=GRES/gpu=... */
    GSIM_SLURM_FACTORS
};

struct gsim_slurm_note {
    const char *what, *assumed;
    int64_t line;
};

struct gsim_slurm {
    const char *path;
    bool has_conf; /* a key of slurm.conf stood in the file, other than nodes and partitions */
    bool is_multifactor, backfills, has_limits, favors_small, is_fair_tree, bills_most;
    bool stops_at_limits; /* assoc_limit_stop */
    /* PreemptParameters: youngest_first, strict_order, reorder_count */
    bool youngest_first, keeps_victims_order;
    int64_t victim_orders;
    int64_t exempt_ns; /* PreemptExemptTime */
    bool preempts_by_qos, preempts_by_tier;
    bool shares_least_loaded; /* LL_SHARED_GRES */
    bool counts_cpus, counts_memory; /* SelectTypeParameters: CR_Core, CR_Core_Memory, ... */
    enum gsim_slurm_preempt mode;
    int64_t weight[GSIM_SLURM_FACTORS];
    int64_t max_age_ns, half_life_ns, period_ns; /* half_life_ns 0: usage is never forgotten */
    int64_t dampening; /* FairShareDampeningFactor */
    int64_t over_ns; /* OverTimeLimit */
    int64_t bf_interval_ns, bf_resolution_ns, bf_window_ns;
    int64_t bf_tests, bf_starts, bf_user_tests, bf_part_tests; /* jobs a pass; 0: any number */
    int64_t bf_array_plans; /* bf_max_job_array_resv: tasks of an array that are planned */
    /* bf_min_age_reserve, bf_min_prio_reserve: jobs below have no plan */
    int64_t bf_min_age_ns, bf_min_priority;
    struct gsim_slurm_qos *qos;
    struct gsim_slurm_assoc *assoc;
    struct gsim_slurm_partition *partition;
    struct gsim_slurm_node *node;
    struct gsim_slurm_reservation *reservation;
    struct gsim_slurm_note *note;
    uint32_t n_qos, n_assocs, n_partitions, n_nodes, n_reservations, n_notes;
    const char *type[GSIM_SLURM_MOST_TYPES]; /* of GPUs, that limits and weights name */
    uint32_t n_types;
};

/* The settings of a Slurm without a file. */
void gsim_slurm_defaults(struct gsim_slurm *slurm);
/* A partition of which the file says nothing. */
struct gsim_slurm_partition gsim_slurm_partition_default(void);
enum gsim_status gsim_slurm_read(const char *path, struct gsim_arena *arena, struct gsim_slurm *out,
                                 struct gsim_log *log);
/* Whether the start of a file looks like one that gsim_slurm_read takes, and no INI file. */
bool gsim_slurm_is_conf(const char *path);
/* Shards of a GPU, of the first node that has any; 0: none has. */
uint32_t gsim_slurm_shards_of_gpu(const struct gsim_slurm *slurm);
/* The number of nodes with GPUs. */
uint32_t gsim_slurm_count_nodes(const struct gsim_slurm *slurm);
/* The node with GPUs for which the i-th of n_nodes nodes of a cluster stands: where these are more
 * or fewer than the file's, its kinds are there in proportion, in its order. NULL: the file has
 * none. */
const struct gsim_slurm_node *gsim_slurm_nth_node(const struct gsim_slurm *slurm, uint32_t i,
                                                  uint32_t n_nodes);
/* A cluster of that many nodes with GPUs as groups, in the order of the file; their devices are not
 * set. Returns the number of groups, 0 also where there is no memory. */
uint32_t gsim_slurm_groups(const struct gsim_slurm *slurm, struct gsim_arena *arena,
                           uint32_t n_nodes, struct gsim_node_group **out);
/* Warns of all notes, as many to a warning as it has room for. */
void gsim_slurm_warn(const struct gsim_slurm *slurm, struct gsim_log *log);
/* Whether "a,b" has the name; upper and lower case are alike. */
bool gsim_slurm_lists(const char *names, const char *name, size_t length);

#endif
