/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What of whose memory is on one GPU. Buffers are rows of equal chunks (2 MiB, the driver's unit of
 * eviction); each chunk is untouched (never written: zero-filled when it first comes, free of
 * PCIe), on the host, or resident, clean or dirty, and resident ones may be pinned. Neighbours that
 * are alike are kept as one extent, so that sweeping gigabytes costs a few steps; everything here
 * does what a chunk-by-chunk table would do, and a test holds it against one.
 *
 * A zero-filled chunk has no copy on the host, so it is dirty even when it was only read. */
#ifndef GSIM_MODELS_MEMORY_RESIDENCY_H
#define GSIM_MODELS_MEMORY_RESIDENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gsim/arena.h"

enum gsim_content {
    GSIM_UNTOUCHED = 0,
    GSIM_ON_HOST,
    GSIM_CLEAN, /* resident from here on; the host has a valid copy */
    GSIM_DIRTY,
};

/* Who goes first. */
enum gsim_eviction {
    GSIM_EVICT_ALLOCATION = 0, /* what came to the GPU first, whenever it was used: the driver's */
    GSIM_EVICT_LRU,
    GSIM_EVICT_BELADY, /* what is used again last: see gsim_residency_set_next_use */
};

struct gsim_range {
    uint32_t buffer;
    uint32_t first, n; /* chunks */
};

/* Chunks that an operation moved or met. */
struct gsim_moved {
    int64_t hits; /* were there */
    int64_t in; /* from the host */
    int64_t zeroed; /* filled on the device */
    int64_t out_dirty, out_clean;
};

struct gsim_extent;

struct gsim_buffer {
    int64_t next_use; /* Belady's key */
    uint32_t first_extent;
    uint32_t n_chunks;
    uint32_t n_resident, n_dirty, n_pinned;
    uint32_t next_unused;
    uint32_t owner;
    bool is_open;
    bool yields; /* goes before all others that do not */
};

struct gsim_residency {
    struct gsim_arena *arena;
    struct gsim_extent *extents;
    struct gsim_buffer *buffers;
    uint32_t n_extents, extent_capacity, unused_extent;
    uint32_t n_buffers, buffer_capacity, unused_buffer; /* ids are below n_buffers */
    uint32_t oldest, newest; /* resident extents in the order of eviction */
    uint32_t capacity, n_resident; /* chunks */
    uint32_t n_yielding; /* open buffers */
    enum gsim_eviction eviction;
    bool has_failed; /* out of memory: from then on operations do nothing */
};

#define GSIM_NO_BUFFER UINT32_MAX

void gsim_residency_init(struct gsim_residency *residency, uint32_t capacity,
                         enum gsim_eviction eviction, struct gsim_arena *arena);
/* All untouched. GSIM_NO_BUFFER: out of memory. Ids are used again after a close. */
uint32_t gsim_residency_open(struct gsim_residency *residency, uint32_t owner, uint32_t n_chunks);
/* From now on nothing of other buffers goes while something of this one can; not under Belady. */
void gsim_residency_yield(struct gsim_residency *residency, uint32_t buffer);
/* Whether all open buffers do. */
bool gsim_residency_all_yield(const struct gsim_residency *residency);
void gsim_residency_close(struct gsim_residency *residency, uint32_t buffer);

static inline uint32_t gsim_residency_free(const struct gsim_residency *residency) {
    return residency->capacity - residency->n_resident;
}

/* Chunks that hold bytes, the last one perhaps in part. */
static inline uint32_t gsim_chunks_of(int64_t bytes, int64_t chunk_bytes) {
    return (uint32_t)((bytes + chunk_bytes - 1) / chunk_bytes);
}

static inline struct gsim_range gsim_range_whole(const struct gsim_residency *residency,
                                                 uint32_t buffer) {
    return (struct gsim_range){buffer, 0, residency->buffers[buffer].n_chunks};
}

/* What would have to come, and what is there; changes nothing. */
struct gsim_moved gsim_residency_missing(const struct gsim_residency *residency,
                                         struct gsim_range range);
/* The host writes: untouched chunks get contents there, device copies are dropped. */
void gsim_residency_write_host(struct gsim_residency *residency, struct gsim_range range);
/* Uses what is there (LRU remembers in ascending order); hits only. */
struct gsim_moved gsim_residency_touch(struct gsim_residency *residency, struct gsim_range range,
                                       bool is_write);
/* Brings in what is missing, in ascending order; there must be room. */
struct gsim_moved gsim_residency_populate(struct gsim_residency *residency,
                                          struct gsim_range range);
/* Takes up to n chunks out by the order of eviction, pinned ones never; fewer when no more can go. */
struct gsim_moved gsim_residency_evict(struct gsim_residency *residency, uint32_t n);
/* Takes all of a range out, pinned ones never. */
struct gsim_moved gsim_residency_evict_range(struct gsim_residency *residency,
                                             struct gsim_range range);
/* Demand: chunk by chunk in ascending order, a missing one comes in, and when there is no room,
 * one goes out before. The range's chunks that are still to come are not evicted under Belady, the
 * buffer's next use being the one after this. Stops short when all that is there is pinned. */
struct gsim_moved gsim_residency_access(struct gsim_residency *residency, struct gsim_range range,
                                        bool is_write);
/* The same in steps, which keep apart what was missing in one go: a whole resident extent, or missing
 * chunks of one kind, as many as there is room for or as pass through one place. Adds to moved what
 * the step did and returns how many chunks it was; 0: no further. */
uint32_t gsim_residency_step(struct gsim_residency *residency, struct gsim_range left,
                             bool is_write, struct gsim_moved *moved);
/* Of resident chunks; the others stay as they are. */
void gsim_residency_pin(struct gsim_residency *residency, struct gsim_range range, bool is_pinned);
/* Any growing measure of time; INT64_MAX: never again. Of equal ones the higher id goes first, in a
 * buffer the higher chunk: buffers are swept upwards. */
void gsim_residency_set_next_use(struct gsim_residency *residency, uint32_t buffer, int64_t key);
enum gsim_content gsim_residency_content(const struct gsim_residency *residency, uint32_t buffer,
                                         uint32_t chunk);
/* How many chunks from a range's first on are alike; *content is theirs. range.n > 0. */
uint32_t gsim_residency_alike(const struct gsim_residency *residency, struct gsim_range range,
                              enum gsim_content *content);
/* Makes `to`, which was initialised in an arena, the same as `from`: to try what would happen. */
bool gsim_residency_copy(struct gsim_residency *to, const struct gsim_residency *from);

/* The canonical form: open buffers, their chunks' contents and pins in runs, and the order of
 * eviction in runs. Equal numbers mean equal futures under equal next uses; how the runs came about
 * leaves no trace. Returns how many numbers there are; room may be less. */
size_t gsim_residency_state(const struct gsim_residency *residency, int64_t *out, size_t room);

#endif
