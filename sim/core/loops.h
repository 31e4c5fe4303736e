/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GSIM_CORE_LOOPS_H
#define GSIM_CORE_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "gsim/arena.h"

/* Fills `order` with the jobs by submission; those that were not submitted (-1) come last. false:
 * no memory. */
bool gsim_loops_sort(const int64_t *submit_ns, uint32_t *order, uint32_t n,
                     struct gsim_arena *arena);

#endif
