/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Residency in extents does what a table of chunks does, under random operations; and the orders of
 * eviction have the miss counts that theory gives: Belady's is the least there is, on a cycle of N
 * with room for c it hits c - 1 times in N - 1, and LRU and the order of allocation never hit. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "models/memory/residency.h"
#include "sim/base/rng.h"
#include "tests/support/runner.h"

enum { MOST_BUFFERS = 7, MOST_CHUNKS = 24, MOST_CAPACITY = 60, STATE = 4096 };

/* --- the table of chunks ---------------------------------------------------------------------- */

struct chunk {
    enum gsim_content content;
    uint64_t age; /* when it came, or under LRU was used */
};

struct table {
    struct chunk chunk[MOST_BUFFERS][MOST_CHUNKS];
    uint32_t n_chunks[MOST_BUFFERS]; /* 0: closed */
    int64_t next_use[MOST_BUFFERS];
    bool yields[MOST_BUFFERS];
    uint32_t capacity, n_resident;
    uint64_t clock;
    enum gsim_eviction eviction;
};

static bool is_resident(const struct chunk *chunk) {
    return chunk->content == GSIM_CLEAN || chunk->content == GSIM_DIRTY;
}

static void table_leave(struct table *t, struct chunk *chunk, struct gsim_moved *moved) {
    if (chunk->content == GSIM_DIRTY)
        moved->out_dirty++;
    else
        moved->out_clean++;
    chunk->content = GSIM_ON_HOST;
    t->n_resident--;
}

static void table_arrive(struct table *t, struct chunk *chunk, struct gsim_moved *moved) {
    if (chunk->content == GSIM_ON_HOST)
        moved->in++;
    else
        moved->zeroed++;
    chunk->content = chunk->content == GSIM_ON_HOST ? GSIM_CLEAN : GSIM_DIRTY;
    chunk->age = ++t->clock;
    t->n_resident++;
}

static void table_use(struct table *t, struct chunk *chunk, bool is_write) {
    if (is_write)
        chunk->content = GSIM_DIRTY;
    if (t->eviction == GSIM_EVICT_LRU)
        chunk->age = ++t->clock;
}

/* Whether chunk a of buffer b goes before the best found so far. */
static bool goes_before(const struct table *t, uint32_t b, uint32_t c, bool is_to_come,
                        uint32_t best_b, uint32_t best_c, bool is_best_to_come) {
    if (t->eviction != GSIM_EVICT_BELADY && t->yields[b] != t->yields[best_b])
        return t->yields[b];
    if (t->eviction != GSIM_EVICT_BELADY)
        return t->chunk[b][c].age < t->chunk[best_b][best_c].age;
    if (is_to_come != is_best_to_come)
        return is_best_to_come;
    if (t->next_use[b] != t->next_use[best_b])
        return t->next_use[b] > t->next_use[best_b];
    return b != best_b ? b > best_b : c > best_c;
}

static struct chunk *table_victim(struct table *t, struct gsim_range to_come) {
    struct chunk *best = NULL;
    uint32_t best_b = 0, best_c = 0;
    bool is_best_to_come = false;
    for (uint32_t b = 0; b < MOST_BUFFERS; b++)
        for (uint32_t c = 0; c < t->n_chunks[b]; c++) {
            bool is_to_come =
                b == to_come.buffer && c >= to_come.first && c < to_come.first + to_come.n;
            if (!is_resident(&t->chunk[b][c]))
                continue;
            if (best && !goes_before(t, b, c, is_to_come, best_b, best_c, is_best_to_come))
                continue;
            best = &t->chunk[b][c];
            best_b = b;
            best_c = c;
            is_best_to_come = is_to_come;
        }
    return best;
}

static struct gsim_moved table_evict(struct table *t, uint32_t n) {
    struct gsim_moved moved = {0};
    struct chunk *victim;
    while (n-- > 0 && (victim = table_victim(t, (struct gsim_range){UINT32_MAX, 0, 0})))
        table_leave(t, victim, &moved);
    return moved;
}

