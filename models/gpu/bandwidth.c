/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/bandwidth.h"

struct gsim_space gsim_space_of_instance(const struct gsim_profile *profile,
                                         const struct gsim_mig_profile *instance) {
    return (struct gsim_space){
        profile, instance->sms,
        gsim_mig_part(profile->mig, instance, profile->value[GSIM_KEY_HBM_BYTES_PER_S])};
}

static int64_t min_i64(int64_t a, int64_t b) {
    return a < b ? a : b;
}

int64_t gsim_space_curve(const struct gsim_profile *profile, enum gsim_key curve, int64_t sms) {
    const struct gsim_curve_point *points = profile->curve[curve];
    int64_t n = profile->value[curve];
    struct gsim_curve_point low = {0, 0};
    for (int64_t i = 0; i < n; i++) {
        if (sms <= points[i].x * GSIM_SM) {
            int64_t beyond = sms - low.x * GSIM_SM, width = (points[i].x - low.x) * GSIM_SM;
            int64_t rise = points[i].y - low.y; /* a curve may fall */
            return low.y + (rise < 0 ? -gsim_muldiv_ceil(-rise, beyond, width)
                                     : gsim_muldiv_floor(rise, beyond, width));
        }
        low = points[i];
    }
    return low.y;
}

int64_t gsim_space_bandwidth(const struct gsim_space *space, int64_t sms) {
    return min_i64(gsim_space_curve(space->profile, GSIM_KEY_HBM_BY_SMS, sms),
                   space->peak_bytes_per_s);
}

uint32_t gsim_space_loads_ppm(int64_t loaded_ppm) {
    int64_t beyond = 2 * loaded_ppm - GSIM_PPM;
    return beyond > 0 ? (uint32_t)beyond : 0;
}

int64_t gsim_space_staged_bandwidth(const struct gsim_space *space, int64_t sms) {
    const struct gsim_profile *profile = space->profile;
    if (profile->value[GSIM_KEY_HBM_STAGED_BY_SMS] == 0)
        return gsim_space_bandwidth(space, sms);
    int64_t drawn = gsim_space_curve(profile, GSIM_KEY_HBM_STAGED_BY_SMS, sms);
    if (space->peak_bytes_per_s >= profile->value[GSIM_KEY_HBM_BYTES_PER_S])
        return drawn;
    int64_t all = gsim_space_curve(profile, GSIM_KEY_HBM_STAGED_BY_SMS, INT64_MAX / GSIM_SM);
    return min_i64(drawn, gsim_muldiv_floor(all, space->peak_bytes_per_s,
                                            profile->value[GSIM_KEY_HBM_BYTES_PER_S]));
}

bool gsim_space_is_staged(const struct gsim_profile *profile, int64_t shared_bytes) {
    return shared_bytes > 0 && 2 * shared_bytes >= profile->value[GSIM_KEY_SM_SHARED_BYTES];
}

uint32_t gsim_space_memory_ppm(const struct gsim_profile *profile, uint32_t fill_ppm,
                               int64_t hbm_bytes_per_s) {
    int64_t sms = profile->value[GSIM_KEY_SMS] * (int64_t)fill_ppm;
    int64_t most = gsim_space_curve(profile, GSIM_KEY_HBM_BY_SMS, sms);
    if (hbm_bytes_per_s >= most)
        return (uint32_t)GSIM_PPM;
    return (uint32_t)gsim_muldiv_floor(hbm_bytes_per_s, GSIM_PPM, most);
}
