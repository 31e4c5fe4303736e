/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantiles that look at two values each against GSL's over all of them, sorted: the same bits. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "sim/base/rng.h"
#include "sim/core/stats.h"

enum { MOST = 2000 };

static const double p[] = {0, 0.25, 0.5, 0.95, 0.99, 1};
enum { N_P = sizeof p / sizeof *p };

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void check(double *values, size_t n) {
    double quantiles[N_P];
    assert_true(gsim_quantiles(values, n, p, quantiles, N_P));
    qsort(values, n, sizeof *values, compare);
    for (int k = 0; k < N_P; k++) {
        double expected = gsl_stats_quantile_from_sorted_data(values, 1, n, p[k]);
        assert_memory_equal(&quantiles[k], &expected, sizeof expected);
    }
}

static void test_same_as_over_sorted_values(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 2, 3, 10, 101, MOST};
    double values[MOST];
    gsl_rng *rng = gsim_rng_stream(1, 0, "stats");
    assert_non_null(rng);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t k = 0; k < sizes[i]; k++)
            values[k] = exp(20 * gsl_rng_uniform(rng));
        check(values, sizes[i]);
    }
    gsl_rng_free(rng);
}

/* --- of values that come one by one ------------------------------------------------------------ */

static void check_tail(size_t n_most, const double *values, size_t n) {
    static const double high_p[] = {0.99, 1};
    double tail_quantiles[2], all_quantiles[2];
    struct gsim_tail tail;
    struct gsim_arena *arena = gsim_arena_new();
    assert_non_null(arena);
    assert_true(gsim_tail_open(&tail, arena, n_most, high_p[0]));
    for (size_t i = 0; i < n; i++)
        gsim_tail_add(&tail, values[i]);
    assert_true(gsim_quantiles(values, n, high_p, all_quantiles, 2));
    gsim_tail_quantiles(&tail, n, high_p, tail_quantiles, 2);
    if (n)
        assert_memory_equal(tail_quantiles, all_quantiles, sizeof all_quantiles);
    else
        assert_true(isnan(tail_quantiles[0]) && isnan(tail_quantiles[1]));
    gsim_arena_free(arena);
}

/* Up to as many as were announced, in every order that matters: drawn, growing (each value is kept
 * at first), shrinking, equal. Of 100 000 values 1001 are needed and 5004 kept. */
static void test_the_largest_of_a_stream(void **state) {
    (void)state;
    enum { N = 100000 };
    static const size_t sizes[] = {0, 1, 2, 101, 5003, 5004, 6000, N};
    double *values = malloc(N * sizeof *values);
    gsl_rng *rng = gsim_rng_stream(2, 0, "stats");
    assert_non_null(values);
    assert_non_null(rng);
    for (int order = 0; order < 4; order++) {
        for (int i = 0; i < N; i++)
            values[i] = order == 0 ? exp(20 * gsl_rng_uniform(rng)) - 5
                                   : (double)(order == 1   ? i
                                              : order == 2 ? N - i
                                                           : 7);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            check_tail(N, values, sizes[s]);
            check_tail(sizes[s], values, sizes[s]);
        }
    }
    gsl_rng_free(rng);
    free(values);
}

static void test_of_times(void **state) {
    (void)state;
    int64_t times_ns[MOST];
    double seconds[MOST], of_times[N_P], of_seconds[N_P];
    gsl_rng *rng = gsim_rng_stream(3, 0, "stats");
    assert_non_null(rng);
    for (int i = 0; i < MOST; i++) {
        times_ns[i] = (int64_t)(gsl_rng_get(rng) % UINT64_C(1000000000000000));
        seconds[i] = (double)times_ns[i] / 1e9;
    }
    assert_true(gsim_quantiles(seconds, MOST, p, of_seconds, N_P));
    gsim_quantiles_s(times_ns, MOST, p, of_times, N_P);
    assert_memory_equal(of_times, of_seconds, sizeof of_times);
    gsim_quantiles_s(NULL, 0, p, of_times, N_P);
    for (int k = 0; k < N_P; k++)
        assert_true(isnan(of_times[k]));
    gsl_rng_free(rng);
}

static void test_no_values(void **state) {
    (void)state;
    double quantiles[N_P];
    assert_true(gsim_quantiles(NULL, 0, p, quantiles, N_P));
    for (int k = 0; k < N_P; k++)
        assert_true(isnan(quantiles[k]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_over_sorted_values),
        cmocka_unit_test(test_the_largest_of_a_stream),
        cmocka_unit_test(test_of_times),
        cmocka_unit_test(test_no_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
