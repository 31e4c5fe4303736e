/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An application profile (traces/apps.h) from a profiler's record of one device: the kernels by
 * name, with the number of runs and the total time of each. */
#ifndef GSIM_TRACES_KERNELS_H
#define GSIM_TRACES_KERNELS_H

#include <stdio.h>

#include "traces/build.h"
#include "traces/format.h"

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

/* A profiler's format; listed in traces/profilers.def. */
struct gsim_profiler {
    const char *name, *summary;
    const char *notes; /* how to get such a file, as lines */
    /* NULL: its files are read launch by launch (traces/timeline.h) */
    enum gsim_status (*read)(struct gsim_input *input, struct gsim_kernels *out,
                             struct gsim_arena *arena, struct gsim_log *log);
};

/* The formats of profilers.def; ends with NULL. */
extern const struct gsim_profiler *const gsim_profilers[];

/* Adds n launches of a kernel that took total_ns together. line is for messages. */
enum gsim_status gsim_kernels_add(struct gsim_kernels *kernels, const char *name, size_t length,
                                  int64_t n, int64_t total_ns, int64_t line);
/* Adds a launch that began at begin_ns. gsim_kernels_charge charges each of several launches that
 * ran at a time its part, so that all together take as long as the GPU was busy. */
enum gsim_status gsim_kernels_add_run(struct gsim_kernels *kernels, const char *name, size_t length,
                                      int64_t begin_ns, int64_t duration_ns, int64_t line);
enum gsim_status gsim_kernels_charge(struct gsim_kernels *kernels, struct gsim_log *log);
/* The number of names. */
uint32_t gsim_kernels_n(const struct gsim_kernels *kernels);
/* Reads a file; iterations 0: as many as the profiler saw, which must be more than none. */
enum gsim_status gsim_kernels_read(const char *path, const struct gsim_profiler *profiler,
                                   int64_t *iterations, struct gsim_arena *arena,
                                   struct gsim_kernels *out, struct gsim_log *log);
/* Writes the profile of one iteration, with times of the device. The caller checks the stream for
 * errors. */
enum gsim_status gsim_kernels_write(const struct gsim_kernels *kernels, const char *device,
                                    int64_t iterations, FILE *out, struct gsim_log *log);

#endif