static struct gsim_moved table_access(struct table *t, struct gsim_range range, bool is_write) {
    struct gsim_moved moved = {0};
    for (; range.n > 0; range.first++, range.n--) {
        struct chunk *chunk = &t->chunk[range.buffer][range.first];
        if (is_resident(chunk)) {
            moved.hits++;
        } else {
            struct chunk *victim = t->n_resident < t->capacity ? NULL : table_victim(t, range);
            if (t->n_resident == t->capacity && !victim)
                break;
            if (victim)
                table_leave(t, victim, &moved);
            table_arrive(t, chunk, &moved);
        }
        table_use(t, chunk, is_write);
    }
    return moved;
}

/* What populate, touch, evict_range and write_host do to one chunk. */
enum simple { POPULATE, TOUCH, WRITE, EVICT_RANGE, WRITE_HOST, SIMPLE_COUNT };

static void table_simple(struct table *t, struct chunk *chunk, enum simple what,
                         struct gsim_moved *moved) {
    bool is_there = is_resident(chunk);
    if (what == POPULATE) {
        if (is_there)
            moved->hits++;
        else
            table_arrive(t, chunk, moved);
    } else if ((what == TOUCH || what == WRITE) && is_there) {
        moved->hits++;
        table_use(t, chunk, what == WRITE);
    } else if (what == EVICT_RANGE && is_there) {
        table_leave(t, chunk, moved);
    } else if (what == WRITE_HOST) {
        t->n_resident -= is_there;
        *chunk = (struct chunk){.content = GSIM_ON_HOST};
    }
}

static void put(int64_t value, int64_t *out, size_t *n) {
    assert_true(*n < STATE);
    out[(*n)++] = value;
}

/* The oldest resident chunk younger than age. */
static bool next_by_age(const struct table *t, uint64_t age, uint32_t *buffer, uint32_t *chunk) {
    bool is_found = false;
    for (uint32_t b = 0; b < MOST_BUFFERS; b++)
        for (uint32_t c = 0; c < t->n_chunks[b]; c++) {
            const struct chunk *candidate = &t->chunk[b][c];
            if (!is_resident(candidate) || candidate->age <= age ||
                (is_found && candidate->age >= t->chunk[*buffer][*chunk].age))
                continue;
            is_found = true;
            *buffer = b;
            *chunk = c;
        }
    return is_found;
}

static void table_ages(const struct table *t, int64_t *out, size_t *n) {
    uint32_t b = 0, c = 0;
    bool is_more = next_by_age(t, 0, &b, &c);
    while (is_more) {
        uint32_t run_b = b, first = c, end = c;
        for (; is_more && b == run_b && c == end; end++)
            is_more = next_by_age(t, t->chunk[b][c].age, &b, &c);
        put(run_b, out, n);
        put(first, out, n);
        put(end, out, n);
    }
}

static size_t table_state(const struct table *t, int64_t *out) {
    size_t n = 0;
    for (uint32_t b = 0; b < MOST_BUFFERS; b++) {
        if (t->n_chunks[b] == 0)
            continue;
        put(b, out, &n);
        for (uint32_t c = 0; c < t->n_chunks[b];) {
            const struct chunk *chunk = &t->chunk[b][c];
            uint32_t first = c;
            while (c < t->n_chunks[b] && t->chunk[b][c].content == chunk->content)
                c++;
            put(c - first, out, &n);
            put(chunk->content, out, &n);
        }
    }
    put(-1, out, &n);
    if (t->eviction != GSIM_EVICT_BELADY)
        table_ages(t, out, &n);
    return n;
}

/* --- both, side by side ----------------------------------------------------------------------- */

struct pair {
    struct gsim_residency extents;
    struct table table;
    gsl_rng *rng;
};

static uint32_t draw(struct pair *pair, uint32_t n) {
    return (uint32_t)gsl_rng_uniform_int(pair->rng, n);
}

static struct gsim_range draw_range(struct pair *pair, uint32_t buffer) {
    uint32_t n_chunks = pair->table.n_chunks[buffer];
    uint32_t first = draw(pair, n_chunks);
    if (draw(pair, 3) == 0)
        return (struct gsim_range){buffer, 0, n_chunks};
    return (struct gsim_range){buffer, first, draw(pair, n_chunks - first + 1)};
}

static void expect_same_moved(struct gsim_moved a, struct gsim_moved b) {
    assert_int_equal(a.hits, b.hits);
    assert_int_equal(a.in, b.in);
    assert_int_equal(a.zeroed, b.zeroed);
    assert_int_equal(a.out_dirty, b.out_dirty);
    assert_int_equal(a.out_clean, b.out_clean);
}

