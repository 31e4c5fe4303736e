/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Event queue over (time, order), where the caller names each event by a small dense id (a job's
 * slot, a GPU) and may move or cancel it. An id is in the queue at most once. Equal times are
 * broken by `order`, which callers build so that it is unique. Keys may lie before keys that were
 * popped already.
 *
 * An event is in one of three places. All events in the front come before all strays, strays come
 * not after `bound`, and `bound` not after any event in the wheel:
 * - the front: the few soonest, sorted;
 * - the wheel: lists by the highest digit (of 6 bits) in which a key differs from the bound, and by
 *   the value of that digit, as in a radix heap or a hierarchical timing wheel. A list that is
 *   reached goes to the front when it fits; otherwise the bound is raised to its least key and the
 *   list is dealt to lower digits. A key is dealt at most as often as it has digits, mostly once or
 *   never, however uneven the times are and however many are equal. When keys before the bound are
 *   too many for the front, the bound is lowered, which puts keys near it back to a higher digit;
 * - the strays, a 4-ary heap: the keys before the bound when lowering it has become too dear (the
 *   bound goes up and down with many keys near it). With all events here, the queue would be an
 *   indexed heap. */
#ifndef GSIM_BASE_EVENTQ_H
#define GSIM_BASE_EVENTQ_H

#include <stdbool.h>
#include <stdint.h>

#include "gsim/arena.h"

enum {
    GSIM_EVENTQ_FRONT = 16,
    GSIM_EVENTQ_DIGIT = 6, /* bits: the filled digits of a level fit one word */
    GSIM_EVENTQ_LEVELS = 2 * ((64 + GSIM_EVENTQ_DIGIT - 1) / GSIM_EVENTQ_DIGIT),
    /* event numbers that stand for no event; id 0 has the number after these */
    GSIM_EVENTQ_NUMBERS = 4
};

struct gsim_event_key {
    int64_t time_ns;
    uint64_t order;
};

/* The place and the key of an id. */
struct gsim_eventq_event {
    struct gsim_event_key key;
    /* in the wheel: the number of the next event of its list, or 0; a stray: its index */
    uint32_t next;
    /* in the wheel: the previous event; else the place where the event is instead (eventq.c) */
    uint32_t prev;
};

struct gsim_eventq_entry {
    struct gsim_event_key key;
    uint32_t number;
};

struct gsim_eventq_list {
    uint32_t head, n; /* a number, or 0 */
};

struct gsim_eventq {
    int64_t next_ns; /* time of the soonest event, or INT64_MAX */
    uint32_t first, end; /* entries of the front: none only when the queue is empty */
    uint32_t levels, capacity; /* levels: of the wheel, with events; ids are below capacity */
    struct gsim_event_key bound;
    struct gsim_eventq_event *event; /* by number */
    struct gsim_eventq_entry *stray; /* heap order */
    uint32_t n_strays;
    uint32_t credit; /* number of keys that may be put back when the bound is lowered */
    struct gsim_arena *arena;
    struct gsim_eventq_entry front[GSIM_EVENTQ_FRONT];
    uint64_t filled[GSIM_EVENTQ_LEVELS]; /* digits of the level with events */
    struct gsim_eventq_list list[GSIM_EVENTQ_LEVELS][1 << GSIM_EVENTQ_DIGIT];
};

void gsim_eventq_init(struct gsim_eventq *queue, struct gsim_arena *arena);
/* Makes ids below capacity usable. false: no memory. */
bool gsim_eventq_reserve(struct gsim_eventq *queue, uint32_t capacity);
/* Inserts id, or moves it when it is in the queue already. */
void gsim_eventq_set(struct gsim_eventq *queue, uint32_t id, int64_t time_ns, uint64_t order);
/* Does nothing when id is not in the queue. */
void gsim_eventq_cancel(struct gsim_eventq *queue, uint32_t id);
/* The queue must not be empty. */
uint32_t gsim_eventq_pop(struct gsim_eventq *queue, struct gsim_event_key *key);

static inline bool gsim_eventq_has(const struct gsim_eventq *queue, uint32_t id) {
    return id < queue->capacity && queue->event[id + GSIM_EVENTQ_NUMBERS].prev != 0;
}

/* When the id, which is in the queue, is due. */
static inline int64_t gsim_eventq_time(const struct gsim_eventq *queue, uint32_t id) {
    return queue->event[id + GSIM_EVENTQ_NUMBERS].key.time_ns;
}

static inline int64_t gsim_eventq_next(const struct gsim_eventq *queue) {
    return queue->next_ns;
}

static inline bool gsim_eventq_is_empty(const struct gsim_eventq *queue) {
    return queue->first == queue->end;
}

/* The id that is next. The queue must not be empty. */
static inline uint32_t gsim_eventq_first(const struct gsim_eventq *queue) {
    return queue->front[queue->first].number - GSIM_EVENTQ_NUMBERS;
}

#endif
