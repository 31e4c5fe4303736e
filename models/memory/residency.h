/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which part of each buffer is on one GPU. Buffers are rows of equal chunks (2 MiB, the driver's
 * unit of eviction); each chunk is untouched (never written: zero-filled when it first comes,
 * without a copy over PCIe), on the host, or resident, clean or dirty. Neighbouring chunks that are
 * alike are kept as one extent, so that sweeping gigabytes costs a few steps; all operations act as
 * on a table with a row for each chunk, and a test compares them with one.
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

/* Which chunk goes first. */
enum gsim_eviction {
    /* the chunk that came to the GPU first, whenever it was used: the driver's order */
    GSIM_EVICT_ALLOCATION = 0,
    GSIM_EVICT_LRU,
    GSIM_EVICT_BELADY, /* the chunk that is used again last: see gsim_residency_set_next_use */
};

struct gsim_range {
    uint32_t buffer;
    uint32_t first, n; /* chunks */
};

/* Chunks that an operation moved or met. */
struct gsim_moved {
    int64_t hits; /* chunks that were resident */
    int64_t in; /* from the host */
    int64_t zeroed; /* filled on the device */
    int64_t out_dirty, out_clean;
};

/* Chunks beside each other that are alike; a whole buffer is cut into such. */
struct gsim_extent {
    uint32_t buffer, first, n;
    uint32_t before, after; /* by address */
    uint32_t older, newer; /* by age, when resident */
    uint8_t content; /* enum gsim_content */
};

struct gsim_buffer {
    int64_t next_use; /* Belady's key */
    uint32_t first_extent;
    /* extents that were looked for last, where the next look begins: one goes along with the sweep,
     * one with what goes out */
    uint32_t near[2];
    uint32_t n_chunks;
    uint32_t n_resident, n_dirty;
    uint32_t next_unused;
    uint32_t owner;
    bool is_open;
    bool yields; /* goes before all buffers that do not yield */
};

struct gsim_residency {
    struct gsim_arena *arena;
    struct gsim_extent *extents;
    struct gsim_buffer *buffers;
    uint32_t extent_capacity, unused_extent;
    uint32_t n_buffers, buffer_capacity, unused_buffer; /* ids are below n_buffers */
    uint32_t oldest, newest; /* resident extents in the order of eviction */
    uint32_t capacity, n_resident; /* chunks */
    uint32_t n_yielding; /* open buffers */
    uint64_t n_open; /* chunks of open buffers */
    enum gsim_eviction eviction;
    bool has_failed; /* out of memory: from then on operations do nothing */
};

#define GSIM_NO_BUFFER UINT32_MAX

void gsim_residency_init(struct gsim_residency *residency, uint32_t capacity,
                         enum gsim_eviction eviction, struct gsim_arena *arena);
/* Opens a buffer of untouched chunks. GSIM_NO_BUFFER: out of memory. Ids are used again after a
 * close. */
uint32_t gsim_residency_open(struct gsim_residency *residency, uint32_t owner, uint32_t n_chunks);
/* From now on this buffer yields: no chunk of a buffer that does not yield goes while a chunk of
 * one that does can; not under Belady. */
void gsim_residency_yield(struct gsim_residency *residency, uint32_t buffer);
/* Whether all open buffers yield. */
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

/* Counts the chunks that would have to come and those that are there; changes nothing. */
struct gsim_moved gsim_residency_missing(const struct gsim_residency *residency,
                                         struct gsim_range range);
/* The host writes: all chunks have their contents on the host, device copies are dropped. */
void gsim_residency_write_host(struct gsim_residency *residency, struct gsim_range range);
/* Uses the resident chunks (for LRU in ascending order); counts hits only. */
struct gsim_moved gsim_residency_touch(struct gsim_residency *residency, struct gsim_range range,
                                       bool is_write);
/* Brings in the missing chunks, in ascending order; there must be room. */
struct gsim_moved gsim_residency_populate(struct gsim_residency *residency,
                                          struct gsim_range range);
/* Takes up to n chunks out by the order of eviction; fewer when no more are there. */
struct gsim_moved gsim_residency_evict(struct gsim_residency *residency, uint32_t n);
/* Takes all chunks of a range out. */
struct gsim_moved gsim_residency_evict_range(struct gsim_residency *residency,
                                             struct gsim_range range);
/* Demand: chunk by chunk in ascending order, a missing chunk comes in, and when there is no room,
 * another goes out before. Under Belady the range's chunks that are still to come are not evicted,
 * as the buffer's next use is the use after this one. */
struct gsim_moved gsim_residency_access(struct gsim_residency *residency, struct gsim_range range,
                                        bool is_write);
/* Demand in steps that tell runs of missing chunks apart: a whole resident extent, or missing
 * chunks of one kind, as many as there is room for or as pass through one place. Adds to `moved`
 * the chunks of the step and returns their number; 0: no further. */
uint32_t gsim_residency_step(struct gsim_residency *residency, struct gsim_range left,
                             bool is_write, struct gsim_moved *moved);
/* The key is any growing measure of time; INT64_MAX: never again. Of equal keys the buffer with the
 * higher id goes first, in a buffer the higher chunk: buffers are swept upwards. */
static inline void gsim_residency_set_next_use(struct gsim_residency *residency, uint32_t buffer,
                                               int64_t key) {
    residency->buffers[buffer].next_use = key;
}
/* Chunk c of the buffer becomes chunk c + by, and the last ones the first, with their contents and
 * ages. by is below the number of chunks. */
void gsim_residency_turn(struct gsim_residency *residency, uint32_t buffer, uint32_t by);
enum gsim_content gsim_residency_content(const struct gsim_residency *residency, uint32_t buffer,
                                         uint32_t chunk);
/* How many chunks from a range's first on are alike; *content is their content. range.n > 0. */
uint32_t gsim_residency_alike(const struct gsim_residency *residency, struct gsim_range range,
                              enum gsim_content *content);
/* Makes `to`, which was initialised in an arena, a copy of `from`, to try what would happen. */
bool gsim_residency_copy(struct gsim_residency *to, const struct gsim_residency *from);

/* The canonical form: open buffers, the contents of their chunks in runs, and the order of
 * eviction in runs. Equal numbers mean equal futures under equal next uses; how the runs came about
 * leaves no trace. Returns the count of numbers; room may be less. */
size_t gsim_residency_state(const struct gsim_residency *residency, int64_t *out, size_t room);

#endif
