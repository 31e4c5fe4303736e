/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tiresias: discretised two-dimensional scheduling for jobs whose length nobody knows. Source: Gu
 * et al., "Tiresias: A GPU Cluster Manager for Distributed Deep Learning", NSDI 2019.
 *
 * A job's service is its GPUs times the time that it had them to run on, however slow they are.
 * It starts in the first queue and falls into the next one when its service reaches the limit between
 * them; a job of a higher queue preempts one of a lower queue, never one of its own. Within a queue,
 * index=las serves who started first; index=gittins serves who has the best chance to end per service
 * invested before its next limit (in the last queue: at all), by the service of past jobs: from
 * history=FILE, or of the jobs of this trace that have completed. A job that has waited knob times as
 * long as it ran goes back to the first queue with a clean sheet. Gangs of models with a skew are
 * consolidated, others take any GPUs. What a preemption costs is the device's business (preempt=).
 *
 * Deviations: victims are taken one by one, the latest arrival of the lowest queue first; skew is
 * read off the model's name, not profiled.
 * reference=tiresias: the public simulator's `dlas-gpu`, `dlas` (unit=seconds) and
 * `dlas-gpu-gittins` (index=gittins), see common_dlas.c. */
#include "policies/common_tiresias.h"

/* Ranks: the queue, then the order within it. A running job stands at its queue's end, so that it
 * can only be a victim of a higher queue. */
#define QUEUE_RANK (INT64_C(1) << 44)
#define NOT_STARTED (INT64_C(1) << 43)

struct state {
    struct gsim_dlas dlas; /* first; without reference=tiresias its settings alone */
    struct gsim_ranked ranked;
    struct gsim_history history;
    struct gsim_limits limits; /* of the queues that jobs are in */
    struct gsim_index starving; /* jobs by the time of their promotion */
    int64_t n_started;
    bool is_gittins, is_own_history, is_reference;
};

struct job {
    struct gsim_dlas_job dlas; /* reference=tiresias; it begins with a link */
    int64_t base_ns; /* attained when it was last promoted */
    int64_t waited_ns, waits_since_ns; /* since its last promotion */
    int64_t start; /* 1 + how many started before it; 0: has not started */
    uint32_t queue;
};

static struct job *own(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_job_state(ctx, slot);
}

static int64_t width(const struct gsim_ctx *ctx, gsim_slot slot) {
    return ((struct state *)ctx->state)->dlas.is_gpu_time ? ctx->view->gpus[slot] : 1;
}

/* --- ranks ------------------------------------------------------------------------------------ */

static int64_t order_in_queue(const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct state *state = ctx->state;
    const struct job *job = own(ctx, slot);
    if (!state->is_gittins)
        return job->start ? job->start : NOT_STARTED;
    int64_t attained_ns = gsim_common_served_ns(ctx, slot), delta = GSIM_NEVER;
    int64_t age = gsim_common_times(attained_ns / GSIM_NS_PER_S, width(ctx, slot));
    if (job->queue + 1 < state->dlas.n_queues)
        delta = state->dlas.limits[job->queue] -
                gsim_common_times((attained_ns - job->base_ns) / GSIM_NS_PER_S, width(ctx, slot));
    int64_t index = gsim_gittins_index(&state->history, age, delta > 0 ? delta : 1);
    return QUEUE_RANK - 2 - (index < QUEUE_RANK - 2 ? index : QUEUE_RANK - 2);
}

static int64_t value(const struct gsim_ctx *ctx, gsim_slot slot) {
    bool runs = ctx->view->state[slot] == GSIM_RUNNING;
    return own(ctx, slot)->queue * QUEUE_RANK + (runs ? QUEUE_RANK - 1 : order_in_queue(ctx, slot));
}

/* Attained service at which the job falls out of its queue. */
static int64_t limit_ns(const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct state *state = ctx->state;
    const struct job *job = own(ctx, slot);
    return job->base_ns +
           gsim_muldiv_ceil(state->dlas.limits[job->queue], GSIM_NS_PER_S, width(ctx, slot));
}

static void fall(const struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    struct job *job = own(ctx, slot);
    for (; job->queue + 1 < state->dlas.n_queues; job->queue++) {
        if (gsim_common_served_ns(ctx, slot) < limit_ns(ctx, slot))
            return;
        state->ranked.needs_full_pass = true;
    }
}

