/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Switches with proactive migration: what goes and comes, what is predicted wrongly, what has no
 * room, and when a task can start. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "models/memory/pager.h"
#include "sim/base/rng.h"

enum { MOST_TASKS = 8, CHUNK = 1000 };

/* 1 B/ns in, 0.5 out, 1 together: a chunk of 1000 bytes is 1 us in, 2 us out, and 2 us both. */
static const struct gsim_proactive plain = {
    .rates = {.bytes_per_s = {1000000000, 500000000}, .both_bytes_per_s = 1000000000},
    .alternate_ns = 10,
    .chunk_bytes = CHUNK,
    .is_pipelined = true};

struct tasks {
    struct gsim_arena *arena;
    struct gsim_residency memory;
    struct gsim_range used[MOST_TASKS], unused[MOST_TASKS];
    uint32_t n;
};

/* Tasks of n_used chunks on the host and n_unused besides, a buffer each. */
static struct tasks open_tasks(uint32_t n, uint32_t n_used, uint32_t n_unused, uint32_t room,
                               enum gsim_eviction eviction) {
    struct tasks tasks = {.arena = gsim_arena_new(), .n = n};
    gsim_residency_init(&tasks.memory, room, eviction, tasks.arena);
    for (uint32_t i = 0; i < n; i++) {
        tasks.used[i] =
            (struct gsim_range){gsim_residency_open(&tasks.memory, i, n_used), 0, n_used};
        gsim_residency_write_host(&tasks.memory, tasks.used[i]);
        if (n_unused == 0)
            continue;
        tasks.unused[i] =
            (struct gsim_range){gsim_residency_open(&tasks.memory, i, n_unused), 0, n_unused};
        gsim_residency_write_host(&tasks.memory, tasks.unused[i]);
    }
    return tasks;
}

/* Round robin from task `next` on; sweeps of 100 us. */
static struct gsim_migration switch_to(struct tasks *tasks, const struct gsim_proactive *proactive,
                                       uint32_t next, bool is_write) {
    struct gsim_turn turns[MOST_TASKS];
    for (uint32_t i = 0; i < tasks->n; i++) {
        uint32_t task = (next + i) % tasks->n;
        turns[i] = (struct gsim_turn){.used = &tasks->used[task],
                                      .n_used = 1,
                                      .unused = &tasks->unused[task],
                                      .n_unused = tasks->unused[task].n > 0,
                                      .run_ns = 1000000,
                                      .sweep_ns = 100000};
    }
    struct gsim_migration migration =
        gsim_proactive_switch(proactive, &tasks->memory, turns, tasks->n, NULL);
    (void)gsim_residency_touch(&tasks->memory, tasks->used[next], is_write);
    return migration;
}

/* Three of 2048 chunks in 3840: whatever of the two that wait is there, 1792 chunks, is there at the
 * one switch or the other: 896 at the mean, as Belady's (c - 1)/(N - 1) says. */
static void test_a_round_moves_what_does_not_fit(void **state) {
    (void)state;
    struct tasks tasks = open_tasks(3, 2048, 0, 3840, GSIM_EVICT_BELADY);
    int64_t hits = 0;
    for (uint32_t i = 0; i < 6; i++)
        (void)switch_to(&tasks, &plain, i % 3, true);
    for (uint32_t i = 0; i < 10; i++) {
        struct gsim_migration m = switch_to(&tasks, &plain, i % 3, true);
        hits += m.moved.hits;
        assert_int_equal(m.moved.in, 2048 - m.moved.hits);
        assert_int_equal(m.moved.out_dirty, m.moved.in);
        assert_int_equal(m.bytes_in, m.moved.in * CHUNK);
        assert_int_equal(m.bytes_out, m.bytes_in);
        assert_int_equal(m.ns, m.moved.in * 2000);
        assert_int_equal(m.start_ns, m.ns);
        assert_int_equal(m.missed, 0);
    }
    assert_int_equal(hits, 10 * 896);
    struct gsim_proactive serial = plain;
    serial.is_pipelined = false;
    struct gsim_migration m = switch_to(&tasks, &serial, 1, false);
    assert_int_equal(m.ns, m.moved.in * (1000 + 2000 + 2 * 10));
    gsim_arena_free(tasks.arena);
}

