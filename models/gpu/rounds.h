/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rounds of a strict lane (models/gpu/vgpu.h): turns pass whether they are used or not. There are
 * as many as members, or as vGPUs that the GPU can have. */
#ifndef GSIM_MODELS_GPU_ROUNDS_H
#define GSIM_MODELS_GPU_ROUNDS_H

#include "models/gpu/lane_state.h"
#include "models/gpu/vgpu.h"

struct gsim_vgpu_grid gsim_round_grid(const struct gsim_gpu_lane *lane);
/* A member is about to join at the end of the ring. A round begins with the first one; the present
 * turn goes on where the round gets longer. */
void gsim_round_join(struct gsim_gpu_lane *lane, int64_t now_ns);
/* The member with turn `left` is about to leave. Where the round gets shorter, its turn is that of
 * the next one now, and another member's goes on; else its turns pass unused. */
void gsim_round_leave(struct gsim_gpu_lane *lane, uint16_t left, int64_t now_ns);

#endif
