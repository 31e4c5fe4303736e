/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Extents. Each buffer is cut into extents without gaps, in a list by address; resident ones are
 * also in one list by age, in which an extent stands for its chunks in ascending order. Operations
 * cut extents at the ends of their range, change what lies between, and join what became alike.
 * Extents that became neighbours in age alone may stay apart: it costs steps, never correctness,
 * and the canonical form joins them as it is written. */
#include "models/memory/residency.h"

#include <assert.h>
#include <string.h>

#define NONE UINT32_MAX

/* Room at first, which doubles: little, as a copy of the state copies all of it. Two jobs on a GPU
 * that has no room for both have some eight extents. */
enum { FIRST_EXTENTS = 8, FIRST_BUFFERS = 2 };

static bool is_resident(const struct gsim_extent *extent) {
    return extent->content >= GSIM_CLEAN;
}

static uint32_t end_of(const struct gsim_extent *extent) {
    return extent->first + extent->n;
}

/* --- memory ----------------------------------------------------------------------------------- */

static bool fail(struct gsim_residency *r) {
    r->has_failed = true;
    return false;
}

/* Room for two cuts, the most that a step makes: no pointer moves until the next call. */
static bool reserve(struct gsim_residency *r) {
    if (r->has_failed)
        return false;
    if (r->unused_extent != NONE && r->extents[r->unused_extent].after != NONE)
        return true;
    uint32_t capacity = r->extent_capacity ? 2 * r->extent_capacity : FIRST_EXTENTS;
    struct gsim_extent *extents = gsim_arena_grow(
        r->arena, r->extents, r->extent_capacity * sizeof *extents, capacity * sizeof *extents);
    if (!extents)
        return fail(r);
    for (uint32_t i = capacity; i > r->extent_capacity; i--) {
        extents[i - 1].after = r->unused_extent;
        r->unused_extent = i - 1;
    }
    r->extents = extents;
    r->extent_capacity = capacity;
    return true;
}

static uint32_t new_extent(struct gsim_residency *r) {
    uint32_t extent = r->unused_extent;
    assert(extent != NONE);
    r->unused_extent = r->extents[extent].after;
    return extent;
}

static void drop_extent(struct gsim_residency *r, uint32_t extent) {
    r->extents[extent].after = r->unused_extent;
    r->unused_extent = extent;
}

void gsim_residency_init(struct gsim_residency *residency, uint32_t capacity,
                         enum gsim_eviction eviction, struct gsim_arena *arena) {
    *residency = (struct gsim_residency){.arena = arena,
                                         .unused_extent = NONE,
                                         .unused_buffer = NONE,
                                         .oldest = NONE,
                                         .newest = NONE,
                                         .capacity = capacity,
                                         .eviction = eviction};
}

static bool reserve_buffer(struct gsim_residency *r) {
    if (r->unused_buffer != NONE || r->n_buffers < r->buffer_capacity)
        return true;
    uint32_t capacity = r->buffer_capacity ? 2 * r->buffer_capacity : FIRST_BUFFERS;
    struct gsim_buffer *buffers = gsim_arena_grow(
        r->arena, r->buffers, r->buffer_capacity * sizeof *buffers, capacity * sizeof *buffers);
    if (!buffers)
        return fail(r);
    r->buffers = buffers;
    r->buffer_capacity = capacity;
    return true;
}

uint32_t gsim_residency_open(struct gsim_residency *residency, uint32_t owner, uint32_t n_chunks) {
    assert(n_chunks > 0);
    if (!reserve(residency) || !reserve_buffer(residency))
        return GSIM_NO_BUFFER;
    uint32_t id = residency->unused_buffer;
    if (id == NONE)
        id = residency->n_buffers++;
    else
        residency->unused_buffer = residency->buffers[id].next_unused;
    uint32_t extent = new_extent(residency);
    residency->extents[extent] = (struct gsim_extent){
        .buffer = id, .n = n_chunks, .before = NONE, .after = NONE, .older = NONE, .newer = NONE};
    residency->buffers[id] = (struct gsim_buffer){.next_use = INT64_MAX,
                                                  .first_extent = extent,
                                                  .near = {extent, extent},
                                                  .n_chunks = n_chunks,
                                                  .owner = owner,
                                                  .is_open = true};
    residency->n_open += n_chunks;
    return id;
}

