/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fitted distributions: estimates that one can work out, and draws whose parameters come back. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "sim/base/rng.h"
#include "traces/fit.h"

enum { DRAWS = 20000 };

static void close_to(double is, double expected, double tolerance) {
    if (!(fabs(is - expected) <= tolerance))
        fail_msg("%.9g, not %.9g", is, expected);
}

static struct gsim_fit fit(enum gsim_dist_kind kind, const double *sample, uint32_t n) {
    struct gsim_fit result;
    assert_true(gsim_fit_samples(kind, sample, n, &result));
    return result;
}

static void test_by_hand(void **state) {
    (void)state;
    const double e = exp(1);
    struct gsim_fit one = fit(GSIM_DIST_EXPONENTIAL, (double[]){1, 2, 6}, 3);
    close_to(one.dist.param[0], 3, 1e-12);
    /* of these three the fitted function is 1 - exp(-1/3), 1 - exp(-2/3) and 1 - exp(-2) at the
     * samples; the observed one steps from 0 to 1 in thirds: the largest gap is below the first */
    close_to(one.distance, 1 - exp(-1.0 / 3), 1e-12);
    one = fit(GSIM_DIST_LOGNORMAL, (double[]){1, e * e}, 2);
    close_to(one.dist.param[0], 1, 1e-12);
    close_to(one.dist.param[1], 1, 1e-12);
    one = fit(GSIM_DIST_PARETO, (double[]){1, e}, 2); /* 1 over the mean of 0 and 1 */
    close_to(one.dist.param[0], 1, 1e-12);
    close_to(one.dist.param[1], 2, 1e-12);
    struct gsim_fit none;
    assert_false(gsim_fit_samples(GSIM_DIST_LOGNORMAL, (double[]){5, 5}, 2, &none));
    assert_false(gsim_fit_knows(GSIM_DIST_UNIFORM));
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of 20 000 draws an estimate is off by a few per mille; five standard errors are 5 % for all of
 * these. Quantiles are where the share of draws below them says. */
static void test_draws_come_back(void **state) {
    (void)state;
    static const struct gsim_dist drawn[] = {
        {.kind = GSIM_DIST_EXPONENTIAL, .param = {300}},
        {.kind = GSIM_DIST_LOGNORMAL, .param = {6.9, 2.3}},
        {.kind = GSIM_DIST_WEIBULL, .param = {3000, 0.4}},
        {.kind = GSIM_DIST_WEIBULL, .param = {10, 4}},
        {.kind = GSIM_DIST_PARETO, .param = {60, 1.3}},
    };
    double *sample = malloc(DRAWS * sizeof *sample);
    assert_non_null(sample);
    for (size_t d = 0; d < sizeof drawn / sizeof *drawn; d++) {
        gsl_rng *rng = gsim_rng_stream(1, d, "fit");
        for (int i = 0; i < DRAWS; i++)
            sample[i] = gsim_dist_draw(&drawn[d], rng);
        gsl_rng_free(rng);
        qsort(sample, DRAWS, sizeof *sample, by_value);
        struct gsim_fit result = fit(drawn[d].kind, sample, DRAWS);
        for (int p = 0; p < 2; p++)
            close_to(result.dist.param[p], drawn[d].param[p], 0.05 * drawn[d].param[p]);
        assert_true(result.distance < 2 / sqrt(DRAWS));
        for (int i = 1; i < 10; i++)
            close_to(gsim_fit_quantile(&result.dist, i / 10.0), sample[i * DRAWS / 10],
                     0.1 * sample[i * DRAWS / 10]);
    }
    free(sample);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_draws_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
