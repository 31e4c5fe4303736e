/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiled, never run: whether the interface can say what MSched does. A rotation on each GPU whose
 * turns have a length of their own, memory moved ahead at each switch (predictor, Belady, duplex
 * pipeline, early start). All of it is one arrangement; the model does the moving.
 * Not expressible: nothing. Not said by the interface: whether an entry may name a job that is
 * placed later in the same plan (assumed here). */
#include "sim/api/policy.h"

enum { MOST_IN_RING = 16 };

struct ring { /* what rotates on a GPU */
    struct gsim_entry entries[MOST_IN_RING];
    uint32_t n;
    bool is_dirty;
};

struct state {
    struct ring *rings; /* by GPU */
    int64_t period_ns; /* of run time, shared by the ring: a turn is period / n */
    bool by_priority;
};

struct job_state {
    uint32_t gpu;
};

static enum gsim_status open_msched(struct gsim_ctx *ctx) {
    struct state *state = ctx->state;
    if (!ctx->view->trace->column[GSIM_COL_MEM_BYTES])
        return gsim_fail(ctx->log, GSIM_BAD_INPUT, ctx->view->trace->path, 0,
                         "msched needs the column 'mem_gib', or --assume mem_gib=SIZE");
    state->period_ns = gsim_param(ctx->params, "period");
    state->by_priority = gsim_param(ctx->params, "order") == 1;
    state->rings = gsim_arena_array(ctx->arena, ctx->view->n_gpus, sizeof *state->rings);
    return state->rings ? GSIM_OK : gsim_no_memory(ctx->log, "opening rings");
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    uint32_t best = 0;
    for (uint32_t gpu = 1; gpu < ctx->view->n_gpus; gpu++)
        if (state->rings[gpu].n < state->rings[best].n)
            best = gpu;
    struct ring *ring = &state->rings[best];
    if (ring->n == MOST_IN_RING)
        return; /* a real policy queues it */
    int64_t priority = gsim_trace_get(ctx->view->trace, GSIM_COL_PRIORITY, ctx->view->job[slot]);
    ring->entries[ring->n++] =
        (struct gsim_entry){.job = slot, .priority = state->by_priority ? (int32_t)priority : 0};
    ring->is_dirty = true;
    ((struct job_state *)gsim_job_state(ctx, slot))->gpu = best;
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    struct ring *ring = &state->rings[((struct job_state *)gsim_job_state(ctx, slot))->gpu];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < ring->n; i++)
        if (ring->entries[i].job != slot)
            ring->entries[kept++] = ring->entries[i];
    ring->n = kept;
    ring->is_dirty = true;
}

static void arrange(const struct gsim_ctx *ctx, struct gsim_plan *plan, uint32_t gpu) {
    const struct state *state = ctx->state;
    struct ring *ring = &state->rings[gpu];
    const struct gsim_unit unit = {gpu, 0};
    struct gsim_lane lane = {.discipline = state->by_priority ? GSIM_DISCIPLINE_PRIORITY
                                                              : GSIM_DISCIPLINE_RR};
    for (uint32_t i = 0; i < ring->n; i++)
        ring->entries[i].quantum_ns = state->period_ns / ring->n;
    struct gsim_arrangement arrangement = {
        .lanes = &lane,
        .n_lanes = 1,
        .entries = ring->entries,
        .n_entries = ring->n,
        .memory = GSIM_MEMORY_PROACTIVE,
        .coscheduled = true,
        .pipeline = gsim_param(ctx->params, "pipeline") != 0,
        .early_start = gsim_param(ctx->params, "early_start") != 0,
        .predict_by_template = gsim_param(ctx->params, "predictor") == 0,
    };
    (void)gsim_plan_arrange(plan, &unit, 1, &arrangement);
    for (uint32_t i = 0; i < ring->n; i++)
        if (ctx->view->state[ring->entries[i].job] == GSIM_QUEUED)
            (void)gsim_plan_place_on(plan, ring->entries[i].job, &unit, 1);
    ring->is_dirty = false;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    const struct state *state = ctx->state;
    for (uint32_t gpu = 0; gpu < ctx->view->n_gpus; gpu++)
        if (state->rings[gpu].is_dirty)
            arrange(ctx, plan, gpu);
}

static const struct gsim_param_def params[] = {
    {.name = "period",
     .type = GSIM_PARAM_TIME,
     .fallback = "1s",
     .min = 1,
     .max = INT64_MAX,
     .help = "run time of one rotation, migration excluded"},
    {.name = "order",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "rr",
     .choices = "rr|priority",
     .help = "who is next"},
    {.name = "pipeline",
     .type = GSIM_PARAM_BOOL,
     .fallback = "on",
     .help = "evict and populate at once"},
    {.name = "early_start",
     .type = GSIM_PARAM_BOOL,
     .fallback = "on",
     .help = "run before everything has arrived"},
    {.name = "predictor",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "template",
     .choices = "template|allocation",
     .help = "how the working set is predicted"},
    {0}};

const struct gsim_policy skeleton_msched = {
    .name = "msched",
    .summary = "rotation with proactive migration",
    .paper = "MSched",
    .deviations = "a sketch",
    .params = params,
    .state_size = sizeof(struct state),
    .job_size = sizeof(struct job_state),
    .open = open_msched,
    .on_arrival = on_arrival,
    .on_completion = on_completion,
    .decide = decide,
};
