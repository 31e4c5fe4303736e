/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of all lanes of a GPU, and the detection and skipping of cycles in it. */
#ifndef GSIM_MODELS_GPU_FAST_FORWARD_H
#define GSIM_MODELS_GPU_FAST_FORWARD_H

#include "models/gpu/arbiter.h"

struct gsim_lanes {
    int64_t now_ns;
    struct gsim_member *members;
    uint16_t capacity;
    struct gsim_ring *rings;
    uint16_t n_rings;
    struct gsim_store store;
    struct gsim_gang_memory gang; /* of a gang, which is the only member */
    struct gsim_slice_log *spans; /* where what happens to this state is told; not part of it */
    uint16_t anchor; /* the lane at whose turns cycles are looked for */
    uint32_t unsolved; /* spaces (bits) in which others run than when rates were solved */
    bool has_reports;
    bool is_approximate;
    int64_t skipped_ns;
};

struct gsim_fast_forward {
    enum { GSIM_CYCLE_NONE = 0, GSIM_CYCLE_SEARCHING, GSIM_CYCLE_FOUND } phase;
    struct gsim_lanes seen; /* while searching: the state to compare with */
    int64_t power, n_since; /* of Brent's algorithm, in turns */
    int64_t n_turns; /* since the last disturbance */
    int64_t looks_at; /* the turn, past the budget, at which rates are compared next */
    bool has_window; /* while searching: per_period is what the window before did */
    int64_t from_ns; /* found: from here on the lanes repeat themselves */
    int64_t period_ns;
    int64_t spent_ns; /* found: from here on some member has less than two of them left */
    bool is_asked, can_repeat; /* the second only where the first is set */
    /* What one period adds to every accumulator; while searching, the window before. */
    struct gsim_lanes per_period;
    bool is_approximate;
    struct gsim_store_scratch scratch;
};

void gsim_lanes_copy(struct gsim_lanes *to, const struct gsim_lanes *from);
void gsim_lanes_choose_anchor(struct gsim_lanes *lanes);
/* Something from outside happened. */
void gsim_fast_forward_forget(struct gsim_fast_forward *cycle);
/* A member has nothing left to do, or has reached what it was watched for. */
void gsim_fast_forward_report(struct gsim_fast_forward *cycle);
/* Whether anything is extrapolated, or may be within so many turns. */
bool gsim_fast_forward_may_extrapolate(const struct gsim_fast_forward *cycle,
                                       const struct gsim_arbiter_options *options, int64_t n_turns);
/* A turn of the anchor lane began: looks for a cycle, and skips as many as end before limit_ns and
 * before anybody is to be reported. */
void gsim_fast_forward_turn(struct gsim_fast_forward *cycle,
                            const struct gsim_arbiter_options *options, struct gsim_lanes *lanes,
                            int64_t limit_ns);

#endif
