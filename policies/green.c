/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Green contexts, and static SM partitions of MPS: each job has a group of SMs to itself, as long
 * as it runs. Kernels of other jobs never get these SMs, and their kernels do not wait for each
 * other; memory bandwidth is shared (models/gpu/space.h). A job gets at most the part of the SMs
 * that it asks for (a share of a GPU), and at most `part`, rounded down: a group has a multiple of
 * green.sms SMs, and at least green.least_sms; one of 100 % has all SMs. Groups are cut from the
 * first SM on, where there is room between others. A job that finds no group waits. Jobs go to the
 * GPU with the fewest jobs that has room for a group, in order of arrival; gangs have whole GPUs.
 * Source: NVIDIA, CUDA driver API 12.4, "Green Contexts" (cuDevSmResourceSplitByCount), and
 * "Multi-Process Service" (static SM partitioning). */
#include "policies/lib/clients.h"
#include "policies/lib/settings.h"

static uint32_t width(const struct gsim_ctx *ctx, uint32_t gpu, gsim_slot slot) {
    uint32_t part_ppm = (uint32_t)gsim_param(ctx->params, "part");
    uint32_t share_ppm = ctx->view->jobs.share_ppm[slot];
    return gsim_ask_sms(ctx, gpu, share_ppm < part_ppm ? share_ppm : part_ppm);
}

static bool accepts(const struct gsim_ctx *ctx, uint32_t gpu, gsim_slot slot) {
    uint32_t n = width(ctx, gpu, slot);
    return n > 0 && gsim_clients_have_room(ctx, gpu, n);
}

static bool arrange(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot,
                    struct gsim_unit unit) {
    uint32_t n = width(ctx, unit.gpu, slot);
    struct gsim_lane lane = {.discipline = GSIM_DISCIPLINE_RR,
                             .first_sm = (uint16_t)gsim_clients_first_free_sm(ctx, unit.gpu, n),
                             .n_sms = (uint16_t)n};
    struct gsim_arrangement how = {.max_clients = GSIM_MOST_CLIENTS};
    return gsim_clients_enter(ctx, plan, slot, unit, &lane, &how);
}

static enum gsim_status open_green(struct gsim_ctx *ctx) {
    struct gsim_clients *clients = ctx->state;
    enum gsim_status status = gsim_clients_init(clients, ctx);
    clients->sharing.arrange = arrange;
    clients->sharing.accepts = accepts;
    if (!ctx->view->trace->column[GSIM_COL_SM_PPM])
        gsim_warn(ctx->log, ctx->view->trace->path, 0,
                  "the trace has no column 'sm_fraction': under green every job is taken to fill "
                  "all SMs of its group");
    return status;
}

static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM,
    GSIM_QUEUE_PARAM,
    {.name = "part",
     .type = GSIM_PARAM_PPM,
     .fallback = "50%",
     .min = 10000,
     .max = GSIM_PPM,
     .help = "the part of the SMs of a job that does not ask for less, 1% to 100%; rounded down to "
             "what the device can cut"},
    {0}};

const struct gsim_policy gsim_policy_green = {
    .name = "green",
    .summary = "each job has a group of SMs to itself: green contexts, static partitions of MPS",
    .paper = "NVIDIA, CUDA driver API 12.4, Green Contexts; NVIDIA Multi-Process Service, static "
             "SM partitioning",
    .deviations =
        "gangs of several GPUs have them to themselves; groups never change while a job runs; jobs "
        "are taken to be streams of one process or clients of one server, so that nothing "
        "switches; that groups are cut along clusters of SMs (GPCs) is not modelled; jobs wait in "
        "one queue, of which the head holds up all jobs behind it unless queue= says another",
    GSIM_QUEUE_ORACLE,
    .shares_gpus = true,
    .has_contexts = true,
    .params = params,
    .state_size = sizeof(struct gsim_clients),
    .job_size = sizeof(struct gsim_client),
    .open = open_green,
    .on_arrival = gsim_sharing_on_arrival,
    .on_completion = gsim_clients_on_completion,
    .decide = gsim_sharing_on_decide,
};