static void test_clean_chunks_are_dropped_or_copied(void **state) {
    (void)state;
    struct tasks tasks = open_tasks(3, 20, 0, 40, GSIM_EVICT_BELADY);
    for (uint32_t i = 0; i < 6; i++)
        (void)switch_to(&tasks, &plain, i % 3, false);
    struct gsim_migration dropped = switch_to(&tasks, &plain, 0, false);
    assert_int_equal(dropped.moved.out_clean, dropped.moved.in);
    assert_int_equal(dropped.bytes_out, 0);
    assert_int_equal(dropped.ns, dropped.moved.in * 1000);
    struct gsim_proactive copying = plain;
    copying.copies_clean = true;
    struct gsim_migration copied = switch_to(&tasks, &copying, 1, false);
    assert_int_equal(copied.bytes_out, copied.moved.out_clean * CHUNK);
    gsim_arena_free(tasks.arena);
}

static void test_lru_brings_everything_each_time(void **state) {
    (void)state;
    struct tasks tasks = open_tasks(3, 2048, 0, 3840, GSIM_EVICT_LRU);
    for (uint32_t i = 0; i < 12; i++)
        assert_int_equal(switch_to(&tasks, &plain, i % 3, true).moved.in, 2048);
    gsim_arena_free(tasks.arena);
}

/* 10 % of 20 chunks are not predicted and stay away; 25 % too many are five of the unused; by
 * allocation, all 12 of them come. */
static void test_predictions_are_wrong_by_as_much_as_said(void **state) {
    (void)state;
    struct tasks tasks = open_tasks(2, 20, 12, 64, GSIM_EVICT_BELADY);
    struct gsim_proactive wrong = plain;
    wrong.false_negative_ppm = 100000;
    wrong.false_positive_ppm = 250000;
    struct gsim_migration m = switch_to(&tasks, &wrong, 0, false);
    assert_int_equal(m.moved.in, 18 + 5);
    assert_int_equal(m.missed, 2);
    assert_int_equal(gsim_residency_missing(&tasks.memory, tasks.unused[0]).hits, 5);
    wrong.predicts_allocations = true;
    m = switch_to(&tasks, &wrong, 1, false);
    assert_int_equal(m.moved.in, 20 + 12);
    assert_int_equal(m.missed, 0);
    gsim_arena_free(tasks.arena);
}

static void test_a_task_larger_than_memory_takes_all_of_it(void **state) {
    (void)state;
    struct tasks tasks = open_tasks(2, 50, 0, 30, GSIM_EVICT_BELADY);
    struct gsim_migration m = switch_to(&tasks, &plain, 0, true);
    assert_int_equal(m.moved.in, 30);
    assert_int_equal(m.missed, 20);
    m = switch_to(&tasks, &plain, 1, true);
    assert_int_equal(m.moved.in, 30);
    assert_int_equal(m.moved.out_dirty, 30);
    m = switch_to(&tasks, &plain, 1, true); /* its own chunks are not its victims */
    assert_int_equal(m.moved.hits, 30);
    assert_int_equal(m.moved.out_dirty, 0);
    assert_int_equal(m.ns, 0);
    gsim_arena_free(tasks.arena);
}

static void test_untouched_chunks_come_for_nothing(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_residency memory;
    gsim_residency_init(&memory, 10, GSIM_EVICT_BELADY, arena);
    struct gsim_range used = {gsim_residency_open(&memory, 0, 8), 0, 8};
    struct gsim_turn turn = {.used = &used, .n_used = 1};
    struct gsim_migration m = gsim_proactive_switch(&plain, &memory, &turn, 1, NULL);
    assert_int_equal(m.moved.zeroed, 8);
    assert_int_equal(m.ns, 0);
    assert_int_equal(m.missed, 0);
    gsim_arena_free(arena);
}

/* Eight dirty chunks go out at 2 us each for a task that comes to its memory for the first time. Where
 * it touches all of it at once, it waits for the last place; evenly over 100 us, for the first, as the
 * others are free 2 us after each other and needed 12.5 us after each other. */
