/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lanes that run at the same time on one GPU. Whenever another set of contexts runs, the rates of
 * all contexts that share SMs and bandwidth are solved anew (models/gpu/space.h); in all else a
 * lane is like a lane that is alone. Lanes of different spaces (instances) never meet. */
#ifndef GSIM_MODELS_GPU_SIDE_BY_SIDE_H
#define GSIM_MODELS_GPU_SIDE_BY_SIDE_H

#include "gsim/arena.h"
#include "models/gpu/lanes.h"

/* The sets that are kept: at first, and at most runners of all of them, 16 bytes each. Neither
 * changes a result. */
enum { GSIM_SOLVED_SETS = 4, GSIM_SOLVED_RUNNERS = 1 << 13 };

/* A context that runs in a space beside others. */
struct gsim_solved_runner {
    uint64_t rate_q32;
    /* the member, and whether it pads: what it asks of the space follows, as long as the owner
     * changes nothing */
    uint32_t is;
};

/* The sets of contexts that ran in a GPU's spaces, with their rates: between two changes by the
 * owner the set that runs after the begin or the end of an iteration often ran before. */
struct gsim_solved {
    struct gsim_solved_set {
        uint64_t stamp; /* the change by the owner after which it was solved; 0: no set */
        uint32_t n, room; /* runners */
        uint16_t space;
        bool has_crowded_unequals;
        struct gsim_solved_runner *runner;
    } * set;
    uint32_t n_sets; /* places, by a sum of each set: a power of two, or none yet */
    uint32_t n_kept; /* sets that were kept since the owner's last change */
    uint64_t stamp; /* of the owner's last change */
    uint32_t by_rates; /* spaces (bits) in which contexts share by rates since then */
    struct gsim_shared_sms_kept *kept[GSIM_SPACES_MAX]; /* of spaces by blocks; NULL: none yet */
    struct gsim_arena *arena;
};

/* Gives every running context of the spaces marked in lanes->unsolved its rate from lanes->now_ns
 * on. Nothing else is due at that instant. solved: of these spaces. */
void gsim_side_by_side_solve(const struct gsim_lane_gpu *gpu, const struct gsim_space *spaces,
                             struct gsim_solved *solved, struct gsim_lanes *lanes);
/* The owner changes lanes, their members or the spaces: what was solved before holds no more. */
static inline void gsim_side_by_side_forget(struct gsim_solved *solved) {
    solved->stamp++;
    solved->n_kept = solved->by_rates = 0;
}
/* Another member of this lane may run from now on: marks its space, where lanes share spaces. */
void gsim_side_by_side_unsolve(struct gsim_lanes *lanes, uint16_t n_spaces,
                               const struct gsim_gpu_lane *lane);

#endif
