/* SPDX-License-Identifier: GPL-3.0-or-later */
/* 2^-x by squaring roots: 2^(-2^-k) for each bit k of the fraction, as Q64 constants obtained by
 * repeated integer square roots, so that no platform's libm can change a result. */
#include "sim/base/wide.h"

enum { FRACTION_BITS = 40 };

/* floor(sqrt(x * 2^64)): the square root of a Q64 number as a Q64 number. */
static uint64_t sqrt_q64(uint64_t x) {
    gsim_u128 target = (gsim_u128)x << 64;
    uint64_t root = 0;
    for (int bit = 63; bit >= 0; bit--) {
        uint64_t trial = root | (UINT64_C(1) << bit);
        if ((gsim_u128)trial * trial <= target)
            root = trial;
    }
    return root;
}

uint64_t gsim_exp2_neg_q32(int64_t numerator, int64_t denominator) {
    assert(numerator >= 0 && denominator > 0);
    int64_t whole = numerator / denominator;
    if (whole > 33)
        return 0;
    int64_t rest = numerator % denominator;
    gsim_u128 value = (gsim_u128)1 << 64; /* Q64; one needs the 65th bit */
    uint64_t root = UINT64_C(1) << 63; /* 2^-1, then 2^-1/2, 2^-1/4, ... */
    for (int bit = 0; bit < FRACTION_BITS; bit++) {
        root = sqrt_q64(root);
        gsim_i128 twice = (gsim_i128)rest * 2;
        bool is_set = twice >= denominator;
        rest = (int64_t)(is_set ? twice - denominator : twice);
        if (is_set)
            value = value >> 64 ? root : (gsim_u128)((uint64_t)value) * root >> 64;
    }
    value = (value >> whole) + (UINT64_C(1) << 31);
    return (uint64_t)(value >> 32);
}
