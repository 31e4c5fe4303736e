/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/eventq.h"

#include <assert.h>
#include <string.h>

#include "sim/base/hints.h"
#include "gsim/units.h"

enum {
    FRONT = GSIM_EVENTQ_FRONT,
    DIGIT = GSIM_EVENTQ_DIGIT,
    TIME_LEVEL = GSIM_EVENTQ_LEVELS / 2, /* levels below this hold digits of the order */
    RANKED = 8,
    LIFTS = 32, /* per call: 4 for each key that entered the front since the last call */
    ARITY = 4 /* half the levels of a binary heap */
};

/* Values of `prev` for an event without a predecessor. The numbers of events come after these. */
enum { ABSENT, HEADS_ITS_LIST, IN_FRONT, IS_STRAY };
_Static_assert((int)IS_STRAY < (int)GSIM_EVENTQ_NUMBERS, "a place looks like an event");

static const struct gsim_event_key last_key = {INT64_MAX, UINT64_MAX};

/* One comparison of 128 bits replaces two that branch: in a heap neither branch is predictable. */
static inline gsim_i128 wide_key(struct gsim_event_key key) {
    return (gsim_i128)((gsim_u128)key.time_ns << 64 | key.order);
}

static inline bool key_before(struct gsim_event_key a, struct gsim_event_key b) {
    return wide_key(a) < wide_key(b);
}

/* --- strays: a heap --------------------------------------------------------------------------- */

static inline void stray_put(struct gsim_eventq *queue, uint32_t at,
                             struct gsim_eventq_entry entry) {
    queue->stray[at] = entry;
    queue->event[entry.number].next = at;
    queue->event[entry.number].prev = IS_STRAY;
}

static void sift_up(struct gsim_eventq *queue, uint32_t at, struct gsim_eventq_entry entry) {
    while (at > 0) {
        uint32_t above = (at - 1) / ARITY;
        if (!key_before(entry.key, queue->stray[above].key))
            break;
        stray_put(queue, at, queue->stray[above]);
        at = above;
    }
    stray_put(queue, at, entry);
}

/* A selection instead of a branch: a predictor cannot know which child is least. The entries behind
 * the last one have keys after all others, so the children need not be counted. */
static inline uint32_t least_child(const struct gsim_eventq *queue, uint32_t first) {
    struct gsim_event_key key = queue->stray[first].key;
    uint32_t least = first;
    for (uint32_t at = first + 1; at < first + ARITY; at++) {
        bool is_less = key_before(queue->stray[at].key, key);
        least = is_less ? at : least;
        key = is_less ? queue->stray[at].key : key;
    }
    return least;
}

static void sift_down(struct gsim_eventq *queue, uint32_t at, struct gsim_eventq_entry entry) {
    for (uint32_t child; (child = at * ARITY + 1) < queue->n_strays;) {
        uint32_t least = least_child(queue, child);
        if (!key_before(queue->stray[least].key, entry.key))
            break;
        stray_put(queue, at, queue->stray[least]);
        at = least;
    }
    stray_put(queue, at, entry);
}

static void stray_insert(struct gsim_eventq *queue, struct gsim_eventq_entry entry) {
    queue->stray[queue->n_strays + ARITY].key = last_key;
    sift_up(queue, queue->n_strays++, entry);
}

static void stray_remove(struct gsim_eventq *queue, uint32_t at) {
    struct gsim_eventq_entry moved = queue->stray[--queue->n_strays];
    queue->stray[queue->n_strays].key = last_key;
    if (at == queue->n_strays)
        return;
    if (at > 0 && key_before(moved.key, queue->stray[(at - 1) / ARITY].key))
        sift_up(queue, at, moved);
    else
        sift_down(queue, at, moved);
}

/* --- wheel: lists by digits ------------------------------------------------------------------- */

struct spot {
    uint32_t level, digit;
};

/* The list of the wheel to which a key belongs; the key is not before the bound. */
static inline struct spot spot_of(const struct gsim_eventq *queue, struct gsim_event_key key) {
    uint64_t differs = (uint64_t)key.time_ns ^ (uint64_t)queue->bound.time_ns;
    uint64_t word = (uint64_t)key.time_ns ^ UINT64_C(1) << 63; /* negative times come first */
    uint32_t level = TIME_LEVEL;
    if (!differs) {
        differs = (key.order ^ queue->bound.order) | 1;
        word = key.order;
        level = 0;
    }
    uint32_t place = (63 - (uint32_t)__builtin_clzll(differs)) / DIGIT;
    return (struct spot){level + place, (uint32_t)(word >> place * DIGIT) & ((1u << DIGIT) - 1)};
}

