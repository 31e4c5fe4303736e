/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Turns of a lane in a short loop. A ring of contexts that have work in the queue whenever their
 * turn comes, with all memory on the GPU, goes round in one way only: each context runs for its
 * quantum, or until its iteration ends, and the next one in the ring follows after a switch. The
 * loop keeps the rest of each context's iteration, in whole nanoseconds, and gives the turns that
 * the plain engine (models/gpu/lane.h) would give, to the nanosecond. Where any other rule of that
 * engine could matter (a context is not ready, waits for pages, is watched, or is in its last
 * iteration), the turn is left to it. */
#ifndef GSIM_MODELS_GPU_ROTATION_H
#define GSIM_MODELS_GPU_ROTATION_H

#include "models/gpu/fast_forward.h"

/* How far the loop may go. */
struct gsim_rotation_bounds {
    int64_t until_ns; /* turns that begin later are not begun */
    int64_t most_steps; /* of the plain engine, for the turns that are begun */
    struct gsim_unseen unseen; /* the loop ends with the turn at which a cycle is looked for */
};

struct gsim_rotation {
    bool is_open; /* the lane is for the loop */
    int64_t turns; /* that were begun */
    int64_t steps; /* that they take in the plain engine */
};

/* A turn of the lane has just begun: begins further ones. */
struct gsim_rotation gsim_rotation_run(const struct gsim_lane_gpu *gpu, struct gsim_lanes *lanes,
                                       struct gsim_gpu_lane *lane,
                                       const struct gsim_rotation_bounds *bounds);

#endif
