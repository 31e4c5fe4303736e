/* SPDX-License-Identifier: GPL-3.0-or-later */
/* REEF: real-time kernels reset best-effort kernels and run at once; best-effort kernels fill the
 * SMs that they leave over.
 *
 * Reset: when a real-time kernel is launched, best-effort kernels that wait in software queues stay
 * there, those in the device's queue (at most reef.in_flight of them) start, see a flag and end,
 * and the running kernel is killed; its progress is lost and it runs again. A kernel that is not
 * idempotent cannot be killed, so it runs out. The smaller the device's queue, the sooner the SMs
 * are free; with 1 the best-effort host waits for every kernel before it launches the next.
 * Requests of real-time jobs run to their end.
 *
 * Dynamic kernel padding (reef.padding): beside each real-time kernel runs the first best-effort
 * kernel, in order of arrival, with thread blocks (column kernel_ms, else the whole kernel) that
 * take no longer: as many waves of its blocks as end with the real-time kernel, in the SMs that the
 * latter leaves over (column sm_fraction). The rest of its blocks goes on beside the next real-time
 * kernel.
 *
 * Not modelled: registers and shared memory, so that the rule that a padded kernel may not lower
 * the occupancy of the real-time kernel forbids nothing; the proxy kernel that calls both.
 * Source: Han et al., "Microsecond-scale preemption for concurrent GPU-accelerated DNN inferences",
 * OSDI 2022; the queue of 2, and whole waves of blocks, are those of its public code. */
#include "policies/lib/settings.h"
#include "policies/lib/sharing.h"

static void warn_of_jobs_that_run_out(const struct gsim_ctx *ctx) {
    const struct gsim_trace *trace = ctx->view->trace;
    uint32_t n = 0;
    for (uint32_t job = 0; job < trace->n_jobs; job++)
        n += gsim_trace_get(trace, GSIM_COL_CLASS, job) != GSIM_CLASS_REALTIME &&
             gsim_trace_get(trace, GSIM_COL_IDEMPOTENT, job) != 1;
    if (n > 0)
        gsim_warn(ctx->log, NULL, 0,
                  "reef: %u best-effort jobs are not idempotent (column 'idempotent'), so their "
                  "kernels run out instead of being killed; --assume idempotent=1 says they are",
                  n);
}

static void warn_of_full_kernels(const struct gsim_ctx *ctx) {
    if (!ctx->view->trace->column[GSIM_COL_SM_PPM])
        gsim_warn(
            ctx->log, ctx->view->trace->path, 0,
            "the trace has no column 'sm_fraction': under reef real-time kernels are taken to "
            "fill all SMs that they may have, which leaves none over for padding");
}

static enum gsim_status open_reef(struct gsim_ctx *ctx) {
    struct gsim_sharing *sharing = ctx->state;
    bool is_padded = gsim_param(ctx->params, "padding") != 0;
    struct gsim_lane lane = {.discipline =
                                 is_padded ? GSIM_DISCIPLINE_PADDING : GSIM_DISCIPLINE_PRIORITY,
                             .urgent.stop = GSIM_STOP_FLUSH,
                             .urgent.in_flight = gsim_param(ctx->params, "in_flight")};
    gsim_sharing_init(sharing, ctx, &lane);
    sharing->has_two_levels = true;
    warn_of_jobs_that_run_out(ctx);
    if (is_padded)
        warn_of_full_kernels(ctx);
    return GSIM_OK;
}

static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM,
    GSIM_QUEUE_PARAM,
    {.name = "in_flight",
     .type = GSIM_PARAM_INT,
     .fallback = "2",
     .min = 1,
     .max = 1024,
     .help = "best-effort kernels in the device's queue at most, the running one included"},
    {.name = "padding",
     .type = GSIM_PARAM_BOOL,
     .fallback = "on",
     .help = "best-effort kernels fill the SMs that real-time ones leave over"},
    {0}};

const struct gsim_policy gsim_policy_reef = {
    .name = "reef",
    .summary = "real-time kernels reset best-effort ones, which run again or pad them",
    .paper = "Han et al., Microsecond-scale preemption for concurrent GPU-accelerated DNN "
             "inferences (REEF), OSDI 2022",
    .deviations =
        "requests of several real-time jobs that wait are served in turn, not in order of arrival; "
        "best-effort jobs take turns by the driver's quantum instead of running at once in streams "
        "of their own; which kernel was killed is known, so that no finished one runs again; a "
        "padded kernel costs the real-time one no occupancy, whatever registers they use, and what "
        "it did as padding is kept when it gets the GPU to itself; jobs wait in one queue, of "
        "which the head holds up all jobs behind it unless queue= says another",
    GSIM_QUEUE_ORACLE,
    .shares_gpus = true,
    .params = params,
    .state_size = sizeof(struct gsim_sharing),
    .job_size = sizeof(struct gsim_sharing_job),
    .open = open_reef,
    .on_arrival = gsim_sharing_on_arrival,
    .decide = gsim_sharing_on_decide,
};
