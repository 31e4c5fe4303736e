/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What kernels moved to and from the device's memory, by Nsight Compute: the output of
 * `ncu --csv --metrics dram__bytes.sum,dram__bytes_write.sum`, a row a launch and metric. The
 * second metric, how many of the bytes were stored, may be left out. */
#ifndef GSIM_TRACES_NCU_H
#define GSIM_TRACES_NCU_H

#include "gsim/arena.h"
#include "gsim/status.h"
#include "gsim/units.h"

enum gsim_ncu_metric { GSIM_NCU_BYTES = 0, GSIM_NCU_STORED, GSIM_NCU_METRICS };

/* Of a launch, in the mean; -1: not known. */
struct gsim_ncu_traffic {
    int64_t bytes;
    int64_t stored_bytes; /* the part of these that was stored; at most as many */
};

/* Launches with one name, grid and block. */
struct gsim_ncu_kernel {
    const char *name;
    int64_t blocks, threads; /* of a launch, and of a block */
    /* by metric: of all launches that have it, and how many do */
    gsim_i128 bytes[GSIM_NCU_METRICS];
    int64_t n[GSIM_NCU_METRICS];
    bool is_matched;
};

struct gsim_ncu {
    const char *path;
    struct gsim_ncu_kernel *kernel;
    uint32_t n, capacity;
    bool has[GSIM_NCU_METRICS]; /* by metric: whether some row has it */
};

enum gsim_status gsim_ncu_read(const char *path, struct gsim_arena *arena, struct gsim_ncu *out,
                               struct gsim_log *log);
/* The mean of the launches with this grid and block, and with this name; where no name is equal,
 * with this name without its return type, namespaces and parameters. */
struct gsim_ncu_traffic gsim_ncu_traffic(struct gsim_ncu *ncu, const char *name, int64_t blocks,
                                         int64_t threads);

#endif
