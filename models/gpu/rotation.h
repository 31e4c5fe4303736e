/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One lane of a GPU: a ring of contexts of which one runs at a time. A context runs until its
 * quantum ends while another one is ready, or until it has nothing to run; then the next ready one
 * in ring order gets the lane, after a switch. A context that becomes ready waits for its place in
 * the ring, it does not join a queue. A context alone keeps renewing its quantum, so a newcomer
 * waits for what is left of it.
 *
 * In a strict lane a turn that its owner cannot use passes unused.
 *
 * In a lane by priority the most urgent ready context runs, and a running one is halted as soon as a
 * more urgent one is ready, by the lane's mechanism (models/gpu/kernel_stop.h); those of equal priority
 * take turns as above. Its contexts are streams of one process: where nothing is saved, changing
 * from one to another costs nothing but the launch. Such a lane may be padded: beside each kernel of
 * the one that runs, the first less urgent one that is ready and fits (models/gpu/padding.h) runs too.
 *
 * A lane may be kept by a context that has nothing to run for a while, and turns may end at the ends
 * of iterations only. Where memory moves (models/memory/pager.h), a turn may begin with a migration, and
 * an iteration with a wait for pages; the wait counts as running.
 *
 * This is the plain engine, one call a change. models/gpu/arbiter.c skips what repeats. */
#ifndef GSIM_MODELS_GPU_ROTATION_H
#define GSIM_MODELS_GPU_ROTATION_H

#include "models/gpu/kernel_stop.h"
#include "models/memory/pager.h"
#include "models/gpu/padding.h"
#include "models/gpu/space.h"
#include "models/gpu/vgpu.h"
#include "models/memory/gang_memory.h"
#include "models/gpu/slice_log.h"

#define GSIM_RING_MAX GSIM_STORE_TURNS_MAX /* contexts of one GPU */
#define GSIM_NO_MEMBER UINT16_MAX

/* What switching costs here, from the device's profile. */
struct gsim_switch_costs {
    int64_t preempt_ns; /* away from a context that would run on */
    int64_t preempt_full_ns; /* the same with all registers and shared memory in use */
    int64_t idle_ns; /* away from a context that has nothing to run */
    struct gsim_kernel_stop_costs halt; /* of lanes by priority */
    int64_t cold_ns; /* added when the next one's working set does not fit L2 */
    int64_t lookahead_ns; /* so long before a slice ends it is settled who is next */
};

/* A switch takes no longer than this, what a halt has left to restore not counted. */
static inline int64_t gsim_switch_most_ns(const struct gsim_switch_costs *costs) {
    int64_t preempt_ns =
        costs->preempt_full_ns > costs->preempt_ns ? costs->preempt_full_ns : costs->preempt_ns;
    return (preempt_ns > costs->idle_ns ? preempt_ns : costs->idle_ns) + costs->cold_ns;
}

/* What a job is by its row. */
struct gsim_member_spec {
    int64_t counted_ns; /* in fair lanes: the busy_ns from which on its time counts */
    uint32_t state_ppm; /* share of the registers and shared memory that it uses */
    int64_t block_ns; /* of its thread blocks; 0: as long as its kernels */
    bool is_idempotent; /* its kernels may be killed and run again */
    bool is_cold; /* its working set does not fit L2 */
    struct gsim_demand demand; /* where lanes run beside each other */
};

GSIM_ROLES_BEGIN
struct gsim_member_state {
    int64_t restore_ns; /* to come back after what was saved */
    int64_t stall_ns; /* left to wait for pages before it can run on */
};

struct gsim_member_sums {
    int64_t busy_ns; /* time it had the lane, at any rate */
};
GSIM_ROLES_END

/* A context and what the lane must know of it. */
struct gsim_member {
    struct gsim_entry how; /* as it was entered into the arrangement */
    struct gsim_member_spec spec;
    struct gsim_context context;
    struct gsim_tenant tenant; /* its memory */
    bool is_present; /* this place of the table is in use */
    uint8_t stop_at; /* enum gsim_exit: it leaves the lane there */
    uint8_t reports; /* what the owner has not been told yet */
    struct gsim_member_state state;
    struct gsim_member_sums sums;
    /* What the owner asked for, in iterations and not in time, and is told once. */
    int64_t watch_iterations; /* report when so much is done; < 0: never */
    gsim_work watch_done;
    int64_t finish_ns; /* GSIM_NEVER until its last iteration is over */
};

/* Where a member that is asked to leave stops. */
enum gsim_exit { GSIM_EXIT_NEVER = 0, GSIM_EXIT_KERNEL, GSIM_EXIT_ITERATION };

/* What the next change of a running lane is. */
enum gsim_lane_change {
    GSIM_CHANGE_YIELD = 0, /* nothing left to run, or a boundary at which the member leaves */
    GSIM_CHANGE_QUANTUM, /* the end of one, and somebody else is ready */
    GSIM_CHANGE_URGENT, /* somebody more urgent is ready: the halt begins */
    GSIM_CHANGE_HALTED,
    GSIM_CHANGE_RELEASED, /* kept by a context that ran out of work: no longer */
    GSIM_CHANGE_WATCHED, /* the running one reaches what it is watched for, and runs on */
    GSIM_CHANGE_REFILLED, /* a new period of its launch cap begins */
    GSIM_CHANGE_KERNEL, /* its next kernel begins, and somebody could pad */
    GSIM_CHANGE_PADDED, /* whoever pads is to be looked at, or ends */
};

