/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clock at which a GPU is within its power limit (clock.h). */
#include "models/gpu/clock.h"

#include "sim/base/wide.h"

enum { UJ_OF_W_NS = 1000 }; /* a watt for 1000 ns */

static int64_t room_w(const struct gsim_profile *profile) {
    return profile->value[GSIM_KEY_POWER_LIMIT_W] - profile->value[GSIM_KEY_POWER_IDLE_W];
}

uint64_t gsim_clock_raised(uint64_t part_q32, int64_t over, int64_t under) {
    return gsim_exp2_neg_q32(gsim_log2_neg_q32(part_q32) * over, under << GSIM_CLOCK_Q);
}

/* The clock, in ppm, that goes to this exponent with the part of `all` that `room` is. */
static uint32_t clock_of(gsim_u128 room, gsim_u128 all, int64_t exponent_milli) {
    if (room >= all)
        return (uint32_t)GSIM_PPM;
    uint64_t part = (uint64_t)((room << GSIM_CLOCK_Q) / all);
    uint64_t clock = gsim_clock_raised(part > 0 ? part : 1, GSIM_CLOCK_ONE, exponent_milli);
    uint64_t ppm = clock * (uint64_t)GSIM_PPM >> GSIM_CLOCK_Q;
    return ppm > 0 ? (uint32_t)ppm : 1;
}

static gsim_u128 rest_of(gsim_u128 all, gsim_u128 part) {
    return all > part ? all - part : 1;
}

/* By how much, in ppm, a clock is too high at which kernels draw `core` at the exponent and memory
 * `memory`: Newton's step, which never goes too far, since power is convex. */
static uint32_t too_high(gsim_u128 room, gsim_u128 core, gsim_u128 memory, uint32_t clock_ppm,
                         int64_t exponent_milli) {
    if (core + memory <= room)
        return 0;
    gsim_u128 slope =
        core * (uint64_t)exponent_milli / GSIM_CLOCK_ONE + memory; /* times the clock */
    return (uint32_t)((core + memory - room) * clock_ppm / slope);
}

/* What memory draws falls with the clock only as work does. */
uint32_t gsim_clock(const struct gsim_profile *profile, gsim_u128 power_uw, gsim_u128 memory_uw) {
    enum { UW = 1000000 };
    if (room_w(profile) <= 0)
        return (uint32_t)GSIM_PPM;
    int64_t exponent_milli = profile->value[GSIM_KEY_POWER_EXPONENT_MILLI];
    gsim_u128 room = (gsim_u128)(uint64_t)room_w(profile) * UW;
    if (power_uw + memory_uw <= room)
        return (uint32_t)GSIM_PPM;
    uint32_t clock = clock_of(room, power_uw, exponent_milli), less;
    if (memory_uw == 0)
        return clock;
    do {
        uint64_t part = ((uint64_t)clock << GSIM_CLOCK_Q) / (uint64_t)GSIM_PPM;
        gsim_u128 core =
            power_uw * gsim_clock_raised(part, exponent_milli, GSIM_CLOCK_ONE) >> GSIM_CLOCK_Q;
        less = too_high(room, core, memory_uw * clock / (uint64_t)GSIM_PPM, clock, exponent_milli);
        clock -= less;
    } while (less > 0);
    return clock > 0 ? clock : 1;
}

/* Work takes longer at a lower clock, so its energy goes with an exponent that is lower by one. */
uint32_t gsim_clock_alone(const struct gsim_profile *profile,
                          const struct gsim_clock_energy *energy, int64_t time_ns) {
    if (room_w(profile) <= 0)
        return (uint32_t)GSIM_PPM;
    return clock_of(rest_of((gsim_u128)(uint64_t)room_w(profile) * (uint64_t)time_ns,
                            (gsim_u128)(uint64_t)energy->memory_uj * UJ_OF_W_NS),
                    (gsim_u128)(uint64_t)energy->core_uj * UJ_OF_W_NS,
                    profile->value[GSIM_KEY_POWER_EXPONENT_MILLI] - GSIM_CLOCK_ONE);
}

/* Whether kernels that take kernels_ns at the highest clock draw more than there is when they are
 * slower by one factor, and take time_ns. */
static bool draws_more(const struct gsim_profile *profile, const struct gsim_clock_energy *energy,
                       int64_t kernels_ns, int64_t time_ns) {
    uint64_t part =
        (uint64_t)(((gsim_u128)(uint64_t)kernels_ns << GSIM_CLOCK_Q) / (uint64_t)time_ns);
    int64_t exponent_milli = profile->value[GSIM_KEY_POWER_EXPONENT_MILLI] - GSIM_CLOCK_ONE;
    gsim_u128 core_uj = (gsim_u128)(uint64_t)energy->core_uj *
                            gsim_clock_raised(part, exponent_milli, GSIM_CLOCK_ONE) >>
                        GSIM_CLOCK_Q;
    gsim_u128 room = (gsim_u128)(uint64_t)room_w(profile) * (uint64_t)time_ns;
    return (core_uj + (uint64_t)energy->memory_uj) * UJ_OF_W_NS > room;
}

int64_t gsim_clock_iteration_ns(const struct gsim_profile *profile,
                                const struct gsim_clock_energy *energy, int64_t kernels_ns) {
    if (room_w(profile) <= 0)
        return kernels_ns;
    gsim_u128 all_uj = (gsim_u128)(uint64_t)energy->core_uj + (uint64_t)energy->memory_uj;
    int64_t low = kernels_ns, high = kernels_ns; /* at high all of the energy is within the limit */
    gsim_u128 enough_ns = all_uj * UJ_OF_W_NS / (uint64_t)room_w(profile) + 1;
    if (enough_ns > (gsim_u128)(uint64_t)kernels_ns)
        high = (int64_t)enough_ns;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (draws_more(profile, energy, kernels_ns, middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
