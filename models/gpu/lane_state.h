/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of a lane and of its members (models/gpu/lane.h says how they go on), by role. */
#ifndef GSIM_MODELS_GPU_LANE_STATE_H
#define GSIM_MODELS_GPU_LANE_STATE_H

#include "models/gpu/kernel_stop.h"
#include "models/memory/pager.h"
#include "models/gpu/padding.h"
#include "models/gpu/sm_array.h"
#include "models/gpu/vgpu.h"
#include "models/memory/gang_memory.h"
#include "models/gpu/slice_log.h"

#define GSIM_CONTEXTS_MAX GSIM_STORE_TURNS_MAX /* contexts of one GPU */
#define GSIM_NO_MEMBER UINT16_MAX

/* The costs of switching, from the device's profile. */
struct gsim_switch_costs {
    int64_t preempt_ns; /* away from a context that would run on */
    /* away from such a context with all registers and shared memory in use */
    int64_t preempt_full_ns;
    int64_t idle_ns; /* away from a context that has nothing to run */
    struct gsim_kernel_stop_costs halt; /* of lanes by priority */
    int64_t cold_ns; /* added when the next context's working set does not fit L2 */
    int64_t lookahead_ns; /* how long before a slice ends the next context is chosen */
};

/* The longest time of a switch, without what a halt has left to restore. */
static inline int64_t gsim_switch_most_ns(const struct gsim_switch_costs *costs) {
    int64_t preempt_ns =
        costs->preempt_full_ns > costs->preempt_ns ? costs->preempt_full_ns : costs->preempt_ns;
    return (preempt_ns > costs->idle_ns ? preempt_ns : costs->idle_ns) + costs->cold_ns;
}

/* The properties of a job, by its row of the trace. */
struct gsim_member_spec {
    int64_t counted_ns; /* in fair lanes: the busy_ns from which on the job's time counts */
    uint32_t state_ppm; /* share of the registers and shared memory that it uses */
    int64_t block_ns; /* of its thread blocks; 0: as long as its kernels */
    bool is_idempotent; /* its kernels may be killed and run again */
    bool is_cold; /* its working set does not fit L2 */
    struct gsim_demand demand; /* where lanes share a space */
};

GSIM_ROLES_BEGIN
struct gsim_member_state {
    int64_t restore_ns; /* time to bring back the state that a halt has saved */
    int64_t stall_ns; /* rest of the wait for pages before the context can run on */
};

struct gsim_member_sums {
    int64_t busy_ns; /* time for which the context had the lane, at any rate */
    /* of it, where kernels share SMs block by block: time in which its kernel waited for SMs, and
     * time that it lost since it had fewer SMs than alone, or shared their bandwidth */
    int64_t waited_ns, sms_ns, bandwidth_ns;
};
GSIM_ROLES_END

/* The power that a program draws at its rate alone, beyond idle: follows from its app and these two
 * times of its context. */
struct gsim_member_power {
    int64_t pace_ns, gpu_ns; /* gpu_ns 0: not found yet */
    int64_t power_uw; /* at the highest clock, without memory's; 0: not known */
    int64_t memory_uw; /* of memory, at the highest clock */
    uint32_t clock_ppm; /* its clock alone */
};

/* The time of one iteration alone, and what it moves: follows from these times of its context. */
struct gsim_member_alone {
    int64_t gpu_ns, host_ns; /* gpu_ns 0: not found yet */
    int64_t iteration_ns;
    int64_t hbm_bytes_per_s; /* in the mean of an iteration, as far as it is known */
};

/* What its kernels begin with beside others: follows from its program and these. */
struct gsim_member_begins {
    int64_t iteration_ns, others_bytes_per_s; /* others 0: not found yet */
    int64_t peak_bytes_per_s; /* of its space */
    const struct gsim_profile *profile;
    struct gsim_first_loads loads;
};