static inline void wheel_insert(struct gsim_eventq *queue, uint32_t number) {
    struct gsim_eventq_event *event = &queue->event[number];
    struct spot spot = spot_of(queue, event->key);
    struct gsim_eventq_list *list = &queue->list[spot.level][spot.digit];
    event->next = list->head;
    event->prev = HEADS_ITS_LIST;
    queue->event[list->head].prev = number; /* number 0 ends all lists and is no event */
    list->head = number;
    list->n++;
    queue->filled[spot.level] |= UINT64_C(1) << spot.digit;
    queue->levels |= UINT32_C(1) << spot.level;
}

/* Empties a list and returns its head. */
static uint32_t take_list(struct gsim_eventq *queue, struct spot spot) {
    uint32_t head = queue->list[spot.level][spot.digit].head;
    queue->list[spot.level][spot.digit] = (struct gsim_eventq_list){0};
    queue->filled[spot.level] &= ~(UINT64_C(1) << spot.digit);
    if (!queue->filled[spot.level])
        queue->levels &= ~(UINT32_C(1) << spot.level);
    return head;
}

static void wheel_remove(struct gsim_eventq *queue, uint32_t number) {
    const struct gsim_eventq_event *event = &queue->event[number];
    struct spot spot = spot_of(queue, event->key);
    struct gsim_eventq_list *list = &queue->list[spot.level][spot.digit];
    queue->event[event->next].prev = event->prev;
    if (event->prev == HEADS_ITS_LIST)
        list->head = event->next;
    else
        queue->event[event->prev].next = event->next;
    if (--list->n == 0)
        take_list(queue, spot);
}

/* The least time of a list; where all its times are equal, the least order too. */
static struct gsim_event_key least_of(const struct gsim_eventq *queue, uint32_t list,
                                      bool is_of_order) {
    struct gsim_event_key least = {queue->event[list].key.time_ns, 0};
    if (is_of_order)
        least.order = queue->event[list].key.order;
    for (; list; list = queue->event[list].next) {
        struct gsim_event_key key = queue->event[list].key;
        least.time_ns = key.time_ns < least.time_ns ? key.time_ns : least.time_ns;
        least.order = key.order < least.order ? key.order : least.order;
    }
    return least;
}

static struct spot first_spot(const struct gsim_eventq *queue) {
    uint32_t level = (uint32_t)__builtin_ctz(queue->levels);
    return (struct spot){level, (uint32_t)__builtin_ctzll(queue->filled[level])};
}

/* Puts the events of a list where their keys belong under the new bound. */
static void redistribute(struct gsim_eventq *queue, uint32_t number) {
    for (uint32_t next; number; number = next) {
        next = queue->event[number].next;
        wheel_insert(queue, number);
    }
}

/* Raises the bound to the least key of the first list and deals that list to lower levels. Only
 * keys of that list are near enough to the bound to change their place. */
static void deal(struct gsim_eventq *queue, struct spot spot) {
    assert(spot.level > 0); /* a list of level 0 would hold equal keys */
    uint32_t number = take_list(queue, spot);
    queue->bound = least_of(queue, number, spot.level < TIME_LEVEL);
    redistribute(queue, number);
}

/* The number of keys in lists below a level; when they are more than `most`, some number above
 * it. */
static uint32_t count_below(const struct gsim_eventq *queue, uint32_t level, uint32_t most) {
    uint32_t n = 0;
    for (uint32_t at = 0; at < level && n <= most; at++)
        for (uint64_t digits = queue->filled[at]; digits && n <= most; digits &= digits - 1)
            n += queue->list[at][__builtin_ctzll(digits)].n;
    return n;
}

/* Lowers the bound and lifts the keys that are nearer to the old bound than the new bound is. Each
 * call earns the lift of some keys, so all lifts together cost no more than all calls, however the
 * callers move the bound up and down. false: not earned. */
static bool lower_bound(struct gsim_eventq *queue, struct gsim_event_key bound) {
    struct gsim_event_key old = queue->bound;
    queue->bound = bound;
    uint32_t level = spot_of(queue, old).level;
    queue->credit += queue->credit < queue->capacity ? LIFTS : 0;
    uint32_t n = count_below(queue, level, queue->credit);
    if (n > queue->credit) {
        queue->bound = old;
        return false;
    }
    queue->credit -= n;
    while (queue->levels && first_spot(queue).level < level)
        redistribute(queue, take_list(queue, first_spot(queue)));
    return true;
}