static void test_untouched_chunks_wait_for_their_room(void **state) {
    (void)state;
    static const int64_t sweeps_ns[] = {0, 100000}, waits_ns[] = {16000, 2000};
    struct gsim_proactive early = plain;
    early.has_early_start = true;
    for (int i = 0; i < 2; i++) {
        struct tasks tasks = open_tasks(1, 8, 0, 8, GSIM_EVICT_BELADY);
        (void)switch_to(&tasks, &early, 0, true);
        struct gsim_range fresh = {gsim_residency_open(&tasks.memory, 1, 8), 0, 8};
        struct gsim_turn turns[] = {{.used = &fresh, .n_used = 1, .sweep_ns = sweeps_ns[i]},
                                    {.used = &tasks.used[0], .n_used = 1}};
        struct gsim_migration m = gsim_proactive_switch(&early, &tasks.memory, turns, 2, NULL);
        assert_int_equal(m.moved.zeroed, 8);
        assert_int_equal(m.ns, 16000);
        assert_int_equal(m.start_ns, waits_ns[i]);
        gsim_arena_free(tasks.arena);
    }
}

/* A sweep of 100 chunks in 100 us; 40 come in 40 us. Chunk 60 is needed at 60 us and comes at 1, chunk
 * 99 at 99 and comes at 40: it starts at once. With the missing ones in front, chunk 0 is needed at
 * once and comes at 1 us, chunk 39 is needed at 39 and comes at 40: 1 us late. Where a chunk takes
 * 2 us to come, the last is the worst: 80 - 39. */
static void test_an_early_start_never_overtakes(void **state) {
    (void)state;
    struct gsim_proactive early = plain;
    early.has_early_start = true;
    struct tasks tasks = open_tasks(1, 100, 0, 100, GSIM_EVICT_BELADY);
    assert_int_equal(switch_to(&tasks, &early, 0, false).start_ns, 1000);
    (void)gsim_residency_evict_range(&tasks.memory, (struct gsim_range){0, 60, 40});
    struct gsim_migration m = switch_to(&tasks, &early, 0, false);
    assert_int_equal(m.ns, 40000);
    assert_int_equal(m.start_ns, 0);
    (void)gsim_residency_evict_range(&tasks.memory, (struct gsim_range){0, 0, 40});
    assert_int_equal(switch_to(&tasks, &early, 0, false).start_ns, 1000);
    early.rates.bytes_per_s[GSIM_H2D] /= 2;
    (void)gsim_residency_evict_range(&tasks.memory, (struct gsim_range){0, 0, 40});
    assert_int_equal(switch_to(&tasks, &early, 0, false).start_ns, 80000 - 39000);
    gsim_arena_free(tasks.arena);
}

/* Eight chunks of a come back at 1 us each, for an iteration of 100 us. Where nothing is known of
 * the order, all are waited for; touched evenly over the iteration, only the first; over 4 us, one
 * each half a microsecond, the last: 8 us - 3.5. */
static void test_an_unknown_order_starts_nothing_early(void **state) {
    (void)state;
    static const int64_t ppm[] = {0, GSIM_PPM, GSIM_PPM / 25}, waits_ns[] = {8000, 1000, 4500};
    for (int i = 0; i < 3; i++) {
        struct gsim_arena *arena = gsim_arena_new();
        struct gsim_pager pager = {.manager = GSIM_MEMORY_PROACTIVE,
                                   .eviction = GSIM_EVICT_BELADY,
                                   .capacity = 10,
                                   .uvm.chunk_bytes = CHUNK,
                                   .first_touch_ppm = ppm[i],
                                   .proactive = plain};
        struct gsim_store store;
        struct gsim_tenant a;
        const struct gsim_tenant_spec spec = {.used_bytes = 8 * CHUNK,
                                              .allocated_bytes = 8 * CHUNK};
        pager.proactive.has_early_start = true;
        gsim_pager_store_init(&store, &pager, arena);
        assert_true(gsim_pager_open(&store, &a, &spec, false));
        gsim_residency_write_host(&store.residency, gsim_range_whole(&store.residency, a.used));
        const struct gsim_next_turn turn = {.tenant = &a, .run_ns = 1000000, .sweep_ns = 100000};
        assert_int_equal(gsim_pager_switch(&store, &turn, 1, false, 0).starts_ns, waits_ns[i]);
        gsim_arena_free(arena);
    }
}

