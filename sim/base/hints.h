/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the compiler cannot know: which ways are taken. Most jobs of most traces have GPUs to themselves,
 * watched by nobody, and a run should cost them no more than that takes. */
#ifndef GSIM_BASE_HINTS_H
#define GSIM_BASE_HINTS_H

#include <stdbool.h>

/* A condition that holds for few jobs, or in few runs. */
static inline bool gsim_rarely(bool holds) {
    return __builtin_expect(holds, 0);
}

/* One that holds for nearly all. */
static inline bool gsim_mostly(bool holds) {
    return __builtin_expect(holds, 1);
}

/* For what hardly ever runs: its callers are laid out as if they never called it. */
#define GSIM_COLD __attribute__((cold, noinline))
/* For the long way, kept out of its caller so that the short way there stays short. */
#define GSIM_APART __attribute__((noinline))
/* For a short way: what it calls becomes part of it, but for what is kept apart. */
#define GSIM_WHOLE __attribute__((flatten))

#endif
