/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The streams of sim/base/random.h as a gsl_rng type. */
#include "sim/base/rng.h"

#include <stdbool.h>
#include <stdlib.h>

#include "sim/base/random.h"

static void begin(void *state, unsigned long seed) {
    gsim_random_begin(state, seed);
}

static unsigned long get(void *state) {
    return gsim_random_next(state);
}

static double get_double(void *state) {
    return (double)(gsim_random_next(state) >> 11) * 0x1p-53;
}

gsl_rng *gsim_rng_stream(uint64_t seed, uint64_t replication, const char *name) {
    static const gsl_rng_type type = {.name = "gsim-xoshiro256**",
                                      .max = UINT64_MAX,
                                      .min = 0,
                                      .size = sizeof(struct gsim_random),
                                      .set = begin,
                                      .get = get,
                                      .get_double = get_double};
    gsl_rng *rng =
        malloc(sizeof *rng); /* as gsl_rng_alloc, which ends the program without memory */
    void *state = calloc(1, type.size);
    if (!rng || !state) {
        free(rng);
        free(state);
        return NULL;
    }
    *rng = (gsl_rng){.type = &type, .state = state};
    gsim_random_seed(rng->state, seed, replication, name);
    return rng;
}

/* Von Neumann's comparisons of uniforms: a falling run of odd length is accepted with its first
 * member, a run of even length adds 1. */
uint64_t gsim_rng_exponential_q32(gsl_rng *rng) {
    for (uint64_t whole = 0;; whole++) {
        uint64_t first = gsim_rng_word(rng), last = first;
        bool is_odd = true;
        for (;; is_odd = !is_odd) {
            uint64_t next = gsim_rng_word(rng);
            if (next >= last)
                break;
            last = next;
        }
        if (is_odd)
            return whole << 32 | first;
    }
}
