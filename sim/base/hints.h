/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Branch hints, which the compiler cannot infer. Most jobs of most traces have GPUs to themselves
 * and no observer, and a run should cost no more than these need. */
#ifndef GSIM_BASE_HINTS_H
#define GSIM_BASE_HINTS_H

#include <stdbool.h>

/* A condition that holds for few jobs, or in few runs. */
static inline bool gsim_rarely(bool holds) {
    return __builtin_expect(holds, 0);
}

/* A condition that holds for nearly all jobs. */
static inline bool gsim_mostly(bool holds) {
    return __builtin_expect(holds, 1);
}

/* For a function that hardly ever runs: its callers are laid out as if they never called it. */
#define GSIM_COLD __attribute__((cold, noinline))
/* For a slow path, kept out of its caller so that the fast path there stays short. */
#define GSIM_APART __attribute__((noinline))
/* For a fast path: the functions it calls become part of it, except those kept apart. */
#define GSIM_WHOLE __attribute__((flatten))

#endif