/* A context with the properties that its lane goes by. */
struct gsim_member {
    struct gsim_entry how; /* the entry in the arrangement */
    struct gsim_member_spec spec;
    struct gsim_context context;
    struct gsim_member_power power; /* where kernels share SMs block by block */
    struct gsim_member_alone alone; /* where kernels share SMs block by block */
    struct gsim_member_begins begins; /* where kernels share SMs block by block */
    struct gsim_tenant tenant; /* its memory */
    bool is_present; /* this place of the table is in use */
    uint8_t stop_at; /* enum gsim_exit: the boundary at which it leaves the lane */
    uint8_t reports; /* enum gsim_report: reports that the owner has not taken yet */
    struct gsim_member_state state;
    struct gsim_member_sums sums;
    /* Progress that the owner watches for, in iterations and not in time; it is reported once. */
    /* report when these are done, and watch_done of the next; < 0: never */
    int64_t watch_iterations;
    gsim_work watch_done;
    int64_t finish_ns; /* GSIM_NEVER until its last iteration is over */
};

/* The switch away from a member that would run on. */
static inline int64_t gsim_switch_preempt_ns(const struct gsim_switch_costs *costs,
                                             const struct gsim_member *member) {
    return costs->preempt_ns + gsim_muldiv_floor(costs->preempt_full_ns - costs->preempt_ns,
                                                 member->spec.state_ppm, GSIM_PPM);
}
/* A switch of this cost to a member: its working set may have to come to L2. */
static inline int64_t gsim_switch_to_ns(const struct gsim_switch_costs *costs,
                                        const struct gsim_member *next, int64_t cost_ns) {
    return cost_ns > 0 && next->spec.is_cold ? cost_ns + costs->cold_ns : cost_ns;
}

/* Where a member that is asked to leave stops. */
enum gsim_exit { GSIM_EXIT_NEVER = 0, GSIM_EXIT_KERNEL, GSIM_EXIT_ITERATION };

/* The kinds of change of a lane. */
enum gsim_lane_change {
    GSIM_CHANGE_YIELD = 0, /* nothing left to run, or a boundary at which the member leaves */
    GSIM_CHANGE_QUANTUM, /* the quantum ends, and another context is ready */
    GSIM_CHANGE_URGENT, /* a more urgent context is ready: the halt begins */
    GSIM_CHANGE_HALTED,
    GSIM_CHANGE_RELEASED, /* the context that kept the lane without work loses it */
    GSIM_CHANGE_WATCHED, /* the running context reaches the watched progress, and runs on */
    GSIM_CHANGE_REFILLED, /* a new period of the context's launch cap begins */
    /* the running context's next kernel begins, and another context could pad */
    GSIM_CHANGE_KERNEL,
    GSIM_CHANGE_PADDED, /* the padding context is to be looked at, or ends */
    GSIM_CHANGE_REACHED, /* the running context has passed the memory that it has touched */
};

enum gsim_lane_phase {
    GSIM_LANE_IDLE = 0,
    GSIM_LANE_SWITCHING,
    GSIM_LANE_RUNNING,
    GSIM_LANE_KEPT, /* by a context that has nothing to run */
};

GSIM_ROLES_BEGIN
/* Zero where a field does not apply, except rate_q32, which stays that of the last context. */
struct gsim_lane_state {
    /* while halting: work of the iteration that is done when the SMs are free */
    gsim_work halted_done;
    /* where kernels share SMs block by block: the work of the iteration at which the kernel is to
     * be looked at again; 0: at no work */
    gsim_work look_done;
    int64_t halted_restore_ns; /* while halting: the cost of coming back */
    uint64_t rate_q32; /* of the context that runs; 0: its kernel waits for SMs */
    uint64_t padding_rate_q32; /* of the context that pads */
    /* gated: time alone of its kernels that were let begin since all of them had ended last */
    int64_t ahead_ns;
    struct gsim_sm_held held; /* the blocks of its kernel on the SMs */
    /* with atoms: SMs of the present one, its blocks, and those of the kernel before it; 0: none
     * is under way */
    struct gsim_sm_set atom_sms;
    int64_t atom_blocks, atom_first;
    uint32_t held_kernel; /* the kernel that holds or waits for SMs */
    uint32_t admitted; /* gated: kernels of the iteration that may begin: those before this one */
    uint16_t at; /* place in the ring of the context that has the turn, or had it last */
    /* the member that was last on the lane, with its state there; GSIM_NO_MEMBER: none of the
     * ring */
    uint16_t last;
    uint16_t padding; /* the padding member; GSIM_NO_MEMBER: none */
    uint8_t phase; /* enum gsim_lane_phase */
    bool is_halting;
    bool is_used; /* a context was on the lane before, so that coming on costs a switch */
    bool is_served_last; /* gated: of the lanes beside it, this one's kernel was let begin last */
    bool is_shut; /* gated: a kernel of a higher rank was launched when the gate was asked last */
    /* gated: which of those that were let begin in one instant its kernel was, the first is 1; 0:
     * it had been let begin before it came to the SMs */
    uint8_t let_nth;
    uint8_t unused[4];
};

