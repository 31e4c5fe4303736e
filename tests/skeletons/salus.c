/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compile-only: can the interface say Salus? Lanes of device memory: persistent memory of all jobs
 * plus the largest ephemeral peak of each lane must fit; iterations serialise within a lane (the
 * discipline BOUNDARY), lanes run concurrently. Nothing was missing; the ephemeral part is what
 * mem_gib exceeds working_set_gib by, until an application profile says it better. */
#include "sim/api/policy.h"

enum { MAX_LANES = 16, MAX_JOBS = 128 };

struct state {
    uint16_t n_lanes;
    int64_t lane_bytes[MAX_LANES]; /* the largest ephemeral peak of the lane */
    int64_t persistent_bytes, capacity_bytes;
};

struct own {
    uint16_t lane;
    bool is_in;
};

static int64_t bytes_of(const struct gsim_view *view, gsim_slot slot, enum gsim_column column) {
    int64_t bytes = gsim_trace_get(view->trace, column, view->job[slot]);
    return bytes < 0 ? 0 : bytes;
}

static bool open_lane(struct state *state, int64_t persistent, int64_t ephemeral) {
    int64_t reserved = state->persistent_bytes + persistent + ephemeral;
    for (uint16_t lane = 0; lane < state->n_lanes; lane++)
        reserved += state->lane_bytes[lane];
    if (state->n_lanes == MAX_LANES || reserved > state->capacity_bytes)
        return false;
    state->lane_bytes[state->n_lanes++] = ephemeral;
    return true;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    const struct gsim_view *view = ctx->view;
    struct gsim_lane lanes[MAX_LANES];
    struct gsim_entry entries[MAX_JOBS];
    const struct gsim_unit gpu = {0, 0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < view->n_active && n < MAX_JOBS; i++) {
        gsim_slot slot = view->active[i];
        struct own *own = gsim_job_state(ctx, slot);
        int64_t mem = bytes_of(view, slot, GSIM_COL_MEM_BYTES);
        int64_t kept = bytes_of(view, slot, GSIM_COL_WORKING_SET_BYTES);
        if (!own->is_in && open_lane(state, kept, mem - kept)) {
            *own = (struct own){(uint16_t)(state->n_lanes - 1), true};
            state->persistent_bytes += kept;
        }
        if (own->is_in)
            entries[n++] = (struct gsim_entry){.job = slot, .lane = own->lane};
    }
    for (uint16_t lane = 0; lane < state->n_lanes; lane++)
        lanes[lane] = (struct gsim_lane){.discipline = GSIM_DISCIPLINE_BOUNDARY};
    struct gsim_arrangement arrangement = {
        .lanes = lanes, .n_lanes = state->n_lanes, .entries = entries, .n_entries = n};
    if (n > 0)
        (void)gsim_plan_arrange(plan, &gpu, 1, &arrangement);
    for (uint32_t i = 0; i < n; i++)
        if (view->state[entries[i].job] == GSIM_QUEUED)
            (void)gsim_plan_place_on(plan, entries[i].job, &gpu, 1);
}

const struct gsim_policy skeleton_salus = {.name = "salus",
                                           .state_size = sizeof(struct state),
                                           .job_size = sizeof(struct own),
                                           .decide = decide};
