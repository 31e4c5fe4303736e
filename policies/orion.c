/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Orion: one high-priority client and best-effort clients of a GPU, each in a stream of its own.
 * Kernels of the high-priority client are launched as they come, in a stream of high priority, so
 * that its blocks go first; running blocks stay. A kernel of a best-effort client is launched
 *
 *   while no request or iteration of the high-priority client is under way, or else
 *   if it needs fewer than `sms` SMs, as its blocks fill them, and the high-priority kernel is not
 *   bound by what it is bound by: memory (`bound` of the bandwidth), or arithmetic. A kernel that
 *   is bound by neither, or of which the bytes are not known, goes with any. Between two kernels of
 *   a request the last one that ran counts;
 *
 * and only until launched best-effort kernels last longer, together, than `ahead` of a request of
 * the high-priority client alone: then the scheduler waits until they have ended. Of those that
 * were launched before that client came, the ones that have not ended count. Copies are launched at
 * once. High priority have jobs of class realtime, or with a `priority` above 0; a GPU takes one of
 * them.
 *
 * A job without a program has kernels of one length (columns gpu_ms, kernels) that fill its part of
 * the SMs (sm_fraction), all of one kind (hbm_gbps).
 * Source: Strati et al., "Orion: Interference-aware, fine-grained GPU sharing for ML applications",
 * EuroSys 2024; its public code for what a kernel needs and when kernels count as outstanding. */
#include "policies/lib/clients.h"
#include "policies/lib/settings.h"

static bool arrange(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot,
                    struct gsim_unit unit) {
    struct gsim_lane lane = {.discipline = GSIM_DISCIPLINE_RR,
                             .cap_ppm = GSIM_PPM,
                             .gate.rank = gsim_clients_rank(ctx, slot),
                             .gate.ahead_ppm = (uint32_t)gsim_param(ctx->params, "ahead")};
    if (lane.gate.rank == GSIM_RANK_BEST_EFFORT) {
        lane.gate.opens = GSIM_GATE_APART;
        lane.gate.below_sms = (uint16_t)gsim_param(ctx->params, "sms");
        lane.gate.bound_ppm = (uint32_t)gsim_param(ctx->params, "bound");
    }
    struct gsim_arrangement how = {.max_clients = GSIM_MOST_CLIENTS};
    return gsim_clients_enter(ctx, plan, slot, unit, &lane, &how);
}

static enum gsim_status open_orion(struct gsim_ctx *ctx) {
    return gsim_clients_open_ranked(ctx, arrange);
}

static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM,
    GSIM_QUEUE_PARAM,
    {.name = "sms",
     .type = GSIM_PARAM_INT,
     .fallback = "0",
     .min = 0,
     .max = UINT16_MAX,
     .help =
         "beside high-priority kernels a best-effort one needs fewer SMs than this; 0 is all of "
         "the GPU's"},
    {.name = "ahead",
     .type = GSIM_PARAM_PPM,
     .fallback = "2.5%",
     .min = 0,
     .max = GSIM_PPM,
     .help = "best-effort kernels launched and not ended, as a part of a high-priority request's "
             "time alone; 0% is one at a time"},
    {.name = "bound",
     .type = GSIM_PARAM_PPM,
     .fallback = "60%",
     .min = 1,
     .max = GSIM_PPM,
     .help =
         "the part of the memory's bandwidth, or of the SMs, from which on a kernel is bound by "
         "it"},
    {0}};

const struct gsim_policy gsim_policy_orion = {
    .name = "orion",
    .summary = "best-effort kernels beside a high-priority job where they do not interfere",
    .paper = "Strati et al., Orion: Interference-aware, fine-grained GPU sharing for ML "
             "applications, EuroSys 2024",
    .deviations =
        "a kernel that is not bound by memory, and fills many SMs, counts as bound by arithmetic, "
        "since how busy they are is not known; a best-effort kernel is held against the "
        "high-priority kernel that runs, "
        "not against the one launched last; sms is fixed, and not searched for high-priority "
        "training; the time of intercepted launches is not modelled, and copies do not share "
        "PCIe; jobs wait in one queue, of which the head holds up all jobs behind it unless queue= "
        "says another",
    GSIM_QUEUE_ORACLE,
    .shares_gpus = true,
    .params = params,
    .state_size = sizeof(struct gsim_clients),
    .job_size = sizeof(struct gsim_client),
    .open = open_orion,
    .on_arrival = gsim_sharing_on_arrival,
    .on_completion = gsim_clients_on_completion,
    .decide = gsim_sharing_on_decide,
};