static void expect_same_counts(const struct pair *pair, uint32_t buffer) {
    uint32_t n_resident = 0, n_dirty = 0;
    for (uint32_t c = 0; c < pair->table.n_chunks[buffer]; c++) {
        const struct chunk *chunk = &pair->table.chunk[buffer][c];
        assert_int_equal(gsim_residency_content(&pair->extents, buffer, c), chunk->content);
        n_resident += is_resident(chunk);
        n_dirty += chunk->content == GSIM_DIRTY;
    }
    assert_int_equal(pair->extents.buffers[buffer].n_resident, n_resident);
    assert_int_equal(pair->extents.buffers[buffer].n_dirty, n_dirty);
}

static void expect_same(const struct pair *pair) {
    static int64_t a[STATE], b[STATE];
    size_t n = gsim_residency_state(&pair->extents, a, STATE);
    assert_false(pair->extents.has_failed);
    assert_int_equal(n, table_state(&pair->table, b));
    assert_memory_equal(a, b, n * sizeof *a);
    assert_int_equal(pair->extents.n_resident, pair->table.n_resident);
    for (uint32_t buffer = 0; buffer < MOST_BUFFERS; buffer++)
        if (pair->table.n_chunks[buffer])
            expect_same_counts(pair, buffer);
}

static void do_open(struct pair *pair, uint32_t buffer) {
    uint32_t n_chunks = 1 + draw(pair, MOST_CHUNKS);
    uint32_t id = gsim_residency_open(&pair->extents, 0, n_chunks);
    if (id != buffer) { /* ids are given out by the module; close what we did not mean */
        gsim_residency_close(&pair->extents, id);
        return;
    }
    memset(pair->table.chunk[buffer], 0, sizeof pair->table.chunk[buffer]);
    pair->table.n_chunks[buffer] = n_chunks;
    pair->table.next_use[buffer] = INT64_MAX;
    pair->table.yields[buffer] = draw(pair, 3) == 0;
    if (pair->table.yields[buffer])
        gsim_residency_yield(&pair->extents, buffer);
}

static void do_close(struct pair *pair, uint32_t buffer) {
    gsim_residency_close(&pair->extents, buffer);
    for (uint32_t c = 0; c < pair->table.n_chunks[buffer]; c++)
        pair->table.n_resident -= is_resident(&pair->table.chunk[buffer][c]);
    pair->table.n_chunks[buffer] = 0;
}

static struct gsim_moved simple(struct gsim_residency *r, struct gsim_range range,
                                enum simple what) {
    struct gsim_moved moved = {0};
    if (what == POPULATE)
        moved = gsim_residency_populate(r, range);
    else if (what == TOUCH || what == WRITE)
        moved = gsim_residency_touch(r, range, what == WRITE);
    else if (what == EVICT_RANGE)
        moved = gsim_residency_evict_range(r, range);
    else
        gsim_residency_write_host(r, range);
    return moved;
}

static void do_simple(struct pair *pair, uint32_t buffer) {
    enum simple what = (enum simple)draw(pair, SIMPLE_COUNT);
    struct gsim_range range = draw_range(pair, buffer);
    struct gsim_moved expected = {0};
    struct gsim_moved missing = gsim_residency_missing(&pair->extents, range);
    if (what == POPULATE &&
        missing.in + missing.zeroed > (int64_t)gsim_residency_free(&pair->extents))
        return;
    for (uint32_t c = range.first; c < range.first + range.n; c++)
        table_simple(&pair->table, &pair->table.chunk[buffer][c], what, &expected);
    if (what == POPULATE) {
        assert_int_equal(missing.in, expected.in);
        assert_int_equal(missing.zeroed, expected.zeroed);
        assert_int_equal(missing.hits, expected.hits);
    }
    expect_same_moved(simple(&pair->extents, range, what), expected);
}

static void do_access(struct pair *pair, uint32_t buffer) {
    struct gsim_range range = draw_range(pair, buffer);
    bool is_write = draw(pair, 2);
    expect_same_moved(gsim_residency_access(&pair->extents, range, is_write),
                      table_access(&pair->table, range, is_write));
}

