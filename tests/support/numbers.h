/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random whole numbers, and their order by the C library's sort. */
#ifndef GSIM_TESTS_SUPPORT_NUMBERS_H
#define GSIM_TESTS_SUPPORT_NUMBERS_H

#include <stdint.h>
#include <stdlib.h>

#include "sim/base/rng.h"

static inline int compare_i64(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Draws n numbers, which the caller frees. range 0: all 64 bits. */
static inline int64_t *draw_i64(size_t n, uint64_t range, uint64_t seed) {
    gsl_rng *rng = gsim_rng_stream(seed, 0, "numbers");
    int64_t *values = malloc(n * sizeof *values);
    if (!rng || !values)
        abort();
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = gsl_rng_get(rng);
        values[i] = range ? (int64_t)(bits % range) - (int64_t)(range / 2) : (int64_t)bits;
    }
    gsl_rng_free(rng);
    return values;
}

#endif
