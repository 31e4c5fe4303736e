/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/first_loads.h"

/* An instance has a part of L2 as it has of the memory. */
static int64_t l2_bytes(const struct gsim_space *space) {
    int64_t all = space->profile->value[GSIM_KEY_L2_BYTES];
    int64_t rate = space->profile->value[GSIM_KEY_HBM_BYTES_PER_S];
    return space->peak_bytes_per_s < rate ? gsim_muldiv_floor(all, space->peak_bytes_per_s, rate)
                                          : all;
}

/* The bytes that other lines may fill before unused ones go, and those after which they have. */
struct room {
    int64_t keeps, loses;
};

static struct room room_of(const struct gsim_space *space) {
    const int64_t *value = space->profile->value;
    int64_t all = l2_bytes(space);
    return (struct room){gsim_muldiv_floor(all, value[GSIM_KEY_L2_KEEPS_PPM], GSIM_PPM),
                         gsim_muldiv_floor(all, value[GSIM_KEY_L2_LOSES_PPM], GSIM_PPM)};
}

/* The part of unused lines that these bytes have pushed out. */
static uint32_t pushed_out_ppm(const struct room *room, int64_t bytes) {
    if (bytes <= room->keeps)
        return 0;
    if (bytes >= room->loses)
        return (uint32_t)GSIM_PPM;
    return (uint32_t)gsim_muldiv_floor(bytes - room->keeps, GSIM_PPM, room->loses - room->keeps);
}

struct gsim_first_loads gsim_first_loads_of(const struct gsim_space *space, int64_t own_bytes,
                                            int64_t others_bytes) {
    struct room room = room_of(space);
    int64_t all_bytes =
        own_bytes < INT64_MAX - others_bytes ? own_bytes + others_bytes : INT64_MAX;
    return (struct gsim_first_loads){pushed_out_ppm(&room, own_bytes),
                                     pushed_out_ppm(&room, all_bytes)};
}

/* In parts of which GSIM_PPM x 1000 are one load's nanosecond. */
int64_t gsim_first_loads_longer_ns(const struct gsim_profile *profile,
                                   struct gsim_first_loads loads, uint64_t times_q32) {
    enum { MILLI = 1000 };
    int64_t miss_ns = profile->value[GSIM_KEY_L2_MISS_NS];
    int64_t hit_ns = profile->value[GSIM_KEY_L2_HIT_NS];
    int64_t here_ns = gsim_muldiv_floor(miss_ns, (int64_t)times_q32, GSIM_RATE_ONE);
    int64_t parts = here_ns * loads.misses_ppm - miss_ns * loads.misses_alone_ppm -
                    hit_ns * ((int64_t)loads.misses_ppm - loads.misses_alone_ppm);
    return parts <= 0 ? 0
                      : gsim_muldiv_floor(parts, profile->value[GSIM_KEY_L2_FIRST_LOADS_MILLI],
                                          GSIM_PPM * MILLI);
}