static void do_turn(struct pair *pair, uint32_t buffer) {
    struct chunk turned[MOST_CHUNKS];
    uint32_t n = pair->table.n_chunks[buffer], by = draw(pair, n);
    for (uint32_t c = 0; c < n; c++)
        turned[(c + by) % n] = pair->table.chunk[buffer][c];
    memcpy(pair->table.chunk[buffer], turned, n * sizeof *turned);
    gsim_residency_turn(&pair->extents, buffer, by);
}

static void step(struct pair *pair) {
    uint32_t buffer = draw(pair, MOST_BUFFERS), what = draw(pair, 17);
    if (pair->table.n_chunks[buffer] == 0) {
        do_open(pair, buffer);
    } else if (what == 0) {
        do_close(pair, buffer);
    } else if (what <= 2) {
        uint32_t n = draw(pair, 12);
        expect_same_moved(gsim_residency_evict(&pair->extents, n), table_evict(&pair->table, n));
    } else if (what <= 4) {
        int64_t key = draw(pair, 5);
        gsim_residency_set_next_use(&pair->extents, buffer, key);
        pair->table.next_use[buffer] = key;
    } else if (what <= 9) {
        do_simple(pair, buffer);
    } else if (what == 10) {
        do_turn(pair, buffer);
    } else {
        do_access(pair, buffer);
    }
}

static void run_cases(enum gsim_eviction eviction, const char *stream) {
    gsl_rng *rng = gsim_rng_stream(1, 0, stream);
    for (int round = 0; round < 300 / TEST_FEWER; round++) {
        struct gsim_arena *arena = gsim_arena_new();
        uint32_t capacity = 1 + (uint32_t)gsl_rng_uniform_int(rng, MOST_CAPACITY);
        struct pair pair = {.table = {.capacity = capacity, .eviction = eviction}, .rng = rng};
        gsim_residency_init(&pair.extents, capacity, eviction, arena);
        for (int i = 0; i < 150; i++) {
            step(&pair);
            expect_same(&pair);
        }
        gsim_arena_free(arena);
    }
    gsl_rng_free(rng);
}

static void test_allocation_order_is_a_table_of_chunks(void **state) {
    (void)state;
    run_cases(GSIM_EVICT_ALLOCATION, "allocation");
}

static void test_lru_is_a_table_of_chunks(void **state) {
    (void)state;
    run_cases(GSIM_EVICT_LRU, "lru");
}

static void test_belady_is_a_table_of_chunks(void **state) {
    (void)state;
    run_cases(GSIM_EVICT_BELADY, "belady");
}

/* --- miss counts ------------------------------------------------------------------------------ */

static struct gsim_residency open_equal(enum gsim_eviction eviction, uint32_t capacity, uint32_t n,
                                        uint32_t n_chunks, struct gsim_arena *arena) {
    struct gsim_residency r;
    gsim_residency_init(&r, capacity, eviction, arena);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(gsim_residency_open(&r, i, n_chunks), i);
        gsim_residency_write_host(&r, gsim_range_whole(&r, i));
    }
    return r;
}

/* Accesses number `from` to `to` of the cycle 0, 1, ... n - 1, 0, 1, ...; counts hits. */
static int64_t cycle(struct gsim_residency *r, uint32_t n, int64_t from, int64_t to) {
    int64_t hits = 0;
    for (int64_t at = from; at < to; at++) {
        uint32_t buffer = (uint32_t)(at % n);
        gsim_residency_set_next_use(r, buffer, at + n);
        hits += gsim_residency_access(r, gsim_range_whole(r, buffer), false).hits;
    }
    return hits;
}

static void test_a_cycle_of_single_chunks(void **state) {
    (void)state;
    for (uint32_t n = 3; n <= 12; n++)
        for (uint32_t c = 1; c < n; c++) {
            struct gsim_arena *arena = gsim_arena_new();
            struct gsim_residency belady = open_equal(GSIM_EVICT_BELADY, c, n, 1, arena);
            struct gsim_residency lru = open_equal(GSIM_EVICT_LRU, c, n, 1, arena);
            struct gsim_residency first = open_equal(GSIM_EVICT_ALLOCATION, c, n, 1, arena);
            int64_t warm = 3 * (int64_t)n, end = warm + 20 * (int64_t)(n - 1);
            (void)cycle(&belady, n, 0, warm);
            assert_int_equal(cycle(&belady, n, warm, end), 20 * (int64_t)(c - 1));
            assert_int_equal(cycle(&lru, n, 0, end), 0);
            assert_int_equal(cycle(&first, n, 0, end), 0);
            gsim_arena_free(arena);
        }
}