/* --- the list by age -------------------------------------------------------------------------- */

static void unlink_age(struct gsim_residency *r, uint32_t at) {
    struct gsim_extent *extent = &r->extents[at];
    *(extent->older == NONE ? &r->oldest : &r->extents[extent->older].newer) = extent->newer;
    *(extent->newer == NONE ? &r->newest : &r->extents[extent->newer].older) = extent->older;
    extent->older = extent->newer = NONE;
}

static void append_age(struct gsim_residency *r, uint32_t at) {
    r->extents[at].older = r->newest;
    r->extents[at].newer = NONE;
    *(r->newest == NONE ? &r->oldest : &r->extents[r->newest].newer) = at;
    r->newest = at;
}

/* --- cutting and joining ---------------------------------------------------------------------- */

static uint32_t distance(const struct gsim_residency *r, uint32_t at, uint32_t chunk) {
    uint32_t first = r->extents[at].first;
    return first > chunk ? first - chunk : chunk - first;
}

/* Looks from the nearer of the last two places on, which moves along. That changes nothing but how
 * long the next look takes. */
static uint32_t find(const struct gsim_residency *r, uint32_t buffer, uint32_t chunk) {
    uint32_t *near = r->buffers[buffer].near;
    const struct gsim_extent *last = &r->extents[near[0]];
    if (last->first <= chunk && chunk < end_of(last))
        return near[0];
    int i = distance(r, near[1], chunk) < distance(r, near[0], chunk);
    uint32_t at = near[i];
    if (chunk < distance(r, at, chunk))
        at = r->buffers[buffer].first_extent;
    while (end_of(&r->extents[at]) <= chunk)
        at = r->extents[at].after;
    while (r->extents[at].first > chunk)
        at = r->extents[at].before;
    return near[i] = at;
}

/* An extent becomes part of the one before it. */
static void forget(struct gsim_residency *r, uint32_t dropped, uint32_t into) {
    uint32_t *near = r->buffers[r->extents[into].buffer].near;
    for (int i = 0; i < 2; i++)
        if (near[i] == dropped)
            near[i] = into;
}

/* The extent that begins at this chunk, cut from a larger extent if need be; needs room for one
 * cut. */
static uint32_t cut(struct gsim_residency *r, uint32_t buffer, uint32_t chunk) {
    uint32_t at = find(r, buffer, chunk);
    struct gsim_extent *left = &r->extents[at];
    if (left->first == chunk)
        return at;
    uint32_t rest = new_extent(r);
    struct gsim_extent *right = &r->extents[rest];
    *right = *left;
    right->first = chunk;
    right->n = end_of(left) - chunk;
    left->n = chunk - left->first;
    right->before = at;
    if (left->after != NONE)
        r->extents[left->after].before = rest;
    left->after = rest;
    if (is_resident(left)) {
        right->older = at;
        *(left->newer == NONE ? &r->newest : &r->extents[left->newer].older) = rest;
        left->newer = rest;
    }
    return rest;
}

/* Whether two neighbouring extents that are alike are next to each other in the order of eviction.
 * Belady does not look at age: there the extents that a sweep leaves behind would otherwise stay
 * apart, one more with each sweep. */
static bool are_of_one_age(const struct gsim_residency *r, uint32_t at) {
    const struct gsim_extent *left = &r->extents[at];
    return !is_resident(left) || r->eviction == GSIM_EVICT_BELADY || left->newer == left->after;
}

/* Joins an extent with the one after it, when they are alike. */
static bool join(struct gsim_residency *r, uint32_t at) {
    struct gsim_extent *left = &r->extents[at];
    if (left->after == NONE)
        return false;
    uint32_t next = left->after;
    const struct gsim_extent *right = &r->extents[next];
    if (left->content != right->content || !are_of_one_age(r, at))
        return false;
    if (is_resident(left))
        unlink_age(r, next);
    left->n += right->n;
    left->after = right->after;
    if (right->after != NONE)
        r->extents[right->after].before = at;
    forget(r, next, at);
    drop_extent(r, next);
    return true;
}

