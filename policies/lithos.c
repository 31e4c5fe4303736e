/* SPDX-License-Identifier: GPL-3.0-or-later */
/* LithOS: kernels of jobs that share a GPU are launched as atoms, ranges of their blocks of about
 * `atom`, each with SMs (whole TPCs) of its own. A job may own a part of the SMs, its quota:
 *
 *   a job that asks for a share of a GPU owns that part; another one owns `quota` if it is of high
 *   priority (class realtime, or a `priority` above 0), and nothing if it is best effort. Quotas do
 *   not overlap: a job that finds no room for its own waits;
 *   an atom has as many SMs as its kernel can use: of its own first, and then (`steal`) those that
 *   are in no quota, and those that others leave idle. Jobs of high priority choose first, then the
 *   one that has waited for longest;
 *   an owner that becomes busy has its SMs back as the blocks there end, and its thief loses them
 *   for the rest of the atom: work on stolen SMs has a lower priority;
 *   an atom has the fewest SMs (right-sizing) on which its kernel takes at most `slip` longer than
 *   alone, by what the device's blocks and bandwidth say.
 *
 * A job without a program has kernels of one length (columns gpu_ms, kernels) on its part of the
 * SMs (sm_fraction), with blocks of kernel_ms; without it, a block is as long as its kernel.
 * Source: Coppock et al., "LithOS: An operating system for efficient machine learning on GPUs",
 * SOSP 2025: atoms of 250 to 500 us, right-sizing within a slip of 1.1. The quota
 * of a job that asks for none is assumed. */
#include "policies/lib/clients.h"
#include "policies/lib/settings.h"

/* 0: the job owns no SMs. */
static uint32_t quota(const struct gsim_ctx *ctx, uint32_t gpu, gsim_slot slot) {
    uint32_t part_ppm = ctx->view->jobs.share_ppm[slot];
    if (part_ppm < GSIM_PPM)
        return gsim_ask_sms(ctx, gpu, part_ppm);
    part_ppm = (uint32_t)gsim_param(ctx->params, "quota");
    bool owns = gsim_clients_rank(ctx, slot) == GSIM_RANK_HIGH_PRIORITY && part_ppm > 0;
    return owns ? gsim_ask_sms(ctx, gpu, part_ppm) : 0;
}

static bool accepts(const struct gsim_ctx *ctx, uint32_t gpu, gsim_slot slot) {
    uint32_t n = quota(ctx, gpu, slot);
    return n == 0 || gsim_clients_have_room(ctx, gpu, n);
}

static bool arrange(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot,
                    struct gsim_unit unit) {
    uint32_t n = quota(ctx, unit.gpu, slot);
    struct gsim_lane lane = {.discipline = GSIM_DISCIPLINE_RR,
                             .cap_ppm = GSIM_PPM, /* the first job may own nothing */
                             .first_sm =
                                 n > 0 ? (uint16_t)gsim_clients_first_free_sm(ctx, unit.gpu, n) : 0,
                             .n_sms = (uint16_t)n,
                             .gate.rank = gsim_clients_rank(ctx, slot),
                             .atoms = {.atom_ns = gsim_param(ctx->params, "atom"),
                                       .borrows = gsim_param(ctx->params, "steal") != 0,
                                       .slip_ppm = (uint32_t)gsim_param(ctx->params, "slip")}};
    lane.atoms.borrows |= n == 0; /* a job without SMs of its own would never run */
    struct gsim_arrangement how = {.max_clients = GSIM_MOST_CLIENTS};
    return gsim_clients_enter(ctx, plan, slot, unit, &lane, &how);
}

static enum gsim_status open_lithos(struct gsim_ctx *ctx) {
    struct gsim_clients *clients = ctx->state;
    enum gsim_status status = gsim_clients_open_ranked(ctx, arrange);
    clients->sharing.accepts = accepts;
    return status;
}

static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM,
    GSIM_QUEUE_PARAM,
    {.name = "atom",
     .type = GSIM_PARAM_TIME,
     .fallback = "500us",
     .min = 1000,
     .max = GSIM_TIME_MAX,
     .help = "how long an atom of a kernel is to last; it has at least as many blocks as its SMs "
             "hold at one time"},
    {.name = "quota",
     .type = GSIM_PARAM_PPM,
     .fallback = "50%",
     .min = 0,
     .max = GSIM_PPM,
     .help = "the part of the SMs that a job of high priority owns, unless it asks for a share; "
             "rounded down to what the device can cut"},
    {.name = "steal",
     .type = GSIM_PARAM_BOOL,
     .fallback = "on",
     .help = "whether jobs that own SMs also get those that others leave idle"},
    {.name = "slip",
     .type = GSIM_PARAM_PPM,
     .fallback = "0%",
     .min = 0,
     .max = GSIM_PPM,
     .help = "how much longer than alone an atom's kernel may take, to leave SMs to others"},
    {0}};

const struct gsim_policy gsim_policy_lithos = {
    .name = "lithos",
    .summary = "kernels in atoms, on SMs of quotas and on those that other jobs leave idle",
    .paper = "Coppock et al., LithOS: An operating system for efficient machine learning on GPUs, "
             "SOSP 2025",
    .deviations =
        "times of kernels are known, where the real system learns them; the SMs that a kernel "
        "needs follow from its blocks and bandwidth, where the real system fits a curve through "
        "two measurements; an atom is never less than a wave of blocks; blocks outside of an "
        "atom, which the real system launches too, cost nothing, nor do interception and "
        "dispatch; how much stolen work may be under way is not limited; quotas have the steps "
        "of green contexts, where the real system has single TPCs; clocks stay as they are; jobs "
        "wait in one queue, of which the head holds up all jobs behind it unless queue= says "
        "another",
    GSIM_QUEUE_ORACLE,
    .shares_gpus = true,
    .has_contexts = true,
    .params = params,
    .state_size = sizeof(struct gsim_clients),
    .job_size = sizeof(struct gsim_client),
    .open = open_lithos,
    .on_arrival = gsim_sharing_on_arrival,
    .on_completion = gsim_clients_on_completion,
    .decide = gsim_sharing_on_decide,
};
