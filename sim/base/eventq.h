/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Event queue: a 4-ary indexed heap over (time, order), where the caller names each event by a
 * small dense id (a job's slot, a GPU) and may move or cancel it. An id is in the queue at most
 * once. Equal times are broken by `order`, which callers build so that it is unique. */
#ifndef GSIM_BASE_EVENTQ_H
#define GSIM_BASE_EVENTQ_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/arena.h"

struct gsim_event_key {
    int64_t time_ns;
    uint64_t order;
};

struct gsim_eventq {
    struct gsim_arena *arena;
    struct gsim_event_key *key; /* heap order */
    uint32_t *id;               /* heap order */
    uint32_t *place;            /* by id: index in the heap + 1, or 0 */
    uint32_t n;
    uint32_t capacity; /* ids are below this */
};

void gsim_eventq_init(struct gsim_eventq *queue, struct gsim_arena *arena);
/* Makes ids below capacity usable. false: no memory. */
bool gsim_eventq_reserve(struct gsim_eventq *queue, uint32_t capacity);
/* Inserts id, or moves it when it is there already. */
void gsim_eventq_set(struct gsim_eventq *queue, uint32_t id, int64_t time_ns, uint64_t order);
/* Does nothing when id is not there. */
void gsim_eventq_cancel(struct gsim_eventq *queue, uint32_t id);
/* The queue must not be empty. */
uint32_t gsim_eventq_pop(struct gsim_eventq *queue, struct gsim_event_key *key);

static inline bool gsim_eventq_has(const struct gsim_eventq *queue, uint32_t id) {
    return id < queue->capacity && queue->place[id] != 0;
}

static inline int64_t gsim_eventq_next(const struct gsim_eventq *queue) {
    return queue->n ? queue->key[0].time_ns : INT64_MAX;
}

#endif
