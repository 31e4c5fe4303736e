/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When a lane (models/gpu/lane.h) changes next, and by what: its running context yields, is halted
 * or preempted, or the lane that is kept for a context is released. */
#ifndef GSIM_MODELS_GPU_LANE_PLAN_H
#define GSIM_MODELS_GPU_LANE_PLAN_H

#include "models/gpu/lane_state.h"

/* Computes next_ns anew, after any change of the lane's members. */
void gsim_gpu_lane_plan(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane,
                        int64_t now_ns);
/* Of all lanes, once waits for pages are other ones than those by which lanes were planned. */
static inline void gsim_gpu_lanes_plan(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lanes,
                                       uint16_t n, int64_t now_ns) {
    for (uint16_t i = 0; i < n; i++)
        gsim_gpu_lane_plan(gpu, &lanes[i], now_ns);
}
void gsim_lane_plan_kept(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane,
                         int64_t now_ns);
/* Whether the lane waits for the present member, which has nothing to run. */
bool gsim_lane_is_kept(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane, int64_t now_ns);
/* In a strict lane: the first instant in the member's own turns at which it is ready and there is
 * time to switch to it. */
int64_t gsim_lane_turn_ns(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                          uint16_t place, int64_t now_ns);
/* The end of the quantum while a rival is ready, or when a more urgent member is ready. */
int64_t gsim_lane_turn_ends_ns(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane);
/* When a turn ends that ends with a kernel; GSIM_NEVER: its iteration ends before. Where its time
 * is up as a kernel ends, the next one of the iteration has begun. */
int64_t gsim_lane_kernel_turn_end_ns(const struct gsim_lane_gpu *gpu,
                                     const struct gsim_gpu_lane *lane);
/* How long the present member may go on before other members of the lane run, or for a quantum
 * beside other lanes with memory of their own on this GPU. */
int64_t gsim_lane_left_of_turn_ns(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                                  int64_t now_ns);
/* Whether the other member may run beside the running one in a padded lane. */
static inline bool gsim_lane_could_pad(const struct gsim_member *running,
                                       const struct gsim_member *other) {
    return other->how.priority < running->how.priority && !gsim_context_is_done(&other->context);
}
/* Whether any member may, and the running one leaves room. */
bool gsim_lane_is_worth_padding(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                                const struct gsim_member *running);

#endif
