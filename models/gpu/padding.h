/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Padding (REEF): while an urgent kernel runs, blocks of a less urgent kernel run in the SMs that
 * it leaves over, as many waves of them as end before it does. So the urgent kernel runs as fast as
 * alone, except for the memory's bandwidth. At most one kernel is padded into each urgent kernel;
 * the blocks that it has run by then count. */
#ifndef GSIM_MODELS_GPU_PADDING_H
#define GSIM_MODELS_GPU_PADDING_H

#include "models/gpu/context.h"
#include "models/gpu/space.h"
#include "gsim/arrangement.h"

/* Share of the lane's SMs that this kernel leaves over. */
uint32_t gsim_padding_left_ppm(const struct gsim_lane *how, const struct gsim_demand *urgent);
/* How long blocks of a filler's kernel may run beside the urgent kernel, which begins: whole waves;
 * 0 when a single wave takes longer. wave_ns: the length of the filler's kernel, if all of it is
 * one wave; block_ns 0: blocks take as long as their kernel. */
int64_t gsim_padding_time_ns(int64_t urgent_ns, int64_t wave_ns, int64_t block_ns);

#endif