/* --- front: sorted ---------------------------------------------------------------------------- */

/* Expects room behind the last entry. */
static inline void sort_in(struct gsim_eventq *queue, struct gsim_eventq_entry entry) {
    uint32_t at = queue->end++;
    for (; at > queue->first && key_before(entry.key, queue->front[at - 1].key); at--)
        queue->front[at] = queue->front[at - 1];
    queue->front[at] = entry;
    queue->event[entry.number].prev = IN_FRONT;
}

static void slide(struct gsim_eventq *queue, uint32_t to) {
    uint32_t n = queue->end - queue->first;
    memmove(queue->front + to, queue->front + queue->first, n * sizeof *queue->front);
    queue->first = to;
    queue->end = to + n;
}

/* Expects room. Events that come before all others do not shift the entries behind them each
 * time. */
static void front_insert(struct gsim_eventq *queue, struct gsim_eventq_entry entry) {
    if (entry.key.time_ns >= queue->next_ns) {
        if (queue->end == FRONT)
            slide(queue, 0);
        sort_in(queue, entry);
        return;
    }
    if (queue->first == 0)
        slide(queue, FRONT - queue->end);
    queue->front[--queue->first] = entry;
    queue->event[entry.number].prev = IN_FRONT;
    queue->next_ns = entry.key.time_ns;
}

/* Puts each event at its rank among them: a predictor cannot know which of a few keys is less, and
 * counting needs no branch. */
static void append_ranked(struct gsim_eventq *queue, uint32_t list, uint32_t n) {
    gsim_u128 keys[RANKED]; /* unsigned, so that a comparison's carry is the count */
    uint32_t number[RANKED], sum = 0;
    for (uint32_t i = 0; i < RANKED; i++)
        keys[i] = ~(gsim_u128)0;
    for (uint32_t i = 0; i < n; i++, list = queue->event[list].next) {
        keys[i] = (gsim_u128)wide_key(queue->event[list].key) ^ (gsim_u128)1 << 127;
        number[i] = list;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t rank = 0;
        for (uint32_t other = 0; other < RANKED; other++)
            rank += keys[other] < keys[i];
        queue->front[queue->end + rank] =
            (struct gsim_eventq_entry){queue->event[number[i]].key, number[i]};
        queue->event[number[i]].prev = IN_FRONT;
        sum += rank;
    }
    assert(sum == n * (n - 1) / 2); /* no two keys are equal */
    queue->end += n;
}

/* Appends a list, in any order, of events that come after all in the front. */
static void append(struct gsim_eventq *queue, uint32_t list, uint32_t n) {
    if (n > 2 && n <= RANKED) {
        append_ranked(queue, list, n);
        return;
    }
    for (; list; list = queue->event[list].next)
        sort_in(queue, (struct gsim_eventq_entry){queue->event[list].key, list});
}

/* Moves the first lists of the wheel to the front as long as they fit. */
static void refill_from_wheel(struct gsim_eventq *queue) {
    while (queue->levels) {
        struct spot spot = first_spot(queue);
        uint32_t n = queue->end + queue->list[spot.level][spot.digit].n;
        if (n > FRONT && queue->end > 0)
            break;
        if (n > FRONT) {
            deal(queue, spot);
            continue;
        }
        append(queue, take_list(queue, spot), n - queue->end);
    }
    queue->bound = queue->end ? queue->front[queue->end - 1].key : last_key;
}

/* Expects an empty front. */
static void refill(struct gsim_eventq *queue) {
    queue->first = queue->end = 0;
    if (queue->n_strays == 0)
        refill_from_wheel(queue);
    while (queue->n_strays > 0 && queue->end < FRONT / 2) {
        struct gsim_eventq_entry soonest = queue->stray[0];
        stray_remove(queue, 0);
        sort_in(queue, soonest);
    }
    queue->next_ns = queue->end ? queue->front[0].key.time_ns : INT64_MAX;
}

static void advance(struct gsim_eventq *queue) {
    if (++queue->first == queue->end)
        refill(queue);
    else
        queue->next_ns = queue->front[queue->first].key.time_ns;
}

static void front_remove(struct gsim_eventq *queue, uint32_t number) {
    uint32_t at = queue->first;
    while (queue->front[at].number != number)
        at++;
    for (; at > queue->first; at--)
        queue->front[at] = queue->front[at - 1];
    advance(queue);
}

