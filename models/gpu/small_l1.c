/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/small_l1.h"

enum { WORDS = GSIM_ARRAY_SMS_MAX / 64, WORD = 64 };

static uint64_t holds(const struct gsim_sm_held *held, int word) {
    uint64_t bits = 0;
    for (int i = 0; i < WORD; i++)
        bits |= (uint64_t)(held->blocks[word * WORD + i] > 0) << i;
    return bits;
}

/* The SMs with blocks on them that have the smallest L1. */
static struct gsim_sm_set in_use(const struct gsim_sm_kernel *kernels, const uint16_t *holders,
                                 uint32_t n_holders) {
    struct gsim_sm_set small = {{0}};
    for (uint32_t i = 0; i < n_holders; i++) {
        const struct gsim_sm_kernel *kernel = &kernels[holders[i]];
        for (int word = 0; word < WORDS; word++) {
            uint64_t has = kernel->fills_shared ? UINT64_MAX : kernel->held->small_l1.word[word];
            if (has > 0)
                small.word[word] |= has & holds(kernel->held, word);
        }
    }
    return small;
}

void gsim_small_l1_begin(const struct gsim_sm_kernel *kernels, const uint16_t *holders,
                         uint32_t n_holders, struct gsim_sm_kernel *kernel) {
    struct gsim_sm_set small = in_use(kernels, holders, n_holders);
    for (int word = 0; word < WORDS; word++)
        kernel->held->small_l1.word[word] |= small.word[word];
}

void gsim_small_l1_wait(struct gsim_sm_kernel *kernels, const uint16_t *holders, uint32_t n_holders,
                        const uint16_t *waiting, uint32_t n_waiting) {
    if (n_waiting == 0)
        return;
    struct gsim_sm_set small = in_use(kernels, holders, n_holders);
    for (uint32_t i = 0; i < n_waiting; i++)
        kernels[waiting[i]].held->small_l1 = small;
}

/* SMs with less L1 do less of the kernel's blocks in a time. */
uint64_t gsim_small_l1_longer_q32(const struct gsim_sm_kernel *kernel) {
    const struct gsim_sm_held *held = kernel->held;
    int64_t n = 0, all_ppm = (int64_t)GSIM_PPM + kernel->small_l1_ppm;
    if (kernel->small_l1_ppm == 0 || kernel->fills_shared || held->n == 0)
        return GSIM_RATE_ONE;
    for (int64_t sm = 0; sm < GSIM_ARRAY_SMS_MAX; sm++)
        n += gsim_sm_set_has(&held->small_l1, sm) ? held->blocks[sm] : 0;
    int64_t done = held->n * all_ppm - n * kernel->small_l1_ppm; /* of held->n * all_ppm */
    return (uint64_t)((gsim_u128)(uint64_t)(held->n * all_ppm) * GSIM_RATE_ONE / (uint64_t)done);
}
