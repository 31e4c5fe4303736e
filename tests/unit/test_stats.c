/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics of comparisons against tables and by hand; shaking against its bounds. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/study/dependence.h"
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
    struct gsim_interval i = gsim_t_interval(one_to_five, 5, 1);
    near(i.mean, 3, 1e-12);
    near(i.low, 3 - 1.96324, 1e-5);
    near(i.high, 3 + 1.96324, 1e-5);
}

static void test_one_value_has_no_interval(void **state) {
    (void)state;
    struct gsim_interval i = gsim_t_interval(one_to_five, 1, 1);
    assert_true(isinf(i.low) && isinf(i.high));
}

/* Of 1 to 5 the error is 0.70711 of 3: half 1.96324 / 3 = 0.65441 on the logarithm. */
static void test_the_interval_of_a_logarithm(void **state) {
    (void)state;
    struct gsim_interval i = gsim_t_log_interval(one_to_five, 5);
    near(i.mean, 3, 1e-12);
    near(i.low, 3 * exp(-0.65441), 1e-5);
    near(i.high, 3 * exp(0.65441), 1e-4);
}

/* Above 2, 4, 6, below 2, 2, 2: of their means 4 and 2 they are 0.5, 1, 1.5 and 1, 1, 1, whose
 * differences -0.5, 0, 0.5 have the variance 0.25; the error is sqrt(0.25 / 3) = 0.288675, and
 * t(0.975, 2) = 4.30265 (tables): half 1.24207. */
static void test_the_interval_of_a_ratio(void **state) {
    (void)state;
    static const double above[] = {2, 4, 6}, below[] = {2, 2, 2}, thrice[] = {6, 12, 18};
    struct gsim_interval i = gsim_t_ratio(above, below, 3, 1);
    near(i.mean, 2, 1e-12);
    near(i.low, 2 * exp(-1.24207), 1e-4);
    near(i.high, 2 * exp(1.24207), 1e-3);
    i = gsim_t_ratio(thrice, above, 3, 1); /* always three times as much */
    near(i.low, 3, 1e-9);
    near(i.high, 3, 1e-9);
    assert_true(isinf(gsim_t_ratio(above, below, 1, 1).high));
}

/* With 2 degrees of freedom p = 1 - t / sqrt(t^2 + 2). Above and below are as before: the mean of the
 * logarithm is log 2, its error 0.288675, t = 2.40112. Where a mean is 0 differences are tested: of 1,
 * 2, 3 t = 2 sqrt 3, p = 1 - sqrt(6/7). */
static void test_p_of_a_ratio(void **state) {
    (void)state;
    static const double above[] = {2, 4, 6}, below[] = {2, 2, 2}, thrice[] = {6, 12, 18};
    static const double none[] = {0, 0, 0}, turned[] = {6, 4, 2};
    double t = log(2) / sqrt(0.25 / 3);
    near(gsim_t_ratio_p(above, below, 3), 1 - t / sqrt(t * t + 2), 1e-12);
    near(gsim_t_ratio_p(below, above, 3), 1 - t / sqrt(t * t + 2), 1e-12);
    near(gsim_t_ratio_p(thrice, above, 3), 0, 1e-12);
    near(gsim_t_ratio_p(above, turned, 3), 1, 1e-12);
    assert_true(gsim_t_ratio_p(above, above, 3) == 1);
    near(gsim_t_ratio_p(one_to_five, none, 3), 1 - sqrt(6.0 / 7), 1e-12);
    assert_true(gsim_t_ratio_p(none, none, 3) == 1);
    assert_true(isnan(gsim_t_ratio_p(above, below, 1)));
}

/* Whatever is compared, p and the interval say one thing: p is below 0.05 where 1 lies outside. */
static void test_p_and_interval_agree(void **state) {
    (void)state;
    gsl_rng *rng = gsim_rng_stream(17, 0, "ratios");
    enum { ROUNDS = 20000 / TEST_FEWER };
    int n_outside = 0, n_near = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double above[8], below[8], ratio = 0.7 + 0.6 * gsl_rng_uniform(rng);
        size_t n = 2 + (size_t)(7 * gsl_rng_uniform(rng));
        for (size_t i = 0; i < n; i++) {
            below[i] = exp(4 * gsl_rng_uniform(rng)); /* units of unlike size: e^4 is 55 */
            above[i] = below[i] * ratio * exp(0.4 * (gsl_rng_uniform(rng) - 0.5));
        }
        struct gsim_interval i = gsim_t_ratio(above, below, n, 1);
        double p = gsim_t_ratio_p(above, below, n);
        bool is_outside = i.low > 1 || i.high < 1;
        n_outside += is_outside;
        n_near += fabs(p - 0.05) < 0.02;
        if (fabs(p - 0.05) > 1e-9 && is_outside != (p < 0.05))
            fail_msg("round %d: p = %.17g, interval %.17g to %.17g", round, p, i.low, i.high);
    }
    gsl_rng_free(rng);
    assert_in_range(n_outside, ROUNDS / 10, ROUNDS * 9 / 10);
    assert_true(n_near > ROUNDS / 100);
}

