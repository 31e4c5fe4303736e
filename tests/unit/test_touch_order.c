/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order in which a program touches its memory: positions, times and next turns, by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "models/memory/touch_order.h"

/* Ten chunks. A kernel of 100 ns touches 0 to 3, one of 50 ns that begins 10 ns later 4 to 5, and one of 40 ns
 * right behind it 2 to 5; chunks 6 to 9 are touched by none. */
static const struct gsim_touch_part parts[] = {
    {0, 100, 0, 4, 0, 0, 4, false}, {110, 160, 4, 2, 4, 0, 2, false}, {160, 200, 2, 4, 6, 0, 4, false}};
static const struct gsim_touch_order order = {parts, 3, 10, 10, 200};

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
    const struct gsim_touch_order both = {two, 2, 6, 8, 60};
    for (uint32_t p = 0; p <= both.n; p++) {
        assert_int_equal(gsim_touch_order_ns(&both, p), 10 * p);
        assert_int_equal(gsim_touch_order_after(&both, 10 * p), p);
    }
}

static void expect_turns(int64_t done_ns, int64_t run_ns, const uint32_t *expected) {
    uint32_t turns[10];
    gsim_touch_order_turns(&order, done_ns, run_ns, turns);
    for (uint32_t c = 0; c < order.n_chunks; c++)
        assert_int_equal(turns[c], expected[c]);
}

#define NEVER GSIM_TURNS_NEVER

/* A turn of 30 ns ends with the first kernel, at 100. The next one begins there and its time is up at 130,
 * within the second kernel; the third has the last kernel, and chunks 2 and 3 come in the first kernel
 * before. */
static void a_turn_ends_with_a_kernel(void **state) {
    (void)state;
    expect_turns(0, 30, (const uint32_t[]){0, 0, 0, 0, 1, 1, NEVER, NEVER, NEVER, NEVER});
}

/* From 20 ns into the second kernel on, a turn of 30 ns ends with it, to the nanosecond, at 160; the next one
 * has the third kernel, which ends after 40 ns, and the one behind it the first kernel of the next
 * iteration. Chunks 4 and 5 are under way, 2 and 3 come in the third kernel. */
static void the_next_iteration_follows(void **state) {
    (void)state;
    expect_turns(130, 30, (const uint32_t[]){2, 2, 1, 1, 0, 0, NEVER, NEVER, NEVER, NEVER});
}

/* A turn of 170 ns ends within the third kernel. */
static void a_long_turn_touches_all(void **state) {
    (void)state;
    expect_turns(0, 170, (const uint32_t[]){0, 0, 0, 0, 0, 0, NEVER, NEVER, NEVER, NEVER});
}

/* The time of three turns of 3 ns passes between the first two kernels where nothing is touched: the first
 * begins at 100, so that the fourth, from 109 on, has the second kernel. */
static void turns_pass_where_nothing_is_touched(void **state) {
    (void)state;
    expect_turns(0, 3, (const uint32_t[]){0, 0, 0, 0, 4, 4, NEVER, NEVER, NEVER, NEVER});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chunk_is_touched_within_its_kernel),
        cmocka_unit_test(positions_are_passed_in_time),
        cmocka_unit_test(a_kernel_touches_one_range_behind_the_other),
        cmocka_unit_test(a_turn_ends_with_a_kernel),
        cmocka_unit_test(the_next_iteration_follows),
        cmocka_unit_test(a_long_turn_touches_all),
        cmocka_unit_test(turns_pass_where_nothing_is_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
