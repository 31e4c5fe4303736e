/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Green contexts, and static SM partitions of MPS: each job has a group of SMs to itself, as long
 * as it runs. Kernels of other jobs never get these SMs, and their kernels do not wait for each
 * other; memory bandwidth is shared (models/gpu/space.h). A job gets at most the part of the SMs
 * that it asks for (a share of a GPU), and at most `part`, rounded down: a group has a multiple of
 * green.sms SMs, and at least green.least_sms; one of 100 % has all SMs. Groups are cut from the
 * first SM on, where there is room between others. A job that finds no group waits. Jobs go to the
 * GPU with the fewest jobs that has room for a group, in order of arrival; gangs have whole GPUs.
 *
 * Static partitions of MPS (`partitions`): each GPU is cut once, into partitions of the given
 * numbers of chunks, of green.least_sms SMs each. Jobs are clients, whatever part of a GPU they ask
 * for: each goes to the partition with the fewest clients, of these to the one with the most SMs,
 * and shares it with its other clients as under MPS. SMs that are in no partition stay unused.
 * Source: NVIDIA, CUDA driver API 12.4, "Green Contexts" (cuDevSmResourceSplitByCount), and
 * "Multi-Process Service" (static SM partitioning). */
#include "policies/lib/clients.h"
#include "policies/lib/settings.h"

/* --- groups ----------------------------------------------------------------------------------- */

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

/* --- partitions ------------------------------------------------------------------------------- */

static const struct gsim_param_value *partitions_of(const struct gsim_ctx *ctx) {
    return gsim_param_full(ctx->params, "partitions");
}

/* The SMs of a chunk: those of the smallest group that the device cuts. */
static uint32_t chunk_sms(const struct gsim_ctx *ctx, uint32_t gpu) {
    enum { LEAST_PPM = 1 };
    return gsim_ask_sms(ctx, gpu, LEAST_PPM);
}

/* The partitions of the GPU, as far as it has SMs for them. */
static uint32_t cut(const struct gsim_ctx *ctx, uint32_t gpu, struct gsim_lane *out) {
    const struct gsim_param_value *list = partitions_of(ctx);
    uint32_t chunk = chunk_sms(ctx, gpu), all = gsim_ask_sms(ctx, gpu, (uint32_t)GSIM_PPM);
    uint32_t n = 0, first = 0;
    for (; n < (uint32_t)list->value && n < GSIM_MOST_CLIENTS; n++) {
        uint64_t sms = (uint64_t)list->list[n] * chunk;
        if (sms == 0 || first + sms > all)
            break;
        out[n] = (struct gsim_lane){
            .discipline = GSIM_DISCIPLINE_RR, .first_sm = (uint16_t)first, .n_sms = (uint16_t)sms};
        first += (uint32_t)sms;
    }
    return n;
}

static uint32_t n_clients(const struct gsim_ctx *ctx, uint32_t gpu, uint16_t first_sm) {
    const struct gsim_lane *lane;
    uint16_t from = 0;
    uint32_t n = 0;
    while ((lane = gsim_clients_next(ctx->state, gpu, &from)) != NULL)
        n += lane->first_sm == first_sm;
    return n;
}

static bool has_partitions(const struct gsim_ctx *ctx, uint32_t gpu, gsim_slot slot) {
    struct gsim_lane lane[GSIM_MOST_CLIENTS];
    (void)slot;
    return cut(ctx, gpu, lane) == (uint32_t)partitions_of(ctx)->value;
}

static bool join_partition(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot,
                           struct gsim_unit unit) {
    struct gsim_lane lane[GSIM_MOST_CLIENTS];
    uint32_t n = cut(ctx, unit.gpu, lane), best = 0, fewest = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t clients = n_clients(ctx, unit.gpu, lane[i].first_sm);
        if (clients < fewest || (clients == fewest && lane[i].n_sms > lane[best].n_sms)) {
            fewest = clients;
            best = i;
        }
    }
    struct gsim_arrangement how = {.max_clients = GSIM_MOST_CLIENTS, .is_served = true};
    return gsim_clients_enter(ctx, plan, slot, unit, &lane[best], &how);
}

/* Some type of GPU has SMs for all partitions. */
static enum gsim_status check_partitions(struct gsim_ctx *ctx) {
    for (uint32_t gpu = 0; gpu < ctx->view->cluster.n_gpus; gpu++)
        if (has_partitions(ctx, gpu, GSIM_NO_SLOT))
            return GSIM_OK;
    return gsim_fail(
        ctx->log, GSIM_USAGE, NULL, 0,
        "green.partitions=%s: its partitions have more chunks of SMs than any GPU, each 1 at "
        "least; the first GPU has %u chunks",
        partitions_of(ctx)->text, gsim_ask_sms(ctx, 0, (uint32_t)GSIM_PPM) / chunk_sms(ctx, 0));
}

/* --- the policy ------------------------------------------------------------------------------- */

static enum gsim_status open_green(struct gsim_ctx *ctx) {
    struct gsim_clients *clients = ctx->state;
    enum gsim_status status = gsim_clients_init(clients, ctx);
    const struct gsim_param_value *partitions = partitions_of(ctx);
    bool is_cut = partitions->value > 1 || partitions->list[0] > 0;
    clients->sharing.arrange = is_cut ? join_partition : arrange;
    clients->sharing.accepts = is_cut ? has_partitions : accepts;
    if (status == GSIM_OK && is_cut)
        status = check_partitions(ctx);
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
     .help = "the part of the SMs of a job that does not ask for a lesser part of a GPU (column "
             "gpus), whatever it fills, 1% to 100%; rounded down to what the device can cut"},
    {.name = "partitions",
     .type = GSIM_PARAM_INT_LIST,
     .fallback = "0",
     .min = 0,
     .max = 1024,
     .help = "static partitions of MPS in place of a group for each job: their chunks of SMs, as "
             "8,4,4 (0: none); a chunk is the smallest group that the device can cut"},
    {0}};

const struct gsim_policy gsim_policy_green = {
    .name = "green",
    .summary = "each job has a group of SMs to itself: green contexts, static partitions of MPS",
    .paper = "NVIDIA, CUDA driver API 12.4, Green Contexts; NVIDIA Multi-Process Service, static "
             "SM partitioning",
    .deviations =
        "gangs of several GPUs have them to themselves; groups never change while a job runs; jobs "
        "are taken to be streams of one process or clients of one server, so that nothing "
        "switches; that groups are cut along clusters of SMs (GPCs) is not modelled; a chunk of a "
        "static partition, of which the server says the size, is taken to be the smallest green "
        "context; jobs wait in one queue, of which the head holds up all jobs behind it unless "
        "queue= says another",
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
