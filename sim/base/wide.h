/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Well mixed numbers, and powers of two without libm. */
#ifndef GSIM_BASE_WIDE_H
#define GSIM_BASE_WIDE_H

#include <stdint.h>

#include "gsim/units.h"

/* splitmix64 (Steele, Lea and Flood, OOPSLA 2014): the next number of a well mixed sequence. */
static inline uint64_t gsim_mix_next(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* 2^(-numerator/denominator) in Q32, by integer arithmetic only (libm never reaches a
 * simulation). 0 <= numerator, 0 < denominator. */
uint64_t gsim_exp2_neg_q32(int64_t numerator, int64_t denominator);
/* The x, in Q32, for which 2^-x is this part of 1, which is in Q32 too and above zero; right to one
 * step of Q32. */
int64_t gsim_log2_neg_q32(uint64_t part_q32);

#endif
