/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the turns of a lane do with memory (models/memory/pager.h): migrations before a turn, and in
 * a turn the sweep over the memory that it reaches. */
#ifndef GSIM_MODELS_GPU_TURN_MEMORY_H
#define GSIM_MODELS_GPU_TURN_MEMORY_H

#include "models/gpu/lane_state.h"

/* Moves memory for the present member, by the timeline of the ring from this member on; returns
 * when the turn can begin. */
int64_t gsim_turn_migrate(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                          int64_t now_ns);
/* The present member touches the memory that it can reach in this turn, of which left_ns are left,
 * and waits for it. */
void gsim_turn_sweep(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                     int64_t left_ns, int64_t now_ns);
/* When the running member comes to memory that it has not touched. */
int64_t gsim_turn_reached_ns(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane);

#endif
