/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long kernels take on a device that they were never run on: the larger of arithmetic over the
 * peak rate and bytes over the bandwidth, both of the SMs that the kernel has, and the launch. */
#ifndef GSIM_MODELS_GPU_ROOFLINE_H
#define GSIM_MODELS_GPU_ROOFLINE_H

#include "models/hardware/profile.h"
#include "sim/api/app.h"

struct gsim_roofline {
    int64_t flops, bytes; /* not negative */
    enum gsim_precision precision;
    uint32_t sm_ppm; /* share of the SMs */
    uint32_t efficiency_ppm; /* of the roof that binds, what is reached; above 0 */
};

struct gsim_roofline_time {
    int64_t compute_ns, memory_ns; /* below either roof */
    int64_t whole_ns; /* the larger one, and the launch; GSIM_TIME_MAX when it is past the clock */
};

struct gsim_roofline_time gsim_roofline(const struct gsim_profile *profile,
                                        const struct gsim_roofline *kernel);

/* One iteration of an application alone on a device. */
struct gsim_app_cost {
    int64_t gpu_ns;
    int64_t kernels;
    int64_t longest_kernel_ns;
    int64_t bytes; /* to and from device memory */
    int64_t hbm_bytes_per_s; /* the same over gpu_ns */
    uint32_t sm_ppm; /* share of the SMs that it fills, by time */
    uint32_t memory_ppm; /* part of gpu_ns that is bound by memory */
    int64_t working_set_bytes; /* touched, from the first to the last byte of each buffer */
};

/* A kernel that needs more than the device has, or whose time there is not known, is bad input with
 * the profile's line. */
enum gsim_status gsim_app_cost(const struct gsim_app *app, const struct gsim_profile *profile,
                               struct gsim_app_cost *out, struct gsim_log *log);

#endif
