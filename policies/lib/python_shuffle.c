/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/lib/python_shuffle.h"

enum { HALF = 397 };

static void init(struct gsim_python_random *random, uint32_t seed) {
    random->word[0] = seed;
    for (uint32_t i = 1; i < GSIM_TWISTER_WORDS; i++)
        random->word[i] =
            UINT32_C(1812433253) * (random->word[i - 1] ^ random->word[i - 1] >> 30) + i;
}

/* init_by_array with the one word of the seed. */
void gsim_python_seed(struct gsim_python_random *random, uint32_t seed) {
    uint32_t *word = random->word, i = 1;
    init(random, 19650218);
    for (uint32_t k = 0; k < GSIM_TWISTER_WORDS; k++) {
        word[i] = (word[i] ^ (word[i - 1] ^ word[i - 1] >> 30) * UINT32_C(1664525)) + seed;
        if (++i == GSIM_TWISTER_WORDS) {
            word[0] = word[GSIM_TWISTER_WORDS - 1];
            i = 1;
        }
    }
    for (uint32_t k = 1; k < GSIM_TWISTER_WORDS; k++) {
        word[i] = (word[i] ^ (word[i - 1] ^ word[i - 1] >> 30) * UINT32_C(1566083941)) - i;
        if (++i == GSIM_TWISTER_WORDS) {
            word[0] = word[GSIM_TWISTER_WORDS - 1];
            i = 1;
        }
    }
    word[0] = UINT32_C(0x80000000);
    random->next = GSIM_TWISTER_WORDS;
}

static void turn(struct gsim_python_random *random) {
    uint32_t *word = random->word;
    for (uint32_t i = 0; i < GSIM_TWISTER_WORDS; i++) {
        uint32_t after = word[(i + 1) % GSIM_TWISTER_WORDS];
        uint32_t both = (word[i] & UINT32_C(0x80000000)) | (after & UINT32_C(0x7fffffff));
        word[i] = word[(i + HALF) % GSIM_TWISTER_WORDS] ^ both >> 1 ^
                  (both & 1 ? UINT32_C(0x9908b0df) : 0);
    }
    random->next = 0;
}

static uint32_t draw(struct gsim_python_random *random) {
    if (random->next == GSIM_TWISTER_WORDS)
        turn(random);
    uint32_t y = random->word[random->next++];
    y ^= y >> 11;
    y ^= y << 7 & UINT32_C(0x9d2c5680);
    y ^= y << 15 & UINT32_C(0xefc60000);
    return y ^ y >> 18;
}

/* A number below n > 0: as many bits as n has, until they are below it. */
uint32_t gsim_python_below(struct gsim_python_random *random, uint32_t n) {
    uint32_t bits = 0, value;
    while (bits < 32 && n >> bits)
        bits++;
    do
        value = draw(random) >> (32 - bits);
    while (value >= n);
    return value;
}

void gsim_python_shuffle(struct gsim_python_random *random, uint32_t *list, uint32_t n) {
    for (uint32_t i = n; i-- > 1;) {
        uint32_t j = gsim_python_below(random, i + 1), kept = list[i];
        list[i] = list[j];
        list[j] = kept;
    }
}

/* From a short list the second is drawn among those that the first left, of which the last has
 * taken the first's place; from a long one it is drawn until it is another. */
void gsim_python_sample_two(struct gsim_python_random *random, uint32_t n, uint32_t out[2]) {
    enum { SHORT = 21 };
    out[0] = gsim_python_below(random, n);
    if (n <= SHORT) {
        uint32_t at = gsim_python_below(random, n - 1);
        out[1] = at == out[0] ? n - 1 : at;
        return;
    }
    do
        out[1] = gsim_python_below(random, n);
    while (out[1] == out[0]);
}
