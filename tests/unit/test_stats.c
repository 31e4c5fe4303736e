/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics of comparisons against tables and by hand; shaking against its bounds. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/app/stats.h"
#include "sim/base/rng.h"
#include "sim/core/stats.h"
#include "tests/support/runner.h"
#include "traces/shake.h"

static void near(double got, double wanted, double within) {
    if (!(fabs(got - wanted) <= within))
        fail_msg("%.9g is not %.9g", got, wanted);
}

static const double one_to_five[] = {1, 2, 3, 4, 5};

/* s^2 = 10/4, error sqrt(2.5/5) = 0.70711, t(0.975, 4) = 2.77645 (tables): half width 1.96324. */
static void test_t_interval_is_that_of_the_tables(void **state) {
    (void)state;
    struct gsim_interval i = gsim_t_interval(one_to_five, 5);
    near(i.mean, 3, 1e-12);
    near(i.low, 3 - 1.96324, 1e-5);
    near(i.high, 3 + 1.96324, 1e-5);
}

static void test_one_value_has_no_interval(void **state) {
    (void)state;
    struct gsim_interval i = gsim_t_interval(one_to_five, 1);
    assert_true(isinf(i.low) && isinf(i.high));
    assert_true(isnan(gsim_t_p(one_to_five, 1)));
}

/* With 2 degrees of freedom p = 1 - t / sqrt(t^2 + 2). Of 1, 2, 3: t = 2 sqrt 3, p = 1 - sqrt(6/7). */
static void test_p_of_paired_differences(void **state) {
    (void)state;
    near(gsim_t_p(one_to_five, 3), 1 - sqrt(6.0 / 7), 1e-12);
    static const double alike[] = {2, 2, 2}, none[] = {0, 0, 0}, balanced[] = {-1, 0, 1};
    assert_true(gsim_t_p(alike, 3) == 0);
    assert_true(gsim_t_p(none, 3) == 1);
    near(gsim_t_p(balanced, 3), 1, 1e-12);
}

/* Student's own example (Biometrika 1908): hours of sleep that ten patients gained under the second
 * drug over the first. R 4 (datasets::sleep, t.test paired) prints mean 1.58, t = 4.0621, p-value =
 * 0.002833 and the interval 0.7001142 to 2.4598858. */
static void test_students_sleep(void **state) {
    (void)state;
    static const double gained[] = {1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4};
    struct gsim_interval i = gsim_t_interval(gained, 10);
    near(i.mean, 1.58, 1e-12);
    near(i.low, 0.7001142, 5e-8);
    near(i.high, 2.4598858, 5e-8);
    near(gsim_t_p(gained, 10), 0.002833, 5e-7);
}

/* Sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1: 0.02, 0.03, 0.06, and 0.04 raised to 0.06. */
static void test_holm_steps_down(void **state) {
    (void)state;
    double p[] = {0.01, (double)NAN, 0.04, 0.03, 0.005, 0.9};
    assert_true(gsim_holm(p, 5)); /* the last is not asked about */
    static const double wanted[] = {0.03, 0, 0.06, 0.06, 0.02, 0.9};
    for (int i = 0; i < 6; i++)
        if (i != 1)
            near(p[i], wanted[i], 1e-12);
    assert_true(isnan(p[1]));
    double high[] = {0.7, 0.8};
    assert_true(gsim_holm(high, 2));
    assert_true(high[0] == 1 && high[1] == 1);
}

/* Means of 400 values drawn evenly from 0 to 1 have the standard error sqrt(1/12/400) = 0.01443, so
 * that the interval is about 2 * 1.96 * 0.01443 = 0.0566 wide, and has 0.5 in it 95 times in 100. */
static void test_bootstrap_interval_of_a_mean(void **state) {
    (void)state;
    enum { N = 400, TIMES = 100 };
    gsl_rng *rng = gsim_rng_stream(1, 0, "test");
    int n_covered = 0;
    double width = 0;
    for (int t = 0; t < TIMES; t++) {
        double value[N], draws[GSIM_RESAMPLES];
        struct gsim_bootstrap b;
        struct gsim_interval interval;
        for (int i = 0; i < N; i++)
            value[i] = gsl_rng_uniform(rng);
        assert_true(gsim_bootstrap_begin(&b, N, (uint64_t)t));
        for (int k = 0; k < GSIM_RESAMPLES; k++) {
            uint32_t n = 0;
            gsim_bootstrap_draw(&b);
            draws[k] = 0;
            for (int i = 0; i < N; i++) {
                draws[k] += b.weight[i] * value[i] / N;
                n += b.weight[i];
            }
            assert_int_equal(n, N);
        }
        gsim_bootstrap_end(&b);
        assert_true(gsim_bootstrap_interval(draws, 0.5, &interval));
        n_covered += interval.low <= 0.5 && 0.5 <= interval.high;
        width += (interval.high - interval.low) / TIMES;
    }
    gsl_rng_free(rng);
    near(width, 0.0566, 0.002);
    assert_in_range(n_covered, 88, 100); /* 95 +- 3.2 standard errors of 2.18, at most all */
}

/* Efron and Tibshirani, An Introduction to the Bootstrap (1993), table 2.1: survival of seven treated
 * mice, mean 86.86; the bootstrap's standard error of it, were there no end of draws, is 23.36. That
 * of 1000 draws is known to 1 / sqrt(2000) = 2.2 %: 3 times as much is 1.6. */
