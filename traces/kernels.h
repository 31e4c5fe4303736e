/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An application profile (traces/apps.h) from what a profiler saw on one device: its kernels by
 * name, how often each ran and how long in all. */
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
    int64_t first_line; /* of a kernel */
    struct gsim_kernel_run { /* those of which it is known when they ran */
        int64_t begin_ns, end_ns;
        uint32_t kernel;
    } * run;
    size_t n_runs, run_capacity;
    int64_t span_ns; /* from the first begin to the last end */
    int64_t n_steps, steps_ns; /* iterations that the profiler saw, and their time by the clock */
    const char *gpu; /* on which they ran, as the file calls it; NULL: it does not say */
};

/* A profiler's format; listed in traces/profilers.def. */
struct gsim_profiler {
    const char *name, *summary;
    const char *notes; /* how to get such a file, lines */
    enum gsim_status (*read)(struct gsim_input *input, struct gsim_kernels *out,
                             struct gsim_arena *arena, struct gsim_log *log);
};

/* The formats of profilers.def; ends with NULL. */
extern const struct gsim_profiler *const gsim_profilers[];

/* Adds n launches of a kernel that took total_ns together. line is for messages. */
enum gsim_status gsim_kernels_add(struct gsim_kernels *kernels, const char *name, size_t length,
                                  int64_t n, int64_t total_ns, int64_t line);
/* A launch that began then. Of those that ran at the same time gsim_kernels_read charges each its
 * part, so that all together take as long as the GPU was busy. */
enum gsim_status gsim_kernels_add_run(struct gsim_kernels *kernels, const char *name, size_t length,
                                      int64_t begin_ns, int64_t duration_ns, int64_t line);
enum gsim_status gsim_kernels_charge(struct gsim_kernels *kernels, struct gsim_log *log);
/* How many names there are. */
uint32_t gsim_kernels_n(const struct gsim_kernels *kernels);
/* Reads a file; iterations 0: as many as the profiler saw, which must be some. */
enum gsim_status gsim_kernels_read(const char *path, const struct gsim_profiler *profiler,
                                   int64_t *iterations, struct gsim_arena *arena,
                                   struct gsim_kernels *out, struct gsim_log *log);
/* The profile of one iteration, whose times are those of the device. The caller checks the stream
 * for errors. */
enum gsim_status gsim_kernels_write(const struct gsim_kernels *kernels, const char *device,
                                    int64_t iterations, FILE *out, struct gsim_log *log);

#endif
