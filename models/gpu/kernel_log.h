/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tells observers that want them of the kernels of programs: when each runs, and on how many SMs it
 * has blocks. Decides nothing, and costs nothing outside of the observers' interval. */
#ifndef GSIM_MODELS_GPU_KERNEL_LOG_H
#define GSIM_MODELS_GPU_KERNEL_LOG_H

#include "models/gpu/lane_state.h"

/* The member is about to be brought forward from from_ns to to_ns. A kernel of a lane that does not
 * share its SMs block by block has those that it has alone. */
void gsim_kernel_log_run(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                         const struct gsim_member *member, int64_t from_ns, int64_t to_ns,
                         uint64_t rate_q32);
/* Where lanes share SMs block by block: from now on the lane's kernel has the blocks that the lane
 * holds (is_served), or none. */
void gsim_kernel_log_sms(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane,
                         bool is_served, int64_t now_ns);

#endif
