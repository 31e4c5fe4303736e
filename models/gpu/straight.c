/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/straight.h"

static void pass(struct gsim_context *context, int64_t n, int64_t by_ns) {
    context->sums.done_iterations += n;
    context->sums.taken_ns += by_ns;
    context->times.launch_ns += by_ns;
    context->times.ready_ns += by_ns;
    context->marks.began_ns += by_ns;
}

/* The last of the iterations that end ends as it would have otherwise. */
void gsim_straight_run(struct gsim_context *context, int64_t from_ns, int64_t to_ns,
                       uint64_t rate_q32) {
    int64_t end_ns = gsim_context_idle_ns(context, from_ns, rate_q32, GSIM_NEVER);
    int64_t one_ns = gsim_straight_whole_ns(context, rate_q32);
    if (to_ns > end_ns) {
        gsim_context_run(context, from_ns, end_ns, rate_q32);
        int64_t n = (to_ns - end_ns - 1) / one_ns;
        pass(context, n, n * one_ns);
        from_ns = end_ns + n * one_ns;
        end_ns = from_ns + one_ns;
    }
    gsim_context_run(context, from_ns, to_ns, rate_q32);
}
