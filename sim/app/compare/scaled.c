/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/compare/scaled.h"

#include "gsim/units.h"

enum { MOST_KEYS = 4 };
static const enum gsim_key keys[][MOST_KEYS] = {
    [GSIM_PROCESS_START] = {GSIM_KEY_START_NS, GSIM_KEY_START_SERIAL_NS, GSIM_KEY_START_WAKE_NS,
                            GSIM_KEY_RESTART_NS},
    [GSIM_PROCESS_END] = {GSIM_KEY_END_NS, GSIM_KEY_END_SERIAL_NS, GSIM_KEY_END_SLEEP_NS,
                          GSIM_KEY_COUNT}};

static struct gsim_profile *scale(const struct gsim_profile *from, const enum gsim_key *list,
                                  int64_t factor_ppm, struct gsim_arena *arena) {
    struct gsim_profile *profile = gsim_arena_alloc(arena, sizeof *profile);
    if (!profile)
        return NULL;
    *profile = *from;
    for (int k = 0; k < MOST_KEYS && list[k] != GSIM_KEY_COUNT; k++)
        profile->value[list[k]] = gsim_muldiv_floor(from->value[list[k]], factor_ppm, GSIM_PPM);
    return profile;
}

struct gsim_setup *gsim_setup_scaled(const struct gsim_setup *from, enum gsim_process_part part,
                                     int64_t factor_ppm, struct gsim_arena *arena) {
    uint16_t n = from->cluster.n_profiles;
    const struct gsim_profile **profiles = gsim_arena_array(arena, n, sizeof *profiles);
    struct gsim_setup *setup = gsim_arena_alloc(arena, sizeof *setup);
    if (!profiles || !setup)
        return NULL;
    for (uint16_t p = 0; p < n; p++)
        if (!(profiles[p] = scale(from->cluster.profiles[p], keys[part], factor_ppm, arena)))
            return NULL;
    *setup = *from;
    setup->cluster.profiles = profiles;
    return setup;
}
