/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiled, never run: whether the interface can say what Salus does. Lanes of memory: a job is let
 * in while the persistent memory of all plus the largest ephemeral memory of each lane fits; in a
 * lane iterations take turns at their boundaries, lanes run at once. FIFO, SRTF, PACK and FAIR are
 * orders inside a lane and choices of the lane.
 * Not expressible: (1) the capacity: the view does not tell a GPU's HBM (a parameter stands in);
 * (2) persistent against ephemeral memory: no column says it (load_gib stands in). */
#include "sim/api/policy.h"

enum { MOST_LANES = 8, MOST_JOBS = 64 };
enum { BY_FIFO, BY_SRTF, BY_PACK, BY_FAIR };

struct state { /* one GPU */
    struct gsim_lane lanes[MOST_LANES];
    int64_t ephemeral[MOST_LANES]; /* of the largest job in the lane */
    struct gsim_entry entries[MOST_JOBS];
    uint16_t n_lanes;
    uint32_t n;
    int64_t persistent, capacity;
    int64_t order;
    bool is_dirty;
};

static const struct gsim_unit the_gpu = {0, 0};

static int64_t persistent_of(const struct gsim_view *view, gsim_slot slot) {
    int64_t bytes = gsim_trace_get(view->trace, GSIM_COL_LOAD_BYTES, view->job[slot]);
    return bytes < 0 ? 0 : bytes;
}

static int64_t ephemeral_of(const struct gsim_view *view, gsim_slot slot) {
    return gsim_trace_get(view->trace, GSIM_COL_MEM_BYTES, view->job[slot]) -
           persistent_of(view, slot);
}

static enum gsim_status open_salus(struct gsim_ctx *ctx) {
    struct state *state = ctx->state;
    state->capacity = gsim_param(ctx->params, "capacity");
    state->order = gsim_param(ctx->params, "order");
    return GSIM_OK;
}

/* The lane that grows least; the safety condition decides whether there is one at all. */
static int lane_for(const struct state *state, const struct gsim_view *view, gsim_slot slot) {
    int64_t own = ephemeral_of(view, slot), used = state->persistent + persistent_of(view, slot);
    int best = -1;
    int64_t least = INT64_MAX;
    for (int lane = 0; lane < state->n_lanes; lane++)
        used += state->ephemeral[lane];
    for (int lane = 0; lane < MOST_LANES && lane <= state->n_lanes; lane++) {
        int64_t growth = own > state->ephemeral[lane] ? own - state->ephemeral[lane] : 0;
        if (used + growth > state->capacity || growth >= least)
            continue;
        least = growth;
        best = lane;
    }
    return best;
}

static bool admit(struct state *state, const struct gsim_view *view, gsim_slot slot) {
    int lane = state->n < MOST_JOBS ? lane_for(state, view, slot) : -1;
    if (lane < 0)
        return false;
    if (lane == state->n_lanes)
        state->lanes[state->n_lanes++] = (struct gsim_lane){.discipline = GSIM_DISCIPLINE_BOUNDARY};
    if (ephemeral_of(view, slot) > state->ephemeral[lane])
        state->ephemeral[lane] = ephemeral_of(view, slot);
    state->persistent += persistent_of(view, slot);
    state->entries[state->n++] = (struct gsim_entry){
        .job = slot, .lane = (uint16_t)lane, .mem_cap_bytes = ephemeral_of(view, slot)};
    return state->is_dirty = true;
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < state->n; i++)
        if (state->entries[i].job != slot)
            state->entries[kept++] = state->entries[i];
    state->n = kept;
    state->persistent -= persistent_of(ctx->view, slot);
    state->is_dirty = true;
}

/* FAIR: after an iteration, whoever has had least is next. */
static void on_watch(struct gsim_ctx *ctx, gsim_slot slot, enum gsim_watch_kind kind) {
    struct state *state = ctx->state;
    (void)slot;
    state->is_dirty |= kind == GSIM_WATCH_ITERATION;
}

static void rank(const struct state *state, const struct gsim_view *view, struct gsim_entry *e) {
    int64_t key = view->job[e->job];
    if (state->order == BY_FAIR)
        key = gsim_attained_ns(view, e->job) / GSIM_NS_PER_MS;
    else if (state->order == BY_SRTF)
        key = gsim_remaining_ns(view, e->job) / GSIM_NS_PER_MS;
    e->priority = key > INT32_MAX ? -INT32_MAX : -(int32_t)key;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    const struct gsim_view *view = ctx->view;
    for (uint32_t i = 0; i < view->n_active; i++)
        if (view->state[view->active[i]] == GSIM_QUEUED && !admit(state, view, view->active[i]))
            break; /* FIFO of admission */
    if (!state->is_dirty || state->n_lanes == 0)
        return;
    for (uint32_t i = 0; i < state->n; i++)
        rank(state, view, &state->entries[i]);
    struct gsim_arrangement arrangement = {.lanes = state->lanes,
                                           .n_lanes = state->n_lanes,
                                           .entries = state->entries,
                                           .n_entries = state->n};
    (void)gsim_plan_arrange(plan, &the_gpu, 1, &arrangement);
    for (uint32_t i = 0; i < state->n; i++) {
        gsim_slot slot = state->entries[i].job;
        if (view->state[slot] == GSIM_QUEUED)
            (void)gsim_plan_place_on(plan, slot, &the_gpu, 1);
        if (state->order == BY_FAIR)
            gsim_plan_watch(plan, slot, GSIM_WATCH_ITERATION, 0);
    }
    state->is_dirty = false;
}

static const struct gsim_param_def params[] = {{.name = "capacity",
                                                .type = GSIM_PARAM_BYTES,
                                                .fallback = "16GB",
                                                .min = 1,
                                                .max = INT64_MAX,
                                                .help = "memory that lanes are made of"},
                                               {.name = "order",
                                                .type = GSIM_PARAM_CHOICE,
                                                .fallback = "fifo",
                                                .choices = "fifo|srtf|pack|fair",
                                                .help = "who is next in a lane"},
                                               {0}};

const struct gsim_policy skeleton_salus = {
    .name = "salus",
    .summary = "lanes of memory, iterations take turns",
    .paper = "Yu and Chowdhury, Salus, MLSys 2020",
    .deviations = "a sketch for one GPU",
    .is_oracle = true,
    .params = params,
    .state_size = sizeof(struct state),
    .open = open_salus,
    .on_completion = on_completion,
    .on_watch = on_watch,
    .decide = decide,
};
