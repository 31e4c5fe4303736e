/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/padding.h"

uint32_t gsim_padding_left_ppm(const struct gsim_lane *how, const struct gsim_demand *urgent) {
    uint32_t all_ppm = how->cap_ppm > 0 ? how->cap_ppm : (uint32_t)GSIM_PPM;
    return urgent->fill_ppm < all_ppm ? all_ppm - urgent->fill_ppm : 0;
}

static int64_t kernel_ns(const struct gsim_context *context) {
    struct gsim_kernel_span span = gsim_context_kernel(context, 1, 0);
    return gsim_work_to_ns(span.end - span.start);
}

int64_t gsim_padding_time_ns(const struct gsim_context *urgent, const struct gsim_context *filler,
                             int64_t block_ns) {
    int64_t all_ns = kernel_ns(urgent), wave_ns = kernel_ns(filler);
    if (block_ns > 0 && block_ns < wave_ns)
        wave_ns = block_ns;
    return all_ns - all_ns % wave_ns;
}
