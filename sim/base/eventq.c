/* SPDX-License-Identifier: GPL-3.0-or-later */
/* 4-ary heap: half the levels of a binary one, and four keys of 16 bytes are one cache line. */
#include "sim/base/eventq.h"

#include <assert.h>

#include "sim/base/wide.h"

enum { ARITY = 4 };

/* What stands behind the last entry, so that four children can be compared without asking how many
 * there are. */
static const struct gsim_event_key after_all = {INT64_MAX, UINT64_MAX};

/* One comparison of 128 bits instead of two that branch: in a heap neither is predictable. */
static inline gsim_i128 wide_key(struct gsim_event_key key) {
    return (gsim_i128)((gsim_u128)key.time_ns << 64 | key.order);
}

static inline bool key_before(struct gsim_event_key a, struct gsim_event_key b) {
    return wide_key(a) < wide_key(b);
}

static inline void put(struct gsim_eventq *queue, uint32_t at, struct gsim_event_key key,
                       uint32_t id) {
    queue->key[at] = key;
    queue->id[at] = id;
    queue->place[id] = at + 1;
}

static void sift_up(struct gsim_eventq *queue, uint32_t at, struct gsim_event_key key,
                    uint32_t id) {
    while (at > 0) {
        uint32_t above = (at - 1) / ARITY;
        if (!key_before(key, queue->key[above]))
            break;
        put(queue, at, queue->key[above], queue->id[above]);
        at = above;
    }
    put(queue, at, key, id);
}

/* Selected, not jumped to: which child is least is noise to a predictor. */
static inline void keep_lesser(const struct gsim_event_key *child, uint32_t i, uint32_t *least,
                               struct gsim_event_key *key) {
    *least = key_before(child[i], *key) ? i : *least;
    *key = key_before(child[i], *key) ? child[i] : *key;
}
static inline uint32_t least_child(const struct gsim_eventq *queue, uint32_t first) {
    const struct gsim_event_key *child = queue->key + first;
    struct gsim_event_key key = child[0];
    uint32_t least = 0;
    keep_lesser(child, 1, &least, &key);
    keep_lesser(child, 2, &least, &key);
    keep_lesser(child, 3, &least, &key);
    return first + least;
}

static void sift_down(struct gsim_eventq *queue, uint32_t at, struct gsim_event_key key,
                      uint32_t id) {
    for (;;) {
        uint32_t first = at * ARITY + 1;
        if (first >= queue->n)
            break;
        uint32_t least = least_child(queue, first);
        if (!key_before(queue->key[least], key))
            break;
        put(queue, at, queue->key[least], queue->id[least]);
        at = least;
    }
    put(queue, at, key, id);
}

void gsim_eventq_init(struct gsim_eventq *queue, struct gsim_arena *arena) {
    *queue = (struct gsim_eventq){.arena = arena};
}

static bool column_grow(struct gsim_arena *arena, void **column, size_t old_n, size_t new_n,
                        size_t size) {
    void *grown = gsim_arena_grow(arena, *column, old_n * size, new_n * size);
    if (grown)
        *column = grown;
    return grown != NULL;
}

bool gsim_eventq_reserve(struct gsim_eventq *queue, uint32_t capacity) {
    if (capacity <= queue->capacity)
        return true;
    void *key = queue->key, *id = queue->id, *place = queue->place;
    bool ok = column_grow(queue->arena, &key, queue->capacity ? queue->capacity + ARITY : 0,
                          capacity + ARITY, sizeof *queue->key);
    queue->key = key;
    for (uint32_t at = queue->n; ok && at < capacity + ARITY; at++)
        queue->key[at] = after_all;
    ok = ok && column_grow(queue->arena, &id, queue->capacity, capacity, sizeof *queue->id);
    queue->id = id;
    ok = ok && column_grow(queue->arena, &place, queue->capacity, capacity, sizeof *queue->place);
    queue->place = place;
    if (ok)
        queue->capacity = capacity;
    return ok;
}

static void place_near(struct gsim_eventq *queue, uint32_t at, struct gsim_event_key key,
                       uint32_t id) {
    if (at > 0 && key_before(key, queue->key[(at - 1) / ARITY]))
        sift_up(queue, at, key, id);
    else
        sift_down(queue, at, key, id);
}

void gsim_eventq_set(struct gsim_eventq *queue, uint32_t id, int64_t time_ns, uint64_t order) {
    assert(id < queue->capacity);
    struct gsim_event_key key = {time_ns, order};
    if (queue->place[id])
        place_near(queue, queue->place[id] - 1, key, id);
    else
        sift_up(queue, queue->n++, key, id);
}

static void remove_at(struct gsim_eventq *queue, uint32_t at) {
    queue->place[queue->id[at]] = 0;
    uint32_t last = --queue->n;
    struct gsim_event_key moved = queue->key[last];
    queue->key[last] = after_all;
    if (at != last)
        place_near(queue, at, moved, queue->id[last]);
}

void gsim_eventq_cancel(struct gsim_eventq *queue, uint32_t id) {
    if (gsim_eventq_has(queue, id))
        remove_at(queue, queue->place[id] - 1);
}

uint32_t gsim_eventq_pop(struct gsim_eventq *queue, struct gsim_event_key *key) {
    assert(queue->n > 0);
    uint32_t id = queue->id[0], last = --queue->n, at = 0;
    struct gsim_event_key moved = queue->key[last];
    *key = queue->key[0];
    queue->place[id] = 0;
    queue->key[last] = after_all;
    if (last == 0)
        return id;
    /* The hole goes all the way down, then the last entry up from there: it came from the bottom,
     * so it mostly stays, and the way down asks no question that a predictor could miss. */
    uint32_t moved_id = queue->id[last];
    for (uint32_t first; (first = at * ARITY + 1) < queue->n;) {
        uint32_t least = least_child(queue, first);
        put(queue, at, queue->key[least], queue->id[least]);
        at = least;
    }
    sift_up(queue, at, moved, moved_id);
    return id;
}
