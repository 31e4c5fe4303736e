/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which context has the SMs of one GPU at which time: the lanes of the GPU's arrangement, and
 * the shortcut over the cycles that repeat.
 *
 * The arbiter keeps two states: the committed one, which is never later than the simulation's
 * clock, and the state ahead, brought forward to the next report. A job that joins or leaves before
 * that makes the state ahead invalid: it is thrown away. Without such a disturbance it becomes the
 * committed one. So nothing outside the arbiter has to happen at every slice.
 *
 * Fast forward: between two disturbances the lanes are a deterministic machine. As soon as its
 * canonical state recurs (Brent's algorithm proposes, a full comparison decides), whole cycles are
 * skipped and every accumulator gains its share exactly. The canonical state holds all that can
 * influence the future: turns, times relative to now, offsets within an iteration. The offset of a
 * single long kernel that is always ready is not part of it. */
#ifndef GSIM_MODELS_GPU_ARBITER_H
#define GSIM_MODELS_GPU_ARBITER_H

#include "models/gpu/arbiter_ahead.h"

/* Returns NULL if there is no memory left. */
struct gsim_arbiter *gsim_arbiter_new(const struct gsim_arbiter_options *options,
                                      struct gsim_arena *arena);

/* From now on lanes share SMs and bandwidth in these spaces; n 0: each lane has the whole GPU to
 * itself. All lanes are empty. */
void gsim_arbiter_set_spaces(struct gsim_arbiter *arbiter, const struct gsim_space *spaces,
                             uint16_t n, int64_t now_ns);

/* Sets how a lane works, from its next turn on. The number of lanes may grow and never shrinks. A
 * quantum of 0 in `how` stands for the arbiter's. space: the space of the lane, where lanes share
 * spaces. Returns false if there is no memory left. */
bool gsim_arbiter_set_lane(struct gsim_arbiter *arbiter, uint16_t number,
                           const struct gsim_lane *how, uint16_t space, int64_t now_ns);
/* How the lane was set; a lane that was never set has time slices. */
static inline struct gsim_lane gsim_arbiter_lane(const struct gsim_arbiter *arbiter,
                                                 uint16_t lane) {
    if (lane < arbiter->committed.n_lanes)
        return arbiter->committed.lane[lane].how;
    return (struct gsim_lane){.discipline = GSIM_DISCIPLINE_RR};
}
/* Members of the lane. */
static inline uint16_t gsim_arbiter_in_lane(const struct gsim_arbiter *arbiter, uint16_t lane) {
    return lane < arbiter->committed.n_lanes ? arbiter->committed.lane[lane].spec.n : 0;
}

/* Sets the pager that moves memory from now on, while the arbiter has no members; pager NULL: all
 * memory stays resident. */
void gsim_arbiter_set_memory(struct gsim_arbiter *arbiter, const struct gsim_pager *pager);

static inline int64_t gsim_arbiter_steps(const struct gsim_arbiter *arbiter) {
    return arbiter->n_steps;
}

/* The pager of this GPU's memory. */
static inline const struct gsim_pager *gsim_arbiter_pager(const struct gsim_arbiter *arbiter) {
    return &arbiter->pager;
}
/* From now on this GPU's memory moves at these shares of its rates. keeper: the arbiter that keeps
 * this memory; while a gang is on several GPUs, that of its first GPU. */
void gsim_arbiter_set_shares(struct gsim_arbiter *arbiter, struct gsim_arbiter *keeper,
                             const struct gsim_pager_shares *shares, int64_t now_ns);
/* Bytes that have arrived by the committed state of the keeper, since the beginning. */
struct gsim_paged {
    int64_t bytes_in, bytes_out;
};
struct gsim_paged gsim_arbiter_paged(const struct gsim_arbiter *arbiter,
                                     const struct gsim_arbiter *keeper, uint32_t gpu);
/* True if the open buffers of this memory are together larger than the GPU. */
bool gsim_arbiter_is_too_much(const struct gsim_arbiter *arbiter, const struct gsim_arbiter *keeper,
                              uint32_t gpu);
/* True if the contexts have all of this memory that they may touch: nothing pages until contexts
 * come or go. */
bool gsim_arbiter_has_all(const struct gsim_arbiter *arbiter, const struct gsim_arbiter *keeper,
                          uint32_t gpu);
/* Whether memory is on its way to or from this GPU, at the time of the keeper's committed state. */
bool gsim_arbiter_is_moving(const struct gsim_arbiter *arbiter, const struct gsim_arbiter *keeper,
                            uint32_t gpu);

/* The first lane without members; the number of a new lane if every lane has members. */
uint16_t gsim_arbiter_free_lane(const struct gsim_arbiter *arbiter);

/* All functions below settle the committed state at now_ns first, and drop the state ahead. */
/* What a context leaves behind: its memory, and the rest of its wait for pages. */
struct gsim_parked {
    struct gsim_tenant tenant;
    int64_t stall_ns;
};
/* How the memory of a newcomer comes. */
enum gsim_arrival {
    GSIM_ARRIVAL_NEW, /* its process begins and has touched none */
    GSIM_ARRIVAL_CARRIED, /* all of it was copied here */
    GSIM_ARRIVAL_PARKED, /* it lies here: the newcomer's tenant is the one that was parked */
};
/* A newcomer joins, complete: how, spec, its context as it stands now, begun or going on, the spec
 * of its memory, what it waits for, and the progress to be watched (watch_iterations < 0: none).
 * Returns the member's place in the table until it leaves; GSIM_NO_MEMBER: no memory left. */
uint16_t gsim_arbiter_join(struct gsim_arbiter *arbiter, const struct gsim_member *newcomer,
                           enum gsim_arrival arrival, int64_t now_ns);
void gsim_arbiter_leave(struct gsim_arbiter *arbiter, uint16_t member, int64_t now_ns);
/* A member that parks leaves its memory where it is; memory of other members may push it out. When
 * it joins again, its context goes on with the memory that is left. Dropping frees the parked
 * memory, on this GPU or on a GPU that was taken in. */
struct gsim_parked gsim_arbiter_park(struct gsim_arbiter *arbiter, uint16_t member, int64_t now_ns);
void gsim_arbiter_drop(struct gsim_arbiter *arbiter, struct gsim_tenant *parked, uint32_t gpu,
                       int64_t now_ns);
/* Takes over the memory of another GPU until it is given back: a gang is about to be on both, and
 * neither has members. parked: the memory that the gang has left there, NULL: none. Returns false
 * if there is no memory left. */
bool gsim_arbiter_take_in(struct gsim_arbiter *arbiter, struct gsim_arbiter *other, uint32_t gpu,
                          const struct gsim_tenant *parked, int64_t now_ns);
/* Gives back the GPU that was taken in last, after the gang has left; returns the memory that the
 * gang has there, if it parked. */
struct gsim_tenant gsim_arbiter_give_back(struct gsim_arbiter *arbiter, struct gsim_arbiter *other,
                                          int64_t now_ns);
/* The member is to be reported as LEFT at the next boundary that it reaches. Returns true if it is
 * at one now. */
bool gsim_arbiter_exit(struct gsim_arbiter *arbiter, uint16_t member, enum gsim_exit exit_at,
                       int64_t now_ns);
/* From now on the member has the priority and weight of this entry; in fair lanes its time is
 * counted from now. */
void gsim_arbiter_rank(struct gsim_arbiter *arbiter, uint16_t member, const struct gsim_entry *how,
                       int64_t now_ns);
/* The member is taken off its lane as at the end of a turn, and joins another lane, in which its
 * iterations take gpu_ns of GPU time. */
void gsim_arbiter_move(struct gsim_arbiter *arbiter, uint16_t member, uint16_t lane, int64_t gpu_ns,
                       int64_t now_ns);
/* The member's kernels begin within this cap. */
void gsim_arbiter_cap(struct gsim_arbiter *arbiter, uint16_t member,
                      const struct gsim_launch_cap *cap, int64_t now_ns);
/* From now on this part of the member's iterations lies on the host. In a lane with time slices. */
void gsim_arbiter_overflow(struct gsim_arbiter *arbiter, uint16_t member,
                           struct gsim_overflow overflow, int64_t now_ns);
/* Reports WATCHED when the member has done these iterations and this part of the next; iterations <
 * 0: never. */
void gsim_arbiter_watch(struct gsim_arbiter *arbiter, uint16_t member, int64_t iterations,
                        gsim_work done, int64_t now_ns);

/* Memory moved by a job on n_gpus GPUs. GPUs that were not taken in are taken to have moved as much
 * as the first. */
struct gsim_memory_use gsim_arbiter_use(const struct gsim_arbiter *arbiter, uint16_t member,
                                        uint32_t n_gpus);
static inline const struct gsim_member *gsim_arbiter_member(const struct gsim_arbiter *arbiter,
                                                            uint16_t member) {
    return &arbiter->committed.members[member];
}
/* Places in the table of members. */
static inline uint16_t gsim_arbiter_members(const struct gsim_arbiter *arbiter) {
    return arbiter->committed.capacity;
}
static inline uint16_t gsim_arbiter_present(const struct gsim_arbiter *arbiter) {
    return arbiter->n_present;
}

/* The spans up to the committed state since the last call, which empties the log. */
const struct gsim_slice_log *gsim_arbiter_take_spans(struct gsim_arbiter *arbiter);

struct gsim_arbiter_stats {
    int64_t slices, switch_ns;
    /* turns that ended before their pages were there, in lanes that idle contexts keep */
    int64_t vain_slices;
    int64_t bytes_in; /* of memory that was paged or moved, for all members */
    int64_t skipped_ns; /* of the committed time */
    int64_t steps; /* steps that were simulated; skipped cycles take none */
    int64_t rounded; /* turns that were given in a short loop, of states ahead too */
    bool is_approximate;
    bool has_shared_blocks; /* kernels of programs went to SMs block by block */
    bool has_unknown_traffic; /* of some of them the bytes that they move are not known */
    bool has_first_loads; /* some of them began with loads that L2 did not have */
    bool has_crowded_unequals; /* different kernels without programs crowded the same SMs */
};
struct gsim_arbiter_stats gsim_arbiter_stats(const struct gsim_arbiter *arbiter);

#endif
