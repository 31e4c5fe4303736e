/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a running context is taken off the SMs when a more urgent context is ready: the preemption
 * mechanisms of the literature, each as the instant at which the SMs are free, the progress that is
 * then left, and the cost of coming back.
 *
 *   kernel       withhold launches: the running kernel and those already in flight run out
 *   block        the running thread blocks run out
 *   slice        kernels are launched in pieces: the running piece runs out
 *   save         registers and shared memory of every SM are written out, later read back
 *   flush        blocks are killed, the kernel's progress is lost; kernels behind it in a bounded
 *                device queue each start, see that they are to end, and end. A kernel that is not
 *                idempotent runs out
 *   incremental  the next compiler checkpoint, then only the changed state is written (and the
 *                kernel always runs slower, by the factor of gsim_kernel_stop_form_ns)
 *   cheapest     Chimera: on each SM the cheapest of drain, flush and save within a bound
 *
 * Thread blocks of a kernel are equally long and their SMs evenly out of step. */
#ifndef GSIM_MODELS_GPU_KERNEL_STOP_H
#define GSIM_MODELS_GPU_KERNEL_STOP_H

#include "models/gpu/context.h"
#include "models/hardware/profile.h"
#include "gsim/arrangement.h"

/* The costs in the device's profile. */
struct gsim_kernel_stop_costs {
    int64_t save_ns, restore_ns, reset_ns;
    int64_t dirty_ppm; /* part of the state that an incremental checkpoint writes */
    int64_t incremental_ppm; /* how much slower kernels run under incremental checkpoints */
    int64_t checkpoint_ns; /* between two compiler checkpoints */
    int64_t piece_ns; /* launching another piece, or a kernel that ends at once */
    int64_t gap_ns; /* between a kernel and the next when the host waits for each */
    int64_t sms;
};

struct gsim_kernel_stop_outcome {
    int64_t free_ns; /* from the request until the SMs are free */
    gsim_work done; /* work of the iteration that is done then */
    int64_t restore_ns; /* added when the context comes back */
    bool is_within_bound;
};

struct gsim_kernel_stop_costs gsim_kernel_stop_costs_of(const struct gsim_profile *profile);
/* Whether a key of the profile plays a part in it. */
bool gsim_kernel_stop_uses(const struct gsim_lane_urgency *how, enum gsim_key key);
/* The context runs at this rate and has been brought forward to the instant of the request.
 * block_ns: of its thread blocks; 0: as long as its kernels. */
struct gsim_kernel_stop_outcome gsim_kernel_stop(const struct gsim_lane_urgency *how,
                                                 const struct gsim_kernel_stop_costs *costs,
                                                 const struct gsim_context *context,
                                                 uint64_t rate_q32, int64_t now_ns,
                                                 int64_t block_ns, bool is_idempotent);
/* The GPU time of an iteration with kernels in the form in which this lane can halt them, halted or
 * not: in pieces, with checkpoints, or none launched ahead. */
int64_t gsim_kernel_stop_form_ns(const struct gsim_lane *how, const struct gsim_profile *profile,
                                 int64_t gpu_ns, int64_t kernels);

#endif