/* The eight chunks of an iteration of two kernels, of which each touches four, the first one the
 * upper four, come at 1 us each, in the order of the kernels. All that a kernel touches must be
 * there when it begins: the first four after 4 us, the others 8 us less the time of the first
 * kernel: 5 us of 3, 4 of 10. A turn of the first kernel alone has its four. Where an
 * iteration takes half as long as its order says, kernels of 8 us begin 4 us apart, and of 6 us 3. */
static void test_kernels_start_as_their_memory_comes(void **state) {
    (void)state;
    static const struct {
        int64_t kernel_ns, run_ns, iteration_ns, starts_ns;
    } cases[] = {{3000, 6000, 6000, 5000},
                 {10000, 20000, 20000, 4000},
                 {10000, 1000, 20000, 4000},
                 {8000, 8000, 8000, 4000},
                 {6000, 6000, 6000, 5000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t one_ns = cases[i].kernel_ns;
        struct gsim_arena *arena = gsim_arena_new();
        const struct gsim_touch_part parts[] = {{0, one_ns, 4, 4, 0, 0, 4, false},
                                                {one_ns, 2 * one_ns, 0, 4, 4, 0, 4, false}};
        const int64_t ends_ns[] = {one_ns, 2 * one_ns};
        const struct gsim_touch_order order = {.parts = parts,
                                               .n_parts = 2,
                                               .n = 8,
                                               .ends_ns = ends_ns,
                                               .n_kernels = 2,
                                               .n_chunks = 8,
                                               .all_ns = 2 * one_ns};
        struct gsim_pager pager = {.manager = GSIM_MEMORY_PROACTIVE,
                                   .eviction = GSIM_EVICT_BELADY,
                                   .capacity = 10,
                                   .uvm.chunk_bytes = CHUNK,
                                   .proactive = plain};
        struct gsim_store store;
        struct gsim_tenant a;
        const struct gsim_tenant_spec spec = {
            .used_bytes = 8 * CHUNK, .allocated_bytes = 8 * CHUNK, .order = &order};
        pager.proactive.has_early_start = true;
        gsim_pager_store_init(&store, &pager, arena);
        assert_true(gsim_pager_open(&store, &a, &spec, false));
        gsim_residency_write_host(&store.residency, gsim_range_whole(&store.residency, a.used));
        const struct gsim_next_turn turn = {
            .tenant = &a, .run_ns = cases[i].run_ns, .sweep_ns = cases[i].iteration_ns};
        assert_int_equal(gsim_pager_switch(&store, &turn, 1, false, 0).starts_ns,
                         cases[i].starts_ns);
        gsim_arena_free(arena);
    }
}

/* Chunk by chunk: how late each missing one is for a sweep that begins at once. */
static int64_t worst_lateness(const struct gsim_residency *before, struct gsim_range range,
                              int64_t ns, int64_t n_in) {
    int64_t worst = 0, came = 0;
    for (uint32_t c = 0; c < range.n; c++) {
        if (gsim_residency_content(before, range.buffer, c) != GSIM_ON_HOST)
            continue;
        int64_t late = gsim_muldiv_ceil(ns, ++came, n_in) - gsim_muldiv_floor(100000, c, range.n);
        worst = late > worst ? late : worst;
    }
    return worst;
}

/* Random residency: a switch brings in exactly what is missing, evicts exactly what has to go, a
 * quote on a copy says the same and changes nothing. */
static void test_switches_between_random_tasks(void **state) {
    (void)state;
    gsl_rng *rng = gsim_rng_stream(1, 0, "proactive");
    struct gsim_proactive early = plain;
    early.has_early_start = true;
    for (int round = 0; round < 200; round++) {
        uint32_t n = 2 + (uint32_t)gsl_rng_uniform_int(rng, 5);
        uint32_t size = 5 + (uint32_t)gsl_rng_uniform_int(rng, 60);
        uint32_t room = size + (uint32_t)gsl_rng_uniform_int(rng, n * size);
        struct tasks tasks = open_tasks(n, size, 0, room, GSIM_EVICT_BELADY);
        struct tasks quoted = tasks;
        gsim_residency_init(&quoted.memory, 0, GSIM_EVICT_BELADY, tasks.arena);
        for (int i = 0; i < 30; i++) {
            uint32_t next = (uint32_t)gsl_rng_uniform_int(rng, n);
            struct gsim_range hole = {(uint32_t)gsl_rng_uniform_int(rng, n),
                                      (uint32_t)gsl_rng_uniform_int(rng, size / 2), size / 3};
            (void)gsim_residency_evict_range(&tasks.memory, hole);
            assert_true(gsim_residency_copy(&quoted.memory, &tasks.memory));
            int64_t missing = gsim_residency_missing(&tasks.memory, tasks.used[next]).in;
            int64_t need = missing - gsim_residency_free(&tasks.memory);
            struct gsim_migration quote = switch_to(&quoted, &early, next, i % 2);
            assert_int_equal(gsim_residency_missing(&tasks.memory, tasks.used[next]).in, missing);
            int64_t late = worst_lateness(&tasks.memory, tasks.used[next], quote.ns, missing);
            struct gsim_migration m = switch_to(&tasks, &early, next, i % 2);
            assert_memory_equal(&m, &quote, sizeof m);
            assert_int_equal(m.moved.in, missing);
            assert_int_equal(m.moved.out_dirty + m.moved.out_clean, need > 0 ? need : 0);
            assert_int_equal(m.missed, 0);
            assert_in_range(m.start_ns + 1, late, late + 2); /* its ends round for a run */
            assert_true(m.start_ns <= m.ns);
        }
        gsim_arena_free(tasks.arena);
    }
    gsl_rng_free(rng);
}

/* Room for ten chunks. a runs, so that its eight come last in the order; b's eight, which were carried
 * here to run next, are all there nevertheless, and push out six of them. */
static void what_was_carried_here_is_there(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_pager pager = {.manager = GSIM_MEMORY_PROACTIVE,
                               .eviction = GSIM_EVICT_BELADY,
                               .capacity = 10,
                               .uvm.chunk_bytes = CHUNK,
                               .proactive = plain};
    struct gsim_store store;
    struct gsim_tenant a, b;
    const struct gsim_tenant_spec spec = {.used_bytes = 8 * CHUNK, .allocated_bytes = 8 * CHUNK};
    gsim_pager_store_init(&store, &pager, arena);
    assert_true(gsim_pager_open(&store, &a, &spec, true));
    (void)gsim_pager_switch(&store,
                            &(struct gsim_next_turn){.tenant = &a, .run_ns = 1000, .sweep_ns = 100},
                            1, false, 0);
    assert_true(gsim_pager_open(&store, &b, &spec, true));
    assert_int_equal(gsim_pager_resident_bytes(&store, &b), 8 * CHUNK);
    assert_int_equal(gsim_pager_resident_bytes(&store, &a), 2 * CHUNK);
    gsim_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_carried_here_is_there),
        cmocka_unit_test(test_a_round_moves_what_does_not_fit),
        cmocka_unit_test(test_clean_chunks_are_dropped_or_copied),
        cmocka_unit_test(test_lru_brings_everything_each_time),
        cmocka_unit_test(test_predictions_are_wrong_by_as_much_as_said),
        cmocka_unit_test(test_a_task_larger_than_memory_takes_all_of_it),
        cmocka_unit_test(test_untouched_chunks_come_for_nothing),
        cmocka_unit_test(test_untouched_chunks_wait_for_their_room),
        cmocka_unit_test(test_an_early_start_never_overtakes),
        cmocka_unit_test(test_an_unknown_order_starts_nothing_early),
        cmocka_unit_test(test_kernels_start_as_their_memory_comes),
        cmocka_unit_test(test_switches_between_random_tasks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
