/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The walk of an arbiter, in its committed state or in the one ahead: one change of a lane after
 * the other, in the order of time. Cycles that repeat are skipped, and turns of a ring are given in
 * a short loop, where the plain walk is known to give equal results. */
#ifndef GSIM_MODELS_GPU_ARBITER_WALK_H
#define GSIM_MODELS_GPU_ARBITER_WALK_H

#include "models/gpu/arbiter_state.h"

static inline struct gsim_lane_gpu gsim_arbiter_lane_gpu(const struct gsim_arbiter *arbiter,
                                                         struct gsim_lanes *lanes) {
    return (struct gsim_lane_gpu){lanes->members,
                                  arbiter->options.costs,
                                  &lanes->store,
                                  &lanes->gang,
                                  lanes->spans,
                                  lanes->n_lanes,
                                  lanes->capacity,
                                  arbiter->n_spaces > 0 ? arbiter->spaces : NULL,
                                  arbiter->options.profile,
                                  false};
}
/* Brings the lanes to the first instant with a report or to limit_ns, or as far as n_steps steps
 * go. Returns false if neither has been reached yet. */
bool gsim_arbiter_walk(struct gsim_arbiter *arbiter, struct gsim_lanes *lanes, int64_t limit_ns,
                       int64_t n_steps);

#endif
