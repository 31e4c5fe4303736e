/* SPDX-License-Identifier: GPL-3.0-or-later */
/* xoshiro256** (Blackman and Vigna, ACM TOMS 2021) as a gsl_rng type. All 256 bits of state are set
 * from the stream's identity, so that streams do not overlap. */
#include "sim/base/rng.h"

#include <string.h>

#include "sim/base/wide.h"

struct state {
    uint64_t word[4];
};

static uint64_t rotate(uint64_t x, int k) {
    return x << k | x >> (64 - k);
}

static uint64_t next(struct state *s) {
    uint64_t result = rotate(s->word[1] * 5, 7) * 9, shifted = s->word[1] << 17;
    s->word[2] ^= s->word[0];
    s->word[3] ^= s->word[1];
    s->word[1] ^= s->word[2];
    s->word[0] ^= s->word[3];
    s->word[2] ^= shifted;
    s->word[3] = rotate(s->word[3], 45);
    return result;
}

static void seed_state(void *state, unsigned long seed) {
    struct state *s = state;
    uint64_t x = seed;
    for (int i = 0; i < 4; i++)
        s->word[i] = gsim_mix_next(&x);
}

static unsigned long get(void *state) {
    return next(state);
}

static double get_double(void *state) {
    return (double)(next(state) >> 11) * 0x1p-53;
}

gsl_rng *gsim_rng_stream(uint64_t seed, uint64_t replication, const char *name) {
    static const gsl_rng_type type = {.name = "gsim-xoshiro256**",
                                      .max = UINT64_MAX,
                                      .min = 0,
                                      .size = sizeof(struct state),
                                      .set = seed_state,
                                      .get = get,
                                      .get_double = get_double};
    gsl_rng *rng = gsl_rng_alloc(&type);
    if (!rng)
        return NULL;
    uint64_t x = UINT64_C(0xCBF29CE484222325); /* FNV-1a of the name, then seed and replication */
    for (const char *p = name; *p; p++)
        x = (x ^ (unsigned char)*p) * UINT64_C(0x100000001B3);
    x ^= gsim_mix_next(&seed);
    x = gsim_mix_next(&x) ^ replication;
    seed_state(rng->state, gsim_mix_next(&x));
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
