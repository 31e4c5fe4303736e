/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An application profile (traces/apps.h) from a profiler's record of one device: the kernels by
 * name, with the number of runs and the total time of each. */
#ifndef GSIM_TRACES_KERNELS_H
#define GSIM_TRACES_KERNELS_H

#include <stdio.h>

#include "traces/build.h"

struct gsim_kernels {
    struct gsim_builder *names; /* only for its table of names: kernels, as APP */
    const char *path;
    struct gsim_kernel_sum {
        int64_t n, total_ns;
    } * sum; /* by name */
    uint32_t capacity;
    int64_t total_ns;
    int64_t first_line; /* line of the first kernel */
    struct gsim_kernel_run { /* runs with a known time */
        int64_t begin_ns, end_ns;
        uint32_t kernel;
    } * run;
    size_t n_runs, run_capacity;
    int64_t span_ns; /* from the first begin to the last end */
    int64_t n_steps, steps_ns; /* iterations that the profiler saw, and their time by the clock */
    const char *gpu; /* the GPU of the kernels, as the file names it; NULL: not given */
};

/* Adds n launches of a kernel that took total_ns together. line is for messages. */
enum gsim_status gsim_kernels_add(struct gsim_kernels *kernels, const char *name, size_t length,
                                  int64_t n, int64_t total_ns, int64_t line);
/* The number of names. */
uint32_t gsim_kernels_n(const struct gsim_kernels *kernels);
/* Writes the profile of one iteration, with times of the device. The caller checks the stream for
 * errors. */
enum gsim_status gsim_kernels_write(const struct gsim_kernels *kernels, const char *device,
                                    int64_t iterations, FILE *out, struct gsim_log *log);

#endif
