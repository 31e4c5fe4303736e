/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random streams. A stream is fixed by (seed, replication, name), so two policies see the same
 * randomness and adding a stream changes no other. The generator is xoshiro256** behind GSL's
 * gsl_rng interface, so that GSL's distributions can draw from it. */
#ifndef GSIM_BASE_RNG_H
#define GSIM_BASE_RNG_H

#include <gsl/gsl_rng.h>
#include <stdint.h>

/* NULL when there is no memory. Free with gsl_rng_free. */
gsl_rng *gsim_rng_stream(uint64_t seed, uint64_t replication, const char *name);

#endif
