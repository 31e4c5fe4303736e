/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order in which an iteration of a program touches its memory: for each kernel, the ranges of
 * chunks that it touches, evenly over its run. A chunk may come several times. A position in the
 * order counts the chunks that were touched before it. Made once from a program
 * (models/gpu/program.h), immutable, and shared by all jobs that run it. */
#ifndef GSIM_MODELS_MEMORY_TOUCH_ORDER_H
#define GSIM_MODELS_MEMORY_TOUCH_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/* Chunks that one kernel touches one after another. */
struct gsim_touch_part {
    int64_t from_ns, to_ns; /* GPU time of the iteration: when its kernel begins and ends */
    uint32_t first, n; /* chunks of the memory that an iteration touches; n > 0 */
    uint32_t at; /* its position: chunks of all parts before it */
    uint32_t before, all; /* chunks of its kernel: of the parts before it, and of all parts */
    bool is_written; /* its kernel is known to write them */
};

struct gsim_touch_order {
    const struct gsim_touch_part *parts; /* in the order of their kernels */
    uint32_t n_parts; /* > 0 */
    uint32_t n; /* chunks of all parts */
    const int64_t *ends_ns; /* of all kernels, those that touch nothing, too */
    uint32_t n_kernels;
    uint32_t n_chunks; /* of the memory */
    int64_t all_ns; /* GPU time of the iteration */
};

/* The part that holds this position, which is below order->n. */
const struct gsim_touch_part *gsim_touch_order_at(const struct gsim_touch_order *order,
                                                  uint32_t position);
/* The GPU time at which the chunk at this position is touched; all_ns for order->n. */
int64_t gsim_touch_order_ns(const struct gsim_touch_order *order, uint32_t position);
/* The last position that is touched by this GPU time; between two kernels, the next one. */
uint32_t gsim_touch_order_after(const struct gsim_touch_order *order, int64_t ns);
/* The first part of a kernel that ends after this GPU time; n_parts: there is none. */
uint32_t gsim_touch_order_part_after(const struct gsim_touch_order *order, int64_t ns);
/* The turns of a task that are to come. */
struct gsim_turns_ahead {
    int64_t done_ns, run_ns; /* of the iteration, as the first begins; of a turn, > 0 */
    bool is_last; /* no iteration comes behind this one */
};

/* touch_turns.c: for each chunk of the memory the number of turns that end before the turn in which
 * a kernel begins that touches the chunk, or is under way. Each turn ends with the kernel in which
 * it has run for run_ns, and the next one begins there; where that is up as a kernel ends, the next
 * kernel of the iteration has begun. GSIM_TURNS_NEVER: no kernel touches the chunk any more. */
#define GSIM_TURNS_NEVER UINT32_MAX
void gsim_touch_order_turns(const struct gsim_touch_order *order, struct gsim_turns_ahead ahead,
                            uint32_t *turns);

#endif
