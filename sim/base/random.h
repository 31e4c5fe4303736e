/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random numbers: xoshiro256** (Blackman and Vigna, ACM TOMS 2021). A stream is fixed by (seed,
 * replication, name). All 256 bits of its state are set from that, so that streams do not
 * overlap. */
#ifndef GSIM_BASE_RANDOM_H
#define GSIM_BASE_RANDOM_H

#include <stdint.h>

struct gsim_random {
    uint64_t word[4];
};

void gsim_random_seed(struct gsim_random *random, uint64_t seed, uint64_t replication,
                      const char *name);
/* Uniform over all values of 64 bits. */
static inline uint64_t gsim_random_next(struct gsim_random *random) {
    uint64_t *word = random->word;
    uint64_t times_5 = word[1] * 5, shifted = word[1] << 17;
    word[2] ^= word[0];
    word[3] ^= word[1];
    word[1] ^= word[2];
    word[0] ^= word[3];
    word[2] ^= shifted;
    word[3] = word[3] << 45 | word[3] >> 19;
    return (times_5 << 7 | times_5 >> 57) * 9;
}
/* Uniform over 0 .. n - 1; n > 0. */
uint64_t gsim_random_below(struct gsim_random *random, uint64_t n);

/* Sets the state from one number. */
void gsim_random_begin(struct gsim_random *random, uint64_t seed);

#endif
