/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiled, never run: whether the interface can say what Gandiva does. Slices of a minute that end
 * at iteration boundaries with suspend and resume; a second job is packed onto a GPU and stays only
 * if the two together get more done than slices would; gangs that are scattered migrate; a job
 * grows onto idle GPUs.
 * Not said by the interface: whether a shape may ask for more GPUs than the trace gives the job
 * (grow-shrink), and then at what rate the job runs. Packing needs the GPU to be idle when it is
 * arranged, so a pair is made of a suspended job and a fresh one, or both are suspended first. */
#include "sim/api/policy.h"

struct job_state {
    int64_t slice_end_ns; /* from the end of the copy-in */
    int64_t iterations; /* when it was last looked at */
    int64_t looked_at_ns;
    int64_t alone; /* iterations in a slice of its own */
    gsim_slot partner; /* slot + 1; 0: not packed */
};

struct state {
    int64_t slice_ns;
    int64_t next_ns; /* end of the earliest slice */
    bool is_packing;
};

static struct job_state *own(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_job_state(ctx, slot);
}

static enum gsim_status open_gandiva(struct gsim_ctx *ctx) {
    struct state *state = ctx->state;
    state->slice_ns = gsim_param(ctx->params, "slice");
    state->is_packing = gsim_param(ctx->params, "packing") != 0;
    return GSIM_OK;
}

/* A slice begins when a job has settled into RUNNING, not when it was placed. */
static void book_settled(const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct state *state = ctx->state;
    if (ctx->view->state[slot] != GSIM_RUNNING)
        return;
    own(ctx, slot)->slice_end_ns = ctx->view->changed_ns[slot] + state->slice_ns;
    own(ctx, slot)->iterations = gsim_count(ctx, slot).iterations;
    own(ctx, slot)->looked_at_ns = ctx->view->now_ns;
}

/* Iterations in a slice, from counters alone; 0: the trace has none. */
static int64_t speed(const struct gsim_ctx *ctx, gsim_slot slot) {
    int64_t elapsed = ctx->view->now_ns - own(ctx, slot)->looked_at_ns;
    int64_t done = gsim_count(ctx, slot).iterations - own(ctx, slot)->iterations;
    const struct state *state = ctx->state;
    return elapsed > 0 && done > 0 ? gsim_muldiv_floor(done, state->slice_ns, elapsed) : 0;
}

static bool is_waiting(enum gsim_state state) {
    return state == GSIM_QUEUED || state == GSIM_HELD || state == GSIM_PAUSED;
}

/* Two on one GPU: worth it while the sum of their shares of their own speed is above one. */
static bool pays(const struct gsim_ctx *ctx, gsim_slot a, gsim_slot b) {
    int64_t alone_a = own(ctx, a)->alone, alone_b = own(ctx, b)->alone;
    return alone_a > 0 && alone_b > 0 &&
           speed(ctx, a) * alone_b + speed(ctx, b) * alone_a > alone_a * alone_b;
}

static void pack(const struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot a, gsim_slot b,
                 uint32_t gpu) {
    const struct gsim_unit unit = {gpu, 0};
    static const struct gsim_lane lane = {.discipline = GSIM_DISCIPLINE_RR};
    struct gsim_arrangement pair = {.lanes = &lane, .n_lanes = 1, .max_clients = 2};
    uint32_t mark = gsim_plan_mark(plan);
    if (gsim_plan_arrange(plan, &unit, 1, &pair) && gsim_plan_place_on(plan, a, &unit, 1) &&
        gsim_plan_place_on(plan, b, &unit, 1)) {
        own(ctx, a)->partner = b + 1;
        own(ctx, b)->partner = a + 1;
        return;
    }
    gsim_plan_rollback(plan, mark);
}

/* At the end of its slice: keep a pair that pays, else out at the next iteration. */
static void end_slice(const struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot) {
    struct job_state *job = own(ctx, slot);
    if (job->partner && pays(ctx, slot, job->partner - 1)) {
        job->slice_end_ns = ctx->view->now_ns + ((const struct state *)ctx->state)->slice_ns;
        return;
    }
    if (!job->partner)
        job->alone = speed(ctx, slot);
    job->partner = 0;
    (void)gsim_plan_preempt(plan, slot, GSIM_STOP_ITERATION, GSIM_KEEP_HOST);
}

