/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tally: kernels of a high-priority job are launched as they come. Those of best-effort jobs are
 * launched one at a time, of which those count that run as the high-priority job comes, and only
 * while that job has had no kernel launched for `wait`. When it launches one, the running
 * best-effort kernel gives way:
 *
 *   a kernel that takes longer than `bound` alone runs in a transformed, preemptible form: its
 *   workers look at a flag between two thread blocks, so that the blocks on SMs run out, and the
 *   others begin when the GPU is left again;
 *   a shorter one is left as it is, and runs out: that is within the bound.
 *
 * High priority have jobs of class realtime, or with a `priority` above 0; a GPU takes one of them.
 * Without one, best-effort jobs share the GPU as under MPS.
 *
 * A job without a program has kernels of one length (columns gpu_ms, kernels) on its part of the
 * SMs (sm_fraction), with blocks of kernel_ms; without it, a block is as long as its kernel.
 * Source: Zhao, Jayarajan and Pekhimenko, "Tally: Non-intrusive performance isolation for
 * concurrent deep learning workloads", ASPLOS 2025; its public benchmarks for the bound on the
 * turnaround (0.0316 ms), its public code for one kernel at a time and for the wait (0.1 ms). */
#include "policies/lib/clients.h"
#include "policies/lib/settings.h"

static bool arrange(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot,
                    struct gsim_unit unit) {
    struct gsim_lane lane = {.discipline = GSIM_DISCIPLINE_RR,
                             .cap_ppm = GSIM_PPM,
                             .gate.rank = gsim_clients_rank(ctx, slot),
                             .gate.wait_ns = gsim_param(ctx->params, "wait")};
    if (lane.gate.rank == GSIM_RANK_BEST_EFFORT) {
        lane.gate.opens = GSIM_GATE_IDLE;
        lane.gate.whole_ns = gsim_param(ctx->params, "bound");
    }
    struct gsim_arrangement how = {.max_clients = GSIM_MOST_CLIENTS};
    return gsim_clients_enter(ctx, plan, slot, unit, &lane, &how);
}

static enum gsim_status open_tally(struct gsim_ctx *ctx) {
    return gsim_clients_open_ranked(ctx, arrange);
}

static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM,
    GSIM_QUEUE_PARAM,
    {.name = "wait",
     .type = GSIM_PARAM_TIME,
     .fallback = "100us",
     .min = 0,
     .max = GSIM_TIME_MAX,
     .help =
         "how long the high-priority job has had no kernel launched before a best-effort one is"},
    {.name = "bound",
     .type = GSIM_PARAM_TIME,
     .fallback = "31.6us",
     .min = 0,
     .max = GSIM_TIME_MAX,
     .help = "best-effort kernels that take longer are preemptible between thread blocks; others "
             "run out"},
    {0}};

const struct gsim_policy gsim_policy_tally = {
    .name = "tally",
    .summary = "best-effort kernels while a high-priority job launches none, stopped by blocks",
    .paper = "Zhao, Jayarajan and Pekhimenko, Tally: Non-intrusive performance isolation for "
             "concurrent deep learning workloads, ASPLOS 2025",
    .deviations =
        "a transformed kernel is as fast as the original: what looking at the flag costs, and the "
        "limit of 1024 threads an SM, are not modelled; every kernel can be transformed, and the "
        "form is chosen by its time alone and not by a profiler, so that kernels are never "
        "launched in slices, nor on few workers where a block lasts longer than the bound; what "
        "passing on and launching kernels one by one costs on the host is not modelled, and copies "
        "do not share PCIe; jobs wait in one queue, of which the head holds up all jobs behind it "
        "unless queue= says another",
    GSIM_QUEUE_ORACLE,
    .shares_gpus = true,
    .params = params,
    .state_size = sizeof(struct gsim_clients),
    .job_size = sizeof(struct gsim_client),
    .open = open_tally,
    .on_arrival = gsim_sharing_on_arrival,
    .on_completion = gsim_clients_on_completion,
    .decide = gsim_sharing_on_decide,
};
