/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The event queue, the ordered index, fixed point and the arena, each against a plain reference. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "sim/base/eventq.h"
#include "sim/base/index.h"
#include "gsim/params.h"
#include "sim/base/rng.h"
#include "sim/base/wide.h"

enum { IDS = 300, STEPS = 20000 };

/* --- event queue against a scan of an array
 * ------------------------------------------------------- */

struct reference {
    bool is_there[IDS];
    int64_t time[IDS];
    uint64_t order[IDS];
};

static uint32_t earliest(const struct reference *r) {
    uint32_t best = UINT32_MAX;
    for (uint32_t id = 0; id < IDS; id++)
        if (r->is_there[id] && (best == UINT32_MAX || r->time[id] < r->time[best] ||
                                (r->time[id] == r->time[best] && r->order[id] < r->order[best])))
            best = id;
    return best;
}

static void pop_and_compare(struct gsim_eventq *queue, struct reference *r) {
    struct gsim_event_key key;
    uint32_t expected = earliest(r);
    assert_int_equal(gsim_eventq_is_empty(queue), expected == UINT32_MAX);
    if (expected == UINT32_MAX) {
        assert_int_equal(gsim_eventq_next(queue), INT64_MAX);
        return;
    }
    assert_int_equal(gsim_eventq_next(queue), r->time[expected]);
    assert_int_equal(gsim_eventq_first(queue), expected);
    assert_int_equal(gsim_eventq_pop(queue, &key), expected);
    assert_int_equal(key.time_ns, r->time[expected]);
    assert_int_equal(key.order, r->order[expected]);
    r->is_there[expected] = false;
}

/* Times have as many random bits as is said, of either sign, and so have orders above a part that
 * makes them unique: none at all makes times the same. Keys are anywhere, so about half of them lie
 * before what was popped. */
struct shape {
    unsigned time_bits, order_bits;
};

enum { TIME_BITS = 63, UNIQUE_BITS = 20, ORDER_BITS = 64 - UNIQUE_BITS };

static uint64_t random_bits(gsl_rng *rng, unsigned n) {
    return n ? (uint64_t)gsl_rng_get(rng) >> (64 - n) : 0;
}

static void set_both(struct gsim_eventq *queue, struct reference *r, uint32_t id, int64_t time_ns,
                     uint64_t order) {
    r->is_there[id] = true;
    r->time[id] = time_ns;
    r->order[id] = order;
    gsim_eventq_set(queue, id, time_ns, order);
}

static void set_randomly(struct gsim_eventq *queue, struct reference *r, gsl_rng *rng, uint32_t id,
                         struct shape shape, uint64_t unique) {
    int64_t sign = shape.time_bits && gsl_rng_uniform_int(rng, 2) ? -1 : 1;
    set_both(queue, r, id, sign * (int64_t)random_bits(rng, shape.time_bits),
             random_bits(rng, shape.order_bits) << UNIQUE_BITS | unique);
}

static void step_both(struct gsim_eventq *queue, struct reference *r, gsl_rng *rng, uint32_t n_ids,
                      struct shape shape, uint64_t unique) {
    uint32_t id = (uint32_t)gsl_rng_uniform_int(rng, n_ids);
    unsigned long what = gsl_rng_uniform_int(rng, 5);
    if (what < 2) {
        set_randomly(queue, r, rng, id, shape, unique);
    } else if (what == 2) {
        r->is_there[id] = false;
        gsim_eventq_cancel(queue, id);
    } else {
        pop_and_compare(queue, r);
    }
    assert_int_equal(gsim_eventq_has(queue, id), r->is_there[id]);
}

/* Keys that differ in bits of one size after another, in times or in orders: every level of the wheel
 * is filled by more than the front holds. */
