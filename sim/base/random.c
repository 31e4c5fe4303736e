/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/random.h"

#include "sim/base/wide.h"

/* Numbers beyond the largest multiple of n are drawn again: all remainders are equally likely.
 * These are fewer than n, and the last ones: of all others no division has to tell. */
uint64_t gsim_random_below(struct gsim_random *random, uint64_t n) {
    uint64_t drawn;
    do
        drawn = gsim_random_next(random);
    while (drawn > UINT64_MAX - n && drawn > UINT64_MAX - (UINT64_MAX % n + 1) % n);
    return drawn % n;
}

void gsim_random_begin(struct gsim_random *random, uint64_t seed) {
    for (int i = 0; i < 4; i++)
        random->word[i] = gsim_mix_next(&seed);
}

void gsim_random_seed(struct gsim_random *random, uint64_t seed, uint64_t replication,
                      const char *name) {
    uint64_t x = UINT64_C(0xCBF29CE484222325); /* FNV-1a of the name, then seed and replication */
    for (const char *p = name; *p; p++)
        x = (x ^ (unsigned char)*p) * UINT64_C(0x100000001B3);
    x ^= gsim_mix_next(&seed);
    x = gsim_mix_next(&x) ^ replication;
    gsim_random_begin(random, gsim_mix_next(&x));
}
