/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory moved on purpose at a context switch, as in MSched (arXiv 2512.24637): memory that the
 * next task is predicted to use comes in before the task runs; the memory that is used again last,
 * by the known timeline, goes out for it. Eviction and population run on one engine each, chunk by
 * chunk in a pipeline, or by turns in one stream; the task may start before all chunks are there,
 * as long as its sweep never overtakes them. Where a program says in which order its kernels touch
 * their memory, a turn uses what the kernels touch that begin within it, and chunk by chunk that
 * goes out that is used after the most turns. Chunks that were not predicted fault later
 * (models/memory/uvm.h).
 *
 * The order of eviction is the residency's: Belady's for MSched, LRU for comparison. */
#ifndef GSIM_MODELS_MEMORY_PROACTIVE_H
#define GSIM_MODELS_MEMORY_PROACTIVE_H

#include "models/links/copy.h"
#include "models/memory/residency.h"
#include "models/memory/touch_order.h"

/* A task with a known order of touches, as its next turn begins; in the order's time. */
struct gsim_upcoming {
    const struct gsim_touch_order *order; /* NULL: each turn uses all of the working set */
    struct gsim_turns_ahead ahead;
    int64_t iteration_ns; /* how long the iteration runs here, where its order has all_ns */
};

/* Resident chunks with one next use: turns of their task before it, then its place among those
 * that take turns. */
struct gsim_later_use {
    struct gsim_range range;
    uint32_t turns, place;
};

/* Room for what a switch computes, grown as needed; nothing in it outlasts the switch. */
struct gsim_upcoming_scratch {
    uint32_t *turns; /* by chunk */
    struct gsim_range *used;
    int64_t *used_ns;
    struct gsim_later_use *uses;
    size_t turns_room, used_room, used_ns_room, uses_room;
};

/* A turn on the timeline. Ranges are in the order of a sweep and do not overlap. */
struct gsim_turn {
    const struct gsim_range *used; /* the working set */
    uint32_t n_used;
    const struct gsim_range *unused; /* allocated, not used in this turn */
    uint32_t n_unused;
    int64_t run_ns; /* how long it runs */
    /* run time over which the working set is first touched, evenly; for an early start */
    int64_t sweep_ns;
    const int64_t
        *used_ns; /* instead, where it is known: by range of `used`, when it must be there */
    struct gsim_upcoming upcoming;
};

struct gsim_proactive {
    struct gsim_copy_rates rates;
    int64_t alternate_ns; /* one stream: added for each change of direction */
    int64_t chunk_bytes;
    int64_t false_negative_ppm; /* part of the working set that is not predicted */
    int64_t false_positive_ppm; /* predicted of the unused memory, as a part of the working set */
    bool predicts_allocations; /* all allocations are predicted, instead of the two above */
    bool is_pipelined; /* false: one stream */
    bool has_early_start;
    bool copies_clean; /* false: clean chunks are dropped */
};

struct gsim_migration {
    struct gsim_moved moved; /* chunks */
    int64_t bytes_in, bytes_out; /* over PCIe */
    int64_t ns; /* until all chunks are there, on an idle link */
    int64_t start_ns; /* until the task can run and never stalls on these chunks; at most ns */
    int64_t missed; /* chunks of the working set that are not resident: not predicted, or no room */
};

/* The profile's rates; all choices as in MSched. */
struct gsim_proactive gsim_proactive_default(const struct gsim_profile *profile);

/* Moves memory for turns[0] and returns the cost. Ranks by the timeline first. scratch: NULL where
 * no turn has an order of touches. The caller dirties
 * the chunks that the task writes (gsim_residency_touch) as it runs. */
struct gsim_migration gsim_proactive_switch(const struct gsim_proactive *proactive,
                                            struct gsim_residency *residency,
                                            const struct gsim_turn *turns, uint32_t n_turns,
                                            struct gsim_upcoming_scratch *scratch);

#endif