/* Moves the later half of a full front away. */
static void make_room(struct gsim_eventq *queue) {
    bool is_lowered = queue->n_strays == 0 && lower_bound(queue, queue->front[FRONT / 2 - 1].key);
    queue->end = FRONT / 2;
    for (uint32_t at = FRONT / 2; at < FRONT; at++)
        if (is_lowered)
            wheel_insert(queue, queue->front[at].number);
        else
            stray_insert(queue, queue->front[at]);
}

/* --- the queue -------------------------------------------------------------------------------- */

void gsim_eventq_init(struct gsim_eventq *queue, struct gsim_arena *arena) {
    *queue = (struct gsim_eventq){.arena = arena, .next_ns = INT64_MAX, .bound = last_key};
}

bool gsim_eventq_reserve(struct gsim_eventq *queue, uint32_t capacity) {
    if (capacity <= queue->capacity)
        return true;
    if (capacity > UINT32_MAX - GSIM_EVENTQ_NUMBERS)
        return false;
    size_t old = queue->capacity ? queue->capacity + (size_t)GSIM_EVENTQ_NUMBERS : 0;
    struct gsim_eventq_event *event =
        gsim_arena_grow(queue->arena, queue->event, old * sizeof *event,
                        ((size_t)capacity + GSIM_EVENTQ_NUMBERS) * sizeof *event);
    if (!event)
        return false;
    queue->event = event;
    /* Raw: pages are touched only when events stray. */
    struct gsim_eventq_entry *stray =
        gsim_arena_grow_raw(queue->arena, queue->stray, ((size_t)capacity + ARITY) * sizeof *stray);
    if (!stray)
        return false;
    queue->stray = stray;
    for (uint32_t at = 0; queue->capacity == 0 && at < ARITY; at++)
        stray[at].key = last_key;
    queue->capacity = capacity;
    return true;
}

static void insert(struct gsim_eventq *queue, uint32_t number, struct gsim_event_key key);

/* Expects a key that is not after the bound. */
GSIM_APART static void insert_soon(struct gsim_eventq *queue, uint32_t number) {
    struct gsim_eventq_entry entry = {queue->event[number].key, number};
    if (gsim_eventq_is_empty(queue))
        queue->bound = entry.key;
    if (queue->n_strays > 0 && key_before(queue->stray[0].key, entry.key)) {
        stray_insert(queue, entry);
    } else if (queue->end - queue->first == FRONT) {
        make_room(queue);
        insert(queue, number, entry.key);
    } else {
        front_insert(queue, entry);
    }
}

static inline void insert(struct gsim_eventq *queue, uint32_t number, struct gsim_event_key key) {
    queue->event[number].key = key;
    if (key_before(queue->bound, key))
        wheel_insert(queue, number);
    else
        insert_soon(queue, number);
}

static void take_out(struct gsim_eventq *queue, uint32_t number) {
    uint32_t place = queue->event[number].prev;
    if (place == IN_FRONT)
        front_remove(queue, number);
    else if (place == IS_STRAY)
        stray_remove(queue, queue->event[number].next);
    else
        wheel_remove(queue, number);
    queue->event[number].prev = ABSENT;
}

GSIM_APART static void move(struct gsim_eventq *queue, uint32_t number, struct gsim_event_key key) {
    take_out(queue, number);
    insert(queue, number, key);
}

void gsim_eventq_set(struct gsim_eventq *queue, uint32_t id, int64_t time_ns, uint64_t order) {
    assert(id < queue->capacity);
    uint32_t number = id + GSIM_EVENTQ_NUMBERS;
    struct gsim_event_key key = {time_ns, order};
    if (queue->event[number].prev == ABSENT)
        insert(queue, number, key);
    else
        move(queue, number, key);
}

void gsim_eventq_cancel(struct gsim_eventq *queue, uint32_t id) {
    if (gsim_eventq_has(queue, id))
        take_out(queue, id + GSIM_EVENTQ_NUMBERS);
}

uint32_t gsim_eventq_pop(struct gsim_eventq *queue, struct gsim_event_key *key) {
    assert(!gsim_eventq_is_empty(queue));
    const struct gsim_eventq_entry *soonest = &queue->front[queue->first];
    uint32_t number = soonest->number;
    *key = soonest->key;
    queue->event[number].prev = ABSENT;
    advance(queue);
    return number - GSIM_EVENTQ_NUMBERS;
}
