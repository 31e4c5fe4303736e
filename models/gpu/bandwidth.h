/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The SMs and the memory that kernels share, and the bandwidth that a number of SMs draws. */
#ifndef GSIM_MODELS_GPU_BANDWIDTH_H
#define GSIM_MODELS_GPU_BANDWIDTH_H

#include "models/hardware/mig.h"
#include "models/hardware/profile.h"
#include "gsim/units.h"

/* Amounts of SMs are in millionths of an SM. */
#define GSIM_SM GSIM_PPM

struct gsim_space {
    const struct gsim_profile *profile;
    int64_t sms; /* SMs of this space; shares are of the whole device's */
    int64_t peak_bytes_per_s; /* bandwidth of the memory that belongs to them */
};

static inline struct gsim_space gsim_space_of_device(const struct gsim_profile *profile) {
    return (struct gsim_space){profile, profile->value[GSIM_KEY_SMS],
                               profile->value[GSIM_KEY_HBM_BYTES_PER_S]};
}
/* An instance has a fixed part of the memory's bandwidth: its neighbours change nothing. */
struct gsim_space gsim_space_of_instance(const struct gsim_profile *profile,
                                         const struct gsim_mig_profile *instance);

/* Bandwidth that these SMs (in millionths) draw together, by the device's curve: straight lines
 * between its points and from nothing to the first, level past the last. */
int64_t gsim_space_bandwidth(const struct gsim_space *space, int64_t sms);
/* By one of the device's curves, without the bound of the space's memory. */
int64_t gsim_space_curve(const struct gsim_profile *profile, enum gsim_key curve, int64_t sms);
/* The bandwidth of kernels that stage what they read in shared memory, with more bytes under
 * way. */
int64_t gsim_space_staged_bandwidth(const struct gsim_space *space, int64_t sms);
/* Whether a block with this shared memory takes half of an SM's or more: it stages. */
bool gsim_space_is_staged(const struct gsim_profile *profile, int64_t shared_bytes);
/* How much of a kernel's time is bound by memory, by the bandwidth that it draws alone: its share
 * of the bandwidth that the SMs that it fills can draw. */
uint32_t gsim_space_memory_ppm(const struct gsim_profile *profile, uint32_t fill_ppm,
                               int64_t hbm_bytes_per_s);

/* The part of all bytes that loads alone move, where the rest is moved by copies, of which half is
 * stored: from the part that is loaded. Kernels that store more than copies count as these. */
uint32_t gsim_space_loads_ppm(int64_t loaded_ppm);
/* The SMs that a cap of MPS leaves on a whole device: whole steps, at least the smallest cap. */
static inline int64_t gsim_space_cap_sms(const struct gsim_profile *profile, uint32_t cap_ppm) {
    int64_t sms = profile->value[GSIM_KEY_SMS];
    if (cap_ppm >= GSIM_PPM)
        return sms;
    int64_t step = profile->value[GSIM_KEY_MPS_SMS] > 0 ? profile->value[GSIM_KEY_MPS_SMS] : 1;
    int64_t whole = sms * (int64_t)cap_ppm / GSIM_PPM / step * step;
    int64_t least = profile->value[GSIM_KEY_MPS_LEAST_SMS];
    least = least > step ? least : step;
    int64_t left = whole > least ? whole : least;
    return left < sms ? left : sms;
}

#endif