static uint32_t nodes_of(const struct gsim_ctx *ctx, const struct gsim_plan *plan, gsim_slot slot) {
    const struct gsim_unit *units;
    uint32_t n = gsim_plan_units(plan, slot, &units), nodes = 0;
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 ||
            ctx->view->node_of_gpu[units[i].gpu] != ctx->view->node_of_gpu[units[i - 1].gpu])
            nodes++;
    return nodes;
}

/* A scattered gang comes together, and an idle cluster lets one grow; a quote says what it costs.
 */
static void migrate(const struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot) {
    struct gsim_shape shape = gsim_shape_of(ctx->view, slot, GSIM_RULE_CONSOLIDATE);
    bool may_grow = gsim_param(ctx->params, "grow") && ctx->view->n_idle_gpus >= shape.gpus;
    if (may_grow)
        shape.gpus *= 2;
    else if (shape.gpus > ctx->view->widest_node || nodes_of(ctx, plan, slot) < 2)
        return;
    struct gsim_quote quote = gsim_ask(ctx, slot, GSIM_STOP_ITERATION, GSIM_KEEP_HOST, NULL, 0);
    if (quote.is_possible && quote.save_ns + quote.resume_ns < GSIM_NS_PER_S)
        (void)gsim_plan_move(plan, slot, &shape);
}

static void serve(const struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot) {
    struct gsim_shape shape = gsim_shape_of(ctx->view, slot, GSIM_RULE_CONSOLIDATE);
    const struct state *state = ctx->state;
    if (gsim_plan_place(plan, slot, &shape) || !state->is_packing || shape.gpus != 1)
        return;
    for (uint32_t i = 0; i < ctx->view->n_active; i++) { /* a partner for a GPU of two */
        gsim_slot other = ctx->view->active[i];
        if (other != slot && is_waiting(ctx->view->state[other]) && ctx->view->gpus[other] == 1 &&
            !own(ctx, other)->partner) {
            pack(ctx, plan, slot, other, ctx->view->job[slot] % ctx->view->n_gpus);
            return;
        }
    }
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    const struct gsim_view *view = ctx->view;
    uint32_t n_waiting = 0;
    for (uint32_t i = 0; i < view->n_settled; i++)
        book_settled(ctx, view->settled[i]);
    for (uint32_t i = 0; i < view->n_active; i++)
        n_waiting += is_waiting(view->state[view->active[i]]);
    state->next_ns = GSIM_NEVER;
    for (uint32_t i = 0; i < view->n_active; i++) {
        gsim_slot slot = view->active[i];
        if (is_waiting(view->state[slot])) {
            serve(ctx, plan, slot);
        } else if (view->state[slot] == GSIM_RUNNING) {
            if (n_waiting && own(ctx, slot)->slice_end_ns <= view->now_ns)
                end_slice(ctx, plan, slot);
            else if (!n_waiting)
                migrate(ctx, plan, slot);
            else if (own(ctx, slot)->slice_end_ns < state->next_ns)
                state->next_ns = own(ctx, slot)->slice_end_ns;
        }
    }
    if (state->next_ns != GSIM_NEVER)
        gsim_plan_wake(plan, state->next_ns);
}

static const struct gsim_param_def params[] = {
    {.name = "slice",
     .type = GSIM_PARAM_TIME,
     .fallback = "60s",
     .min = 1,
     .max = INT64_MAX,
     .help = "from the end of the copy-in"},
    {.name = "packing", .type = GSIM_PARAM_BOOL, .fallback = "on", .help = "try two on a GPU"},
    {.name = "grow", .type = GSIM_PARAM_BOOL, .fallback = "off", .help = "use idle GPUs"},
    {0}};

const struct gsim_policy skeleton_gandiva = {
    .name = "gandiva",
    .summary = "slices at iteration boundaries, packing, migration, growing",
    .paper = "Xiao et al., Gandiva, OSDI 2018",
    .deviations = "a sketch",
    .params = params,
    .state_size = sizeof(struct state),
    .job_size = sizeof(struct job_state),
    .open = open_gandiva,
    .decide = decide,
};
