/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/lib/clients.h"

enum gsim_status gsim_clients_init(struct gsim_clients *clients, struct gsim_ctx *ctx) {
    gsim_sharing_init(&clients->sharing, ctx, &(struct gsim_lane){0});
    clients->gpu = gsim_arena_array(ctx->arena, ctx->view->cluster.n_gpus, sizeof *clients->gpu);
    return clients->gpu ? GSIM_OK : gsim_no_memory(ctx->log, "opening the policy");
}

static struct gsim_clients_of_gpu *of_gpu(struct gsim_ctx *ctx, uint32_t gpu) {
    struct gsim_clients *clients = ctx->state;
    if (!clients->gpu[gpu])
        clients->gpu[gpu] = gsim_arena_alloc(ctx->arena, sizeof *clients->gpu[gpu]);
    if (!clients->gpu[gpu])
        gsim_common_no_memory(ctx);
    return clients->gpu[gpu];
}

static void leave(const struct gsim_clients *clients, struct gsim_client *client) {
    if (client->gpu)
        clients->gpu[client->gpu - 1]->taken &= ~(UINT64_C(1) << client->lane);
    client->gpu = 0;
}

bool gsim_clients_enter(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot,
                        struct gsim_unit unit, const struct gsim_lane *lane,
                        const struct gsim_arrangement *how) {
    struct gsim_clients_of_gpu *gpu = of_gpu(ctx, unit.gpu);
    struct gsim_client *client = gsim_job_state(ctx, slot);
    struct gsim_arrangement arrangement = *how;
    uint16_t n = 0;
    leave(ctx->state, client);
    while (gpu && n < GSIM_MOST_CLIENTS && gpu->taken >> n & 1)
        n++;
    if (!gpu || n == GSIM_MOST_CLIENTS)
        return false;
    if (n == gpu->n_lanes)
        gpu->n_lanes++;
    gpu->lane[n] = *lane;
    struct gsim_entry entry = {.job = slot, .lane = n};
    arrangement.lanes = gpu->lane;
    arrangement.n_lanes = gpu->n_lanes;
    arrangement.entries = &entry;
    arrangement.n_entries = 1;
    if (!gsim_plan_arrange(plan, &unit, 1, &arrangement))
        return false;
    gpu->taken |= UINT64_C(1) << n;
    client->gpu = unit.gpu + 1;
    client->lane = n;
    return true;
}

void gsim_clients_on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    leave(ctx->state, gsim_job_state(ctx, slot));
}

const struct gsim_lane *gsim_clients_next(const struct gsim_clients *clients, uint32_t gpu,
                                          uint16_t *from) {
    const struct gsim_clients_of_gpu *here = clients->gpu[gpu];
    while (here && *from < here->n_lanes) {
        uint16_t n = (*from)++;
        if (here->taken >> n & 1)
            return &here->lane[n];
    }
    return NULL;
}

/* The end of the last lane that owns an SM of these; 0: none has. */
static uint32_t blocked_until(const struct gsim_ctx *ctx, uint32_t gpu, uint32_t first,
                              uint32_t n) {
    const struct gsim_lane *lane;
    uint16_t from = 0;
    uint32_t until = 0;
    while ((lane = gsim_clients_next(ctx->state, gpu, &from)) != NULL) {
        uint32_t end = (uint32_t)lane->first_sm + lane->n_sms;
        if (lane->first_sm < first + n && end > first && end > until)
            until = end;
    }
    return until;
}

uint32_t gsim_clients_first_free_sm(const struct gsim_ctx *ctx, uint32_t gpu, uint32_t n) {
    uint32_t first = 0, until;
    while ((until = blocked_until(ctx, gpu, first, n)) > 0)
        first = until;
    return first;
}

bool gsim_clients_have_room(const struct gsim_ctx *ctx, uint32_t gpu, uint32_t n) {
    return gsim_clients_first_free_sm(ctx, gpu, n) + n <=
           gsim_ask_sms(ctx, gpu, (uint32_t)GSIM_PPM);
}

uint16_t gsim_clients_rank(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_common_urgency(ctx, slot) > 0 ? GSIM_RANK_HIGH_PRIORITY : GSIM_RANK_BEST_EFFORT;
}

static bool has_high_priority(const struct gsim_clients *clients, uint32_t gpu) {
    const struct gsim_lane *lane;
    uint16_t from = 0;
    while ((lane = gsim_clients_next(clients, gpu, &from)) != NULL)
        if (lane->gate.rank == GSIM_RANK_HIGH_PRIORITY)
            return true;
    return false;
}

static bool accepts_rank(const struct gsim_ctx *ctx, uint32_t gpu, gsim_slot slot) {
    return gsim_clients_rank(ctx, slot) == GSIM_RANK_BEST_EFFORT ||
           !has_high_priority(ctx->state, gpu);
}

/* Whether some jobs have no program, so that columns stand for their kernels. */
static bool lack_programs(const struct gsim_trace *trace) {
    bool lack = false;
    for (uint32_t job = 0; job < trace->n_jobs && !lack; job++)
        lack = !gsim_common_has_program(trace, job);
    return lack;
}

enum gsim_status gsim_clients_open_ranked(struct gsim_ctx *ctx,
                                          bool (*arrange)(struct gsim_ctx *ctx,
                                                          struct gsim_plan *plan, gsim_slot slot,
                                                          struct gsim_unit unit)) {
    struct gsim_clients *clients = ctx->state;
    enum gsim_status status = gsim_clients_init(clients, ctx);
    clients->sharing.arrange = arrange;
    clients->sharing.accepts = accepts_rank;
    if (lack_programs(ctx->view->trace))
        ctx->assumed = "program=columns";
    return status;
}
