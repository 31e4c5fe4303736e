/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Radix sorts against the C library's, with equal keys, signs and the extremes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "sim/base/sort.h"
#include "tests/support/numbers.h"

enum { N = 20000 };

static void test_whole_numbers(void **state) {
    (void)state;
    static const uint64_t ranges[] = {1, 3, 5000, UINT64_C(1) << 40, 0};
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
        int64_t *values = draw_i64(N, ranges[r], 1), *expected = draw_i64(N, ranges[r], 1);
        values[0] = expected[0] = INT64_MAX;
        values[1] = expected[1] = INT64_MIN;
        qsort(expected, N, sizeof *expected, compare_i64);
        assert_true(gsim_sort_i64(values, N));
        assert_memory_equal(values, expected, N * sizeof *values);
        free(values);
        free(expected);
    }
}

static void test_order_keeps_equal_keys_in_place(void **state) {
    (void)state;
    int64_t *keys = draw_i64(N, 50, 3);
    uint32_t *order = malloc(N * sizeof *order);
    assert_non_null(order);
    assert_true(gsim_sort_order(keys, order, N));
    for (int i = 1; i < N; i++) {
        assert_true(keys[order[i - 1]] <= keys[order[i]]);
        if (keys[order[i - 1]] == keys[order[i]])
            assert_true(order[i - 1] < order[i]);
    }
    free(order);
    free(keys);
}

static void test_nothing_and_one(void **state) {
    (void)state;
    int64_t one = -5;
    uint32_t order = 7;
    assert_true(gsim_sort_i64(NULL, 0));
    assert_true(gsim_sort_order(NULL, NULL, 0));
    assert_true(gsim_sort_i64(&one, 1));
    assert_int_equal(one, -5);
    assert_true(gsim_sort_order(&one, &order, 1));
    assert_int_equal(order, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_numbers),
        cmocka_unit_test(test_order_keeps_equal_keys_in_place),
        cmocka_unit_test(test_nothing_and_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