static void test_event_queue(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    gsl_rng *rng = gsim_rng_stream(1, 0, "eventq");
    struct gsim_eventq queue;
    static struct reference r;
    uint64_t unique = 0;
    gsim_eventq_init(&queue, arena);
    assert_true(gsim_eventq_reserve(&queue, IDS));
    for (unsigned bits = 0; bits <= ORDER_BITS + TIME_BITS; bits++) {
        struct shape shape = {0, bits};
        if (bits > ORDER_BITS)
            shape = (struct shape){bits - ORDER_BITS, 3};
        for (uint32_t id = 0; id < IDS; id++)
            set_randomly(&queue, &r, rng, id, shape, unique++);
        for (uint32_t i = 0; i < IDS; i++)
            step_both(&queue, &r, rng, IDS, shape, unique++);
        while (!gsim_eventq_is_empty(&queue))
            pop_and_compare(&queue, &r);
    }
    gsl_rng_free(rng);
    gsim_arena_free(arena);
}

/* What is there stays while more is reserved, and the sizes of times change. */
static void test_event_queue_grows(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    gsl_rng *rng = gsim_rng_stream(1, 1, "eventq");
    struct gsim_eventq queue;
    static struct reference r;
    uint32_t n_ids = 0;
    gsim_eventq_init(&queue, arena);
    assert_true(gsim_eventq_is_empty(&queue));
    assert_false(gsim_eventq_has(&queue, 0));
    for (uint64_t step = 0; step < STEPS; step++) {
        if (step % 100 == 0 && n_ids < IDS)
            assert_true(gsim_eventq_reserve(&queue, n_ids += 10));
        unsigned bits = 1 + (unsigned)(step / 300) % TIME_BITS;
        step_both(&queue, &r, rng, n_ids, (struct shape){bits, 0}, step);
    }
    while (!gsim_eventq_is_empty(&queue))
        pop_and_compare(&queue, &r);
    assert_int_equal(earliest(&r), UINT32_MAX);
    gsl_rng_free(rng);
    gsim_arena_free(arena);
}

/* More keys before the bound than the front holds, with so many near it that it is not lowered: some
 * go astray, and go on to as long as there are strays, although none is near the bound any more. */
static void test_event_queue_strays(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_eventq queue;
    static struct reference r;
    gsim_eventq_init(&queue, arena);
    assert_true(gsim_eventq_reserve(&queue, IDS));
    for (uint32_t id = 0; id < 200; id++)
        set_both(&queue, &r, id, id, 0);
    for (uint32_t id = 200; id < 250; id++)
        set_both(&queue, &r, id, -(int64_t)id, 0);
    assert_true(queue.n_strays > 0);
    for (uint32_t id = 1; id < 200; id++) {
        gsim_eventq_cancel(&queue, id);
        r.is_there[id] = false;
    }
    for (uint32_t id = 250; id < IDS; id++)
        set_both(&queue, &r, id, -(int64_t)id, 0);
    while (!gsim_eventq_is_empty(&queue))
        pop_and_compare(&queue, &r);
    assert_int_equal(earliest(&r), UINT32_MAX);
    gsim_arena_free(arena);
}

/* So many that to look at each for each of them would take minutes. */
enum { CROWD = 300000 };

static uint64_t order_in(int how, uint32_t id) {
    return how == 0 ? id : how == 1 ? CROWD - 1 - id : (uint64_t)id * 7 % CROWD;
}

static void pop_crowd(struct gsim_eventq *queue, uint32_t from, int how) {
    for (uint32_t i = from; i < CROWD; i++) {
        struct gsim_event_key key;
        uint32_t first = gsim_eventq_first(queue);
        assert_true(order_in(how, first) == i && gsim_eventq_pop(queue, &key) == first &&
                    key.order == i);
    }
    assert_true(gsim_eventq_is_empty(queue));
}

/* Bursts before the crowd that go away again: the bound is between the two by turns. */
static void push_in_by_turns(struct gsim_eventq *queue, int how) {
    enum { BURST = 20 };
    for (uint32_t id = 0; id < CROWD; id++) {
        gsim_eventq_set(queue, id, 500 - id % BURST, 0);
        for (uint32_t back = id + 1 - BURST; id % BURST == BURST - 1 && back <= id; back++)
            gsim_eventq_set(queue, back, 1000, order_in(how, back));
    }
}

