/* SPDX-License-Identifier: GPL-3.0-or-later */
/* 2^-x and its inverse against a plain way to them: a factor a bit, each a root of the one before
 * it, in 128 bits. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "sim/base/rng.h"
#include "sim/base/wide.h"

enum { BITS = 40, LOG_BITS = 32, DRAWS = 20000 };

static uint64_t root_of(gsim_u128 square) {
    uint64_t root = 0;
    for (int bit = 63; bit >= 0; bit--) {
        uint64_t next = root | UINT64_C(1) << bit;
        root = (gsim_u128)next * next <= square ? next : root;
    }
    return root;
}

/* 2^(-2^-k) for k = 1, 2, ... */
static void find_roots(uint64_t *roots) {
    gsim_u128 half = UINT64_C(1) << 63;
    for (int k = 0; k < BITS; k++)
        roots[k] = root_of((k == 0 ? half : (gsim_u128)roots[k - 1]) << 64);
}

static gsim_u128 times(gsim_u128 value, uint64_t root) {
    return value >> 64 ? root : (gsim_u128)(uint64_t)value * root >> 64;
}

static uint64_t plain_exp2(const uint64_t *roots, int64_t numerator, int64_t denominator) {
    int64_t whole = numerator / denominator;
    gsim_u128 rest = (gsim_u128)(uint64_t)(numerator % denominator), value = (gsim_u128)1 << 64;
    for (int k = 0; k < BITS; k++) {
        rest *= 2;
        if (rest < (gsim_u128)(uint64_t)denominator)
            continue;
        rest -= (gsim_u128)(uint64_t)denominator;
        value = times(value, roots[k]);
    }
    return whole > 33 ? 0 : (uint64_t)(((value >> whole) + (UINT64_C(1) << 31)) >> 32);
}

static int64_t plain_log2(const uint64_t *roots, uint64_t part_q32) {
    gsim_u128 value = (gsim_u128)1 << 64;
    int64_t whole = 0, rest = 0;
    while (part_q32 << whole < UINT64_C(1) << 31)
        whole++;
    for (int k = 0; k < LOG_BITS; k++) {
        gsim_u128 next = times(value, roots[k]);
        bool is_set = next >= (gsim_u128)part_q32 << (whole + 32);
        value = is_set ? next : value;
        rest = 2 * rest + is_set;
    }
    return (whole << LOG_BITS) + rest;
}

static void test_powers_are_products_of_roots(void **state) {
    (void)state;
    uint64_t roots[BITS];
    gsl_rng *rng = gsim_rng_stream(1, 0, "wide");
    find_roots(roots);
    for (int i = 0; i < DRAWS; i++) {
        int64_t denominator = 1 + (int64_t)(gsim_rng_word(rng) >> gsim_rng_word(rng) % 32);
        int64_t numerator = (int64_t)(gsim_rng_word(rng) >> gsim_rng_word(rng) % 32);
        assert_int_equal(gsim_exp2_neg_q32(numerator, denominator),
                         plain_exp2(roots, numerator, denominator));
    }
    assert_int_equal(gsim_exp2_neg_q32(0, 1), GSIM_RATE_ONE);
    gsl_rng_free(rng);
}

static void test_logarithms_are_the_bits_of_their_roots(void **state) {
    (void)state;
    uint64_t roots[BITS];
    gsl_rng *rng = gsim_rng_stream(2, 0, "wide");
    find_roots(roots);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t drawn = gsim_rng_word(rng) >> gsim_rng_word(rng) % 32;
        uint64_t small = 1 + (uint64_t)i,
                 parts[] = {drawn > 0 ? drawn : 1, small, GSIM_RATE_ONE - small};
        for (uint32_t k = 0; k < sizeof parts / sizeof parts[0]; k++)
            assert_int_equal(gsim_log2_neg_q32(parts[k]), plain_log2(roots, parts[k]));
    }
    assert_int_equal(gsim_log2_neg_q32(GSIM_RATE_ONE), 0);
    gsl_rng_free(rng);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_powers_are_products_of_roots),
        cmocka_unit_test(test_logarithms_are_the_bits_of_their_roots),
    };
    return cmocka_run_group_tests_name("powers of two", tests, NULL, NULL);
}