#ifdef GSIM_PARANOID
enum { FEW_EXTENTS = 64 }; /* buffers of more extents are not counted again, so that runs end */

/* Counts the chunks of a buffer again, which its extents cover without a gap, and those of all
 * buffers that are on the GPU. */
static void count_again(const struct gsim_residency *r, const struct gsim_buffer *buffer) {
    uint32_t end = 0, n_resident = 0, n_dirty = 0, n_all = 0, n = 0;
    for (uint32_t at = buffer->first_extent; at != NONE; at = r->extents[at].after) {
        if (n++ == FEW_EXTENTS)
            return;
        assert(r->extents[at].first == end && r->extents[at].n > 0);
        end = end_of(&r->extents[at]);
        n_resident += is_resident(&r->extents[at]) ? r->extents[at].n : 0;
        n_dirty += r->extents[at].content == GSIM_DIRTY ? r->extents[at].n : 0;
    }
    assert(end == buffer->n_chunks);
    assert(n_resident == buffer->n_resident && n_dirty == buffer->n_dirty);
    for (uint32_t b = 0; b < r->n_buffers; b++)
        n_all += r->buffers[b].is_open ? r->buffers[b].n_resident : 0;
    assert(n_all == r->n_resident);
}
#else
static inline void count_again(const struct gsim_residency *r, const struct gsim_buffer *buffer) {
    (void)r, (void)buffer;
}
#endif

/* Joins extents that became alike, from the neighbour below a range, of which `at` is the first
 * extent, to the neighbour above it. */
static void tidy(struct gsim_residency *r, uint32_t at, struct gsim_range range) {
    if (r->extents[at].before != NONE)
        at = r->extents[at].before;
    while (at != NONE && r->extents[at].first <= range.first + range.n)
        if (!join(r, at))
            at = r->extents[at].after;
    count_again(r, &r->buffers[range.buffer]);
}

/* Cuts at both ends of the range, which then is the extents from the returned one to the last that
 * begins below the end. Needs room for two cuts. */
static uint32_t carve(struct gsim_residency *r, struct gsim_range range) {
    assert(range.n > 0 && range.first + range.n <= r->buffers[range.buffer].n_chunks);
    if (range.first + range.n < r->buffers[range.buffer].n_chunks)
        (void)cut(r, range.buffer, range.first + range.n);
    return cut(r, range.buffer, range.first);
}

static bool is_inside(const struct gsim_residency *r, uint32_t at, struct gsim_range range) {
    return at != NONE && r->extents[at].first < range.first + range.n;
}

/* --- changing extents ------------------------------------------------------------------------- */

/* The only place where contents change: it keeps the counts. */
static void become(struct gsim_residency *r, uint32_t at, enum gsim_content content) {
    struct gsim_extent *extent = &r->extents[at];
    struct gsim_buffer *buffer = &r->buffers[extent->buffer];
    bool was = is_resident(extent), is = content >= GSIM_CLEAN;
    if (extent->content == GSIM_DIRTY)
        buffer->n_dirty -= extent->n;
    if (content == GSIM_DIRTY)
        buffer->n_dirty += extent->n;
    extent->content = (uint8_t)content;
    if (was && !is) {
        buffer->n_resident -= extent->n;
        r->n_resident -= extent->n;
        unlink_age(r, at);
    } else if (!was && is) {
        buffer->n_resident += extent->n;
        r->n_resident += extent->n;
        append_age(r, at);
    }
}

static void leave(struct gsim_residency *r, uint32_t at, struct gsim_moved *moved) {
    *(r->extents[at].content == GSIM_DIRTY ? &moved->out_dirty : &moved->out_clean) +=
        r->extents[at].n;
    become(r, at, GSIM_ON_HOST);
}

static void arrive(struct gsim_residency *r, uint32_t at, struct gsim_moved *moved) {
    bool is_new = r->extents[at].content == GSIM_UNTOUCHED;
    *(is_new ? &moved->zeroed : &moved->in) += r->extents[at].n;
    become(r, at, is_new ? GSIM_DIRTY : GSIM_CLEAN);
}

