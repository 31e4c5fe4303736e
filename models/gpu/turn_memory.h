/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the turns of a lane do with memory (models/memory/pager.h): migrations before a turn, and in
 * a turn the sweep over the memory that it reaches. */
#ifndef GSIM_MODELS_GPU_TURN_MEMORY_H
#define GSIM_MODELS_GPU_TURN_MEMORY_H

#include "models/gpu/lane_state.h"

/* Moves memory for the present member, by the timeline of the ring from this member on; returns
 * when the turn can begin. is_planned: as in gsim_pager_switch. */
int64_t gsim_turn_migrate(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                          bool is_planned, int64_t now_ns);
/* Turns are longer from now on: memory is moved for the rest of the present one, if it is moved by
 * kernels. */
void gsim_turn_lengthen(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane,
                        int64_t now_ns);
/* The present member touches the memory that it can reach in this turn, of which left_ns are left,
 * and waits for it. */
void gsim_turn_sweep(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                     int64_t left_ns, int64_t now_ns);
/* A newcomer is about to join a lane. Of a sweep that was touched to its end, as nothing was to end
 * the turn, a member has touched what it has come to by now. */
void gsim_turn_cut(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lanes,
                   int64_t now_ns);
/* Whether memory moves for the kernels that begin within a turn of this member. */
static inline bool gsim_turn_moves_for_kernels(const struct gsim_lane_gpu *gpu,
                                               const struct gsim_member *member) {
    return member->tenant.spec.order != NULL && gsim_pager_is_proactive(gpu->store);
}
/* Whether the present turn, which else ends with its iteration, ends inside it, with the kernel in
 * which its time is up: memory moves for the kernels that begin within the turn. */
static inline bool gsim_turn_ends_with_kernel(const struct gsim_lane_gpu *gpu,
                                              const struct gsim_gpu_lane *lane) {
    return gsim_gpu_lane_ends_at_boundary(lane) && lane->how.discipline == GSIM_DISCIPLINE_RR &&
           gsim_turn_moves_for_kernels(gpu, gsim_gpu_lane_present(gpu, lane));
}
/* Whether more than half of the turn went into a wait for pages, and more are missing. */
bool gsim_turn_is_in_vain(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                          int64_t now_ns);
/* The instant up to which the member waits for pages, of the time between these two. */
static inline int64_t gsim_turn_wait(struct gsim_member *member, int64_t from_ns, int64_t to_ns) {
    int64_t waited_ns = gsim_sooner_ns(to_ns - from_ns, member->state.stall_ns);
    member->state.stall_ns -= waited_ns;
    return from_ns + waited_ns;
}
/* When the running member comes to memory that it has not touched. */
int64_t gsim_turn_touches_ns(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane);
static inline int64_t gsim_turn_reached_ns(const struct gsim_lane_gpu *gpu,
                                           const struct gsim_gpu_lane *lane) {
    return gpu->store->pager ? gsim_turn_touches_ns(gpu, lane) : GSIM_NEVER;
}

#endif
