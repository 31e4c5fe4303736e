/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an SM has room for, and the SMs that a cap or a group leaves, as the limits of the device
 * say. */
#include "models/gpu/sm_array.h"

#include "sim/base/wide.h"

static int64_t up_to(int64_t value, int64_t step) {
    return (value + step - 1) / step * step;
}

struct gsim_sm_room gsim_sm_room(const struct gsim_profile *profile) {
    return (struct gsim_sm_room){
        profile->value[GSIM_KEY_SM_THREADS], profile->value[GSIM_KEY_SM_REGISTER_BYTES],
        profile->value[GSIM_KEY_SM_SHARED_BYTES], profile->value[GSIM_KEY_SM_BLOCKS]};
}

/* Warps are whole, the registers of a thread are given out by eight, and shared memory by 128
 * bytes. */
struct gsim_sm_room gsim_sm_room_of_block(const struct gsim_profile *profile, int64_t threads,
                                          int64_t register_bytes, int64_t shared_bytes) {
    enum { WARP = 32, REGISTERS_BYTES = 8 * 4, SHARED_BYTES = 128 };
    struct gsim_sm_room need = {.threads = up_to(threads, WARP), .blocks = 1};
    need.register_bytes =
        up_to((register_bytes + threads - 1) / threads, REGISTERS_BYTES) * need.threads;
    need.shared_bytes =
        up_to(shared_bytes + profile->value[GSIM_KEY_SM_BLOCK_SHARED_BYTES], SHARED_BYTES);
    return need;
}

struct gsim_sm_room gsim_sm_room_of_kernel(const struct gsim_profile *profile,
                                           const struct gsim_sm_kernel *kernel) {
    struct gsim_sm_room sm = gsim_sm_room(profile);
    if (kernel->is_whole)
        return sm;
    struct gsim_sm_room need = gsim_sm_room_of_block(profile, kernel->threads,
                                                     kernel->register_bytes, kernel->shared_bytes);
    if (need.register_bytes > sm.register_bytes)
        need.register_bytes = sm.register_bytes;
    if (need.shared_bytes > sm.shared_bytes)
        need.shared_bytes = sm.shared_bytes;
    return need;
}

static int64_t times(int64_t free, int64_t need, int64_t most) {
    return need <= 0 || free >= need * most ? most : free > 0 ? free / need : 0;
}

int64_t gsim_sm_room_fit(const struct gsim_sm_room *free, const struct gsim_sm_room *need) {
    int64_t most = free->blocks / need->blocks;
    most = times(free->threads, need->threads, most);
    most = times(free->register_bytes, need->register_bytes, most);
    most = times(free->shared_bytes, need->shared_bytes, most);
    return most < UINT8_MAX ? most : UINT8_MAX;
}

int64_t gsim_sm_array_width(const struct gsim_profile *profile, int64_t sms, uint32_t cap_ppm) {
    int64_t left = gsim_space_cap_sms(profile, cap_ppm);
    return left < sms ? left : sms;
}

int64_t gsim_sm_array_group(const struct gsim_profile *profile, uint32_t part_ppm) {
    int64_t sms = profile->value[GSIM_KEY_SMS], least = profile->value[GSIM_KEY_GREEN_LEAST_SMS];
    int64_t step = profile->value[GSIM_KEY_GREEN_SMS] > 0 ? profile->value[GSIM_KEY_GREEN_SMS] : 1;
    int64_t group = gsim_muldiv_floor(sms, part_ppm, GSIM_PPM) / step * step;
    group = group > least ? group : least;
    return part_ppm < GSIM_PPM && group < sms ? group : sms;
}

int64_t gsim_sm_array_per_sm(const struct gsim_profile *profile, int64_t threads,
                             int64_t register_bytes, int64_t shared_bytes) {
    struct gsim_sm_kernel kernel = {
        .threads = threads, .register_bytes = register_bytes, .shared_bytes = shared_bytes};
    struct gsim_sm_room sm = gsim_sm_room(profile), need = gsim_sm_room_of_kernel(profile, &kernel);
    int64_t blocks = gsim_sm_room_fit(&sm, &need);
    return blocks > 0 ? blocks : 1;
}
