/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clock of a GPU at its power limit. What kernels draw falls with the clock of the SMs, to the
 * power of power.exponent_milli; what memory draws for their bytes falls as their rate alone, since
 * memory has a clock of its own. Clocks are ppm of the highest one. */
#ifndef GSIM_MODELS_GPU_CLOCK_H
#define GSIM_MODELS_GPU_CLOCK_H

#include "gsim/units.h"
#include "models/hardware/profile.h"

enum { GSIM_CLOCK_Q = 32, GSIM_CLOCK_ONE = 1000 }; /* exponents are thousandths */

/* The energy of an iteration. */
struct gsim_clock_energy {
    int64_t core_uj; /* at the highest clock; above 0 */
    int64_t memory_uj; /* at any clock */
};

/* The part of 1, in Q32, to the power of over / under. */
uint64_t gsim_clock_raised(uint64_t part_q32, int64_t over, int64_t under);
/* The clock at which kernels are within the power limit. power_uw is what they draw at the highest
 * one, memory_uw what memory draws for their bytes then. */
uint32_t gsim_clock(const struct gsim_profile *profile, gsim_u128 power_uw, gsim_u128 memory_uw);
/* The clock of a program alone, of which an iteration takes this time at that clock. */
uint32_t gsim_clock_alone(const struct gsim_profile *profile,
                          const struct gsim_clock_energy *energy, int64_t time_ns);
/* The least time of iterations one after another, of which the kernels take kernels_ns at the
 * highest clock, and all of their time longer at a lower one. */
int64_t gsim_clock_iteration_ns(const struct gsim_profile *profile,
                                const struct gsim_clock_energy *energy, int64_t kernels_ns);

#endif
