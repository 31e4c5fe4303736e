/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/progress.h"

#include "gsim/units.h"
#include "sim/base/hints.h"
#include "models/gpu/kernel_log.h"
#include "models/gpu/straight.h"

void gsim_progress_run(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                       struct gsim_member *member, int64_t from_ns, int64_t to_ns,
                       uint64_t rate_q32) {
    if (gsim_rarely(gpu->spans != NULL))
        gsim_kernel_log_run(gpu, lane, member, from_ns, to_ns, rate_q32);
    int64_t iterations = member->context.sums.done_iterations;
    if (gsim_rarely(gpu->goes_straight))
        gsim_straight_run(&member->context, from_ns, to_ns, rate_q32);
    else
        gsim_context_run(&member->context, from_ns, to_ns, rate_q32);
    if (member->context.sums.done_iterations != iterations)
        gsim_tenant_end_iteration(&member->tenant, gsim_context_is_swept(&member->context));
}

void gsim_progress_copy(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                        struct gsim_member *member, int64_t now_ns) {
    struct gsim_context *context = &member->context;
    int64_t from_ns = now_ns;
    while (gsim_context_copies_next(context)) {
        from_ns = context->times.ready_ns > from_ns ? context->times.ready_ns : from_ns;
        gsim_work end = gsim_context_kernel(context, 1, from_ns).end;
        int64_t to_ns = from_ns + gsim_work_time(end - context->done, GSIM_RATE_ONE);
        gsim_progress_run(gpu, lane, member, from_ns, to_ns, GSIM_RATE_ONE);
        from_ns = to_ns;
    }
    if (context->times.ready_ns < from_ns)
        context->times.ready_ns = from_ns;
}
