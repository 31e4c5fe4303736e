/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Profilers of which gsim reads files: the kernels that ran on a device. */
#ifndef GSIM_TRACES_PROFILER_H
#define GSIM_TRACES_PROFILER_H

#include "traces/format.h"
#include "traces/kernels.h"

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

/* Reads a file; iterations 0: as many as the profiler saw, which must be more than none. */
enum gsim_status gsim_profiler_read(const char *path, const struct gsim_profiler *profiler,
                                    int64_t *iterations, struct gsim_arena *arena,
                                    struct gsim_kernels *out, struct gsim_log *log);

#endif
