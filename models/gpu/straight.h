/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Iterations of a process that follow each other with nothing between them: each takes as long as
 * the one before, so that many are passed at once. models/gpu/straight_lanes.h says where. */
#ifndef GSIM_MODELS_GPU_STRAIGHT_H
#define GSIM_MODELS_GPU_STRAIGHT_H

#include "gsim/units.h"
#include "models/gpu/lane_state.h"

/* How long an iteration takes at this rate, from its begin. */
static inline int64_t gsim_straight_whole_ns(const struct gsim_context *context,
                                             uint64_t rate_q32) {
    return gsim_work_time(gsim_work_of_ns(context->spec.gpu_ns), rate_q32);
}
/* The end of the member's last iteration, or of the last one before the progress that it is watched
 * for. It runs from from_ns on at this rate. */
static inline int64_t gsim_straight_until_ns(const struct gsim_member *member, int64_t from_ns,
                                             uint64_t rate_q32) {
    const struct gsim_context *context = &member->context;
    int64_t begun = context->sums.done_iterations + 1, until = context->spec.iterations;
    if (member->watch_iterations >= 0 && member->watch_iterations < until)
        until = member->watch_iterations > begun ? member->watch_iterations : begun;
    gsim_i128 end_ns = gsim_context_idle_ns(context, from_ns, rate_q32, GSIM_NEVER) +
                       (gsim_i128)(until - begun) * gsim_straight_whole_ns(context, rate_q32);
    return end_ns < GSIM_NEVER ? (int64_t)end_ns : GSIM_NEVER;
}
/* As gsim_context_run, past the ends of iterations. */
void gsim_straight_run(struct gsim_context *context, int64_t from_ns, int64_t to_ns,
                       uint64_t rate_q32);

#endif