static void use(struct gsim_residency *r, uint32_t at, bool is_write) {
    if (is_write)
        become(r, at, GSIM_DIRTY);
    if (r->eviction == GSIM_EVICT_LRU) {
        unlink_age(r, at);
        append_age(r, at);
    }
}

/* Moves extents, from this one to the end of the list; returns the last. */
static uint32_t move_up(struct gsim_residency *r, uint32_t at, uint32_t by) {
    for (;; at = r->extents[at].after) {
        r->extents[at].first += by; /* modulo 2^32: also down */
        if (r->extents[at].after == NONE)
            return at;
    }
}

void gsim_residency_turn(struct gsim_residency *residency, uint32_t buffer, uint32_t by) {
    struct gsim_residency *r = residency;
    struct gsim_buffer *about = &r->buffers[buffer];
    if (by == 0 || !reserve(r))
        return;
    uint32_t low = about->first_extent, high = cut(r, buffer, about->n_chunks - by);
    r->extents[r->extents[high].before].after = NONE;
    r->extents[high].before = NONE;
    (void)move_up(r, low, by);
    uint32_t last = move_up(r, high, by - about->n_chunks);
    r->extents[last].after = low;
    r->extents[low].before = last;
    about->first_extent = about->near[0] = about->near[1] = high;
    (void)join(r, last);
    count_again(r, about);
}

void gsim_residency_yield(struct gsim_residency *residency, uint32_t buffer) {
    residency->n_yielding += !residency->buffers[buffer].yields;
    residency->buffers[buffer].yields = true;
}

bool gsim_residency_all_yield(const struct gsim_residency *residency) {
    for (uint32_t b = 0; b < residency->n_buffers; b++)
        if (residency->buffers[b].is_open && !residency->buffers[b].yields)
            return false;
    return true;
}

void gsim_residency_close(struct gsim_residency *residency, uint32_t buffer) {
    if (buffer == GSIM_NO_BUFFER)
        return;
    uint32_t next, at = residency->buffers[buffer].first_extent;
    for (; at != NONE; at = next) {
        next = residency->extents[at].after;
        become(residency, at, GSIM_UNTOUCHED);
        drop_extent(residency, at);
    }
    residency->n_yielding -= residency->buffers[buffer].yields;
    residency->n_open -= residency->buffers[buffer].n_chunks;
    residency->buffers[buffer].is_open = residency->buffers[buffer].yields = false;
    residency->buffers[buffer].next_unused = residency->unused_buffer;
    residency->unused_buffer = buffer;
}

/* --- changes of a range ----------------------------------------------------------------------- */

/* Changes each extent of the range, and joins what became alike. Returns what moved. */
static inline struct gsim_moved change(struct gsim_residency *residency, struct gsim_range range,
                                       void (*one)(struct gsim_residency *residency, uint32_t at,
                                                   bool flag, struct gsim_moved *moved),
                                       bool flag) {
    struct gsim_moved moved = {0};
    if (range.n == 0 || !reserve(residency))
        return moved;
    uint32_t first = carve(residency, range);
    for (uint32_t at = first; is_inside(residency, at, range); at = residency->extents[at].after)
        one(residency, at, flag, &moved);
    assert(residency->n_resident <= residency->capacity);
    tidy(residency, first, range);
    return moved;
}

static void put_on_host(struct gsim_residency *residency, uint32_t at, bool flag,
                        struct gsim_moved *moved) {
    (void)flag, (void)moved;
    become(residency, at, GSIM_ON_HOST);
}

void gsim_residency_write_host(struct gsim_residency *residency, struct gsim_range range) {
    (void)change(residency, range, put_on_host, false);
}

static void touch(struct gsim_residency *residency, uint32_t at, bool is_write,
                  struct gsim_moved *moved) {
    if (!is_resident(&residency->extents[at]))
        return;
    moved->hits += residency->extents[at].n;
    use(residency, at, is_write);
}