/* Of 0, 0, 0, 0, 10 the mean is 2, and the values differ from it by -2 and 8: squares 80, cubes 480. The
 * error is sqrt(80 / 4 / 5) = 2, and g = (480 / 5) / (80 / 5)^1.5 = 1.5, the most of five values. So
 * the factor of the skewness is the most that there is, 1/6, and the upper end lies (2 * 2.77645^2 +
 * 1) / 6 = 2.73622 errors farther than that of Student's t. Mirrored, the lower end does. */
static void test_a_skewed_interval(void **state) {
    (void)state;
    static const double right[] = {0, 0, 10, 0, 0}, left[] = {0, 0, -10, 0, 0}, none[5] = {0};
    struct gsim_interval i = gsim_t_interval(right, 5, 1);
    near(i.low, 2 - 2.77645 * 2, 1e-4);
    near(i.high, 2 + (2.77645 + 2.73622) * 2, 1e-4);
    struct gsim_interval mirrored = gsim_t_interval(left, 5, 1);
    near(mirrored.high, -i.low, 1e-12);
    near(mirrored.low, -i.high, 1e-12);
    i = gsim_t_log_interval(right, 5); /* the error is all of the mean */
    near(log(2 / i.low), 2.77645, 1e-5);
    near(log(i.high / 2), 2.77645 + 2.73622, 1e-4);
    near(gsim_t_ratio_p(right, none, 5), 2 * gsl_cdf_tdist_Q(1, 4), 1e-12);
    near(gsim_t_ratio_p(none, right, 5), 2 * gsl_cdf_tdist_Q(1, 4), 1e-12);
}

/* A ratio whose logarithm is skewed to the right is skewed to the left the other way round, and p
 * belongs to the end that lies towards 1. Two units show no skewness. */
static void test_a_skewed_ratio(void **state) {
    (void)state;
    static const double one[] = {1, 1, 1, 1, 1, 1}, skewed[] = {1.2, 1.2, 1.2, 1.2, 1.2, 3};
    struct gsim_interval up = gsim_t_ratio(skewed, one, 6, 1),
                         down = gsim_t_ratio(one, skewed, 6, 1);
    near(up.low * down.high, 1, 1e-12);
    near(up.high * down.low, 1, 1e-12);
    assert_true(up.high / up.mean > 1.5 * up.mean / up.low);
    near(gsim_t_ratio_p(skewed, one, 6), gsim_t_ratio_p(one, skewed, 6), 1e-12);
    /* 1.5 on average, five at 0.8 of that and one at 2: log(1.5) / sqrt(1.2 / 5 / 6) errors from 1 */
    near(gsim_t_ratio_p(skewed, one, 6), 2 * gsl_cdf_tdist_Q(log(1.5) / 0.2, 5), 1e-12);
    struct gsim_interval two = gsim_t_ratio(skewed + 4, one, 2, 1);
    near(two.mean * two.mean, two.low * two.high, 1e-12);
}

/* Student's own example (Biometrika 1908): hours of sleep that ten patients gained under the second
 * drug over the first. R 4 (datasets::sleep, t.test paired) prints mean 1.58, t = 4.0621, p-value =
 * 0.002833 and the interval 0.7001142 to 2.4598858. */
static void test_students_sleep(void **state) {
    (void)state;
    static const double gained[] = {1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4},
                        none[10] = {0};
    struct gsim_interval i = gsim_t_interval(gained, 10, 1);
    near(i.mean, 1.58, 1e-12);
    near(i.low, 0.7001142, 5e-8);
    assert_true(i.high > 2.4598858); /* the fifth slept 4.6 hours longer: skewed to the right */
    near(gsim_t_ratio_p(gained, none, 10), 0.002833, 5e-7);
}

/* Sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1: 0.02, 0.03, 0.06, and 0.04 raised to 0.06. */
static void test_holm_steps_down(void **state) {
    (void)state;
    double p[] = {0.01, (double)NAN, 0.04, 0.03, 0.005, 0.9};
    assert_true(gsim_holm(p, NULL, 5)); /* the last is not asked about */
    static const double wanted[] = {0.03, 0, 0.06, 0.06, 0.02, 0.9};
    for (int i = 0; i < 6; i++)
        if (i != 1)
            near(p[i], wanted[i], 1e-12);
    assert_true(isnan(p[1]));
    double high[] = {0.7, 0.8};
    assert_true(gsim_holm(high, NULL, 2));
    assert_true(high[0] == 1 && high[1] == 1);
}

/* Of the p values above the smallest is taken four times, the next three times, 0.03 twice, and 0.04
 * as often as makes it 0.06. 0.7 and 0.8 are taken twice and 1.4 / 0.8 times, though 1 is the most
 * that a p can be. */
static void test_holm_says_how_often(void **state) {
    (void)state;
    double p[] = {0.01, (double)NAN, 0.04, 0.03, 0.005}, high[] = {0.7, 0.8}, none[] = {0, 0.9};
    double times[5];
    static const double wanted[] = {3, 1, 1.5, 2, 4};
    assert_true(gsim_holm(p, times, 5));
    for (int i = 0; i < 5; i++)
        near(times[i], wanted[i], 1e-12);
    assert_true(gsim_holm(high, times, 2));
    near(times[0], 2, 1e-12);
    near(times[1], 1.4 / 0.8, 1e-12);
    assert_true(high[1] == 1 && gsim_holm(none, times, 2));
    assert_true(times[0] == 2 && times[1] == 1);
}

/* t(0.995, 4) = 4.60409 (tables): an interval that may miss five times more rarely than one in
 * twenty is one of 99 %. */
static void test_a_wider_interval(void **state) {
    (void)state;
    struct gsim_interval i = gsim_t_interval(one_to_five, 5, 5);
    near(i.high, 3 + 4.60409 * sqrt(0.5), 1e-5);
}

/* In a family too interval and p say one thing: the adjusted p is below 0.05 where 1 lies outside. */
static void test_a_family_agrees(void **state) {
    (void)state;
    enum { ROUNDS = 4000 / TEST_FEWER, FAMILY = 6, N = 5 };
    gsl_rng *rng = gsim_rng_stream(18, 0, "families");
    int n_kept_in = 0; /* that would be outside if each were for itself */
    for (int round = 0; round < ROUNDS; round++) {
        double first[N], other[FAMILY][N], p[FAMILY], times[FAMILY];
        for (int i = 0; i < N; i++)
            first[i] = 1 + gsl_rng_uniform(rng);
        for (int k = 0; k < FAMILY; k++) {
            double ratio = 0.6 + 0.6 * gsl_rng_uniform(rng);
            for (int i = 0; i < N; i++)
                other[k][i] = first[i] * ratio * exp(0.6 * (gsl_rng_uniform(rng) - 0.5));
            p[k] = gsim_t_ratio_p(other[k], first, N);
        }
        assert_true(gsim_holm(p, times, FAMILY));
        for (int k = 0; k < FAMILY; k++) {
            struct gsim_interval i = gsim_t_ratio(other[k], first, N, times[k]);
            struct gsim_interval alone = gsim_t_ratio(other[k], first, N, 1);
            struct gsim_interval widened = gsim_t_ratio_widened(alone, N, times[k]);
            near(widened.low, i.low, 1e-12);
            near(widened.high, i.high, 1e-12);
            bool is_outside = i.low > 1 || i.high < 1;
            n_kept_in += !is_outside && (alone.low > 1 || alone.high < 1);
            if (fabs(p[k] - 0.05) > 1e-9 && is_outside != (p[k] < 0.05))
                fail_msg("round %d: p = %.17g, interval %.17g to %.17g", round, p[k], i.low,
                         i.high);
        }
    }
    gsl_rng_free(rng);
    assert_true(n_kept_in > ROUNDS / 10);
}

/* --- one run ---------------------------------------------------------------------------------- */

/* Work of mean 1: the last two are a lognormal whose standard deviation is four times the mean, and
 * a Pareto distribution of index 5/2, which has no third moment. */