/* GSIM_NEVER in phases in which they do not apply. */
struct gsim_lane_times {
    int64_t since_ns; /* running: up to when the context is brought forward */
    int64_t arrived_ns; /* when its kernel came to the SMs; GSIM_NEVER: none has */
    int64_t let_ns; /* gated: when one that had come was let begin */
    int64_t switched_ns; /* switching: when the switch is over */
    int64_t release_ns; /* kept: until when the context may keep the lane from ready ones */
    int64_t halted_ns; /* halting: when the SMs are free */
    int64_t padding_since_ns; /* padding: up to when the padding context is brought forward */
    int64_t padding_until_ns; /* padding: the end of the last wave */
    /* gated: when the gate opens, if no kernel of a higher rank comes before; of a lane of such a
     * rank: when gates of lower ranks do */
    int64_t opens_ns;
    int64_t next_atom_ns; /* with atoms: one has ended, and the next one may begin then */
};

struct gsim_lane_marks {
    int64_t quantum_start_ns; /* running, kept: when the turn began */
    /* strict: when a turn of place 0 began; the place in a round follows from it */
    int64_t grid_ns;
    int64_t
        next_ns; /* time of the next change: follows from all other fields, by gsim_gpu_lane_plan */
    /* follows as well: the end of the last wave, or of the padding context's kernel */
    int64_t padding_ends_ns;
};

struct gsim_lane_sums {
    int64_t switch_ns; /* time spent in switches */
    int64_t n_slices; /* turns begun */
    /* lanes that idle contexts keep: turns that went into a wait for pages, of which more miss */
    int64_t n_vain;
};
GSIM_ROLES_END

struct gsim_lane_spec {
    uint16_t space; /* the space that the lane shares with others, where lanes run side by side */
    uint16_t n;
    /* The SMs that its cap leaves it as long as it has members; none before kernels of its space go
     * to SMs block by block (models/gpu/shared_sms.h). */
    uint16_t cap_first, cap_sms;
    /* the first n of each are copied with the lane (models/gpu/lanes.c) */
    uint16_t member[GSIM_CONTEXTS_MAX]; /* in ring order */
    uint16_t turn[GSIM_CONTEXTS_MAX]; /* strict: which turn of a round is that of the place */
};

/* The SMs of a lane's kernel as observers of kernels know them; decides nothing. */
struct gsim_lane_shown {
    int64_t sms, blocks;
    uint32_t kernel; /* the launch in its iteration */
    uint16_t member;
};

/* models/roles.h says how fast-forward treats each part. */
struct gsim_gpu_lane {
    struct gsim_lane how; /* as in the arrangement, with the quantum in nanoseconds */
    struct gsim_lane_state state;
    struct gsim_lane_times times;
    struct gsim_lane_marks marks;
    uint8_t change; /* enum gsim_lane_change: the change at next_ns, while running or kept */
    /* Kernels of its space went to SMs block by block when rates were solved last: after each of
     * its steps they are solved again before time passes. */
    bool is_by_blocks;
    struct gsim_sm_losses lost; /* while is_by_blocks: of the present kernel's time */
    struct gsim_lane_shown shown; /* what observers were told last */
    struct gsim_lane_sums sums;
    struct gsim_lane_spec spec; /* last, so that the rest is copied at once */
};

static inline int64_t gsim_sooner_ns(int64_t a_ns, int64_t b_ns) {
    return a_ns < b_ns ? a_ns : b_ns;
}
static inline bool gsim_lane_is_by_priority(const struct gsim_lane *how) {
    return how->discipline != GSIM_DISCIPLINE_RR;
}
static inline bool gsim_lane_is_gated(const struct gsim_lane *how) {
    return how->gate.opens != GSIM_GATE_OPEN;
}
/* Whether the gate counts the kernels that it lets begin, against the length of iterations of lanes
 * above. */
