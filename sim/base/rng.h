/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random streams. A stream is fixed by (seed, replication, name), so any two policies see equal
 * randomness, and adding a stream changes no other. The generator (sim/base/random.h) stands behind
 * GSL's gsl_rng interface, so that GSL's distributions can draw from it. */
#ifndef GSIM_BASE_RNG_H
#define GSIM_BASE_RNG_H

#include <gsl/gsl_rng.h>
#include <stdint.h>

/* NULL when there is no memory. Free with gsl_rng_free. */
gsl_rng *gsim_rng_stream(uint64_t seed, uint64_t replication, const char *name);

/* Uniform over 0 .. 2^32 - 1. */
static inline uint64_t gsim_rng_word(gsl_rng *rng) {
    return gsl_rng_get(rng) & UINT32_MAX;
}
/* An exponential variate with mean 1, in Q32, without floating point. */
uint64_t gsim_rng_exponential_q32(gsl_rng *rng);

#endif