/* Also of a job that waits: it may start and reach its limit before the next decide. */
static void watch_limit(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot) {
    struct state *state = ctx->state;
    if (own(ctx, slot)->queue + 1 < state->dlas.n_queues)
        gsim_limits_set(&state->limits, ctx, plan, slot, limit_ns(ctx, slot));
}

/* --- starvation ------------------------------------------------------------------------------- */

static void begin_waiting(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    struct job *job = own(ctx, slot);
    int64_t ran_ns = gsim_common_served_ns(ctx, slot) - job->base_ns, now = ctx->view->now_ns;
    job->waits_since_ns = now;
    if (state->dlas.knob_ppm == 0 || job->queue == 0 || ran_ns <= 0)
        return;
    int64_t due_ns =
        now + gsim_muldiv_floor(ran_ns, state->dlas.knob_ppm, GSIM_PPM) - job->waited_ns;
    gsim_common_insert(ctx, &state->starving, slot, due_ns);
}

static void end_waiting(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    struct job *job = own(ctx, slot);
    if (job->start == 0)
        job->start = ++state->n_started;
    else
        job->waited_ns += ctx->view->changed_ns[slot] - job->waits_since_ns;
    gsim_index_remove(&state->starving, slot);
}

static void promote(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    gsim_slot slot, after;
    for (slot = gsim_index_first(&state->starving);
         slot != GSIM_NO_ID && gsim_index_key(&state->starving, slot) <= ctx->view->now_ns;
         slot = after) {
        struct job *job = own(ctx, slot);
        after = gsim_index_next(&state->starving, slot);
        gsim_index_remove(&state->starving, slot);
        if (!gsim_index_has(&state->ranked.waiting, slot))
            continue; /* on its way to its GPUs already */
        job->base_ns = gsim_common_served_ns(ctx, slot);
        job->waits_since_ns = ctx->view->now_ns;
        job->waited_ns = 0;
        job->queue = 0;
        gsim_ranked_changed(&state->ranked, ctx, slot);
        watch_limit(ctx, plan, slot);
    }
}

/* --- hooks ------------------------------------------------------------------------------------ */

static enum gsim_status open_history(struct gsim_ctx *ctx, struct state *state) {
    const char *path = gsim_param_full(ctx->params, "history")->text;
    if (!state->is_gittins || *path)
        return *path ? gsim_history_read(&state->history, path, ctx->arena, ctx->log) : GSIM_OK;
    state->is_own_history = true;
    if (state->is_reference)
        return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                         "reference=tiresias with index=gittins needs tiresias.history=FILE; the "
                         "simulator's own is yarn-gput1000.csv");
    return GSIM_OK;
}

static enum gsim_status open_tiresias(struct gsim_ctx *ctx) {
    struct state *state = ctx->state;
    const struct gsim_param_value *queues = gsim_param_full(ctx->params, "queues");
    state->is_gittins = gsim_param(ctx->params, "index") == 1;
    state->is_reference = ctx->reference == GSIM_REFERENCE_TIRESIAS;
    state->dlas = (struct gsim_dlas){.limits = queues->list,
                                     .n_queues = (uint32_t)queues->value + 1,
                                     .is_gpu_time = gsim_param(ctx->params, "unit") == 0,
                                     .knob_ppm = gsim_param(ctx->params, "knob"),
                                     .history = state->is_gittins ? &state->history : NULL};
    for (uint32_t q = 1; q + 1 < state->dlas.n_queues; q++)
        if (queues->list[q] <= queues->list[q - 1])
            return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                             "tiresias.queues: '%s' does not rise from limit to limit",
                             queues->text);
    enum gsim_status status = gsim_common_open_memory(ctx);
    status = status == GSIM_OK ? open_history(ctx, state) : status;
    if (status != GSIM_OK || state->is_reference)
        return status != GSIM_OK ? status : gsim_dlas_open(&state->dlas, ctx);
    gsim_limits_init(&state->limits, ctx);
    gsim_index_init(&state->starving, ctx->arena);
    gsim_ranked_init(&state->ranked, ctx);
    state->ranked.is_preemptive = true;
    state->ranked.preemption = gsim_common_preemption(ctx, GSIM_KEEP_STORAGE);
    state->ranked.value = value;
    state->ranked.slack_rank = QUEUE_RANK - 1;
    return GSIM_OK;
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    if (((struct state *)ctx->state)->is_reference)
        gsim_dlas_arrived(ctx->state, ctx, slot);
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    if (state->is_reference) {
        gsim_dlas_completed(&state->dlas, ctx, slot);
        return;
    }
    gsim_ranked_completed(&state->ranked, slot);
    gsim_limits_forget(&state->limits, slot);
    int64_t service = gsim_common_times(gsim_common_served_ns(ctx, slot), width(ctx, slot));
    if (state->is_own_history &&
        !gsim_history_add(&state->history, service / GSIM_NS_PER_S + 1, ctx->arena))
        gsim_common_no_memory(ctx);
}

