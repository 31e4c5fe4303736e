/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the members of a lane get on: kernels in their turns, and copies to the host without one. */
#ifndef GSIM_MODELS_GPU_PROGRESS_H
#define GSIM_MODELS_GPU_PROGRESS_H

#include "models/gpu/lane_state.h"

/* The member runs from from_ns to to_ns at this rate. */
void gsim_progress_run(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                       struct gsim_member *member, int64_t from_ns, int64_t to_ns,
                       uint64_t rate_q32);
/* The member has nothing that needs a turn from now_ns on before the copies that are next: it has
 * made them, and is ready when they have ended and the kernel behind them is launched. Nothing
 * decides when but its own host, so that their future ends are known now. */
void gsim_progress_copy(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                        struct gsim_member *member, int64_t now_ns);
/* Whether the present member's copies to the host go beside the turns of others: where the device
 * gives these turns, and memory is where processes put it. Copies of a process alone on its lane
 * are in no other's way. */
static inline bool gsim_progress_copies_apart(const struct gsim_lane_gpu *gpu,
                                              const struct gsim_gpu_lane *lane) {
    const struct gsim_member *member = gsim_gpu_lane_present(gpu, lane);
    return lane->spec.n > 1 && !gpu->spaces && !gpu->store->pager &&
           !gsim_gpu_lane_is_in_software(lane) && member->stop_at == GSIM_EXIT_NEVER &&
           member->context.spec.refill_ns == 0;
}

#endif