struct gsim_moved gsim_residency_touch(struct gsim_residency *residency, struct gsim_range range,
                                       bool is_write) {
    return change(residency, range, touch, is_write);
}

static void populate(struct gsim_residency *residency, uint32_t at, bool flag,
                     struct gsim_moved *moved) {
    (void)flag;
    if (is_resident(&residency->extents[at]))
        moved->hits += residency->extents[at].n;
    else
        arrive(residency, at, moved);
}

struct gsim_moved gsim_residency_populate(struct gsim_residency *residency,
                                          struct gsim_range range) {
    return change(residency, range, populate, false);
}

static void evict(struct gsim_residency *residency, uint32_t at, bool flag,
                  struct gsim_moved *moved) {
    (void)flag;
    if (is_resident(&residency->extents[at]))
        leave(residency, at, moved);
}

struct gsim_moved gsim_residency_evict_range(struct gsim_residency *residency,
                                             struct gsim_range range) {
    return change(residency, range, evict, false);
}

/* --- eviction --------------------------------------------------------------------------------- */

static const struct gsim_range nothing = {NONE, 0, 0};

static uint32_t oldest_of(const struct gsim_residency *r, bool yields) {
    uint32_t at = r->oldest;
    while (at != NONE && yields && !r->buffers[r->extents[at].buffer].yields)
        at = r->extents[at].newer;
    return at;
}

static struct gsim_range oldest_part(const struct gsim_residency *r) {
    uint32_t at = r->n_yielding > 0 ? oldest_of(r, true) : NONE;
    if (at == NONE)
        at = oldest_of(r, false);
    if (at == NONE)
        return nothing;
    const struct gsim_extent *oldest = &r->extents[at];
    r->buffers[oldest->buffer].near[1] = at; /* where it will be looked for */
    return (struct gsim_range){oldest->buffer, oldest->first, oldest->n};
}

/* The highest part of an extent that is not in the range still to come. */
static struct gsim_range part_outside(const struct gsim_extent *extent, struct gsim_range to_come) {
    uint32_t first = extent->first, end = end_of(extent);
    uint32_t end_to_come = to_come.first + to_come.n;
    if (extent->buffer == to_come.buffer && end > to_come.first && first < end_to_come) {
        if (end > end_to_come)
            first = end_to_come;
        else
            end = to_come.first;
    }
    return first < end ? (struct gsim_range){extent->buffer, first, end - first} : nothing;
}

static struct gsim_range highest_part(const struct gsim_residency *r, uint32_t buffer,
                                      struct gsim_range to_come) {
    struct gsim_range found = nothing;
    for (uint32_t at = r->buffers[buffer].first_extent; at != NONE; at = r->extents[at].after) {
        if (!is_resident(&r->extents[at]))
            continue;
        struct gsim_range part = part_outside(&r->extents[at], to_come);
        if (part.n > 0)
            found = part;
    }
    return found;
}

static struct gsim_range furthest_part(const struct gsim_residency *r, struct gsim_range to_come) {
    struct gsim_range found = nothing;
    for (uint32_t b = 0; b < r->n_buffers; b++) {
        const struct gsim_buffer *buffer = &r->buffers[b];
        bool is_later = found.n == 0 || buffer->next_use >= r->buffers[found.buffer].next_use;
        if (!buffer->is_open || buffer->n_resident == 0 || !is_later)
            continue;
        struct gsim_range part = highest_part(r, b, to_come);
        if (part.n > 0)
            found = part;
    }
    return found;
}

/* The chunks that go next, at most `most` of them, all of one extent; n = 0 when no chunk can
 * go. */
static struct gsim_range next_victims(const struct gsim_residency *r, struct gsim_range to_come,
                                      uint32_t most) {
    bool is_belady = r->eviction == GSIM_EVICT_BELADY;
    struct gsim_range part = is_belady ? furthest_part(r, to_come) : oldest_part(r);
    /* only chunks that are still to come are left: the last of them */
    if (is_belady && part.n == 0)
        part = furthest_part(r, nothing);
    if (part.n > most) {
        if (is_belady)
            part.first += part.n - most;
        part.n = most;
    }
    return part;
}

