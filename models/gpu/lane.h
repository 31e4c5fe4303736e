/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One lane of a GPU: a ring of contexts of which one runs at a time. A context runs until its
 * quantum ends while another context is ready, or until it has nothing to run; then the next ready
 * context in ring order gets the lane, after a switch. A context that becomes ready waits for its
 * place in the ring, it does not join a queue. A context alone keeps renewing its quantum, so a
 * newcomer waits for the rest of the present quantum.
 *
 * In a strict lane a turn that its owner cannot use passes unused.
 *
 * In a lane by priority the most urgent ready context runs, and a running context is halted as soon
 * as a more urgent one is ready, by the lane's mechanism (models/gpu/kernel_stop.h); contexts of
 * equal priority take turns as above. Its contexts are streams of one process: where nothing is
 * saved, changing from one to another costs nothing but the launch. Such a lane may be padded:
 * beside each kernel of the running context, the first less urgent context that is ready and fits
 * (models/gpu/padding.h) runs too.
 *
 * A lane may be kept by a context that has nothing to run for a while, and turns may end at the
 * ends of iterations only. Where memory moves (models/memory/pager.h), a turn may begin with a
 * migration, and waits for the pages that it reaches; the wait counts as running. A context that
 * waits for pages keeps the lane, as it does on the device, until its turn ends.
 *
 * This is the plain engine, one call for each change. models/gpu/arbiter_walk.c skips the cycles
 * that repeat. */
#ifndef GSIM_MODELS_GPU_LANE_H
#define GSIM_MODELS_GPU_LANE_H

#include "models/gpu/lane_plan.h"

void gsim_gpu_lane_init(struct gsim_gpu_lane *lane, int64_t quantum_ns);
/* A member joins at the end of the ring, or leaves it from any place. The lane has been brought
 * forward to now_ns. */
void gsim_gpu_lane_join(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane,
                        uint16_t member, int64_t now_ns);
void gsim_gpu_lane_leave(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane,
                         uint16_t member, int64_t now_ns);
/* Brings the running context forward to now_ns <= next_ns without a change. */
void gsim_gpu_lane_settle(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane,
                          int64_t now_ns);
/* Makes the change that is due at next_ns. Returns the member that stopped running there, or
 * GSIM_NO_MEMBER. */
uint16_t gsim_gpu_lane_step(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane);

#endif