enum work { EXPONENTIAL, EVEN, LOGNORMAL, PARETO };
static const double second_moments[] = {2, 1, 17, 1.8}; /* Pareto: (3/2)^2 / (5/2 * 1/2) */

static double draw_work(gsl_rng *rng, enum work kind) {
    double uniform = 1 - gsl_rng_uniform(rng), s2 = log(17);
    switch (kind) {
    case EXPONENTIAL:
        return -log(uniform);
    case EVEN:
        return 1;
    case LOGNORMAL:
        return exp(sqrt(s2) * gsl_cdf_ugaussian_Pinv(uniform) - s2 / 2);
    case PARETO:
        break;
    }
    return 0.6 * pow(uniform, -0.4);
}

/* An M/G/1 queue, first come first served, service of mean 1, from empty: time in the system, work,
 * and gaps between arrivals (Lindley's recursion). */
struct queue {
    double *jct, *work, *gap;
};

static struct queue draw_queue(gsl_rng *rng, enum work kind, double load, size_t n) {
    struct queue q = {calloc(n, sizeof(double)), calloc(n, sizeof(double)),
                      calloc(n, sizeof(double))};
    double wait = 0;
    assert_true(q.jct && q.work && q.gap);
    for (size_t i = 0; i < n; i++) {
        q.work[i] = draw_work(rng, kind);
        q.gap[i] = -log1p(-gsl_rng_uniform(rng)) / load;
        q.jct[i] = wait + q.work[i];
        wait = fmax(q.jct[i] - q.gap[i], 0);
    }
    return q;
}

static void free_queue(struct queue *q) {
    free(q->jct);
    free(q->work);
    free(q->gap);
}

/* Whether the run has an interval, and whether that has the true mean. */
static bool is_covered(const struct queue *q, double mean, size_t n, bool *is_given) {
    struct gsim_dependence queue = gsim_dependence_of(q->gap, q->work, n, 1);
    struct gsim_interval i = gsim_interval_of_run(q->jct, q->work, n, &queue);
    *is_given = !isnan(i.low);
    return i.low <= mean && mean <= i.high;
}

/* 400 queues each. Given at least so often; of those given, right at least 90 in 100, also where
 * few are given, less two standard errors (a binomial's) of what so many runs can show. A slow build
 * draws 40, which are too few to say how often an interval is given. */
static void check_coverage(size_t cell, enum work kind, double load, size_t n, int least_given) {
    enum { TIMES = 400 / TEST_FEWER };
    gsl_rng *rng = gsim_rng_stream(1, cell, "queues");
    double mean = 1 + load * second_moments[kind] / 2 / (1 - load); /* Pollaczek and Khinchine */
    int n_given = 0, n_covered = 0;
    for (int t = 0; t < TIMES; t++) {
        struct queue q = draw_queue(rng, kind, load, n);
        bool is_given;
        n_covered += is_covered(&q, mean, n, &is_given) && is_given;
        n_given += is_given;
        free_queue(&q);
    }
    gsl_rng_free(rng);
    if ((TEST_FEWER == 1 && n_given * 100 < least_given * TIMES) ||
        n_covered < 0.9 * n_given - 2 * sqrt(0.9 * 0.1 * n_given))
        fail_msg("work %d, load %g, %zu jobs: %d of %d given, %d right", (int)kind, load, n,
                 n_given, TIMES, n_covered);
}

static void test_intervals_of_one_run_cover_the_mean(void **state) {
    (void)state;
    static const struct {
        enum work kind;
        double load;
        size_t n;
        int least_given; /* of 100 */
    } cells[] = {
        {EXPONENTIAL, 0.5, 300, 85}, {EXPONENTIAL, 0.5, 1000, 99}, {EXPONENTIAL, 0.5, 5000, 100},
        {EXPONENTIAL, 0.7, 300, 0},  {EXPONENTIAL, 0.7, 1000, 90}, {EXPONENTIAL, 0.7, 5000, 99},
        {EXPONENTIAL, 0.8, 1000, 0}, {EXPONENTIAL, 0.9, 300, 0},   {EXPONENTIAL, 0.9, 1000, 0},
        {EXPONENTIAL, 0.9, 5000, 8}, {EXPONENTIAL, 0.95, 5000, 0}, {EXPONENTIAL, 0.9, 20000, 99},
        {EVEN, 0.5, 300, 95},        {EVEN, 0.7, 300, 40},         {EVEN, 0.8, 1000, 70},
        {EVEN, 0.9, 5000, 80},       {LOGNORMAL, 0.5, 1000, 25},   {LOGNORMAL, 0.5, 5000, 85},
        {LOGNORMAL, 0.7, 5000, 40},  {PARETO, 0.5, 1000, 90},      {PARETO, 0.7, 1000, 80},
        {PARETO, 0.8, 5000, 90},     {PARETO, 0.9, 5000, 20},
    };
    for (size_t c = 0; c < sizeof cells / sizeof *cells; c++)
        check_coverage(c, cells[c].kind, cells[c].load, cells[c].n, cells[c].least_given);
}

