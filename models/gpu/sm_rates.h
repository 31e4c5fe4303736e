/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How fast kernels run with the blocks that they have on SMs (models/gpu/sm_array.h): by their part
 * of the SMs, the loads of all of them, and the clock at which they are within the limit of power.
 *
 * About every second time that kernels are looked at, the blocks of a waiting kernel or the work
 * that is left have changed, and no rate: the kernels that run are those of last time, with as many
 * blocks. So the rates found last are kept with all that decides them; and of each kernel how fast
 * it would be without loads of others, since mostly one of several has changed. */
#ifndef GSIM_MODELS_GPU_SM_RATES_H
#define GSIM_MODELS_GPU_SM_RATES_H

#include "models/gpu/sm_array.h"

/* A kernel that has the device alone. */
struct gsim_sm_alone {
    struct gsim_sm_room need; /* of a block */
    int64_t per_sm; /* blocks that an SM holds */
    int64_t at_once; /* blocks that all SMs hold */
};
struct gsim_sm_alone gsim_sm_alone_of(const struct gsim_space *space,
                                      const struct gsim_sm_kernel *kernel);

/* All that decides the rate of a kernel beside others, and nothing else; of equal ones each byte is
 * equal. */
struct gsim_sm_asked {
    int64_t blocks, threads, register_bytes, shared_bytes; /* blocks: of the whole kernel */
    int64_t hbm_bytes_per_s, power_uw, memory_uw;
    int64_t ns; /* its time, where it begins with loads that L2 does not have; else 0 */
    uint32_t memory_ppm, loads_ppm, clock_ppm, lowers_ppm;
    struct gsim_first_loads first_loads;
    uint32_t small_l1_ppm;
    uint32_t on_small_l1, n_held; /* blocks, where L1 makes it longer; else 0 */
    uint16_t n_sms, pace;
    uint8_t is_whole;
    uint8_t unused[7];
};

/* How many times longer than alone each part of the kernel's time takes; what it draws on its SMs,
 * and the bytes that are on their way to it while it waits for them, in those of an SM. */
struct gsim_sm_stretch {
    gsim_u128 compute_q32, memory_q32;
    uint64_t begins_q32; /* the longer wait when it begins, in times alone */
    int64_t draws_bytes_per_s, under_way;
};

/* Kernels of which rates are kept: more at one time are rare, and solved each time. */
enum { GSIM_SM_LAST_MOST = 16 };

/* The kernels that ran in a space last, and their answers. */
struct gsim_sm_last {
    struct gsim_space space;
    uint32_t n; /* 0: none */
    struct gsim_sm_asked asked[GSIM_SM_LAST_MOST];
    struct gsim_sm_stretch stretch[GSIM_SM_LAST_MOST]; /* without loads of others */
    uint64_t rate_q32[GSIM_SM_LAST_MOST];
    struct gsim_sm_losses lost[GSIM_SM_LAST_MOST];
};

/* Finds the rates and losses of all kernels; alone: of each that has blocks on SMs. last: of this
 * space, NULL: nothing is kept. */
void gsim_sm_rates_find(const struct gsim_space *space, struct gsim_sm_kernel *kernels,
                        const struct gsim_sm_alone *alone, uint32_t n, struct gsim_sm_last *last);

#endif
