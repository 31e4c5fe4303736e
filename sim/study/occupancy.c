/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/occupancy.h"

#include <assert.h>

void gsim_occupancy_begin(struct gsim_occupancy *occupancy, const struct gsim_scene *scene,
                          struct gsim_arena *arena) {
    *occupancy = (struct gsim_occupancy){.arena = arena, .scene = *scene};
    occupancy->gpu = gsim_arena_array(arena, scene->n_gpus, sizeof *occupancy->gpu);
    occupancy->has_failed = !occupancy->gpu;
}

/* The part of a GPU that is in use, as the run accounts for it: by the share that each job took
 * when it came to the GPU, even if the policy has arranged the GPU anew since. */
static int64_t busy_ppm(const struct gsim_occupancy *occupancy, uint32_t gpu) {
    const struct gsim_gpu_lanes *lanes = &occupancy->gpu[gpu];
    return lanes->held_ppm + (lanes->n_sharing ? GSIM_PPM : 0);
}

static bool add_lane(struct gsim_occupancy *occupancy, struct gsim_gpu_lanes *lanes) {
    uint32_t *job = gsim_arena_grow(occupancy->arena, lanes->job, lanes->n * sizeof *job,
                                    (lanes->n + 1) * sizeof *job);
    if (!job)
        return false;
    lanes->job = job;
    lanes->n++;
    return true;
}

/* The lowest lane with this entry; entry 0 finds a free lane. */
static uint32_t find_lane(const struct gsim_gpu_lanes *lanes, uint32_t job) {
    uint32_t lane = 0;
    while (lane < lanes->n && lanes->job[lane] != job)
        lane++;
    return lane;
}

static void set_lane(struct gsim_occupancy *occupancy, uint32_t gpu,
                     const struct gsim_change *change) {
    struct gsim_gpu_lanes *lanes = &occupancy->gpu[gpu];
    uint32_t own = change->job + 1, lane = find_lane(lanes, change->is_on ? 0 : own);
    if (lane == lanes->n && !add_lane(occupancy, lanes)) {
        occupancy->has_failed = true;
        return;
    }
    occupancy->busy_ppm -= busy_ppm(occupancy, gpu);
    lanes->job[lane] = change->is_on ? own : 0;
    if (change->is_sharing)
        lanes->n_sharing += change->is_on ? 1u : 0u - 1u;
    else
        lanes->held_ppm += change->is_on ? change->share_ppm : -(int64_t)change->share_ppm;
    occupancy->busy_ppm += busy_ppm(occupancy, gpu);
}

void gsim_occupancy_apply(struct gsim_occupancy *occupancy, const struct gsim_change *change) {
    if (occupancy->has_failed)
        return;
    if (change->from == GSIM_FREE)
        occupancy->n_waiting++;
    else if (change->to == GSIM_DONE && !change->was_on)
        occupancy->n_waiting--; /* declined, or lost with its node, while it waited */
    if (change->was_on == change->is_on)
        return;
    for (uint32_t u = 0; u < change->n_units; u++)
        set_lane(occupancy, change->units[u].gpu, change);
    if (occupancy->scene.is_pool)
        occupancy->busy_ppm += (change->is_on ? 1 : -1) * (int64_t)change->gpus * change->share_ppm;
    occupancy->n_placed += change->is_on ? 1u : 0u - 1u;
    if (change->is_on)
        occupancy->n_waiting--;
    else if (change->to != GSIM_DONE)
        occupancy->n_waiting++;
}

uint32_t gsim_occupancy_lane(const struct gsim_occupancy *occupancy, uint32_t gpu, uint32_t job) {
    uint32_t lane = find_lane(&occupancy->gpu[gpu], job + 1);
    assert(lane < occupancy->gpu[gpu].n);
    return lane;
}
