/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order in which a program touches its memory: positions, times and next turns, by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "models/memory/touch_order.h"

/* Ten chunks. A kernel of 100 ns touches 0 to 3, one of 10 ns none, one of 50 ns 4 to 5, and one of 40 ns 2 to
 * 5; chunks 6 to 9 are touched by none. */
static const struct gsim_touch_part parts[] = {
    {0, 100, 0, 4, 0, 0, 4, false}, {110, 160, 4, 2, 4, 0, 2, false}, {160, 200, 2, 4, 6, 0, 4, false}};
static const int64_t ends_ns[] = {100, 110, 160, 200};
static const struct gsim_touch_order order = {parts, 3, 10, ends_ns, 4, 10, 200};

static void a_chunk_is_touched_within_its_kernel(void **state) {
    (void)state;
    static const int64_t ns[] = {0, 25, 50, 75, 110, 135, 160, 170, 180, 190, 200};
    for (uint32_t p = 0; p <= order.n; p++)
        assert_int_equal(gsim_touch_order_ns(&order, p), ns[p]);
}

/* As counted by the table above; between two kernels the next one's first chunk is the next. */
static void positions_are_passed_in_time(void **state) {
    (void)state;
    static const struct {
        int64_t ns;
        uint32_t after;
    } cases[] = {{0, 0},   {24, 0},  {25, 1},  {99, 3},  {100, 4}, {109, 4},
                 {134, 4}, {135, 5}, {160, 6}, {199, 9}, {200, 10}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(gsim_touch_order_after(&order, cases[i].ns), cases[i].after);
}

/* A kernel of 60 ns touches 0 and 1, then 4 to 7: a chunk each 10 ns. */
static void a_kernel_touches_one_range_behind_the_other(void **state) {
    (void)state;
    static const struct gsim_touch_part two[] = {{0, 60, 0, 2, 0, 0, 6, false}, {0, 60, 4, 4, 2, 2, 6, false}};
    static const int64_t end_ns[] = {60};
    const struct gsim_touch_order both = {two, 2, 6, end_ns, 1, 8, 60};
    for (uint32_t p = 0; p <= both.n; p++) {
        assert_int_equal(gsim_touch_order_ns(&both, p), 10 * p);
        assert_int_equal(gsim_touch_order_after(&both, 10 * p), p);
    }
}

static void expect(struct gsim_turns_ahead ahead, const uint32_t *expected) {
    uint32_t turns[10];
    gsim_touch_order_turns(&order, ahead, turns);
    for (uint32_t c = 0; c < order.n_chunks; c++)
        assert_int_equal(turns[c], expected[c]);
}

static void expect_turns(int64_t done_ns, int64_t run_ns, const uint32_t *expected) {
    expect((struct gsim_turns_ahead){done_ns, run_ns, false}, expected);
}

#define NEVER GSIM_TURNS_NEVER

/* A turn of 30 ns ends with the first kernel, at 100. The next one begins there and its time is up at 130,
 * within the third kernel; the next has the last kernel, and chunks 2 and 3 come in the first kernel
 * before. */
static void a_turn_ends_with_a_kernel(void **state) {
    (void)state;
    expect_turns(0, 30, (const uint32_t[]){0, 0, 0, 0, 1, 1, NEVER, NEVER, NEVER, NEVER});
}

/* From 20 ns into the third kernel on, a turn of 29 ns ends with it, at 160; the next one has the last kernel,
 * which ends after 40 ns, and the one behind it the first kernel of the next iteration. Chunks 4 and 5 are
 * under way, 2 and 3 come in the last kernel. The last iteration is followed by none. */
static void the_next_iteration_follows(void **state) {
    (void)state;
    expect_turns(130, 29, (const uint32_t[]){2, 2, 1, 1, 0, 0, NEVER, NEVER, NEVER, NEVER});
    expect((struct gsim_turns_ahead){130, 29, true},
           (const uint32_t[]){NEVER, NEVER, 1, 1, 0, 0, NEVER, NEVER, NEVER, NEVER});
}

/* The time of a turn is up at 160, in the instant in which the third kernel ends: the last one has begun, and
 * the turn ends with it. At 200 the iteration ends, and no kernel of it begins. */
static void the_next_kernel_has_begun_as_time_is_up(void **state) {
    (void)state;
    expect_turns(130, 30, (const uint32_t[]){1, 1, 0, 0, 0, 0, NEVER, NEVER, NEVER, NEVER});
    expect_turns(160, 40, (const uint32_t[]){1, 1, 0, 0, 0, 0, NEVER, NEVER, NEVER, NEVER});
}

/* A turn of 170 ns ends within the third kernel. */
static void a_long_turn_touches_all(void **state) {
    (void)state;
    expect_turns(0, 170, (const uint32_t[]){0, 0, 0, 0, 0, 0, NEVER, NEVER, NEVER, NEVER});
}

/* A turn of 3 ns ends with its first kernel, also where that touches nothing. */
static void a_turn_has_a_kernel_that_touches_nothing(void **state) {
    (void)state;
    expect_turns(0, 3, (const uint32_t[]){0, 0, 0, 0, 2, 2, NEVER, NEVER, NEVER, NEVER});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chunk_is_touched_within_its_kernel),
        cmocka_unit_test(positions_are_passed_in_time),
        cmocka_unit_test(a_kernel_touches_one_range_behind_the_other),
        cmocka_unit_test(a_turn_ends_with_a_kernel),
        cmocka_unit_test(the_next_iteration_follows),
        cmocka_unit_test(a_long_turn_touches_all),
        cmocka_unit_test(the_next_kernel_has_begun_as_time_is_up),
        cmocka_unit_test(a_turn_has_a_kernel_that_touches_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
