/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Logarithms without a libm, the descent within bounds, and what Pollux' jobs learn by it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "policies/adaptdl/fit.h"
#include "policies/lib/descent.h"
#include "policies/lib/real.h"

static void assert_near(double got, double wanted, double part) {
    if (!(fabs(got - wanted) <= part * fabs(wanted)))
        fail_msg("%.17g instead of %.17g", got, wanted);
}

static void test_logarithms_and_roots(void **state) {
    (void)state;
    for (double x = 1e-300; x < 1e300; x *= 1.7) {
        assert_near(gsim_real_log(x), log(x), 1e-15);
        assert_near(gsim_real_root(x), sqrt(x), 4e-16);
    }
    for (double x = -700; x < 700; x += 0.37)
        assert_near(gsim_real_exp(x), exp(x), 2e-15);
    assert_true(gsim_real_log(1) == 0 && gsim_real_exp(0) == 1 && gsim_real_root(0) == 0);
    assert_true(gsim_real_exp(-1e4) == 0 && gsim_real_exp(1e4) == DBL_MAX);
    assert_true(gsim_real_of(3, -1) == 1.5 && gsim_real_of(UINT64_C(1) << 63, -1086) > 0);
}

/* Rosenbrock's valley: the least value 0 at (1, 1). */
static double valley(const void *arg, const double *x, double *slope) {
    (void)arg;
    double up = x[1] - x[0] * x[0], in = 1 - x[0];
    slope[0] = -400 * x[0] * up - 2 * in;
    slope[1] = 200 * up;
    return 100 * up * up + in * in;
}

static void test_descent_within_bounds(void **state) {
    (void)state;
    struct gsim_descent d = {.n = 2, .value = valley};
    for (int i = 0; i < 2; i++) {
        d.low[i] = -DBL_MAX;
        d.high[i] = DBL_MAX;
    }
    double x[2] = {-1.2, 1};
    gsim_descend(&d, x);
    assert_near(x[0], 1, 1e-3);
    assert_near(x[1], 1, 2e-3);
    d.high[0] = 0.5; /* along the bound the valley's floor is at 0.25 */
    x[0] = -1.2;
    x[1] = 1;
    gsim_descend(&d, x);
    assert_true(x[0] == 0.5);
    assert_near(x[1], 0.25, 1e-3);
    d.low[0] = d.high[0] = 0.25; /* a number that is fixed */
    gsim_descend(&d, x);
    assert_true(x[0] == 0.25);
    assert_near(x[1], 0.0625, 1e-3);
}

static double step_of(const struct pollux_model *m, uint32_t nodes, uint32_t gpus, double sums_s) {
    double overlap = m->number[POLLUX_OVERLAP];
    return pow(pow(sums_s, overlap) + pow(pollux_tells_s(m, nodes > 1, gpus), overlap),
               1 / overlap);
}

/* Steps by a model are given back by the model that is learned of them. */
static void test_a_job_learns_its_times(void **state) {
    (void)state;
    static const struct pollux_model real = {{0.05, 0.01, 0.3, 0.002, 0.1, 0.001, 1.5}};
    static const uint32_t where[][2] = {{1, 1}, {1, 2}, {1, 4}, {2, 4}, {2, 8}, {4, 16}, {8, 32}};
    enum { PLACES = sizeof where / sizeof *where, LOCALS = 3 };
    struct pollux_step steps[PLACES * LOCALS];
    struct pollux_logs room[PLACES * LOCALS];
    uint32_t n = 0;
    for (uint32_t p = 0; p < PLACES; p++)
        for (uint32_t local = 8; local <= 32; local *= 2) {
            double sums_s = real.number[0] + real.number[1] * local;
            steps[n++] = (struct pollux_step){where[p][0], where[p][1], local, sums_s,
                                              step_of(&real, where[p][0], where[p][1], sums_s)};
        }
    struct pollux_model learned = pollux_fit(steps, n, room);
    for (uint32_t i = 0; i < n; i++) {
        double sums_s = learned.number[0] + learned.number[1] * steps[i].local;
        assert_near(sums_s, steps[i].sums_s, 0.02);
        assert_near(step_of(&learned, steps[i].nodes, steps[i].gpus, sums_s), steps[i].step_s,
                    0.05);
    }
    struct pollux_model again = pollux_fit(steps, n, room);
    assert_memory_equal(&again, &learned, sizeof again);
}

/* What was not seen is guessed: half of a lone step does not depend on its batch, GPUs of several
 * nodes tell each other at least a tenth slower than those of one. */
static void test_what_a_job_has_not_seen(void **state) {
    (void)state;
    struct pollux_step steps[] = {{1, 1, 8, 0.4, 0.4}, {1, 2, 8, 0.4, 0.5}};
    struct pollux_logs room[2];
    struct pollux_model m = pollux_fit(steps, 1, room);
    assert_near(m.number[POLLUX_SUMS_BASE], 0.2, 1e-12);
    assert_near(m.number[POLLUX_SUMS_BASE] + 8 * m.number[POLLUX_SUMS_EACH], 0.4, 0.01);
    assert_near(pollux_tells_s(&m, false, 8), 1e-8, 10);
    m = pollux_fit(steps, 2, room);
    assert_near(pollux_tells_s(&m, true, 2), 1.1 * pollux_tells_s(&m, false, 2), 1e-6);
    assert_true(pollux_tells_s(&m, false, 2) > 0.05);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_logarithms_and_roots),
        cmocka_unit_test(test_descent_within_bounds),
        cmocka_unit_test(test_a_job_learns_its_times),
        cmocka_unit_test(test_what_a_job_has_not_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
