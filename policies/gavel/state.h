/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of gavel share: its jobs and GPUs. */
#ifndef GSIM_POLICIES_GAVEL_STATE_H
#define GSIM_POLICIES_GAVEL_STATE_H

#include "policies/lib/python_shuffle.h"
#include "policies/lib/rounds.h"
#include "policies/lib/settings.h"
#include "policies/lib/shares.h"
#include "sim/base/index.h"

/* In the order of the parameter's choices. */
enum gavel_objective {
    GAVEL_ISOLATED = 0,
    GAVEL_FIFO,
    GAVEL_SHARES,
    GAVEL_MAX_MIN,
    GAVEL_WATER_FILLING,
    GAVEL_MAX_SUM,
    GAVEL_MAKESPAN,
    GAVEL_FINISH_TIME,
    GAVEL_ALLOX,
    GAVEL_GANDIVA,
    GAVEL_PROPORTIONAL
};

/* In the order of the parameter's choices. */
enum gavel_users { GAVEL_USERS_OFF = 0, GAVEL_USERS_FAIR, GAVEL_USERS_FIFO };

#define GAVEL_NO_TYPE UINT32_MAX

/* A job, by its number in the trace. */
struct gavel_job {
    gsim_slot slot;
    uint32_t entry; /* of the job alone, when shares are computed */
    bool is_active, has_ended; /* has_ended: in the round under way, which has yet to count it */
    bool is_placed; /* it has GPUs, or is on its way to them */
    bool has_gpus; /* that the round gives it */
    bool is_held; /* it is listed so */
    bool stays; /* the next round leaves it on its GPUs */
    bool is_new; /* of fifo without speeds: it has had no type before */
    bool is_at_end; /* it has made the round's iterations */
    uint32_t rank; /* in the order of the round's choices */
    uint32_t with; /* the job that shares its GPUs in the round + 1; 0: none */
    bool fails; /* the reference's program fails in the round: it has too few iterations */
    uint32_t gpus;
    uint32_t came; /* among all that have come */
    uint32_t type; /* of the GPUs that the round gives it; GAVEL_NO_TYPE: none */
    struct gsim_unit *units; /* these GPUs, `gpus` of them */
    double per_s[GSIM_ROUND_TYPES]; /* by device type; 0: it does not run there */
    int64_t iterations, done; /* all, and made so far */
    int64_t round_iterations; /* of the round under way */
    double finish_s; /* of the round under way */
    uint32_t n_failures;
    /* Of gandiva: the other job of its pair + 1; of fifo without speeds: its type + 1. 0: none. */
    uint32_t partner, fixed_type;
    uint32_t mode; /* of a job in phases, when its speeds were last asked for */
    int64_t epoch_iterations; /* in that mode; 0: it has no phases */
    double weight;
    uint32_t user;
    uint32_t kind; /* jobs of one kind are equal to objectives without times */
    int64_t model; /* with packing */
    /* Finish-time fairness: the time that its steps so far take with a part of the cluster, its
     * steps left at the last shares, and its speed then with such a part. */
    double alone_s, left_before, alone_per_s;
};

/* Shares from a file. */
struct gavel_replay {
    struct gavel_replay_row {
        double time_s, share;
        uint32_t member[2], type;
        int64_t line;
    } * row;
    uint32_t n, next;
    const char *path;
};

struct gavel {
    struct gsim_rounds rounds;
    struct gavel_job *job;
    struct gsim_round_choice *choice; /* the round under way */
    uint32_t n_choices, choices_capacity;
    uint32_t *arrived; /* jobs that came since the last round, in the order of the trace */
    uint32_t n_arrived, n_ever;
    uint32_t n_to_come; /* jobs that wait for no other to end, and have not come */
    uint32_t *live; /* jobs with entries, in the order of their arrival */
    uint32_t n_live;
    int64_t *held; /* jobs that have GPUs, or are placed, since the round began: came, and number */
    uint32_t n_held;
    bool has_starting; /* entries of jobs on their way to GPUs have these in the round under way */
    uint32_t *n_owners; /* by GPU: the jobs that the round gives it to */
    uint32_t *claim; /* by GPU: the round's choice + 1 that keeps it; 0: none */
    uint32_t *n_free; /* GPUs of each node that the round gives to no job */
    /* Of each type, by these numbers as they were when a node was last looked for; those of nodes
     * in `changed` are others now. */
    struct gsim_index nodes[GSIM_ROUND_TYPES];
    uint32_t *changed, n_changed;
    bool *is_changed; /* by node */
    uint32_t by_name[GSIM_ROUND_TYPES]; /* device types in the order of their names */
    uint32_t n_types, n_gpus[GSIM_ROUND_TYPES]; /* GPUs of each type */
    enum gavel_objective objective;
    bool is_reference, is_due, is_in_round;
    uint32_t first_running; /* choices before this one are over */
    uint32_t *unplaced; /* jobs of the round that wait for their GPUs, in its order */
    uint32_t n_unplaced;
    bool has_blocked; /* of these, some wait for other than the end of their own transition */
    int64_t *reached, *settled; /* jobs to be looked at, as gavel_key */
    uint32_t n_reached;
    bool sees_speed; /* false: the reference shuffles the device types */
    bool ends_as_tried; /* objective=makespan: by the next time that Gavel's program tries */
    bool knows_speed; /* whether the objective looks at speeds */
    bool has_packing; /* pairs of jobs have entries */
    bool has_modes; /* some job may change its batch size */
    bool is_arranged; /* the GPUs are shared in pairs */
    bool newcomers_hold; /* jobs without shares hold the GPUs that a round gives them, idle */
    struct gsim_preemption way;
    struct gsim_python_random random;
    struct gsim_python_random draws; /* of the objectives that draw lots */
    struct gavel_replay replay;
    struct gavel_optimum *optimum;
    enum gavel_users users; /* how the jobs of a user share its part */
    struct gsim_share_entity *user; /* by number of the user; NULL: jobs have weights alone */
    uint32_t queued_ppm; /* objective=allox: the part of the waiting jobs that is queued */
    int64_t round_ns, least_ns;
    int64_t began_ns, ends_ns; /* of the round under way */
    int64_t
        held_until_ns; /* by jobs that fail: their GPUs are held for as long as they would run */
    /* The reference's clock: now, the bounds of the last round, the last shares. */
    double now_s, start_s, end_s, reset_s;
    bool has_end;
    double first_s; /* when the first jobs came since there were none */
    bool has_jobs; /* there were some when shares were last looked at */
};

static inline bool gavel_is_pair(const struct gsim_round_entry *entry) {
    return entry->member[1] != GSIM_NO_MEMBER;
}

/* A job of an entry: of a pair there is a second one. */
static inline struct gavel_job *gavel_member(const struct gavel *gavel,
                                             const struct gsim_round_entry *entry, int m) {
    return &gavel->job[entry->member[m]];
}

/* A job of the round: keys sort as its choices do. */
static inline int64_t gavel_key(const struct gavel *gavel, uint32_t number) {
    return (int64_t)gavel->job[number].rank << 32 | number;
}

/* The entry of a choice of the round under way. */
static inline struct gsim_round_entry *gavel_chosen(const struct gavel *gavel, uint32_t choice) {
    return &gavel->rounds.entry[gavel->choice[choice].entry];
}

#endif
