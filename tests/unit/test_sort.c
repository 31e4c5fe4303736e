/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Radix sorts against the C library's, with equal keys, signs and the extremes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "sim/base/rng.h"
#include "sim/base/sort.h"

enum { N = 20000 };

static int compare_i64(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int compare_f64(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* range 0: all 64 bits. */
static int64_t *draw(uint64_t range, uint64_t seed) {
    gsl_rng *rng = gsim_rng_stream(seed, 0, "sort");
    int64_t *values = malloc(N * sizeof *values);
    assert_non_null(rng);
    assert_non_null(values);
    for (int i = 0; i < N; i++) {
        uint64_t bits = gsl_rng_get(rng);
        values[i] = range ? (int64_t)(bits % range) - (int64_t)(range / 2) : (int64_t)bits;
    }
    gsl_rng_free(rng);
    return values;
}

static void test_whole_numbers(void **state) {
    (void)state;
    static const uint64_t ranges[] = {1, 3, 5000, UINT64_C(1) << 40, 0};
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
        int64_t *values = draw(ranges[r], 1), *expected = draw(ranges[r], 1);
        values[0] = expected[0] = INT64_MAX;
        values[1] = expected[1] = INT64_MIN;
        qsort(expected, N, sizeof *expected, compare_i64);
        assert_true(gsim_sort_i64(values, N));
        assert_memory_equal(values, expected, N * sizeof *values);
        free(values);
        free(expected);
    }
}

/* Places of every kind: the ends, neighbours, one twice; spread 0 makes all values equal. */
static void check_picks(size_t n, double spread) {
    const size_t at[] = {0, 1, 1, n / 2, n / 2 + 1, n - 2, n - 1};
    enum { PICKS = sizeof at / sizeof *at };
    double picked[PICKS];
    int64_t *whole = draw(UINT64_C(1) << 60, 4);
    double *values = malloc(n * sizeof *values), *sorted = malloc(n * sizeof *sorted);
    assert_non_null(values);
    assert_non_null(sorted);
    for (size_t i = 0; i < n; i++)
        values[i] = sorted[i] = 1000 + spread * (double)whole[i];
    values[n / 3] = sorted[n / 3] = INFINITY;
    values[n / 4] = sorted[n / 4] = -INFINITY;
    qsort(sorted, n, sizeof *sorted, compare_f64);
    assert_true(gsim_pick_f64(values, n, at, picked, PICKS));
    assert_true(gsim_sort_f64(values, n)); /* picking left them as they were */
    assert_memory_equal(values, sorted, n * sizeof *values);
    for (int k = 0; k < PICKS; k++)
        assert_memory_equal(&picked[k], &sorted[at[k]], sizeof *picked);
    free(values);
    free(sorted);
    free(whole);
}

static void test_values_by_rank(void **state) {
    (void)state;
    for (size_t n = 10; n <= N; n += N - 10) { /* few are sorted, many are not */
        check_picks(n, 1e-9); /* both signs, many magnitudes */
        check_picks(n, 1e-17); /* all within a few bins */
        check_picks(n, 0);
    }
}

static void test_order_keeps_equal_keys_in_place(void **state) {
    (void)state;
    int64_t *keys = draw(50, 3);
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
        cmocka_unit_test(test_values_by_rank),
        cmocka_unit_test(test_order_keeps_equal_keys_in_place),
        cmocka_unit_test(test_nothing_and_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