static void test_bootstrap_of_the_mice(void **state) {
    (void)state;
    enum { N = 7 };
    static const double days[N] = {94, 197, 16, 38, 99, 141, 23};
    struct gsim_bootstrap b;
    double sum = 0, squares = 0;
    assert_true(gsim_bootstrap_begin(&b, N, 1));
    for (int k = 0; k < GSIM_RESAMPLES; k++) {
        double mean = 0;
        gsim_bootstrap_draw(&b);
        for (int i = 0; i < N; i++)
            mean += b.weight[i] * days[i] / N;
        sum += mean;
        squares += mean * mean;
    }
    gsim_bootstrap_end(&b);
    double mean = sum / GSIM_RESAMPLES;
    near(mean, 86.86, 3 * 23.36 / sqrt(GSIM_RESAMPLES));
    near(sqrt(squares / GSIM_RESAMPLES - mean * mean), 23.36, 1.6);
}

static void test_bootstrap_p_counts_both_sides(void **state) {
    (void)state;
    double draws[GSIM_RESAMPLES];
    for (int k = 0; k < GSIM_RESAMPLES; k++)
        draws[k] = k;
    near(gsim_bootstrap_p(draws, -1), 2.0 / (GSIM_RESAMPLES + 1), 1e-12);
    near(gsim_bootstrap_p(draws, GSIM_RESAMPLES / 2), 1, 1e-2);
    near(gsim_bootstrap_p(draws, 99), 2.0 * 101 / (GSIM_RESAMPLES + 1), 1e-12); /* 0 to 99 */
    struct gsim_interval interval;
    assert_true(gsim_bootstrap_interval(draws, 7, &interval));
    near(interval.low, 999 * 0.025, 1e-9);
    near(interval.high, 999 * 0.975, 1e-9);
    assert_true(interval.mean == 7);
    draws[3] = (double)NAN;
    assert_true(gsim_bootstrap_interval(draws, 7, &interval) && isnan(interval.low));
}

/* --- shaking ---------------------------------------------------------------------------------- */

enum { AMOUNT_PPM = 50000 }; /* 5 % */

static void assert_near_ppm(int64_t shaken, int64_t before) {
    int64_t least = before / 100 * 95 - 100, most = before / 100 * 105 + 200;
    assert_true(shaken >= least && shaken <= most);
}

static void test_shaking_stays_within_its_amount(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_trace trace = test_read("traces/samples/training.csv", arena), shaken;
    struct gsim_log log = {0};
    assert_int_equal(gsim_trace_shake(&trace, AMOUNT_PPM, 1, 1, arena, &shaken, &log), GSIM_OK);
    assert_int_equal(shaken.n_jobs, trace.n_jobs);
    int64_t n_changed = 0, before_ns = 0, shaken_before_ns = 0;
    for (uint32_t i = 0; i < trace.n_jobs; i++) {
        uint32_t job = trace.order ? trace.order[i] : i;
        assert_near_ppm(shaken.service_ns[job], trace.service_ns[job]);
        if (i > 0)
            assert_near_ppm(shaken.submit_ns[job] - shaken_before_ns,
                            trace.submit_ns[job] - before_ns);
        before_ns = trace.submit_ns[job];
        shaken_before_ns = shaken.submit_ns[job];
        n_changed += shaken.service_ns[job] != trace.service_ns[job];
        for (int c = 0; c < GSIM_COL_COUNT; c++) /* all others are the same columns */
            if (c != GSIM_COL_GPU_NS && c != GSIM_COL_HOST_GAP_NS && c != GSIM_COL_HOST_NS)
                assert_ptr_equal(shaken.column[c], trace.column[c]);
    }
    assert_true(n_changed > trace.n_jobs / 2);
    gsim_arena_free(arena);
}

static void test_shaking_is_fixed_by_seed_and_replication(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_trace trace = test_read("traces/samples/cluster.csv", arena), a, b, c, d;
    struct gsim_log log = {0};
    (void)gsim_trace_shake(&trace, AMOUNT_PPM, 1, 1, arena, &a, &log);
    (void)gsim_trace_shake(&trace, AMOUNT_PPM, 1, 1, arena, &b, &log);
    (void)gsim_trace_shake(&trace, AMOUNT_PPM, 1, 2, arena, &c, &log);
    (void)gsim_trace_shake(&trace, AMOUNT_PPM, 2, 1, arena, &d, &log);
    size_t size = trace.n_jobs * sizeof *a.submit_ns;
    assert_memory_equal(a.submit_ns, b.submit_ns, size);
    assert_memory_equal(a.service_ns, b.service_ns, size);
    assert_memory_not_equal(a.submit_ns, c.submit_ns, size);
    assert_memory_not_equal(a.service_ns, c.service_ns, size);
    assert_memory_not_equal(a.submit_ns, d.submit_ns, size);
    assert_int_equal(log.n_errors, 0);
    gsim_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_t_interval_is_that_of_the_tables),
        cmocka_unit_test(test_one_value_has_no_interval),
        cmocka_unit_test(test_p_of_paired_differences),
        cmocka_unit_test(test_students_sleep),
        cmocka_unit_test(test_holm_steps_down),
        cmocka_unit_test(test_bootstrap_interval_of_a_mean),
        cmocka_unit_test(test_bootstrap_of_the_mice),
        cmocka_unit_test(test_bootstrap_p_counts_both_sides),
        cmocka_unit_test(test_shaking_stays_within_its_amount),
        cmocka_unit_test(test_shaking_is_fixed_by_seed_and_replication),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
