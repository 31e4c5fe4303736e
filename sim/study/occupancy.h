/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The jobs on each GPU, and the number of jobs that wait, kept up to date from the changes that an
 * observer receives. Each GPU has lanes, one for each job that is on it at a time. */
#ifndef GSIM_STUDY_OCCUPANCY_H
#define GSIM_STUDY_OCCUPANCY_H

#include "gsim/observe.h"

struct gsim_gpu_lanes {
    uint32_t *job; /* by lane: position in the trace + 1, or 0 */
    uint32_t n;
    uint32_t n_sharing; /* jobs on the GPU by an arrangement */
    int64_t held_ppm; /* shares of the jobs without an arrangement */
};

struct gsim_occupancy {
    struct gsim_arena *arena;
    struct gsim_scene scene;
    struct gsim_gpu_lanes *gpu;
    uint32_t n_waiting; /* jobs that have arrived and hold no unit */
    uint32_t n_placed;
    int64_t busy_ppm; /* GPUs in use; an arranged GPU counts as a whole */
    bool has_failed; /* memory ran out: the other fields are invalid */
};

void gsim_occupancy_begin(struct gsim_occupancy *occupancy, const struct gsim_scene *scene,
                          struct gsim_arena *arena);
/* Counts a change, and puts the job into lanes or takes it out of them. */
void gsim_occupancy_apply(struct gsim_occupancy *occupancy, const struct gsim_change *change);
/* The job's lane on a GPU that it is on. */
uint32_t gsim_occupancy_lane(const struct gsim_occupancy *occupancy, uint32_t gpu, uint32_t job);

#endif
