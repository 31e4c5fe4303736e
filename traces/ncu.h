/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What kernels moved to and from the device's memory, by Nsight Compute: the output of
 * `ncu --csv --metrics dram__bytes.sum`, a row a launch. */
#ifndef GSIM_TRACES_NCU_H
#define GSIM_TRACES_NCU_H

#include "gsim/arena.h"
#include "gsim/status.h"
#include "gsim/units.h"

/* Launches with one name, grid and block. */
struct gsim_ncu_kernel {
    const char *name;
    int64_t blocks, threads; /* of a launch, and of a block */
    gsim_i128 bytes; /* of all launches */
    int64_t n;
    bool is_matched;
};

struct gsim_ncu {
    const char *path;
    struct gsim_ncu_kernel *kernel;
    uint32_t n, capacity;
};

enum gsim_status gsim_ncu_read(const char *path, struct gsim_arena *arena, struct gsim_ncu *out,
                               struct gsim_log *log);
/* The mean bytes of the launches with this grid and block, and with this name; where no name is
 * equal, with this name without its return type, namespaces and parameters. -1: there are none. */
int64_t gsim_ncu_bytes(struct gsim_ncu *ncu, const char *name, int64_t blocks, int64_t threads);

#endif
