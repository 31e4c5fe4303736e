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
        cmocka_unit_test(test_no_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