/* All at one instant, in order, against it and out of it; then each comes an instant before all
 * others, is moved behind them and back, they push in by turns, and half of them are called off. */
static void test_event_queue_of_a_crowd(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_eventq queue;
    gsim_eventq_init(&queue, arena);
    assert_true(gsim_eventq_reserve(&queue, CROWD));
    for (int how = 0; how < 3; how++) {
        for (uint32_t id = 0; id < CROWD; id++)
            gsim_eventq_set(&queue, id, 1000, order_in(how, id));
        for (uint32_t i = 0; i < CROWD; i++) {
            uint32_t first = gsim_eventq_first(&queue);
            gsim_eventq_set(&queue, first, 999 - (int64_t)i, 0);
            assert_true(gsim_eventq_first(&queue) == first);
            gsim_eventq_set(&queue, first, 1001 + i % 2, order_in(how, first));
        }
        for (uint32_t id = 0; id < CROWD; id++)
            gsim_eventq_set(&queue, id, 1000, order_in(how, id));
        push_in_by_turns(&queue, how);
        for (uint32_t id = 0; id < CROWD; id++)
            if (order_in(how, id) < CROWD / 2)
                gsim_eventq_cancel(&queue, id);
        pop_crowd(&queue, CROWD / 2, how);
    }
    for (uint32_t i = 0; i < CROWD; i++) { /* the soonest comes last */
        gsim_eventq_set(&queue, i, -(int64_t)i, CROWD - 1 - i);
        assert_true(gsim_eventq_next(&queue) == -(int64_t)i);
    }
    pop_crowd(&queue, 0, 1);
    gsim_arena_free(arena);
}

/* --- ordered index against a scan
 * ------------------------------------------------------------------- */

static uint32_t scan_next(const struct reference *r, int64_t key, uint64_t tie, bool is_strict) {
    uint32_t best = UINT32_MAX;
    for (uint32_t id = 0; id < IDS; id++) {
        bool is_after = r->time[id] > key || (r->time[id] == key && r->order[id] > tie);
        bool is_same = r->time[id] == key && r->order[id] == tie;
        if (!r->is_there[id] || !(is_after || (is_same && !is_strict)))
            continue;
        if (best == UINT32_MAX || r->time[id] < r->time[best] ||
            (r->time[id] == r->time[best] && r->order[id] < r->order[best]))
            best = id;
    }
    return best;
}

static void compare_walk(const struct gsim_index *index, const struct reference *r) {
    uint32_t at = gsim_index_first(index), before = GSIM_NO_ID, n = 0;
    assert_int_equal(at, earliest(r));
    for (; at != GSIM_NO_ID; at = gsim_index_next(index, at), n++) {
        assert_int_equal(gsim_index_prev(index, at), before);
        assert_int_equal(gsim_index_next(index, at), scan_next(r, r->time[at], r->order[at], true));
        before = at;
    }
    assert_int_equal(gsim_index_last(index), before);
    assert_int_equal(n, index->n);
}

/* The size of a member, any function of what it is. */
static int64_t size_of(int64_t key, uint32_t id) {
    return (key * key + 7 * (int64_t)id) % 32;
}

static void compare_fitting(const struct gsim_index *index, const struct reference *r) {
    for (int64_t most = -1; most <= 32; most += 3) {
        uint32_t fitting = GSIM_NO_ID; /* the nearest at or after, while walking back */
        for (uint32_t at = gsim_index_last(index); at != GSIM_NO_ID;
             at = gsim_index_prev(index, at)) {
            if (size_of(r->time[at], at) <= most)
                fitting = at;
            assert_int_equal(gsim_index_fitting(index, at, most), fitting);
        }
    }
}

