/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How jobs share a unit, said declaratively: lanes, a job's entry in a lane, the way memory is
 * moved; and the instances into which a GPU can be partitioned. */
#ifndef GSIM_ARRANGEMENT_H
#define GSIM_ARRANGEMENT_H

#include "gsim/job.h"

/* --- instances: parts of a GPU (MIG) --------------------------------------------------------- */

enum { GSIM_INSTANCES_MAX = 16 };

/* An instance: a part of a GPU with SMs, memory and bandwidth of its own. */
struct gsim_instance {
    const char *name; /* of the instance's profile */
    int64_t mem_bytes; /* that jobs can use */
    uint32_t part_ppm; /* part of the GPU, by memory slices */
};

/* The instances of a layout: the i-th is the unit {gpu, i + 1}. */
struct gsim_partition {
    uint32_t n;
    struct gsim_instance instance[GSIM_INSTANCES_MAX];
};

/* --- arrangements: how units share, declaratively --------------------------------------------- */

enum gsim_discipline {
    /* reservations only: the job that holds a unit runs at full rate */
    GSIM_DISCIPLINE_EXCLUSIVE = 0,
    GSIM_DISCIPLINE_PS, /* ideal processor sharing, equal rates, no switch cost */
    GSIM_DISCIPLINE_RR, /* time slices over a ring of contexts */
    GSIM_DISCIPLINE_PRIORITY,
    GSIM_DISCIPLINE_BOUNDARY, /* whole iterations; the next iteration is chosen by priority */
    GSIM_DISCIPLINE_PADDING, /* REEF: by priority; kernels of other jobs fill the SMs left over */
    /* jobs on one set of GPUs that interleave the stages of their iterations */
    GSIM_DISCIPLINE_INTERLEAVED,
    /* two jobs at most, of equal gangs; each as fast as a table (--rates) says beside the other */
    GSIM_DISCIPLINE_PAIR,
    GSIM_DISCIPLINE_COUNT
};

enum gsim_memory {
    GSIM_MEMORY_RESIDENT = 0,
    GSIM_MEMORY_UVM,
    GSIM_MEMORY_LRU,
    GSIM_MEMORY_PROACTIVE,
    /* resident, except memory that jobs of a lane use in turn; the policy checks that it fits */
    GSIM_MEMORY_LANES,
    /* resident up to each job's cap; bytes touched beyond the cap are on the host */
    GSIM_MEMORY_OVERFLOW,
    GSIM_MEMORY_COUNT
};

/* A lane's quantum by the driver's names; the device profile gives their lengths. */
#define GSIM_QUANTUM_DEFAULT INT64_C(0)
#define GSIM_QUANTUM_SHORT INT64_C(-1)
#define GSIM_QUANTUM_LONG INT64_C(-2)

/* How turns are given in a lane with time slices. */
enum gsim_turns_rule {
    GSIM_TURNS_USED = 0, /* a context that has nothing to run hands its turn on */
    GSIM_TURNS_EQUAL, /* every context on the lane has one turn of each round, used or not */
    GSIM_TURNS_FIXED, /* as EQUAL, with as many turns in a round as the device could have vGPUs */
};

/* Lanes with time slices (GSIM_DISCIPLINE_RR): how turns are given. */
struct gsim_lane_slices {
    enum gsim_turns_rule turns;
    uint16_t most_vgpus; /* vGPUs that the device could have; 0: the contexts are no vGPUs */
};

/* Lanes by priority and with padding: how the running job is halted when a more urgent job is
 * ready. */
struct gsim_lane_urgency {
    enum gsim_stop stop;
    int64_t in_flight; /* with stop = kernel or flush: kernels launched ahead */
    int64_t pieces; /* with stop = kernel: pieces that a kernel is cut into */
    int64_t bound_ns; /* with stop = cheapest: the bound */
    /* with stop = switch: the length of a slice of a job while a more urgent one waits; 0: any */
    int64_t slice_ns;
    /* With stop = switch: the lane is asked for so long before each iteration of a job that is more
     * urgent than another, and is the job's until the iteration has ended. */
    int64_t hint_ns;
};

