/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiled, never run: whether the interface can say what Tiresias does. Queues by attained GPU
 * time with limits, promotion of the starved, gangs consolidated only where the model's skew asks
 * for it. Not expressible: the Gittins index needs a history file; its path is a text parameter,
 * but the file's contents belong to the run's identity, so parameters need a type for files. */
#include "sim/api/policy.h"
#include "sim/base/index.h"

enum { QUEUES = 3 };

struct job_state {
    uint8_t queue;
    int64_t starved_since_ns; /* when it last lost its GPUs */
};

struct state {
    struct gsim_index waiting[QUEUES]; /* by time of entry */
    const struct gsim_param_value *limits; /* GPU seconds */
    int64_t knob; /* 0: no promotion */
};

static struct job_state *own(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_job_state(ctx, slot);
}

static enum gsim_status open_tiresias(struct gsim_ctx *ctx) {
    struct state *state = ctx->state;
    state->limits = gsim_param_full(ctx->params, "queues");
    state->knob = gsim_param(ctx->params, "knob");
    for (int q = 0; q < QUEUES; q++)
        gsim_index_init(&state->waiting[q], ctx->arena);
    if (state->limits->value != QUEUES - 1)
        return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                         "tiresias.queues: %lld limits given; %d are accepted",
                         (long long)state->limits->value, QUEUES - 1);
    return GSIM_OK;
}

/* Attained service at which the job falls into the next queue. */
static int64_t limit_ns(const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct state *state = ctx->state;
    return state->limits->list[own(ctx, slot)->queue] * GSIM_NS_PER_S /
           (int64_t)ctx->view->gpus[slot];
}

static void on_watch(struct gsim_ctx *ctx, gsim_slot slot, enum gsim_watch_kind kind) {
    if (kind == GSIM_WATCH_ATTAINED && own(ctx, slot)->queue < QUEUES - 1)
        own(ctx, slot)->queue++;
}

static void wait_in(const struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    own(ctx, slot)->starved_since_ns = ctx->view->now_ns;
    if (!gsim_index_insert(&state->waiting[own(ctx, slot)->queue], slot, ctx->view->now_ns,
                           ctx->view->job[slot]))
        (void)gsim_no_memory(ctx->log, "queueing jobs");
}

static void book_changes(const struct gsim_ctx *ctx, struct gsim_plan *plan) {
    const struct gsim_view *view = ctx->view;
    for (uint32_t i = 0; i < view->n_arrived; i++)
        wait_in(ctx, view->arrived[i]);
    for (uint32_t i = 0; i < view->n_settled; i++) {
        gsim_slot slot = view->settled[i];
        if (view->state[slot] == GSIM_RUNNING && own(ctx, slot)->queue < QUEUES - 1)
            gsim_plan_watch(plan, slot, GSIM_WATCH_ATTAINED, limit_ns(ctx, slot));
        else if (view->state[slot] != GSIM_RUNNING)
            wait_in(ctx, slot);
    }
}

/* Starved for knob times what it has had: back to the first queue, with a clean sheet. */
static void promote(const struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    int64_t next_ns = GSIM_NEVER, now = ctx->view->now_ns;
    for (int q = 1; q < QUEUES && state->knob > 0; q++) {
        uint32_t after;
        for (uint32_t slot = gsim_index_first(&state->waiting[q]); slot != GSIM_NO_ID;
             slot = after) {
            after = gsim_index_next(&state->waiting[q], slot);
            int64_t due_ns =
                own(ctx, slot)->starved_since_ns + gsim_attained_ns(ctx->view, slot) * state->knob;
            if (due_ns <= now) {
                gsim_index_remove(&state->waiting[q], slot);
                own(ctx, slot)->queue = 0;
                wait_in(ctx, slot);
            } else if (due_ns < next_ns) {
                next_ns = due_ns;
            }
        }
    }
    if (next_ns != GSIM_NEVER)
        gsim_plan_wake(plan, next_ns);
}

/* A model with one tensor far larger than the others wants its gang together. */
static bool is_skewed(const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_trace *trace = ctx->view->trace;
    int64_t model = gsim_trace_get(trace, GSIM_COL_MODEL, ctx->view->job[slot]);
    return model >= 0 && trace->names[GSIM_COL_MODEL].name[model][0] == 'v'; /* vgg */
}

/* Room from running jobs of lower queues, all undone when it does not suffice. */
static bool force(const struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot,
                  const struct gsim_shape *shape) {
    uint32_t mark = gsim_plan_mark(plan);
    for (uint32_t i = 0; i < ctx->view->n_active; i++) {
        gsim_slot other = ctx->view->active[i];
        const struct gsim_unit *units;
        if (ctx->view->state[other] != GSIM_RUNNING ||
            own(ctx, other)->queue <= own(ctx, slot)->queue ||
            gsim_plan_units(plan, other, &units) == 0)
            continue;
        if (gsim_plan_preempt(plan, other, GSIM_STOP_ITERATION, GSIM_KEEP_STORAGE) &&
            gsim_plan_place(plan, slot, shape))
            return true;
    }
    gsim_plan_rollback(plan, mark);
    return false;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    book_changes(ctx, plan);
    promote(ctx, plan);
    for (int q = 0; q < QUEUES; q++) {
        uint32_t after;
        for (uint32_t slot = gsim_index_first(&state->waiting[q]); slot != GSIM_NO_ID;
             slot = after) {
            after = gsim_index_next(&state->waiting[q], slot);
            struct gsim_shape shape = gsim_shape_of(
                ctx->view, slot, is_skewed(ctx, slot) ? GSIM_RULE_CONSOLIDATE : GSIM_RULE_ANY);
            if (gsim_plan_place(plan, slot, &shape) || force(ctx, plan, slot, &shape))
                gsim_index_remove(&state->waiting[q], slot);
        }
    }
}

static const struct gsim_param_def params[] = {
    {.name = "queues",
     .type = GSIM_PARAM_INT_LIST,
     .fallback = "3250,7200",
     .help = "queue limits in GPU seconds"},
    {.name = "knob",
     .type = GSIM_PARAM_INT,
     .fallback = "0",
     .max = 1000000,
     .help = "promote a job that has waited so many times what it ran; 0: never"},
    {.name = "history",
     .type = GSIM_PARAM_TEXT,
     .fallback = "",
     .help = "file of past GPU times, for the Gittins index"},
    {0}};

const struct gsim_policy skeleton_tiresias = {
    .name = "tiresias",
    .summary = "discretised two-dimensional least attained service",
    .paper = "Gu et al., Tiresias, NSDI 2019",
    .deviations = "a sketch",
    .params = params,
    .state_size = sizeof(struct state),
    .job_size = sizeof(struct job_state),
    .open = open_tiresias,
    .on_watch = on_watch,
    .decide = decide,
};
