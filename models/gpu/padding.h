/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Padding (REEF): while an urgent kernel runs, blocks of a less urgent one run in the SMs that it
 * leaves over, as many waves of them as end before it does. So the urgent one gets what it would get
 * alone, but for the memory's bandwidth. One kernel at most is padded into each urgent one; what it
 * has done by then is kept. */
#ifndef GSIM_MODELS_GPU_PADDING_H
#define GSIM_MODELS_GPU_PADDING_H

#include "models/gpu/context.h"
#include "models/gpu/space.h"
#include "gsim/arrangement.h"

/* What is left of a lane's SMs beside this kernel. */
uint32_t gsim_padding_left_ppm(const struct gsim_lane *how, const struct gsim_demand *urgent);
/* How long blocks of the second one's present kernel may run beside the first one's, which begins:
 * whole waves; 0 when a single one takes longer. block_ns 0: they take as long as their kernel. */
int64_t gsim_padding_time_ns(const struct gsim_context *urgent, const struct gsim_context *filler,
                             int64_t block_ns);

#endif