static inline bool gsim_lane_counts_ahead(const struct gsim_lane *how) {
    return how->gate.ahead_ppm > 0;
}
static inline bool gsim_lane_has_atoms(const struct gsim_lane *how) {
    return how->atoms.atom_ns > 0;
}
/* How a lane's discipline gives turns. Strict: a turn is its owner's, used or not
 * (models/gpu/vgpu.h). Whole: by priority, but no context is halted; iterations run to their
 * end. */
static inline bool gsim_gpu_lane_is_strict(const struct gsim_gpu_lane *lane) {
    return gsim_lane_turns(&lane->how) != GSIM_TURNS_USED;
}
static inline bool gsim_gpu_lane_is_by_priority(const struct gsim_gpu_lane *lane) {
    return gsim_lane_is_by_priority(&lane->how);
}
/* Whether a turn ends with an iteration, and not in the middle of it. */
static inline bool gsim_gpu_lane_ends_at_boundary(const struct gsim_gpu_lane *lane) {
    return lane->how.ends_at_boundary;
}
/* Whether turns are given by a scheduler in software, and not by the device. */
static inline bool gsim_gpu_lane_is_in_software(const struct gsim_gpu_lane *lane) {
    return gsim_gpu_lane_is_by_priority(lane) || gsim_gpu_lane_is_strict(lane) ||
           lane->how.idle_release_ns > 0 || gsim_gpu_lane_ends_at_boundary(lane);
}
static inline bool gsim_gpu_lane_is_whole(const struct gsim_gpu_lane *lane) {
    return lane->how.discipline == GSIM_DISCIPLINE_BOUNDARY;
}
static inline bool gsim_gpu_lane_is_gated(const struct gsim_gpu_lane *lane) {
    return gsim_lane_is_gated(&lane->how);
}
/* For how long a gate stays closed after a kernel that closes it. */
static inline int64_t gsim_gpu_lane_gate_wait_ns(const struct gsim_gpu_lane *lane) {
    return lane->how.gate.wait_ns;
}
/* Whether its kernels close gates of lanes of a lower rank for a while. */
static inline bool gsim_gpu_lane_closes_gates(const struct gsim_gpu_lane *lane) {
    return gsim_gpu_lane_gate_wait_ns(lane) > 0 && !gsim_gpu_lane_is_gated(lane);
}
static inline bool gsim_gpu_lane_has_atoms(const struct gsim_gpu_lane *lane) {
    return gsim_lane_has_atoms(&lane->how);
}
static inline bool gsim_gpu_lane_is_padded(const struct gsim_gpu_lane *lane) {
    return lane->how.discipline == GSIM_DISCIPLINE_PADDING;
}

/* What a lane uses of its GPU. */
struct gsim_lane_gpu {
    struct gsim_member *members;
    struct gsim_switch_costs costs;
    struct gsim_store *store;
    struct gsim_gang_memory *gang; /* the members' memory on further GPUs */
    struct gsim_slice_log *spans; /* NULL: no observer */
    uint16_t n_lanes; /* that use the memory side by side */
    uint16_t n_places; /* places of the table of members, which all lanes share */
    const struct gsim_space *spaces; /* by lane->spec.space; NULL: lanes share no SMs */
    const struct gsim_profile *profile;
    bool goes_straight; /* the ends of iterations change nothing (models/gpu/straight_lanes.h) */
};

/* The member that has the turn, or had it last. */
static inline struct gsim_member *gsim_gpu_lane_present(const struct gsim_lane_gpu *gpu,
                                                        const struct gsim_gpu_lane *lane) {
    return &gpu->members[lane->spec.member[lane->state.at]];
}
/* No atom of the lane's kernel is under way. */
static inline void gsim_gpu_lane_end_atom(struct gsim_gpu_lane *lane) {
    lane->state.atom_sms = (struct gsim_sm_set){{0}};
    lane->state.atom_blocks = lane->state.atom_first = 0;
}
static inline int64_t gsim_gpu_lane_quantum_ns(const struct gsim_gpu_lane *lane,
                                               const struct gsim_member *member) {
    return member->how.quantum_ns > 0 ? member->how.quantum_ns : lane->how.quantum_ns;
}
static inline uint16_t gsim_gpu_lane_running(const struct gsim_gpu_lane *lane) {
    return lane->state.phase == GSIM_LANE_RUNNING ? lane->spec.member[lane->state.at]
                                                  : GSIM_NO_MEMBER;
}

#endif