/* One buffer swept again and again is a cycle of its chunks: the same counts, through extents. */
static void test_a_buffer_swept_again_and_again(void **state) {
    (void)state;
    enum { N = 101, C = 41, SWEEPS = 100 };
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_residency belady = open_equal(GSIM_EVICT_BELADY, C, 1, N, arena);
    struct gsim_residency lru = open_equal(GSIM_EVICT_LRU, C, 1, N, arena);
    struct gsim_residency first = open_equal(GSIM_EVICT_ALLOCATION, C, 1, N, arena);
    (void)cycle(&belady, 1, 0, 3);
    /* N - 1 sweeps are N (N - 1) accesses: N (C - 1) hits */
    assert_int_equal(cycle(&belady, 1, 3, 3 + SWEEPS), N * (C - 1));
    assert_int_equal(cycle(&lru, 1, 0, SWEEPS), 0);
    assert_int_equal(cycle(&first, 1, 0, SWEEPS), 0);
    gsim_arena_free(arena);
}

/* Steps of one sweep over all of a buffer. */
static uint32_t steps_of(struct gsim_residency *r, uint32_t buffer) {
    struct gsim_range left = gsim_range_whole(r, buffer);
    struct gsim_moved moved = {0};
    uint32_t n_chunks = left.n, steps = 0, n;
    for (; (n = gsim_residency_step(r, left, false, &moved)) > 0; steps++) {
        left.first += n;
        left.n -= n;
    }
    assert_int_equal(left.n, 0);
    assert_int_equal(moved.hits + moved.in, n_chunks);
    return steps;
}

/* What misses in one go is one step, and what sweeps leave behind does not fall to pieces: a
 * sweep of a million chunks is no more than six steps (room, those that pass, and what is there,
 * around the place through which the last sweep passed), and the eight extents of the beginning
 * are enough. */
static void test_a_sweep_costs_a_few_steps(void **state) {
    (void)state;
    enum { N = 1000000, C = 12288, SWEEPS = 2000, STEPS = 6, EXTENTS = 8 };
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_residency r = open_equal(GSIM_EVICT_BELADY, C, 1, N, arena);
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        assert_true(steps_of(&r, 0) <= STEPS);
    assert_int_equal(r.extent_capacity, EXTENTS);
    gsim_arena_free(arena);
}

/* Buffers that are used again at the same time push each other out: the higher one goes first, so
 * for the lower one it goes in one step, and the higher one passes through what the lower one
 * leaves. */
static void test_pushing_an_equal_out_costs_a_few_steps(void **state) {
    (void)state;
    enum { N = 100000, TURNS = 20, STEPS = 4 };
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_residency r = open_equal(GSIM_EVICT_BELADY, N + N / 2, 2, N, arena);
    for (uint32_t turn = 0; turn < TURNS; turn++)
        assert_true(steps_of(&r, turn % 2) <= STEPS);
    gsim_arena_free(arena);
}

/* All of a task is brought in at its turn, what is used again last goes out for it. */
static int64_t rotate(struct gsim_residency *r, uint32_t n, int64_t from, int64_t to) {
    int64_t hits = 0;
    for (int64_t at = from; at < to; at++) {
        uint32_t buffer = (uint32_t)(at % n);
        struct gsim_range whole = gsim_range_whole(r, buffer);
        gsim_residency_set_next_use(r, buffer, at);
        hits += gsim_residency_touch(r, whole, false).hits;
        int64_t missing = gsim_residency_missing(r, whole).in;
        int64_t room = gsim_residency_free(r);
        if (missing > room)
            (void)gsim_residency_evict(r, (uint32_t)(missing - room));
        assert_int_equal(gsim_residency_populate(r, whole).in, missing);
        gsim_residency_set_next_use(r, buffer, at + n);
    }
    return hits;
}

