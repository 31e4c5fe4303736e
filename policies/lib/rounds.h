/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rounds that give each job, over time, the share of each device type that it was promised
 * (Narayanan et al., "Heterogeneity-Aware Cluster Scheduling Policies for Deep Learning Workloads",
 * OSDI 2020, section 5). An entry, a job or a pair of jobs, has a priority on each type: its share
 * over the part of the time of that type that it has had. In each round the entries with the
 * highest priorities run.
 *
 * The order of operations is that of the authors' simulator, because ties are decided by the last
 * bit. The numbers are doubles of + - x / only, and stay in the policy. */
#ifndef GSIM_POLICIES_LIB_ROUNDS_H
#define GSIM_POLICIES_LIB_ROUNDS_H

#include "gsim/policy.h"

enum { GSIM_ROUND_TYPES = 16 };
#define GSIM_NO_MEMBER UINT32_MAX

struct gsim_round_entry {
    uint32_t member[2]; /* the policy's numbers of its jobs; the second GSIM_NO_MEMBER: one job */
    uint32_t gpus; /* of a job */
    bool has_share; /* it was there when the shares were computed */
    /* It runs in the next round whatever its share, on that type; set by the policy. */
    bool is_held;
    uint32_t held_type;
    /* by device type, of which there mostly are few: a round reads the first ones of all entries */
    struct gsim_round_type {
        double share, time, deficit, priority;
    } of[GSIM_ROUND_TYPES];
    double per_s[2][GSIM_ROUND_TYPES]; /* a pair runs on a type if both of its jobs do */
};

struct gsim_rounds {
    struct gsim_arena *arena;
    uint32_t n_types;
    double head_start; /* half a round: the time that each entry counts as having had */
    double time[GSIM_ROUND_TYPES]; /* of all entries since the last shares */
    struct gsim_round_entry *entry; /* in the order in which they came */
    uint32_t n, capacity;
    bool *is_taken; /* by member, in the round that is chosen */
    uint32_t n_members;
};

/* An entry that runs in the round. */
struct gsim_round_choice {
    uint32_t entry;
    uint32_t type;
};

/* The iterations per second that an answer of gsim_ask_rate says, to 53 bits. */
double gsim_rounds_per_s(struct gsim_rate rate);
/* How fast a job is on that many GPUs of one type, as a part of its speed in the trace: on average
 * over the GPUs of the cluster on which it can run (0: there are none), and at least, whichever of
 * the cluster it gets (0: it cannot run on some). */
struct gsim_paces {
    double mean, least;
};
struct gsim_paces gsim_rounds_paces(const struct gsim_ctx *ctx, gsim_slot job, uint32_t gpus,
                                    bool has_one_type);
/* Of the cluster, which a policy asks once: then no pace needs a look at each node. */
bool gsim_rounds_has_one_type(const struct gsim_view *view);
void gsim_rounds_open(struct gsim_rounds *rounds, struct gsim_arena *arena, uint32_t n_types,
                      double round_s);
/* Adds an entry without a share; the caller fills in per_s. NULL: no memory. */
struct gsim_round_entry *gsim_rounds_add(struct gsim_rounds *rounds, uint32_t first,
                                         uint32_t second, uint32_t gpus);
/* Removes the entries of jobs that are gone. */
void gsim_rounds_remove(struct gsim_rounds *rounds,
                        bool (*is_gone)(const void *arg, uint32_t member), const void *arg);
/* The entry has a share of no type. */
void gsim_rounds_unshare(const struct gsim_rounds *rounds, struct gsim_round_entry *entry);
/* Notes that an entry has run for that time. */
void gsim_rounds_credit(struct gsim_rounds *rounds, struct gsim_round_entry *entry, uint32_t type,
                        double time_s);
/* Before new shares: what the old ones promised in this time and the entries have not had is owed
 * to them. */
void gsim_rounds_settle(struct gsim_rounds *rounds, double since_s);
void gsim_rounds_rank(struct gsim_rounds *rounds);
enum gsim_rounds_walk {
    /* Each entry on the type on which it is furthest behind, whatever the order of types; then
     * entries on types of which they have no share, where GPUs are left, the fastest type first. */
    GSIM_ROUNDS_ACROSS_TYPES,
    /* Type after type, as the authors' program: an entry that is not behind on a type, or has no
     * share of it, runs there if GPUs are left, before later types are looked at. */
    GSIM_ROUNDS_BY_TYPE,
    /* As that; entries without a priority do not run. */
    GSIM_ROUNDS_WITH_PRIORITY,
    /* As that, but where GPUs are left single jobs without a priority run in the order in which
     * they came, each on the fastest type with room, until one finds none. */
    GSIM_ROUNDS_IN_ORDER
};
/* Chooses the entries of a round: those that are held, then by priority, then by the time owed,
 * then share; entries that do not fit are passed over. Returns their number, or UINT32_MAX if there
 * is no memory left. choice has room for all entries. */
uint32_t gsim_rounds_choose(struct gsim_rounds *rounds, const uint32_t *types,
                            const uint32_t *n_gpus, enum gsim_rounds_walk walk,
                            struct gsim_round_choice *choice);

#endif
