/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random streams: the generator is the published one, and streams know nothing of each other. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "sim/base/rng.h"

enum { N = 200000 };

/* Seed 42 through splitmix64 and then xoshiro256**, computed by a separate program written from the
 * papers (Vigna's splitmix64; Blackman and Vigna's xoshiro256**). splitmix64 from seed 0 begins
 * with 0xE220A8397B1DCDAF, which its author's page gives. */
static void test_the_generator_is_xoshiro256starstar(void **state) {
    (void)state;
    gsl_rng *rng = gsim_rng_stream(1, 0, "x");
    assert_non_null(rng);
    gsl_rng_set(rng, 42);
    static const uint64_t expected[] = {UINT64_C(0x15780B2E0C2EC716), UINT64_C(0x6104D9866D113A7E),
                                        UINT64_C(0xAE17533239E499A1), UINT64_C(0xECB8AD4703B360A1),
                                        UINT64_C(0xFDE6DC7FE2EC5E64), UINT64_C(0xC50DA53101795238)};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_true(gsl_rng_get(rng) == expected[i]);
    gsl_rng_free(rng);
}

static uint64_t first_of(uint64_t seed, uint64_t replication, const char *name) {
    gsl_rng *rng = gsim_rng_stream(seed, replication, name);
    assert_non_null(rng);
    uint64_t value = gsl_rng_get(rng);
    gsl_rng_free(rng);
    return value;
}

static void test_a_stream_is_fixed_by_its_identity(void **state) {
    (void)state;
    assert_true(first_of(1, 2, "arrival") == first_of(1, 2, "arrival"));
    assert_true(first_of(1, 2, "arrival") != first_of(1, 2, "duration"));
    assert_true(first_of(1, 2, "arrival") != first_of(2, 2, "arrival"));
    assert_true(first_of(1, 2, "arrival") != first_of(1, 3, "arrival"));
    assert_true(first_of(1, 2, "arrival") != first_of(2, 1, "arrival"));
    assert_true(first_of(1, 0, "a") != first_of(0, 1, "a"));
}

/* Mean of N uniforms: 1/2 with standard deviation sqrt(1/12/N) = 0.000645; five of those. */
static void test_uniforms_are_uniform(void **state) {
    (void)state;
    gsl_rng *rng = gsim_rng_stream(1, 0, "uniform");
    assert_non_null(rng);
    double sum = 0, least = 1, most = 0;
    for (int i = 0; i < N; i++) {
        double u = gsl_rng_uniform(rng);
        sum += u;
        least = u < least ? u : least;
        most = u > most ? u : most;
    }
    gsl_rng_free(rng);
    assert_true(fabs(sum / N - 0.5) < 5 * 0.000645);
    assert_true(least >= 0 && least < 0.001);
    assert_true(most < 1 && most > 0.999);
}

/* Correlation of two independent streams: 0 with standard deviation 1/sqrt(N) = 0.00224. */
static void test_streams_are_not_correlated(void **state) {
    (void)state;
    gsl_rng *a = gsim_rng_stream(1, 0, "arrival"), *b = gsim_rng_stream(1, 1, "arrival");
    assert_non_null(a);
    assert_non_null(b);
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += (gsl_rng_uniform(a) - 0.5) * (gsl_rng_uniform(b) - 0.5) * 12;
    gsl_rng_free(a);
    gsl_rng_free(b);
    assert_true(fabs(sum / N) < 5 * 0.00224);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_generator_is_xoshiro256starstar),
        cmocka_unit_test(test_a_stream_is_fixed_by_its_identity),
        cmocka_unit_test(test_uniforms_are_uniform),
        cmocka_unit_test(test_streams_are_not_correlated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
