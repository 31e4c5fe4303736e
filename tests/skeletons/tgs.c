/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiled, never run: whether the interface can say what TGS does. A production job runs
 * unthrottled; the launch rate of opportunistic ones on the same GPU follows the production job's
 * own launch rate by feedback (multiplicative down, additive up, slow start), and their memory is
 * evicted first.
 * Not expressible: nothing. Counted in kernels, so the trace must have the column 'kernels'. */
#include "sim/api/policy.h"

enum { PRODUCTION_LANE = 0, OPPORTUNISTIC_LANE = 1, MOST_ON_GPU = 8 };

struct state { /* one GPU; a cluster has one of these for each */
    struct gsim_entry entries[MOST_ON_GPU];
    uint32_t n;
    gsim_slot production; /* GSIM_NO_SLOT: none */
    int64_t kernels; /* of the production job at the last look */
    int64_t best; /* its highest launches a period so far */
    int64_t cap; /* opportunistic launches a period */
    bool is_slow_start, is_dirty, is_time;
};

static const struct gsim_unit the_gpu = {0, 0};

static enum gsim_status open_tgs(struct gsim_ctx *ctx) {
    struct state *state = ctx->state;
    const struct gsim_trace *trace = ctx->view->trace;
    if (!trace->column[GSIM_COL_KERNELS])
        return gsim_fail(ctx->log, GSIM_BAD_INPUT, trace->path, 0,
                         "tgs counts kernel launches: it needs the column 'kernels'");
    state->production = GSIM_NO_SLOT;
    state->is_slow_start = true;
    return GSIM_OK;
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    const struct gsim_view *view = ctx->view;
    bool is_production =
        gsim_trace_get(view->trace, GSIM_COL_CLASS, view->job[slot]) == GSIM_CLASS_PRODUCTION;
    if (state->n == MOST_ON_GPU)
        return;
    if (is_production)
        state->production = slot;
    state->entries[state->n++] = (struct gsim_entry){
        .job = slot, .lane = is_production ? PRODUCTION_LANE : OPPORTUNISTIC_LANE};
    state->is_dirty = true;
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < state->n; i++)
        if (state->entries[i].job != slot)
            state->entries[kept++] = state->entries[i];
    state->n = kept;
    if (state->production == slot) {
        state->production = GSIM_NO_SLOT;
        state->best = 0;
    }
    state->is_dirty = true;
}

static void on_timer(struct gsim_ctx *ctx) {
    ((struct state *)ctx->state)->is_time = true;
}

/* The feedback: all it looks at is a counter that the policy turns into a rate itself. */
static void control(struct state *state, const struct gsim_ctx *ctx) {
    struct gsim_counters counters = gsim_count(ctx, state->production);
    int64_t launched = counters.kernels - state->kernels;
    state->kernels = counters.kernels;
    if (launched > state->best)
        state->best = launched;
    if (launched * 100 < state->best * gsim_param(ctx->params, "tolerance_percent")) {
        state->cap /= 2;
        state->is_slow_start = false;
    } else {
        state->cap += state->is_slow_start ? state->cap + 1 : gsim_param(ctx->params, "step");
    }
    state->is_dirty = true;
}

static void arrange(const struct state *state, const struct gsim_ctx *ctx, struct gsim_plan *plan) {
    bool is_capped = state->production != GSIM_NO_SLOT;
    struct gsim_lane lanes[] = {
        [PRODUCTION_LANE] = {.discipline = GSIM_DISCIPLINE_RR, .eviction_rank = 1},
        [OPPORTUNISTIC_LANE] = {.discipline = GSIM_DISCIPLINE_RR,
                                .launch_cap = is_capped ? state->cap + 1 : 0,
                                .launch_refill_ns = gsim_param(ctx->params, "period")},
    };
    struct gsim_arrangement arrangement = {.lanes = lanes,
                                           .n_lanes = 2,
                                           .entries = state->entries,
                                           .n_entries = state->n,
                                           .memory = GSIM_MEMORY_UVM};
    (void)gsim_plan_arrange(plan, &the_gpu, 1, &arrangement);
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    const struct gsim_view *view = ctx->view;
    if (state->is_time && state->production != GSIM_NO_SLOT)
        control(state, ctx);
    if (state->is_dirty)
        arrange(state, ctx, plan);
    for (uint32_t i = 0; i < state->n; i++)
        if (view->state[state->entries[i].job] == GSIM_QUEUED)
            (void)gsim_plan_place_on(plan, state->entries[i].job, &the_gpu, 1);
    if (state->production != GSIM_NO_SLOT && (state->is_dirty || state->is_time))
        gsim_plan_wake(plan, view->now_ns + gsim_param(ctx->params, "period"));
    state->is_dirty = state->is_time = false;
}

static const struct gsim_param_def params[] = {
    {.name = "period",
     .type = GSIM_PARAM_TIME,
     .fallback = "100ms",
     .min = 1,
     .max = INT64_MAX,
     .help = "time between two looks at the production job"},
    {.name = "step",
     .type = GSIM_PARAM_INT,
     .fallback = "10",
     .min = 1,
     .max = 1000000,
     .help = "launches that are added when it is well"},
    {.name = "tolerance_percent",
     .type = GSIM_PARAM_INT,
     .fallback = "97",
     .min = 1,
     .max = 100,
     .help = "share of its best launch rate below which it is not well"},
    {0}};

const struct gsim_policy skeleton_tgs = {
    .name = "tgs",
    .summary = "production jobs unthrottled, opportunistic ones take the gaps",
    .paper = "Wu et al., TGS, NSDI 2023",
    .deviations = "a sketch for one GPU",
    .params = params,
    .state_size = sizeof(struct state),
    .open = open_tgs,
    .on_arrival = on_arrival,
    .on_completion = on_completion,
    .on_timer = on_timer,
    .decide = decide,
};
