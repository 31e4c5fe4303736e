/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The generator of Python's module random, for reference modes that copy a program written in it:
 * the Mersenne twister MT19937 (Matsumoto and Nishimura, ACM TOMACS 8, 1998), seeded with a whole
 * number as CPython seeds it, and CPython's shuffle. */
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

#endif
