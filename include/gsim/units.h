/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Base units (ns, bytes, bytes per second, ppm) and the fixed point of work and rate, all of them
 * whole numbers. Work is counted in 2^-32 ns, a rate is Q32.32 work per time; rate * elapsed is
 * then exact, so that the two parts of an interval add up to exactly the work of the whole. */
#ifndef GSIM_UNITS_H
#define GSIM_UNITS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#define GSIM_NS_PER_S INT64_C(1000000000)
#define GSIM_NS_PER_MS INT64_C(1000000)
#define GSIM_NS_PER_US INT64_C(1000)
#define GSIM_PPM INT64_C(1000000)
#define GSIM_GIB (INT64_C(1) << 30)
#define GSIM_MIB (INT64_C(1) << 20)
/* The clock's end: 146 years. Any later time is an error, so that the sum of two times never
 * wraps. */
#define GSIM_TIME_MAX (INT64_C(1) << 62)
#define GSIM_NEVER INT64_MAX

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

/* The time until at least `left` is done; left > 0 and rate > 0. */
static inline int64_t gsim_work_time(gsim_work left, uint64_t rate_q32) {
    assert(rate_q32 > 0);
    if (rate_q32 == GSIM_RATE_ONE) /* the common case needs no 128-bit division */
        return (int64_t)((left + (gsim_work)(GSIM_RATE_ONE - 1)) >> 32);
    gsim_u128 sum = (gsim_u128)left + rate_q32 - 1;
    if (sum <= UINT64_MAX) /* nor do works of some seconds */
        return (int64_t)((uint64_t)sum / rate_q32);
    return (int64_t)(sum / rate_q32);
}

/* a * b / c with the product in 128 bits; a, b >= 0, c > 0. */
static inline int64_t gsim_muldiv_floor(int64_t a, int64_t b, int64_t c) {
    int64_t product; /* mostly fits, and a division in 128 bits is a call */
    return __builtin_mul_overflow(a, b, &product) ? (int64_t)((gsim_i128)a * b / c) : product / c;
}

static inline int64_t gsim_muldiv_ceil(int64_t a, int64_t b, int64_t c) {
    return (int64_t)(((gsim_i128)a * b + c - 1) / c);
}

#endif
