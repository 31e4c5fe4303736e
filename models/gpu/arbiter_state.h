/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of an arbiter (models/gpu/arbiter.h), which its files share. */
#ifndef GSIM_MODELS_GPU_ARBITER_STATE_H
#define GSIM_MODELS_GPU_ARBITER_STATE_H

#include "gsim/arena.h"
#include "models/gpu/fast_forward.h"
#include "models/gpu/side_by_side.h"

/* Steps past the horizon, in vain if an event comes before them. */
enum { GSIM_STEPS_PAST_HORIZON = 16 };

/* Other files read it through the functions below. */
struct gsim_arbiter {
    /* First, and together: the fields that each change by the owner looks at. */
    bool is_ahead_valid; /* `ahead` follows from `committed` with nothing from outside between */
    /* true: `ahead` stopped at an instant with reports; false: it was only brought that far */
    bool is_ahead_event;
    uint16_t n_present; /* members */
    uint16_t n_spaces;
    int64_t n_steps; /* steps that were simulated, those of a state ahead included */
    struct gsim_lanes committed;
    struct gsim_fast_forward cycle;
    struct gsim_lanes ahead;
    struct gsim_arbiter_options options;
    struct gsim_arena *arena;
    struct gsim_space spaces[GSIM_SPACES_MAX];
    struct gsim_solved solved; /* in these spaces */
    struct gsim_pager pager;
    struct gsim_pager_shares shares; /* of the pager's rates */
    struct gsim_memory_use gone; /* bytes moved for contexts that have left */
    /* turns of the plain engine between attempts to give them in a short loop
     * (models/gpu/rotation.h), and those that are left of them */
    int64_t rest, rest_left;
    int64_t n_rounded; /* turns that the loop gave, in states ahead too */
    struct gsim_slice_log spans[2],
        taken; /* of the committed state and of the state ahead; they swap */
};

enum gsim_report {
    GSIM_REPORT_NOTHING = 0,
    /* the member's last kernel ended; finish_ns says when its host is done too */
    GSIM_REPORT_WORKED = 1,
    GSIM_REPORT_LEFT = 2,
    GSIM_REPORT_WATCHED = 4,
};

#endif