enum gsim_lane_phase {
    GSIM_LANE_IDLE = 0,
    GSIM_LANE_SWITCHING,
    GSIM_LANE_RUNNING,
    GSIM_LANE_KEPT, /* by a context that has nothing to run */
};

GSIM_ROLES_BEGIN
/* Zero where it does not apply, but for rate_q32, which stays that of the last context. */
struct gsim_ring_state {
    gsim_work halted_done; /* while halting: of the iteration, when the SMs are free */
    int64_t halted_restore_ns; /* and what coming back will cost */
    uint64_t rate_q32; /* of the context that runs */
    uint64_t padding_rate_q32; /* of the one that pads */
    uint16_t at; /* place in the ring: whose turn it is, or was */
    uint16_t last; /* the member whose state is on the lane; GSIM_NO_MEMBER: nobody's of the ring */
    uint16_t padding; /* the member that pads; GSIM_NO_MEMBER: none */
    uint8_t phase; /* enum gsim_lane_phase */
    bool is_halting;
    bool is_used; /* a context was on the lane before, so that coming on costs a switch */
    uint8_t unused[15];
};

/* GSIM_NEVER in phases in which they do not apply. */
struct gsim_ring_times {
    int64_t since_ns; /* running: up to when the context is brought forward */
    int64_t switched_ns; /* switching: when it is over */
    int64_t release_ns; /* kept: until when at most */
    int64_t halted_ns; /* halting: when the SMs are free */
    int64_t padding_since_ns; /* padding: up to when it is brought forward */
    int64_t padding_until_ns; /* the end of its last wave */
};

struct gsim_ring_marks {
    int64_t quantum_start_ns; /* running, kept: when the turn began */
    int64_t grid_ns; /* strict: where the first one's turn began; how far a round is decides */
    int64_t next_ns; /* of the next change: follows from all others, by gsim_ring_plan */
    int64_t padding_ends_ns; /* the same: the last wave, or the end of its kernel */
};

struct gsim_ring_sums {
    int64_t switch_ns; /* time spent in switches */
    int64_t n_slices; /* turns begun */
    int64_t n_vain; /* of a lane that is kept: turns that ended before their pages were there */
};
GSIM_ROLES_END

/* roles.h says what each part is to fast-forward. */
struct gsim_ring {
    struct gsim_lane how; /* as it was arranged; its quantum in nanoseconds */
    uint16_t space; /* that it shares with other lanes, where lanes run beside each other */
    uint16_t n;
    uint16_t member[GSIM_RING_MAX]; /* in ring order */
    struct gsim_ring_state state;
    struct gsim_ring_times times;
    struct gsim_ring_marks marks;
    uint8_t change; /* enum gsim_lane_change: what comes at next_ns, while running */
    struct gsim_ring_sums sums;
};

static inline bool gsim_lane_is_by_priority(const struct gsim_lane *how) {
    return how->discipline != GSIM_DISCIPLINE_RR;
}
/* What a lane's discipline means to its rotation. Strict: a turn is its owner's, used or not
 * (models/gpu/vgpu.h). Whole: by priority, but no context is halted; iterations run to their end. */
static inline bool gsim_ring_is_strict(const struct gsim_ring *ring) {
    return gsim_lane_turns(&ring->how) != GSIM_TURNS_USED;
}
static inline bool gsim_ring_is_by_priority(const struct gsim_ring *ring) {
    return gsim_lane_is_by_priority(&ring->how);
}
static inline bool gsim_ring_is_whole(const struct gsim_ring *ring) {
    return ring->how.discipline == GSIM_DISCIPLINE_BOUNDARY;
}
static inline bool gsim_ring_is_padded(const struct gsim_ring *ring) {
    return ring->how.discipline == GSIM_DISCIPLINE_PADDING;
}

struct gsim_rotation {
    struct gsim_member *members;
    struct gsim_switch_costs costs;
    struct gsim_store *store;
    struct gsim_gang_memory *gang; /* beside it */
    struct gsim_slice_log *spans; /* NULL: nobody watches */
};

void gsim_ring_init(struct gsim_ring *ring, int64_t quantum_ns);
/* A member joins at the end of the ring, or leaves it wherever it is. The lane is brought forward
 * to now_ns before. */
void gsim_ring_join(const struct gsim_rotation *rotation, struct gsim_ring *ring, uint16_t member,
                    int64_t now_ns);
void gsim_ring_leave(const struct gsim_rotation *rotation, struct gsim_ring *ring, uint16_t member,
                     int64_t now_ns);
/* Brings the running context forward to now_ns <= next_ns without a change. */
void gsim_ring_settle(const struct gsim_rotation *rotation, struct gsim_ring *ring, int64_t now_ns);
/* Computes next_ns anew, after anything about its members changed. */
void gsim_ring_plan(const struct gsim_rotation *rotation, struct gsim_ring *ring, int64_t now_ns);
/* The change that is due at next_ns. Returns the member that stopped running there, or
 * GSIM_NO_MEMBER. */
uint16_t gsim_ring_step(const struct gsim_rotation *rotation, struct gsim_ring *ring);

struct gsim_grid gsim_ring_grid(const struct gsim_ring *ring);

static inline uint16_t gsim_ring_running(const struct gsim_ring *ring) {
    return ring->state.phase == GSIM_LANE_RUNNING ? ring->member[ring->state.at] : GSIM_NO_MEMBER;
}

#endif