/* Load 1/2 with exponential gaps and work: 2 (1 + 1) / (1/2)^2 = 16 jobs, and little more at the
 * highest load that 100 000 jobs leave open. 100 jobs leave loads open up to
 * 1/2 (1 + 3 sqrt(2 / 100)) = 0.71: 2 (1 + 1) / 0.29^2 = 48 jobs at least, or what these 100 vary. */
static void test_what_a_queue_remembers(void **state) {
    (void)state;
    gsl_rng *rng = gsim_rng_stream(1, 0, "queue");
    enum { N = 100000 };
    struct queue q = draw_queue(rng, EXPONENTIAL, 0.5, N);
    near(gsim_dependence_of(q.gap, q.work, N, 1).memory, 16, 1);
    near(gsim_dependence_of(q.gap, q.work, N, 1).load, 0.5, 0.01);
    near(gsim_dependence_of(q.gap, q.work, 100, 1).memory, 48, 30);
    assert_true(gsim_dependence_of(q.gap, q.work, N, 0.49).load > 1);
    assert_true(isinf(gsim_dependence_of(q.gap, q.work, N, 0.502).memory)); /* 0.996 and 1.3 % */
    double even[] = {1, 1, 1, 1}, one[] = {1, 0, 0, 0};
    near(gsim_dependence_of(even, even, 4, 4).unseen, 0.75, 1e-12); /* 3 in 4 */
    near(gsim_dependence_of(even, one, 4, 4).unseen, 3, 1e-12);
    free_queue(&q);
    gsl_rng_free(rng);
}

/* x' = 0.8 x + noise: correlations 0.8^k, which sum to (1 + 0.8) / (1 - 0.8) = 9 both ways. */
static void test_what_values_remember(void **state) {
    (void)state;
    enum { N = 200000 };
    double *x = calloc(N, sizeof *x);
    gsl_rng *rng = gsim_rng_stream(1, 0, "values");
    assert_true(x);
    for (size_t i = 1; i < N; i++)
        x[i] = 0.8 * x[i - 1] + gsl_rng_uniform(rng) - 0.5;
    near(gsim_memory_of_values(x, N), 9, 1.5); /* 200 to a point */
    near(gsim_memory_of_values(x, 1000), 9, 4); /* and one by one */
    for (size_t i = 0; i < N; i++)
        x[i] = gsl_rng_uniform(rng);
    near(gsim_memory_of_values(x, N), 1, 0.3);
    for (size_t i = 0; i < N; i++)
        x[i] = 3;
    assert_true(gsim_memory_of_values(x, N) == 1 && isinf(gsim_memory_of_values(x, 3)));
    free(x);
    gsl_rng_free(rng);
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
        cmocka_unit_test(test_the_interval_of_a_logarithm),
        cmocka_unit_test(test_the_interval_of_a_ratio),
        cmocka_unit_test(test_p_of_a_ratio),
        cmocka_unit_test(test_p_and_interval_agree),
        cmocka_unit_test(test_a_skewed_interval),
        cmocka_unit_test(test_a_skewed_ratio),
        cmocka_unit_test(test_students_sleep),
        cmocka_unit_test(test_holm_steps_down),
        cmocka_unit_test(test_holm_says_how_often),
        cmocka_unit_test(test_a_wider_interval),
        cmocka_unit_test(test_a_family_agrees),
        cmocka_unit_test(test_intervals_of_one_run_cover_the_mean),
        cmocka_unit_test(test_what_a_queue_remembers),
        cmocka_unit_test(test_what_values_remember),
        cmocka_unit_test(test_shaking_stays_within_its_amount),
        cmocka_unit_test(test_shaking_is_fixed_by_seed_and_replication),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