/* Lanes of whole iterations (GSIM_DISCIPLINE_BOUNDARY). */
struct gsim_lane_whole {
    bool is_fair; /* the job with the least weighted time goes first, then by priority */
};

/* Lanes with time slices beside others, where kernels go to SMs block by block: when a kernel may
 * begin, if jobs of lanes with a higher rank are on the unit. Elsewhere, and without such jobs,
 * each kernel begins as it comes. */
enum gsim_gate {
    GSIM_GATE_OPEN = 0, /* each kernel begins as it comes */
    /* while no job of a higher rank has an iteration under way; else a kernel that needs fewer
     * SMs than below_sms and is not bound by what that job's kernel is bound by */
    GSIM_GATE_APART,
    /* while no job of a higher rank has a kernel launched; then no block of it begins either */
    GSIM_GATE_IDLE,
    GSIM_GATE_COUNT
};

struct gsim_lane_gate {
    enum gsim_gate opens;
    uint16_t rank; /* blocks that wait for SMs: those of a higher rank go first */
    uint16_t below_sms; /* GSIM_GATE_APART; 0: all of the device's */
    /* GSIM_GATE_APART: a kernel that draws this part of the bandwidth is bound by memory; one that
     * draws less and needs this part of the SMs, by arithmetic; others are like none */
    uint32_t bound_ppm;
    /* Kernels begin, in order, until they together last longer than this part of an iteration alone
     * of a job of a higher rank; then none until all of these have ended. 0: one at a time. Those
     * that run as the first job of a higher rank comes count. To be said of lanes of a higher rank
     * as well: else all iterations of a job that never waits (sync=none) may count as one. */
    uint32_t ahead_ppm;
    /* GSIM_GATE_IDLE: the gate stays closed for this time after the last such kernel. Of a lane of
     * a higher rank: gates of lanes that come after its last kernel stay closed for as long. */
    int64_t wait_ns;
    /* GSIM_GATE_IDLE: a kernel that takes no longer alone is not stopped: once begun it runs out,
     * before blocks of any rank */
    int64_t whole_ns;
};

/* Lanes with time slices beside others, where kernels go to SMs block by block: kernels run as
 * atoms, ranges of their blocks, one after another. The SMs of an atom are chosen at its begin, as
 * many as its kernel can use: of the lane's range first, which is the lane's own; a lane without a
 * range owns none. When a kernel of the owner begins on SMs that another lane has borrowed, the
 * blocks there run out, and no further ones of that lane begin there. */
struct gsim_lane_atoms {
    /* how long an atom is to last; it has at least as many blocks as its SMs hold at one time. 0:
     * kernels stay whole */
    int64_t atom_ns;
    /* Atoms may have SMs beyond the lane's own: those that no lane owns, and those of lanes with
     * atoms that need them for no kernel now. Lanes of a higher rank choose first, then the one
     * that has waited for longest. */
    bool borrows;
    /* an atom has the fewest SMs on which its kernel takes no more than this part longer than
     * alone */
    uint32_t slip_ppm;
};

/* A lane: a part of the SMs with a discipline of its own, which says what of the union is read. */
struct gsim_lane {
    enum gsim_discipline discipline;
    uint16_t first_sm, n_sms; /* a range; n_sms 0: no range */
    uint32_t cap_ppm; /* of the SMs; a cap, not a reservation */
    int64_t quantum_ns; /* length of a time slice, or GSIM_QUANTUM_... */
    int64_t idle_release_ns; /* how long an idle context keeps the lane from other contexts */
    bool ends_at_boundary; /* a turn ends at the first end of an iteration past the quantum */
    bool caps_launches; /* entries may cap launches, so kernels are counted */
    struct gsim_lane_gate gate;
    struct gsim_lane_atoms atoms;
    union {
        struct gsim_lane_slices slices;
        struct gsim_lane_urgency urgent;
        struct gsim_lane_whole whole;
    };
};

