/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lanes that run at the same time on one GPU. Whenever another set of contexts runs, the rates of
 * all contexts that share SMs and bandwidth are solved anew (models/gpu/space.h); in all else a
 * lane is like a lane that is alone. Lanes of different spaces (instances) never meet. */
#ifndef GSIM_MODELS_GPU_SIDE_BY_SIDE_H
#define GSIM_MODELS_GPU_SIDE_BY_SIDE_H

#include "gsim/arena.h"
#include "models/gpu/lanes.h"

enum { GSIM_SOLVED_SETS = 4 };

/* The sets of holders that were solved last in a GPU's spaces, with their answers: the set that
 * runs after an iteration's end is often one that ran before. */
struct gsim_solved {
    struct gsim_solved_set {
        uint32_t n, room; /* holders; n 0: no set */
        uint16_t space;
        struct gsim_holder *holder;
    } set[GSIM_SOLVED_SETS];
    uint32_t oldest;
    struct gsim_sm_last *last[GSIM_SPACES_MAX]; /* of spaces by blocks; NULL: none yet */
    struct gsim_arena *arena;
};

/* Gives every running context of the spaces marked in lanes->unsolved its rate from lanes->now_ns
 * on. Nothing else is due at that instant. solved: of these spaces. */
void gsim_side_by_side_solve(const struct gsim_lane_gpu *gpu, const struct gsim_space *spaces,
                             struct gsim_solved *solved, struct gsim_lanes *lanes);
/* Another member of this lane may run from now on: marks its space, where lanes share spaces. */
void gsim_side_by_side_unsolve(struct gsim_lanes *lanes, uint16_t n_spaces,
                               const struct gsim_gpu_lane *lane);

#endif