/* A round of N tasks of W chunks with room for cW: of each next one (c - 1)/(N - 1) W are still
 * there, over N - 1 switches exactly; under LRU none. 2048 chunks are 4 GiB, 3840 are 7.5 GiB. */
static void test_a_round_of_tasks(void **state) {
    (void)state;
    enum { W = 2048, ROOM = 3840 };
    for (uint32_t n = 3; n <= 9; n++) {
        struct gsim_arena *arena = gsim_arena_new();
        struct gsim_residency belady = open_equal(GSIM_EVICT_BELADY, ROOM, n, W, arena);
        struct gsim_residency lru = open_equal(GSIM_EVICT_LRU, ROOM, n, W, arena);
        int64_t warm = 2 * (int64_t)n, end = warm + 10 * (int64_t)(n - 1);
        (void)rotate(&belady, n, 0, warm);
        assert_int_equal(rotate(&belady, n, warm, end), 10 * (ROOM - W));
        assert_int_equal(rotate(&lru, n, 0, end), 0);
        gsim_arena_free(arena);
    }
}

enum { ITEMS = 5, LENGTH = 14 };

/* The fewest misses of any way to evict: over all sets that can be resident after each access. */
static int fewest_misses(const uint32_t *sequence, uint32_t capacity) {
    int least[1 << ITEMS], next[1 << ITEMS];
    for (int set = 0; set < 1 << ITEMS; set++)
        least[set] = set == 0 ? 0 : LENGTH + 1;
    for (int at = 0; at < LENGTH; at++) {
        int item = 1 << sequence[at];
        for (int set = 0; set < 1 << ITEMS; set++)
            next[set] = LENGTH + 1;
        for (int set = 0; set < 1 << ITEMS; set++)
            for (int kept = set; least[set] <= LENGTH; kept = (kept - 1) & set) {
                int after = kept | item, misses = least[set] + !(set & item);
                bool fits = (uint32_t)__builtin_popcount((unsigned)after) <= capacity;
                if (fits && misses < next[after])
                    next[after] = misses;
                if (kept == 0)
                    break;
            }
        memcpy(least, next, sizeof least);
    }
    int best = LENGTH + 1;
    for (int set = 0; set < 1 << ITEMS; set++)
        best = least[set] < best ? least[set] : best;
    return best;
}

static int64_t next_in(const uint32_t *sequence, int from, uint32_t item) {
    for (int at = from; at < LENGTH; at++)
        if (sequence[at] == item)
            return at;
    return INT64_MAX;
}

static void test_no_order_misses_less_than_belady(void **state) {
    (void)state;
    gsl_rng *rng = gsim_rng_stream(1, 0, "optimal");
    for (int round = 0; round < 200 / TEST_FEWER; round++) {
        struct gsim_arena *arena = gsim_arena_new();
        uint32_t sequence[LENGTH], capacity = 1 + (uint32_t)gsl_rng_uniform_int(rng, ITEMS - 1);
        for (int at = 0; at < LENGTH; at++)
            sequence[at] = (uint32_t)gsl_rng_uniform_int(rng, ITEMS);
        struct gsim_residency r = open_equal(GSIM_EVICT_BELADY, capacity, ITEMS, 1, arena);
        int64_t misses = 0;
        for (int at = 0; at < LENGTH; at++) {
            gsim_residency_set_next_use(&r, sequence[at], next_in(sequence, at + 1, sequence[at]));
            misses += gsim_residency_access(&r, gsim_range_whole(&r, sequence[at]), false).in;
        }
        assert_int_equal(misses, fewest_misses(sequence, capacity));
        gsim_arena_free(arena);
    }
    gsl_rng_free(rng);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allocation_order_is_a_table_of_chunks),
        cmocka_unit_test(test_lru_is_a_table_of_chunks),
        cmocka_unit_test(test_belady_is_a_table_of_chunks),
        cmocka_unit_test(test_a_cycle_of_single_chunks),
        cmocka_unit_test(test_a_buffer_swept_again_and_again),
        cmocka_unit_test(test_a_sweep_costs_a_few_steps),
        cmocka_unit_test(test_pushing_an_equal_out_costs_a_few_steps),
        cmocka_unit_test(test_a_round_of_tasks),
        cmocka_unit_test(test_no_order_misses_less_than_belady),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