/* With a hint: of the neighbour, of a member that stands elsewhere, or none. */
static bool add_sized(struct gsim_index *index, uint32_t id, int64_t key, uint64_t hint) {
    uint32_t after = gsim_index_seek(index, key, id), near = gsim_index_first(index);
    if (hint == 0)
        return gsim_index_insert_sized(index, id, key, id, size_of(key, id));
    if (hint == 1)
        near = after == GSIM_NO_ID ? gsim_index_last(index) : gsim_index_prev(index, after);
    return gsim_index_insert_after(index, id, key, id, size_of(key, id), near);
}

static void walk_ordered_index(bool is_sized) {
    struct gsim_arena *arena = gsim_arena_new();
    gsl_rng *rng = gsim_rng_stream(2, 0, "index");
    struct gsim_index index;
    struct reference r = {0};
    gsim_index_init(&index, arena);
    for (uint64_t step = 0; step < STEPS; step++) {
        uint32_t id = (uint32_t)gsl_rng_uniform_int(rng, IDS);
        int64_t key = (int64_t)gsl_rng_uniform_int(rng, 40) - 20;
        if (r.is_there[id]) {
            gsim_index_remove(&index, id);
            r.is_there[id] = false;
        } else {
            r.is_there[id] = true;
            r.time[id] = key;
            r.order[id] = id;
            assert_true(is_sized ? add_sized(&index, id, key, step % 3)
                                 : gsim_index_insert(&index, id, key, id));
        }
        assert_int_equal(gsim_index_seek(&index, key, 100), scan_next(&r, key, 100, false));
        if (step % 500 == 0)
            compare_walk(&index, &r);
        if (step % 500 == 0 && is_sized)
            compare_fitting(&index, &r);
    }
    gsl_rng_free(rng);
    gsim_arena_free(arena);
}

static void test_ordered_index(void **state) {
    (void)state;
    walk_ordered_index(false);
    walk_ordered_index(true);
}

/* --- fixed point
 * -------------------------------------------------------------------------------------- */

static void test_work_is_additive(void **state) {
    (void)state;
    gsl_rng *rng = gsim_rng_stream(3, 0, "work");
    for (int i = 0; i < 10000; i++) {
        uint64_t rate = gsl_rng_get(rng) >> 31;
        int64_t a = (int64_t)(gsl_rng_get(rng) >> 4), b = (int64_t)(gsl_rng_get(rng) >> 4);
        assert_true(gsim_work_done(rate, a) + gsim_work_done(rate, b) ==
                    gsim_work_done(rate, a + b));
    }
    gsl_rng_free(rng);
}

/* The first instant at which the work is done: not a nanosecond sooner. */
static void test_work_time_is_the_first_instant(void **state) {
    (void)state;
    gsl_rng *rng = gsim_rng_stream(4, 0, "time");
    for (int i = 0; i < 10000; i++) {
        uint64_t rate = i % 2 ? GSIM_RATE_ONE : GSIM_RATE_ONE / (2 + gsl_rng_uniform_int(rng, 9));
        gsim_work left = ((gsim_work)(gsl_rng_get(rng) >> 8) << 20) + 1;
        int64_t time = gsim_work_time(left, rate);
        assert_true(gsim_work_done(rate, time) >= left);
        assert_true(gsim_work_done(rate, time - 1) < left);
    }
    gsl_rng_free(rng);
}

static void test_exp2(void **state) {
    (void)state;
    for (int64_t numerator = 0; numerator < 4000; numerator += 7) {
        double exact = exp2(-(double)numerator / 100.0) * 4294967296.0;
        double ours = (double)gsim_exp2_neg_q32(numerator, 100);
        assert_true(fabs(ours - exact) <= 1.0);
    }
    assert_int_equal(gsim_exp2_neg_q32(0, 1), GSIM_RATE_ONE);
    assert_int_equal(gsim_exp2_neg_q32(1, 1), GSIM_RATE_ONE / 2);
    assert_int_equal(gsim_exp2_neg_q32(INT64_MAX, 1), 0);
}