static void add(struct gsim_moved *sum, struct gsim_moved more) {
    sum->hits += more.hits;
    sum->in += more.in;
    sum->zeroed += more.zeroed;
    sum->out_dirty += more.out_dirty;
    sum->out_clean += more.out_clean;
}

struct gsim_moved gsim_residency_evict(struct gsim_residency *residency, uint32_t n) {
    struct gsim_moved moved = {0};
    while (n > 0) {
        struct gsim_range victims = next_victims(residency, nothing, n);
        if (victims.n == 0 || !reserve(residency))
            break;
        add(&moved, gsim_residency_evict_range(residency, victims));
        n -= victims.n;
    }
    return moved;
}

/* --- demand ----------------------------------------------------------------------------------- */

/* Whether a chunk that has just been loaded may go before the rest of the victims. In its own
 * buffer it goes before the chunks below it, and before all that are still to come. */
static bool may_go_first(const struct gsim_residency *r, struct gsim_range to_come,
                         struct gsim_range victims) {
    const struct gsim_buffer *a = &r->buffers[to_come.buffer], *b = &r->buffers[victims.buffer];
    if (r->eviction != GSIM_EVICT_BELADY)
        return a->yields && !b->yields;
    if (a == b)
        return victims.first < to_come.first + to_come.n;
    return a->next_use > b->next_use || (a->next_use == b->next_use && a > b);
}

/* Makes room for some of the n missing chunks at to_come and returns for how many: for one, where
 * the order of eviction may change after it. */
static uint32_t make_room(struct gsim_residency *r, struct gsim_range to_come, uint32_t n,
                          struct gsim_moved *moved) {
    uint32_t room = gsim_residency_free(r);
    if (room > 0)
        return room < n ? room : n;
    struct gsim_range victims = next_victims(r, to_come, n);
    if (victims.n > 1 && may_go_first(r, to_come, victims)) {
        if (r->eviction == GSIM_EVICT_BELADY) /* from above */
            victims.first += victims.n - 1;
        victims.n = 1;
    }
    if (victims.n > 0)
        add(moved, gsim_residency_evict_range(r, victims));
    return victims.n;
}

static void come(struct gsim_residency *residency, uint32_t at, bool is_write,
                 struct gsim_moved *moved) {
    arrive(residency, at, moved);
    if (is_write)
        become(residency, at, GSIM_DIRTY);
}

/* Uses the chunks of an extent, of which the range is a part. Where their age does not count, clean
 * ones that are read stay as they are, and so do dirty ones. */
static void use_part(struct gsim_residency *r, const struct gsim_extent *extent,
                     struct gsim_range range, bool is_write, struct gsim_moved *moved) {
    moved->hits += range.n;
    if (r->eviction == GSIM_EVICT_LRU || (is_write && extent->content != GSIM_DIRTY))
        (void)gsim_residency_touch(r, range, is_write);
}

/* Under Belady a chunk that has just been swept is needed last, so each chunk may have to go for
 * the next one. Then the first n of the chunks to come, which are missing and of one kind, pass
 * through one place, and the last of them stays in it. Returns whether they did. */
static bool pass_through(struct gsim_residency *r, struct gsim_range to_come, uint32_t n,
                         bool is_write, struct gsim_moved *moved) {
    if (n == 0 || r->eviction != GSIM_EVICT_BELADY || gsim_residency_free(r) > 0)
        return false;
    struct gsim_range victim = next_victims(r, to_come, 1);
    if (victim.buffer != to_come.buffer || victim.first + 1 != to_come.first)
        return false;
    bool is_new = gsim_residency_content(r, to_come.buffer, to_come.first) == GSIM_UNTOUCHED;
    struct gsim_range passing = {to_come.buffer, to_come.first, n - 1};
    struct gsim_range last = {to_come.buffer, to_come.first + n - 1, 1};
    add(moved, gsim_residency_evict_range(r, victim));
    *(is_new ? &moved->zeroed : &moved->in) += passing.n;
    *(is_new || is_write ? &moved->out_dirty : &moved->out_clean) += passing.n;
    gsim_residency_write_host(r, passing);
    add(moved, change(r, last, come, is_write));
    return true;
}