static void on_watch(struct gsim_ctx *ctx, gsim_slot slot, enum gsim_watch_kind kind) {
    (void)kind;
    gsim_limits_watched(&((struct state *)ctx->state)->limits, ctx, slot);
}

static void on_timer(struct gsim_ctx *ctx) {
    if (((struct state *)ctx->state)->is_reference)
        gsim_dlas_woken(ctx->state);
}

static void book_settled(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot) {
    struct state *state = ctx->state;
    if (ctx->view->state[slot] == GSIM_DONE)
        return;
    fall(ctx, slot);
    gsim_limits_forget(&state->limits, slot);
    if (ctx->view->state[slot] == GSIM_RUNNING)
        end_waiting(ctx, slot);
    else
        begin_waiting(ctx, slot);
    watch_limit(ctx, plan, slot);
}

static void book_changes(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    gsim_slot slot;
    for (uint32_t i = 0; i < ctx->view->n_settled; i++)
        book_settled(ctx, plan, ctx->view->settled[i]);
    for (uint32_t i = 0; i < ctx->view->n_arrived; i++)
        watch_limit(ctx, plan, ctx->view->arrived[i]);
    while ((slot = gsim_limits_take(&state->limits)) != GSIM_NO_SLOT) {
        fall(ctx, slot);
        gsim_ranked_changed(&state->ranked, ctx, slot);
        watch_limit(ctx, plan, slot);
    }
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    if (!state->is_reference) {
        book_changes(ctx, plan);
        promote(ctx, plan);
        gsim_ranked_decide(&state->ranked, ctx, plan);
        gsim_common_wake_first(plan, &state->starving);
    } else {
        gsim_dlas_decide(&state->dlas, ctx, plan);
    }
}

static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM_AS("skew"),
    GSIM_PREEMPT_PARAM_AS("restart, the paper's checkpoint (62 s in its testbed)"),
    GSIM_MEMORY_PARAM,
    {.name = "index",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "las",
     .choices = "las|gittins",
     .help = "who goes first within a queue: who started first, or the best Gittins index"},
    {.name = "queues",
     .type = GSIM_PARAM_INT_LIST,
     .fallback = "3250,7200",
     .min = 1,
     .max = INT64_C(1000000000),
     .help = "service at which a job falls into the next queue"},
    {.name = "unit",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "gpu-seconds",
     .choices = "gpu-seconds|seconds",
     .help = "what service is counted in"},
    {.name = "knob",
     .type = GSIM_PARAM_PPM,
     .fallback = "0",
     .max = INT64_C(1000000000000),
     .help = "back to the first queue after waiting so many times what it ran; 0: never"},
    {.name = "history",
     .type = GSIM_PARAM_FILE,
     .fallback = "",
     .help = "service of past jobs, a number a line ('gsim fit'); without: of those completed"},
    {0}};

const struct gsim_policy gsim_policy_tiresias = {
    .name = "tiresias",
    .summary = "discretised least attained service or Gittins index, gang-aware, preemptive",
    .paper = "Gu et al., Tiresias, NSDI 2019",
    .deviations = "takes victims one by one, latest arrival first; skew by the model's name",
    .references = 1u << GSIM_REFERENCE_TIRESIAS,
    .params = params,
    .state_size = sizeof(struct state),
    .job_size = sizeof(struct job),
    .open = open_tiresias,
    .on_arrival = on_arrival,
    .on_completion = on_completion,
    .on_watch = on_watch,
    .on_timer = on_timer,
    .decide = decide,
};