/* In steps of 2^-32, to one step; the least part is 2^-32 itself. */
static void test_log2(void **state) {
    (void)state;
    for (uint64_t part = 1; part < UINT64_C(1) << 32; part += part / 7 + 1) {
        double exact = 32 - log2((double)part);
        double ours = (double)gsim_log2_neg_q32(part) / 4294967296.0;
        assert_true(fabs(ours - exact) <= 1 / 4294967296.0);
    }
    assert_int_equal(gsim_log2_neg_q32(UINT64_C(1) << 32), 0);
    assert_in_range(gsim_log2_neg_q32(1), (INT64_C(32) << 32) - 1, INT64_C(32) << 32);
}

/* --- arena
 * -------------------------------------------------------------------------------------------- */

static void test_arena(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    for (size_t size = 0; size < 300000; size = size * 2 + 1) {
        unsigned char *block = gsim_arena_alloc(arena, size);
        assert_int_equal((uintptr_t)block % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(block[i], 0);
        memset(block, 0xAA, size);
    }
    unsigned char *grown = gsim_arena_grow(arena, NULL, 0, 10);
    memset(grown, 1, 10);
    grown = gsim_arena_grow(arena, grown, 10, 100000);
    assert_int_equal(grown[9], 1);
    assert_int_equal(grown[10], 0);
    assert_int_equal(grown[99999], 0);
    assert_null(gsim_arena_array(arena, SIZE_MAX / 2, 4));
    gsim_arena_drop(arena, grown);
    assert_string_equal(gsim_arena_printf(arena, "%d-%s", 7, "x"), "7-x");
    gsim_arena_free(arena);
}

/* A table moves only when it is full, keeps its cells, and is as it was where there is no memory. */
static void test_room(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    uint32_t *table = NULL, capacity = 0;
    for (uint32_t n = 0; n < 1000; n++) {
        uint32_t before = capacity;
        uint32_t *grown = gsim_arena_room(arena, table, n, &capacity, sizeof *grown);
        assert_non_null(grown);
        assert_true(n < before ? grown == table && capacity == before : capacity >= 2 * before);
        assert_true(n < capacity);
        table = grown;
        table[n] = n;
    }
    for (uint32_t n = 0; n < 1000; n++)
        assert_int_equal(table[n], n);
    uint32_t was = capacity, most = UINT32_MAX;
    assert_null(gsim_arena_room(arena, table, capacity, &capacity, SIZE_MAX / capacity / 2));
    assert_int_equal(capacity, was);
    assert_null(gsim_arena_room(arena, table, UINT32_MAX, &most, sizeof *table));
    assert_int_equal(most, UINT32_MAX);
    gsim_arena_free(arena);
}

static void test_an_arena_of_two_owners(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    char *text = gsim_arena_strdup(arena, "kept");
    gsim_arena_share(arena);
    gsim_arena_free(arena);
    assert_string_equal(text, "kept"); /* a sanitizer would tell if it were not */
    assert_string_equal(gsim_arena_strdup(arena, "more"), "more");
    gsim_arena_free(arena);
}

/* --- parameters
 * --------------------------------------------------------------------------------------- */

static const struct gsim_param_def defs[] = {
    {.name = "quantum",
     .type = GSIM_PARAM_CHOICE_TIME,
     .fallback = "share",
     .min = 1,
     .max = INT64_MAX,
     .choices = "share|auto",
     .help = "q"},
    {.name = "level", .type = GSIM_PARAM_INT, .fallback = "2", .min = 1, .max = 3, .help = "l"},
    {.name = "queues", .type = GSIM_PARAM_INT_LIST, .fallback = "3250,7200", .help = "limits"},
    {.name = "packing", .type = GSIM_PARAM_BOOL, .fallback = "on", .help = "p"},
    {0}};

static void test_params(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    static struct gsim_log log;
    struct gsim_params params, *owners[] = {&params};
    assert_int_equal(gsim_params_init(&params, "las", defs, arena, &log), GSIM_OK);
    assert_int_equal(gsim_param(&params, "quantum"), -1);
    assert_int_equal(gsim_params_assign(owners, 1, "las.quantum", "30s", arena, &log), GSIM_OK);
    assert_int_equal(gsim_param(&params, "quantum"), 30000000000);
    assert_int_equal(gsim_params_assign(owners, 1, "packing", "off", arena, &log), GSIM_OK);
    assert_int_equal(gsim_param(&params, "packing"), 0);
    assert_int_equal(gsim_params_set(&params, "queues", "1,2,3", arena, &log), GSIM_OK);
    assert_int_equal(gsim_param(&params, "queues"), 3);
    assert_int_equal(gsim_param_full(&params, "queues")->list[2], 3);
    assert_int_equal(log.n_errors, 0);
    assert_int_equal(gsim_params_set(&params, "level", "4", arena, &log), GSIM_USAGE);
    assert_string_equal(log.errors[0].text, "las.level: '4' is not a whole number, 1 to 3");
    assert_int_equal(gsim_params_set(&params, "quantum", "0", arena, &log), GSIM_USAGE);
    assert_int_equal(gsim_params_set(&params, "queues", "1,,3", arena, &log), GSIM_USAGE);
    assert_int_equal(gsim_params_set(&params, "qantum", "3", arena, &log), GSIM_USAGE);
    assert_non_null(strstr(log.errors[3].text, "did you mean 'quantum'"));
    assert_int_equal(gsim_param(&params, "level"), 2); /* a refused value changes nothing */
    gsim_arena_free(arena);
}

/* Rows of a policy of another file, which says so and ends no program. */
static void test_wrong_params(void **state) {
    (void)state;
    static const struct {
        struct gsim_param_def def;
        const char *says; /* NULL: it is accepted */
    } cases[] = {
        {{.name = "q", .type = GSIM_PARAM_TIME, .fallback = "1min", .min = 1, .help = "h"}, NULL},
        {{.name = "q", .type = GSIM_PARAM_INT, .fallback = "-1", .min = -2, .help = "h"}, NULL},
        {{.name = "q", .type = GSIM_PARAM_INT, .fallback = "1", .min = -2, .help = "h"},
         "mine.q: the default '1' is not a whole number, -2 to 0"},
        {{.name = "q", .type = GSIM_PARAM_TIME, .fallback = "0s", .min = 1, .help = "h"},
         "mine.q: the default '0s' is not a time such as 30s, 10ms or 2h, at least 1ns"},
        {{.name = "q", .type = GSIM_PARAM_TIME, .help = "h"},
         "mine: parameter 'q' of the policy has no default (.fallback)"},
        {{.name = "q", .type = GSIM_PARAM_CHOICE, .fallback = "a", .help = "h"},
         "mine: parameter 'q' of the policy has no choices"},
        {{.name = "q", .type = GSIM_PARAM_BOOL, .fallback = "on"},
         "mine: parameter 'q' of the policy has no help"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gsim_arena *arena = gsim_arena_new();
        struct gsim_log log = {0};
        struct gsim_params params;
        const struct gsim_param_def table[] = {cases[i].def, {0}};
        enum gsim_status status = gsim_params_init(&params, "mine", table, arena, &log);
        assert_int_equal(status, cases[i].says ? GSIM_USAGE : GSIM_OK);
        if (cases[i].says)
            assert_string_equal(log.errors[0].text, cases[i].says);
        gsim_arena_free(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_event_queue),
        cmocka_unit_test(test_event_queue_grows),
        cmocka_unit_test(test_event_queue_strays),
        cmocka_unit_test(test_event_queue_of_a_crowd),
        cmocka_unit_test(test_ordered_index),
        cmocka_unit_test(test_work_is_additive),
        cmocka_unit_test(test_work_time_is_the_first_instant),
        cmocka_unit_test(test_exp2),
        cmocka_unit_test(test_log2),
        cmocka_unit_test(test_arena),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_an_arena_of_two_owners),
        cmocka_unit_test(test_params),
        cmocka_unit_test(test_wrong_params),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
