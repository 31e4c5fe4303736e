/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much longer kernels compute on SMs where other blocks are than they have alone. Each quarter
 * of an SM issues one instruction at a time, of the oldest warp that has one ready, and has one
 * tensor core: so blocks that came before take the slots that they take alone, and a younger block
 * has the rest. Where the older take a part o of them, each instruction of a younger warp finds
 * its slot taken with that chance, and waits for o / (1 - o) slots in the mean; a warp that alone
 * takes a part w of the slots is longer by w times that. And a kernel that takes a part v of them
 * alone is longer by v / (1 - o) at least. Older kernels lose nothing (measured: 0 to 30 %;
 * experiments/issue). Blocks of the kernel itself count where an SM has more of them than alone.
 * Integers only. */
#ifndef GSIM_MODELS_GPU_SM_CROWD_H
#define GSIM_MODELS_GPU_SM_CROWD_H

#include "models/gpu/sm_array.h"

/* Sets crowded_q32 of all kernels that have blocks on SMs. */
void gsim_sm_crowd_find(const struct gsim_space *space, struct gsim_sm_kernel *kernels,
                        const struct gsim_sm_alone *alone, uint32_t n);

#endif
