/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who has the SMs of one GPU when: the lanes of its arrangement, each a rotation, and the shortcut
 * over what repeats.
 *
 * The arbiter keeps two states: the committed one, which is never later than the simulation's
 * clock, and the one ahead, brought forward to the next thing to report. When somebody joins or
 * leaves before that, the one ahead is thrown away; when nobody does, it becomes the committed one.
 * So nothing outside has to happen at every slice.
 *
 * Fast forward: between two disturbances the lanes are a deterministic machine. As soon as its
 * canonical state recurs (Brent's algorithm proposes, a full comparison decides), whole cycles are
 * skipped and every accumulator gains its share exactly. Canonical is what can influence the
 * future: turns, times relative to now, offsets within an iteration; not the offset of a single
 * long kernel that is always ready. */
#ifndef GSIM_MODELS_GPU_ARBITER_H
#define GSIM_MODELS_GPU_ARBITER_H

#include "models/gpu/rotation.h"
#include "gsim/arena.h"

struct gsim_arbiter;

struct gsim_arbiter_options {
    struct gsim_switch_costs costs;
    int64_t quantum_ns; /* of lanes that name none */
    int64_t slice_budget; /* slices without recurrence, until steady rates are extrapolated */
    bool is_plain; /* never skip anything: the reference */
    bool is_exact; /* never extrapolate */
    int64_t watch_from_ns, watch_until_ns; /* when every slice is walked and told; until 0: never */
};

/* NULL: no memory. */
struct gsim_arbiter *gsim_arbiter_new(const struct gsim_arbiter_options *options,
                                      struct gsim_arena *arena);

enum { GSIM_SPACES_MAX = GSIM_MIG_SLICES_MAX };
/* Lanes share SMs and bandwidth in these spaces from now on; n 0: each has the whole GPU to itself.
 * Nobody is in any lane. */
void gsim_arbiter_set_spaces(struct gsim_arbiter *arbiter, const struct gsim_space *spaces,
                             uint16_t n, int64_t now_ns);

/* The number of lanes may grow and never shrinks; how a lane works is changed from its next turn
 * on. how: with time slices or by priority; a quantum of 0 is the arbiter's. space: where lanes
 * share spaces, which one. false: no memory. */
bool gsim_arbiter_set_lane(struct gsim_arbiter *arbiter, uint16_t lane, const struct gsim_lane *how,
                           uint16_t space, int64_t now_ns);
/* As it was set; with time slices where it never was. */
struct gsim_lane gsim_arbiter_lane(const struct gsim_arbiter *arbiter, uint16_t lane);
uint16_t gsim_arbiter_in_lane(const struct gsim_arbiter *arbiter, uint16_t lane); /* members */

/* Who moves memory from now on, while the arbiter has no members; pager NULL: nobody, everything
 * stays resident. */
void gsim_arbiter_set_memory(struct gsim_arbiter *arbiter, const struct gsim_pager *pager);

/* How its memory moves. */
const struct gsim_pager *gsim_arbiter_pager(const struct gsim_arbiter *arbiter);
/* From now on its memory moves at these shares of its rates. keeper: the arbiter that has it, which is
 * another one while a gang is there. */
void gsim_arbiter_set_shares(struct gsim_arbiter *arbiter, struct gsim_arbiter *keeper,
                             const struct gsim_pager_shares *shares, int64_t now_ns);
/* What has arrived by the committed state of the keeper, ever. */
struct gsim_paged {
    int64_t bytes_in, bytes_out;
};
struct gsim_paged gsim_arbiter_paged(const struct gsim_arbiter *arbiter,
                                     const struct gsim_arbiter *keeper, uint32_t gpu);
/* Whether more has to be moved. */
bool gsim_arbiter_is_too_much(const struct gsim_arbiter *arbiter, const struct gsim_arbiter *keeper,
                              uint32_t gpu);

/* A lane that nobody is in; its number may be that of a new one. */
uint16_t gsim_arbiter_free_lane(const struct gsim_arbiter *arbiter);

/* All of these settle the committed state at now_ns first, and drop what was computed ahead. */
/* A member of whom how, spec, the fixed part of its context and the spec of its memory are filled.
 * Its place in the table, until it leaves; GSIM_NO_MEMBER: no memory. */
uint16_t gsim_arbiter_join(struct gsim_arbiter *arbiter, const struct gsim_member *newcomer,
                           int64_t now_ns);
/* It goes on where an earlier context of the same process was left, and when that was; its memory was
 * carried back. */
uint16_t gsim_arbiter_rejoin(struct gsim_arbiter *arbiter, const struct gsim_member *newcomer,
                             const struct gsim_context *left, int64_t left_ns, int64_t now_ns);
void gsim_arbiter_leave(struct gsim_arbiter *arbiter, uint16_t member, int64_t now_ns);
/* What a context has left of its memory, and what it had still to wait for when it left. */
struct gsim_parked {
    struct gsim_tenant tenant;
    int64_t stall_ns;
};
/* Who parks leaves its memory where it is: others may push it out. Its context goes on with what is
 * left of it when it is woken; what is dropped is freed, on this GPU or one that was taken in. */
struct gsim_parked gsim_arbiter_park(struct gsim_arbiter *arbiter, uint16_t member, int64_t now_ns);
uint16_t gsim_arbiter_wake(struct gsim_arbiter *arbiter, const struct gsim_member *newcomer,
                           const struct gsim_context *left, int64_t left_ns,
                           const struct gsim_parked *parked, int64_t now_ns);
void gsim_arbiter_drop(struct gsim_arbiter *arbiter, struct gsim_tenant *parked, uint32_t gpu,
                       int64_t now_ns);
/* The memory of another GPU is this arbiter's until it is given back: a gang is about to be on both, and
 * nobody else is. parked: what the gang has left there, NULL: nothing. false: no memory. */
bool gsim_arbiter_take_in(struct gsim_arbiter *arbiter, struct gsim_arbiter *other, uint32_t gpu,
                          const struct gsim_tenant *parked, int64_t now_ns);
/* The one that was taken in last, after the gang has left; what the gang has left there, if it parked. */
struct gsim_tenant gsim_arbiter_give_back(struct gsim_arbiter *arbiter, struct gsim_arbiter *other,
                                          int64_t now_ns);
/* It is to be reported as LEFT at the next boundary that it reaches. true: it is at one now. */
bool gsim_arbiter_exit(struct gsim_arbiter *arbiter, uint16_t member, enum gsim_exit exit_at,
                       int64_t now_ns);
/* From now on it stands as this entry says among the others of its lane; its time counts anew. */
void gsim_arbiter_rank(struct gsim_arbiter *arbiter, uint16_t member, const struct gsim_entry *how,
                       int64_t now_ns);
/* It is taken off its lane as at the end of a turn, and joins another one, where an iteration has
 * so much GPU time. */
void gsim_arbiter_move(struct gsim_arbiter *arbiter, uint16_t member, uint16_t lane, int64_t gpu_ns,
                       int64_t now_ns);
/* At most so many of its kernels begin in each period of refill_ns; refill_ns 0: no cap. */
void gsim_arbiter_cap(struct gsim_arbiter *arbiter, uint16_t member, int64_t cap, int64_t refill_ns,
                      int64_t now_ns);
/* From now on so much of its iterations lies on the host. In a lane with time slices. */
void gsim_arbiter_overflow(struct gsim_arbiter *arbiter, uint16_t member,
                           struct gsim_overflow overflow, int64_t now_ns);
/* Report WATCHED when this much of its iterations and of the present one is done; < 0: never. */
void gsim_arbiter_watch(struct gsim_arbiter *arbiter, uint16_t member, int64_t iterations,
                        gsim_work done, int64_t now_ns);

enum gsim_report {
    GSIM_REPORT_NOTHING = 0,
    GSIM_REPORT_WORKED = 1, /* its last kernel ended; finish_ns says when its host is done too */
    GSIM_REPORT_LEFT = 2,
    GSIM_REPORT_WATCHED = 4,
};

/* The next instant at which somebody is to be reported, or horizon_ns when that is sooner. Nothing
 * from outside may happen before horizon_ns. */
int64_t gsim_arbiter_next_ns(struct gsim_arbiter *arbiter, int64_t horizon_ns);
/* The same, but it may look past the horizon, a little at a time: the next instant at which somebody
 * is to be reported (is_due), or one until which nobody is, that instant included; one before the
 * horizon is where the simulation can be interrupted. */
struct gsim_foresight {
    int64_t until_ns;
    bool is_due;
};
struct gsim_foresight gsim_arbiter_foresee(struct gsim_arbiter *arbiter, int64_t horizon_ns);
/* What it does depends on when it is asked, since something is extrapolated, or is told as it
 * happens: it is to be settled at every instant, and not asked for more than the horizon. */
bool gsim_arbiter_is_close(const struct gsim_arbiter *arbiter);
/* Brings the committed state to now_ns, which is not past the last answer of gsim_arbiter_next_ns.
 * Whether anybody is to be reported. */
bool gsim_arbiter_settle(struct gsim_arbiter *arbiter, int64_t now_ns);
/* Takes the next report of the committed state: its member, or GSIM_NO_MEMBER. */
uint16_t gsim_arbiter_take(struct gsim_arbiter *arbiter, unsigned *reports);

/* There was no memory left to keep its state in. */
bool gsim_arbiter_has_failed(const struct gsim_arbiter *arbiter);
/* What a member on so many GPUs has moved; those that were not taken in are like the first. */
struct gsim_memory_use gsim_arbiter_use(const struct gsim_arbiter *arbiter, uint16_t member,
                                        uint32_t n_gpus);
const struct gsim_member *gsim_arbiter_member(const struct gsim_arbiter *arbiter, uint16_t member);
uint16_t gsim_arbiter_members(const struct gsim_arbiter *arbiter); /* places in the table */
uint16_t gsim_arbiter_present(const struct gsim_arbiter *arbiter);

/* What happened up to the committed state since the last call; emptied by it. */
const struct gsim_slice_log *gsim_arbiter_take_spans(struct gsim_arbiter *arbiter);

struct gsim_arbiter_stats {
    int64_t slices, switch_ns;
    int64_t vain_slices; /* that ended before their pages were there, on lanes that are kept */
    int64_t skipped_ns; /* of the committed time */
    int64_t steps; /* that were simulated: what is skipped costs none */
    bool is_approximate;
};
struct gsim_arbiter_stats gsim_arbiter_stats(const struct gsim_arbiter *arbiter);

#endif
