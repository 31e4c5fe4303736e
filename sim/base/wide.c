/* SPDX-License-Identifier: GPL-3.0-or-later */
/* 2^-x, and its inverse, by roots: 2^(-2^-k) for each bit k of the fraction, as Q64 constants
 * obtained by repeated integer square roots, so that no platform's libm can change a result. */
#include "sim/base/wide.h"

enum { FRACTION_BITS = 40 };

/* 2^(-2^-k) as Q64, k = 1, 2, ...: each is floor(sqrt(the previous * 2^64)), the first of 2^63. */
static const uint64_t roots[FRACTION_BITS] = {
    UINT64_C(0xB504F333F9DE6484), UINT64_C(0xD744FCCAD69D6AF4), UINT64_C(0xEAC0C6E7DD24392E),
    UINT64_C(0xF5257D152486CC2C), UINT64_C(0xFA83B2DB722A033A), UINT64_C(0xFD3E0C0CF486C174),
    UINT64_C(0xFE9E115C7B8F884B), UINT64_C(0xFF4ECB59511EC8A4), UINT64_C(0xFFA756521C8DAED1),
    UINT64_C(0xFFD3A751C0F7E10B), UINT64_C(0xFFE9D2B2F7DB2755), UINT64_C(0xFFF4E91BFF1B8C3D),
    UINT64_C(0xFFFA747EA0040663), UINT64_C(0xFFFD3A3B7814EB53), UINT64_C(0xFFFE9D1CC60DDAB0),
    UINT64_C(0xFFFF4E8E25879BF9), UINT64_C(0xFFFFA7470363F450), UINT64_C(0xFFFFD3A37DDA0312),
    UINT64_C(0xFFFFE9D1BDF703AE), UINT64_C(0xFFFFF4E8DEBE025D), UINT64_C(0xFFFFFA746F4FA14F),
    UINT64_C(0xFFFFFD3A37A3F8AF), UINT64_C(0xFFFFFE9D1BD10659), UINT64_C(0xFFFFFF4E8DE845AD),
    UINT64_C(0xFFFFFFA746F41376), UINT64_C(0xFFFFFFD3A37A05E3), UINT64_C(0xFFFFFFE9D1BD01FB),
    UINT64_C(0xFFFFFFF4E8DE80C0), UINT64_C(0xFFFFFFFA746F4050), UINT64_C(0xFFFFFFFD3A37A024),
    UINT64_C(0xFFFFFFFE9D1BD011), UINT64_C(0xFFFFFFFF4E8DE808), UINT64_C(0xFFFFFFFFA746F403),
    UINT64_C(0xFFFFFFFFD3A37A01), UINT64_C(0xFFFFFFFFE9D1BD00), UINT64_C(0xFFFFFFFFF4E8DE7F),
    UINT64_C(0xFFFFFFFFFA746F3F), UINT64_C(0xFFFFFFFFFD3A379F), UINT64_C(0xFFFFFFFFFE9D1BCF),
    UINT64_C(0xFFFFFFFFFF4E8DE7),
};

static uint64_t times(uint64_t value, uint64_t root) {
    return (uint64_t)((gsim_u128)value * root >> 64);
}

static uint64_t root_of(int above) {
    return roots[above - (64 - FRACTION_BITS)];
}

/* Of the roots of all bits, in their order; there is one. */
static uint64_t product_of(uint64_t bits) {
    uint64_t value = root_of(__builtin_clzll(bits));
    while (bits &= ~(UINT64_C(1) << (63 - __builtin_clzll(bits))))
        value = times(value, root_of(__builtin_clzll(bits)));
    return value;
}

uint64_t gsim_exp2_neg_q32(int64_t numerator, int64_t denominator) {
    assert(numerator >= 0 && denominator > 0);
    int64_t whole = numerator / denominator;
    if (whole > 33)
        return 0;
    /* The bits of the fraction, the first on top. */
    uint64_t bits = (uint64_t)(((gsim_u128)(numerator % denominator) << FRACTION_BITS) /
                               (gsim_u128)denominator);
    gsim_u128 value = (gsim_u128)1 << 64; /* Q64; 1.0 needs the 65th bit */
    if (bits > 0)
        value = product_of(bits);
    value = (value >> whole) + (UINT64_C(1) << 31);
    return (uint64_t)(value >> 32);
}

/* x grows bit by bit as long as 2^-x is not below the part. */
int64_t gsim_log2_neg_q32(uint64_t part_q32) {
    enum { BITS = 32 };
    assert(part_q32 > 0);
    if (part_q32 >> BITS)
        return 0;
    int64_t whole = 0, rest = 0;
    uint64_t part = part_q32 << BITS; /* Q64 */
    for (; !(part >> 63); whole++)
        part <<= 1;
    int bit = 0;
    while (bit < BITS && roots[bit] < part) /* 1.0 has no place in a value of 64 bits */
        bit++;
    if (bit == BITS)
        return whole << BITS;
    uint64_t value = roots[bit];
    for (rest = 1, bit++; bit < BITS; bit++) {
        uint64_t next = times(value, roots[bit]);
        bool is_set = next >= part;
        value = is_set ? next : value;
        rest = rest * 2 + is_set;
    }
    return (whole << BITS) + rest;
}
