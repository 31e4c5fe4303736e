/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of all lanes of a GPU; cycles in it are detected and skipped. */
#ifndef GSIM_MODELS_GPU_FAST_FORWARD_H
#define GSIM_MODELS_GPU_FAST_FORWARD_H

#include "models/gpu/lanes.h"

struct gsim_fast_forward {
    enum { GSIM_FAST_FORWARD_NONE = 0, GSIM_FAST_FORWARD_SEARCHING, GSIM_FAST_FORWARD_FOUND } phase;
    int64_t power, n_since; /* of Brent's algorithm, in turns */
    int64_t n_turns; /* since the last disturbance */
    int64_t looks_at; /* the turn, past the budget, at which rates are compared next */
    bool has_window; /* while searching: per_period holds the window before */
    bool had_missed_all; /* in which no sweep came to memory that was there */
    int64_t from_ns; /* found: from here on the lanes repeat */
    int64_t period_ns;
    int64_t spent_ns; /* found: from here on some member has work for less than two periods left */
    bool is_asked, can_repeat; /* can_repeat is valid only if is_asked is set */
    bool is_approximate;
    /* Large, and not looked at by an owner that changes the lanes, so they come last. */
    struct gsim_lanes seen; /* while searching: the state to compare with */
    /* The sums of one period for every accumulator; while searching, those of the window before. */
    struct gsim_lanes per_period;
    struct gsim_store_scratch scratch;
};

/* After a look at a turn of the anchor lane: the next turn that needs one is the first at one of
 * these bounds. */
struct gsim_unseen {
    int64_t most; /* turns, the one that needs it included */
    int64_t until_ns; /* turns that begin then or later */
    /* turns of place `at` of the ring while place `probe` has left_ns left of its iteration, as in
     * the state to compare with; GSIM_NO_MEMBER: at no place; whatever any place has left */
    uint16_t at, probe;
    int64_t left_ns;
    bool are_counted;
};

/* A member is reported: it has nothing left to do, or has reached the progress that it was watched
 * for. */
static inline void gsim_fast_forward_report(struct gsim_fast_forward *cycle) {
    cycle->is_asked = false;
    cycle->spent_ns = GSIM_NEVER;
}
/* The lanes were changed from outside: forgets the cycle. */
static inline void gsim_fast_forward_forget(struct gsim_fast_forward *cycle) {
    cycle->phase = GSIM_FAST_FORWARD_NONE;
    cycle->n_turns = cycle->looks_at = 0;
    cycle->has_window = false;
    gsim_fast_forward_report(cycle);
}
/* Whether rates are extrapolated, or may be within n_turns turns. */
bool gsim_fast_forward_may_extrapolate(const struct gsim_fast_forward *cycle,
                                       const struct gsim_arbiter_options *options,
                                       const struct gsim_lanes *lanes, int64_t n_turns);
/* A turn of the anchor lane began: looks for a cycle, and skips as many as end before limit_ns and
 * before any member is to be reported. */
void gsim_fast_forward_turn(struct gsim_fast_forward *cycle,
                            const struct gsim_arbiter_options *options, struct gsim_lanes *lanes,
                            int64_t limit_ns);
/* The turns before the next one that needs a look; they are passed when they have begun. */
struct gsim_unseen gsim_fast_forward_unseen(const struct gsim_fast_forward *cycle,
                                            const struct gsim_arbiter_options *options,
                                            const struct gsim_lanes *lanes);
static inline void gsim_fast_forward_pass(struct gsim_fast_forward *cycle,
                                          const struct gsim_unseen *unseen, int64_t n_turns) {
    cycle->n_turns += unseen->are_counted ? n_turns : 0;
    cycle->n_since += unseen->are_counted ? n_turns : 0;
}

#endif
