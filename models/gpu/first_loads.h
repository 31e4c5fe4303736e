/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a kernel waits for when it begins: its code, its arguments, the first of its data. Alone a
 * program finds them in L2, where it left them an iteration before. Beside others they are there
 * only if all that moved through L2 since then left room for them; otherwise each of these loads,
 * one after another, takes as long as a load from memory does beside what the others move. A
 * program that moves more than L2 holds itself loads them from memory alone, too. Measured:
 * experiments/launches. Integers only. */
#ifndef GSIM_MODELS_GPU_FIRST_LOADS_H
#define GSIM_MODELS_GPU_FIRST_LOADS_H

#include "models/gpu/bandwidth.h"

/* The parts of these loads that L2 does not have, alone and here. */
struct gsim_first_loads {
    uint32_t misses_alone_ppm, misses_ppm;
};

/* Of a program that moves its own bytes in an iteration, and the others theirs in the meantime. */
struct gsim_first_loads gsim_first_loads_of(const struct gsim_space *space, int64_t own_bytes,
                                            int64_t others_bytes);
/* How many nanoseconds longer than alone a kernel waits for them, where a load from memory takes
 * times_q32 as long as from an idle one. */
int64_t gsim_first_loads_longer_ns(const struct gsim_profile *profile,
                                   struct gsim_first_loads loads, uint64_t times_q32);

#endif
