/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A context that has its GPU to itself, with all its memory there, and comes on at the begin of an
 * iteration: each iteration takes as long as the one before, and nothing else happens until the
 * owner changes that. Jobs that a scheduler stops and starts every minute are brought forward by
 * this rule, with no walk that has to find out that it repeats itself. */
#ifndef GSIM_MODELS_GPU_ALONE_H
#define GSIM_MODELS_GPU_ALONE_H

#include "models/gpu/lanes.h"

/* Whether the lanes go by that rule up to until_ns, that instant included. No cycle is known of
 * them. */
bool gsim_alone_holds(const struct gsim_arbiter_options *options, const struct gsim_lane_gpu *gpu,
                      const struct gsim_lanes *lanes, int64_t until_ns);
/* Brings them there. They are then, in each field, where a walk and its cycles have them,
 * skipped_ns included. Returns the steps that the walk takes. */
int64_t gsim_alone_run(const struct gsim_lane_gpu *gpu, struct gsim_lanes *lanes, int64_t until_ns);

#endif