static inline enum gsim_turns_rule gsim_lane_turns(const struct gsim_lane *lane) {
    return lane->discipline == GSIM_DISCIPLINE_RR ? lane->slices.turns : GSIM_TURNS_USED;
}

/* 0: the contexts of the lane are no vGPUs. */
static inline uint16_t gsim_lane_most_vgpus(const struct gsim_lane *lane) {
    return lane->discipline == GSIM_DISCIPLINE_RR ? lane->slices.most_vgpus : 0;
}

/* Lanes of other disciplines stop a job at the end of its kernel. */
static inline struct gsim_lane_urgency gsim_lane_urgency(const struct gsim_lane *lane) {
    bool halts =
        lane->discipline == GSIM_DISCIPLINE_PRIORITY || lane->discipline == GSIM_DISCIPLINE_PADDING;
    return halts ? lane->urgent : (struct gsim_lane_urgency){.stop = GSIM_STOP_KERNEL};
}

static inline bool gsim_lane_is_fair(const struct gsim_lane *lane) {
    return lane->discipline == GSIM_DISCIPLINE_BOUNDARY && lane->whole.is_fair;
}

/* A job's place in an arrangement. A running job stands as its newest entry says, and goes into the
 * lane that this names; but what it has from when it joined stays. */
struct gsim_entry {
    gsim_slot job;
    uint16_t lane;
    int64_t quantum_ns; /* from when it joins on; 0: the lane's rule */
    int32_t priority;
    /* fair lanes: factor on the job's time, counted from its last entry */
    int64_t weight;
    /* lanes with time slices: memory beyond this overflows to the host; 0: no cap */
    int64_t mem_cap_bytes;
    /* the job's pages go out first; applies from when it joins, not when proactive */
    bool memory_yields;
    /* In a lane that cuts kernels into pieces, adds checkpoints to them or launches none ahead, so
     * that they can be halted: this job's kernels stay as they are, and take no longer. Applies
     * from when it joins. */
    bool keeps_kernels;
    /* A kernel is launched as long as the period has seen no more thread blocks than this; where
     * the trace does not give the blocks of a kernel, no more kernels. */
    int64_t launch_cap;
    int64_t launch_refill_ns; /* the period; 0: launches are not capped */
    /* Above 0 it replaces launch_cap: as many kernels as take this part of the time, in a period
     * that is prolonged where the part is less than one kernel. */
    uint32_t launch_share_ppm;
};

/* How memory is moved ahead of a turn, and which memory a turn is predicted to need. */
struct gsim_migration_rule {
    bool pipeline; /* eviction and population overlap */
    bool early_start;
    /* LRU order; else the chunk with the last next use goes out */
    bool evicts_lru;
    bool predict_by_template; /* else whole allocations are predicted */
    /* part of the working set that is not predicted, or predicted in vain */
    int64_t missed_ppm, spare_ppm;
};

struct gsim_arrangement {
    const struct gsim_lane *lanes; /* at least one */
    uint16_t n_lanes;
    const struct gsim_entry *entries; /* jobs placed without an entry join lane 0 */
    uint32_t n_entries;
    enum gsim_memory memory;
    struct gsim_migration_rule migration; /* GSIM_MEMORY_PROACTIVE */
    uint16_t max_clients; /* 0: as many as the device allows */
    bool is_served; /* jobs are clients of one MPS server; the device limits their number */
};

/* Whether lanes run beside each other, or a lane has a part of the SMs, so that the device is
 * shared in space; so do padded and padding contexts. */
static inline bool gsim_arrangement_is_split(const struct gsim_arrangement *arrangement) {
    const struct gsim_lane *lane = &arrangement->lanes[0];
    return arrangement->n_lanes > 1 || lane->cap_ppm > 0 || lane->n_sms > 0 ||
           lane->discipline == GSIM_DISCIPLINE_PADDING;
}

#endif
