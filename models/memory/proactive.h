/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory moved on purpose at a context switch, as MSched (arXiv 2512.24637) does it: what the next
 * task is predicted to use comes in before it runs; what is used again last, by the known timeline,
 * goes out for it. Eviction and population run on one engine each, chunk by chunk in a pipeline, or
 * by turns in one stream; the task may start before everything is there, as long as its sweep never
 * overtakes the chunks. What was not predicted faults later (models/memory/uvm.h).
 *
 * The order of eviction is the residency's: Belady's for MSched, LRU for comparison. */
#ifndef GSIM_MODELS_MEMORY_PROACTIVE_H
#define GSIM_MODELS_MEMORY_PROACTIVE_H

#include "models/links/link.h"
#include "models/memory/residency.h"

/* A turn on the timeline. Ranges are in the order of a sweep and do not overlap. */
struct gsim_turn {
    const struct gsim_range *used; /* the working set */
    uint32_t n_used;
    const struct gsim_range *unused; /* allocated, not used in this turn */
    uint32_t n_unused;
    int64_t run_ns; /* how long it runs */
    int64_t sweep_ns; /* one pass over the working set, all of it there; for an early start */
};

struct gsim_proactive {
    struct gsim_copy_rates rates;
    int64_t alternate_ns; /* one stream: added for each copy that turns round */
    int64_t chunk_bytes;
    int64_t false_negative_ppm; /* of the working set, not predicted */
    int64_t false_positive_ppm; /* of the working set, predicted besides it from what is unused */
    bool predicts_allocations; /* everything that is allocated, instead of the two above */
    bool is_pipelined; /* else one stream */
    bool has_early_start;
    bool copies_clean; /* else clean chunks are dropped */
};

struct gsim_migration {
    struct gsim_moved moved; /* chunks */
    int64_t bytes_in, bytes_out; /* over PCIe */
    int64_t ns; /* on an idle link, until all is there */
    int64_t start_ns; /* until the task can run and never stalls on these chunks; at most ns */
    int64_t missed; /* chunks of the working set that are not there: not predicted, or no room */
};

/* The profile's rates; every choice as MSched has it. */
struct gsim_proactive gsim_proactive_default(const struct gsim_profile *profile);

/* Sets the next uses that Belady's order goes by: what is predicted of a turn is used when the turn
 * begins, what is predicted of none never again. The first turn is the one that is about to run. A
 * buffer has one next use, so what goes and comes apart should be a buffer of its own. */
void gsim_proactive_rank(const struct gsim_proactive *proactive, struct gsim_residency *residency,
                         const struct gsim_turn *turns, uint32_t n_turns);
/* Moves memory for turns[0] and says what that cost. Ranks by the timeline first. The caller dirties
 * what the task writes (gsim_residency_touch) as it runs. */
struct gsim_migration gsim_proactive_switch(const struct gsim_proactive *proactive,
                                            struct gsim_residency *residency,
                                            const struct gsim_turn *turns, uint32_t n_turns);
/* The time of moving so much on an idle link, pipelined or not. */
int64_t gsim_proactive_ns(const struct gsim_proactive *proactive, int64_t bytes_in,
                          int64_t bytes_out);

#endif
