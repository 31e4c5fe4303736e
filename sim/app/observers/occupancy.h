/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who is on which GPU, and how many wait: kept from the changes that an observer is told of. Each
 * GPU has lanes, one for each job that is on it at a time. */
#ifndef GSIM_APP_OCCUPANCY_H
#define GSIM_APP_OCCUPANCY_H

#include "gsim/observe.h"

struct gsim_gpu_lanes {
    uint32_t *job; /* by lane: position in the trace + 1, or 0 */
    uint32_t n;
    uint32_t n_sharing; /* jobs that share it by an arrangement */
    int64_t held_ppm; /* by jobs that do not */
};

struct gsim_occupancy {
    struct gsim_arena *arena;
    struct gsim_scene scene;
    struct gsim_gpu_lanes *gpu;
    uint32_t n_waiting; /* jobs that arrived and are on no unit */
    uint32_t n_placed;
    int64_t busy_ppm; /* GPUs in use, of one that jobs share all of it */
    bool has_failed; /* no memory: what is here is not to be used */
};

void gsim_occupancy_begin(struct gsim_occupancy *occupancy, const struct gsim_scene *scene,
                          struct gsim_arena *arena);
/* Counts the change, and puts the job into lanes or takes it out of them. */
void gsim_occupancy_apply(struct gsim_occupancy *occupancy, const struct gsim_change *change);
/* The job's lane on a GPU that it is on. */
uint32_t gsim_occupancy_lane(const struct gsim_occupancy *occupancy, uint32_t gpu, uint32_t job);

#endif