uint32_t gsim_residency_step(struct gsim_residency *residency, struct gsim_range left,
                             bool is_write, struct gsim_moved *moved) {
    struct gsim_residency *r = residency;
    if (left.n == 0 || r->has_failed)
        return 0;
    const struct gsim_extent *extent = &r->extents[find(r, left.buffer, left.first)];
    uint32_t alike = end_of(extent) - left.first;
    alike = alike < left.n ? alike : left.n;
    if (is_resident(extent)) {
        struct gsim_range part = {left.buffer, left.first, alike};
        use_part(r, extent, part, is_write, moved);
        return alike;
    }
    uint32_t n = make_room(r, left, alike, moved);
    if (n == 0)
        return 0;
    add(moved, change(r, (struct gsim_range){left.buffer, left.first, n}, come, is_write));
    struct gsim_range to_come = {left.buffer, left.first + n, left.n - n};
    return pass_through(r, to_come, alike - n, is_write, moved) ? alike : n;
}

struct gsim_moved gsim_residency_access(struct gsim_residency *residency, struct gsim_range range,
                                        bool is_write) {
    struct gsim_moved moved = {0};
    uint32_t n;
    while ((n = gsim_residency_step(residency, range, is_write, &moved)) > 0) {
        range.first += n;
        range.n -= n;
    }
    return moved;
}

/* --- questions -------------------------------------------------------------------------------- */

struct gsim_moved gsim_residency_missing(const struct gsim_residency *residency,
                                         struct gsim_range range) {
    struct gsim_moved moved = {0};
    if (range.n == 0)
        return moved;
    uint32_t end = range.first + range.n;
    for (uint32_t at = find(residency, range.buffer, range.first); is_inside(residency, at, range);
         at = residency->extents[at].after) {
        const struct gsim_extent *extent = &residency->extents[at];
        uint32_t first = extent->first > range.first ? extent->first : range.first;
        uint32_t n = (end_of(extent) < end ? end_of(extent) : end) - first;
        if (is_resident(extent))
            moved.hits += n;
        else if (extent->content == GSIM_ON_HOST)
            moved.in += n;
        else
            moved.zeroed += n;
    }
    return moved;
}

enum gsim_content gsim_residency_content(const struct gsim_residency *residency, uint32_t buffer,
                                         uint32_t chunk) {
    return (enum gsim_content)residency->extents[find(residency, buffer, chunk)].content;
}

uint32_t gsim_residency_alike(const struct gsim_residency *residency, struct gsim_range range,
                              enum gsim_content *content) {
    uint32_t at = find(residency, range.buffer, range.first);
    *content = (enum gsim_content)residency->extents[at].content;
    uint32_t end = end_of(&residency->extents[at]);
    while (end < range.first + range.n) {
        at = residency->extents[at].after;
        if (residency->extents[at].content != (uint8_t)*content)
            break;
        end = end_of(&residency->extents[at]);
    }
    return end < range.first + range.n ? end - range.first : range.n;
}

/* A block for n objects in which `from` is repeated; NULL: out of memory. */
static void *repeat(struct gsim_arena *arena, void *block, uint32_t before, const void *from,
                    uint32_t n, size_t size) {
    void *copy = before < n ? gsim_arena_grow(arena, block, before * size, n * size) : block;
    if (copy && n > 0)
        memcpy(copy, from, n * size);
    return copy;
}

bool gsim_residency_copy(struct gsim_residency *to, const struct gsim_residency *from) {
    struct gsim_residency copy = *from;
    copy.arena = to->arena;
    copy.extents = repeat(to->arena, to->extents, to->extent_capacity, from->extents,
                          from->extent_capacity, sizeof *copy.extents);
    if (!copy.extents && from->extent_capacity > 0)
        return fail(to);
    to->extents = copy.extents;
    copy.buffers = repeat(to->arena, to->buffers, to->buffer_capacity, from->buffers,
                          from->buffer_capacity, sizeof *copy.buffers);
    if (!copy.buffers && from->buffer_capacity > 0)
        return fail(to);
    *to = copy;
    return true;
}
