/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The generator of Python's module random, for reference modes that copy a program written in it:
 * the Mersenne twister MT19937 (Matsumoto and Nishimura, ACM TOMACS 8, 1998), seeded with a whole
 * number as CPython seeds it, and CPython's shuffle, randrange and sample. */
#ifndef GSIM_POLICIES_LIB_PYTHON_SHUFFLE_H
#define GSIM_POLICIES_LIB_PYTHON_SHUFFLE_H

#include <stdint.h>

enum { GSIM_TWISTER_WORDS = 624 };

struct gsim_python_random {
    uint32_t word[GSIM_TWISTER_WORDS];
    uint32_t next;
};

/* random.Random(seed) */
void gsim_python_seed(struct gsim_python_random *random, uint32_t seed);
/* random.shuffle(list) */
void gsim_python_shuffle(struct gsim_python_random *random, uint32_t *list, uint32_t n);
/* random.randrange(n), n > 0 */
uint32_t gsim_python_below(struct gsim_python_random *random, uint32_t n);
/* random.sample(range(n), 2), n > 1 */
void gsim_python_sample_two(struct gsim_python_random *random, uint32_t n, uint32_t out[2]);

#endif
