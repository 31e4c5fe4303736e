/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/padding.h"

uint32_t gsim_padding_left_ppm(const struct gsim_lane *how, const struct gsim_demand *urgent) {
    uint32_t all_ppm = how->cap_ppm > 0 ? how->cap_ppm : (uint32_t)GSIM_PPM;
    return urgent->fill_ppm < all_ppm ? all_ppm - urgent->fill_ppm : 0;
}

int64_t gsim_padding_time_ns(int64_t urgent_ns, int64_t wave_ns, int64_t block_ns) {
    if (block_ns > 0 && block_ns < wave_ns)
        wave_ns = block_ns;
    return urgent_ns - urgent_ns % wave_ns;
}
