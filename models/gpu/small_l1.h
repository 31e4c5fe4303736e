/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much L1 a kernel finds on its SMs. An SM parts one memory into L1 and shared memory, and
 * parts it anew only while no block is there. Blocks that take half of the shared memory or more
 * leave the smallest L1. A kernel that begins on their SMs, beside them or in their place, has that
 * L1 to its end, and so has the kernel after it, until the SM has been empty. A kernel that comes to
 * an empty SM finds the L1 that it has alone. Measured: docs/models/sm-sharing.md. Nothing is kept
 * where no kernel of the space needs more. */
#ifndef GSIM_MODELS_GPU_SMALL_L1_H
#define GSIM_MODELS_GPU_SMALL_L1_H

#include "models/gpu/sm_array.h"

/* Blocks of the kernel are about to go to SMs, where the holders have theirs. */
void gsim_small_l1_begin(const struct gsim_sm_kernel *kernels, const uint16_t *holders,
                         uint32_t n_holders, struct gsim_sm_kernel *kernel);
/* All blocks are where they stay for now: kernels that wait find these SMs as they are when blocks
 * leave them. */
void gsim_small_l1_wait(struct gsim_sm_kernel *kernels, const uint16_t *holders, uint32_t n_holders,
                        const uint16_t *waiting, uint32_t n_waiting);
/* How many times as long as alone the kernel takes, by the L1 of the SMs that it is on. */
uint64_t gsim_small_l1_longer_q32(const struct gsim_sm_kernel *kernel);

#endif
