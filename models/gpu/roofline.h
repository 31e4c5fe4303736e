/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long kernels take on a device on which they were never run: the larger of arithmetic over the
 * peak rate and bytes over the bandwidth, both of the SMs that the kernel has, and the launch. */
#ifndef GSIM_MODELS_GPU_ROOFLINE_H
#define GSIM_MODELS_GPU_ROOFLINE_H

#include "models/hardware/profile.h"
#include "sim/api/app.h"

struct gsim_roofline {
    int64_t flops, bytes; /* not negative */
    enum gsim_precision precision;
    uint32_t sm_ppm; /* share of the SMs */
    uint32_t efficiency_ppm; /* part of the binding roof that the kernel reaches; above 0 */
};

struct gsim_roofline_time {
    int64_t compute_ns, memory_ns; /* under each of the roofs */
    /* the larger of the two, and the launch; GSIM_TIME_MAX when it is past the clock */
    int64_t whole_ns;
};

struct gsim_roofline_time gsim_roofline(const struct gsim_profile *profile,
                                        const struct gsim_roofline *kernel);

/* The time of one of an application's kernels alone on a device. A time that is not known there is
 * bad input with the line of the application's file. */
enum gsim_status gsim_roofline_time_kernel(const struct gsim_app *app,
                                           const struct gsim_app_kernel *kernel,
                                           const struct gsim_profile *profile,
                                           struct gsim_roofline_time *out, struct gsim_log *log);
/* The time of one launch, where its kernel takes kernel_ns. */
int64_t gsim_roofline_launch_ns(const struct gsim_app *app, const struct gsim_app_call *call,
                                const struct gsim_profile *profile, int64_t kernel_ns);

/* One iteration of an application alone on a device. */
struct gsim_roofline_cost {
    int64_t gpu_ns;
    int64_t kernels;
    int64_t longest_kernel_ns;
    int64_t bytes; /* to and from device memory */
    int64_t hbm_bytes_per_s; /* bytes over gpu_ns */
    uint32_t sm_ppm; /* share of the SMs that it fills, by time */
    uint32_t memory_ppm; /* part of gpu_ns that is bound by memory */
    int64_t working_set_bytes; /* touched bytes, from the first to the last of each buffer */
};

/* A kernel that needs more than the device has, or the time of which on the device is not known, is
 * bad input with the line of the application's file. */
enum gsim_status gsim_roofline_cost(const struct gsim_app *app, const struct gsim_profile *profile,
                                    struct gsim_roofline_cost *out, struct gsim_log *log);

#endif
