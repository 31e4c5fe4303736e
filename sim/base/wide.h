/* SPDX-License-Identifier: GPL-3.0-or-later */
/* 128-bit products and the fixed point of work and rate. Work is counted in 2^-32 ns, a rate is
 * Q32.32 work per time; rate * elapsed is then exact, so cutting an interval in two never changes
 * what was done. */
#ifndef GSIM_BASE_WIDE_H
#define GSIM_BASE_WIDE_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

__extension__ typedef __int128 gsim_i128;
__extension__ typedef unsigned __int128 gsim_u128;

/* Work in 2^-32 ns. */
typedef gsim_i128 gsim_work;

#define GSIM_RATE_ONE (UINT64_C(1) << 32)

static inline gsim_work gsim_work_of_ns(int64_t time_ns) {
    return (gsim_work)time_ns * (gsim_work)GSIM_RATE_ONE;
}

static inline int64_t gsim_work_to_ns(gsim_work work) {
    return (int64_t)(work >> 32);
}

static inline gsim_work gsim_work_done(uint64_t rate_q32, int64_t elapsed_ns) {
    return (gsim_work)rate_q32 * elapsed_ns;
}

/* The first instant at which at least `left` is done, as a duration; left > 0 and rate > 0. */
static inline int64_t gsim_work_time(gsim_work left, uint64_t rate_q32) {
    assert(rate_q32 > 0);
    if (rate_q32 == GSIM_RATE_ONE) /* the common case needs no 128-bit division */
        return (int64_t)((left + (gsim_work)(GSIM_RATE_ONE - 1)) >> 32);
    return (int64_t)((left + (gsim_work)rate_q32 - 1) / (gsim_work)rate_q32);
}

/* a * b / c with the product in 128 bits; a, b >= 0, c > 0. */
static inline int64_t gsim_muldiv_floor(int64_t a, int64_t b, int64_t c) {
    return (int64_t)((gsim_i128)a * b / c);
}

static inline int64_t gsim_muldiv_ceil(int64_t a, int64_t b, int64_t c) {
    return (int64_t)(((gsim_i128)a * b + c - 1) / c);
}

/* splitmix64 (Steele, Lea and Flood, OOPSLA 2014): the next of a sequence of well mixed numbers. */
static inline uint64_t gsim_mix_next(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* 2^(-numerator/denominator) in Q32, by integer arithmetic only (libm never reaches a
 * simulation). 0 <= numerator, 0 < denominator. */
uint64_t gsim_exp2_neg_q32(int64_t numerator, int64_t denominator);

#endif
