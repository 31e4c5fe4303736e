/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lanes that go straight on. Where turns end with iterations, a job that no other member of its
 * lane can follow has the lane until it is done, and the ends of its iterations change nothing:
 * while lanes are walked, these are passed many at once. Before and afterwards each lane is where
 * the plain engine has it, at the end of an iteration. */
#ifndef GSIM_MODELS_GPU_STRAIGHT_LANES_H
#define GSIM_MODELS_GPU_STRAIGHT_LANES_H

#include "models/gpu/lanes.h"

/* Whether that is so of all lanes of the GPU, up to the next change by the owner. */
bool gsim_straight_lanes_hold(const struct gsim_arbiter_options *options,
                              const struct gsim_lanes *lanes);
/* From here on the lanes' plans are the ends of the last iterations, and back. */
void gsim_straight_lanes_begin(struct gsim_lane_gpu *gpu, struct gsim_lanes *lanes);
void gsim_straight_lanes_end(struct gsim_lane_gpu *gpu, struct gsim_lanes *lanes);

#endif
