/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tiresias: discretised two-dimensional scheduling for jobs of unknown length. Source: Gu et al.,
 * "Tiresias: A GPU Cluster Manager for Distributed Deep Learning", NSDI 2019.
 *
 * A job's service is its GPUs times the time that it had them to run on, however slow they are. It
 * starts in the first queue and falls into the next queue when its service reaches the limit
 * between them; a job of a higher queue preempts a job of a lower queue. Within a queue, index=las
 * serves jobs in the order of their start and preempts none; index=gittins serves the job with the
 * best chance to end per service invested before its next limit (in the last queue: at all), by the
 * service of past jobs: from history=FILE, or of the jobs of this trace that have completed. As in
 * the public simulator each queue is sorted by index at every event, and the better job preempts
 * the worse, of equal jobs the later. Gangs of models with a skew are consolidated, others take any
 * GPUs.
 *
 * Sources of the defaults: limits of 3250 and 7200 GPU seconds, and no promotion, are those of the
 * authors' simulator (SymbioticLab/Tiresias, simulator/jobs.py: queue_limit, run_sim.py:
 * solve_starvation=0). heyfey/vodascheduler (pkg/algorithm/tiresias.go) quotes the paper's settings
 * as two queues at 3600 and a knob of 8.
 *
 * reference=tiresias: the public simulator's `dlas-gpu`, `dlas` (unit=seconds) and
 * `dlas-gpu-gittins` (index=gittins), see dlas.c. */
#include "policies/lib/common.h"
#include "policies/lib/gittins.h"
#include "policies/lib/ranked.h"
#include "policies/lib/service.h"
#include "policies/lib/settings.h"
#include "policies/tiresias/dlas.h"
#include "policies/tiresias/promotion.h"

struct state {
    struct gsim_dlas dlas; /* first; without reference=tiresias only its settings are used */
    struct gsim_ranked ranked;
    struct gsim_history history;
    struct gsim_service limits; /* of the queues that jobs are in */
    struct gsim_promotion promotion;
    int64_t wake_ns; /* the timer's last setting */
    uint32_t n_learned; /* size of the history when waiting jobs were last ranked */
    bool is_gittins, is_own_history, is_reference;
};

struct job {
    struct gsim_dlas_job dlas; /* reference=tiresias; it begins with a link */
    struct gsim_promotion_job promotion;
    uint32_t queue;
    uint32_t near[2]; /* places in the history found for its last index */
};

static struct job *own(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_job_state(ctx, slot);
}

static int64_t width_ppm(const struct gsim_ctx *ctx, gsim_slot slot) {
    bool is_gpu_time = ((struct state *)ctx->state)->dlas.is_gpu_time;
    return is_gpu_time ? (int64_t)ctx->view->jobs.gpus[slot] * ctx->view->jobs.share_ppm[slot]
                       : GSIM_PPM;
}

static int64_t service_s(const struct gsim_ctx *ctx, gsim_slot slot, int64_t served_ns) {
    return gsim_muldiv_floor(served_ns / GSIM_NS_PER_S, width_ppm(ctx, slot), GSIM_PPM);
}

/* --- ranks ------------------------------------------------------------------------------------ */

static int64_t order_in_queue(const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct state *state = ctx->state;
    struct job *job = own(ctx, slot);
    if (!state->is_gittins)
        return job->promotion.order;
    int64_t attained_ns = gsim_service_ns(ctx, slot), delta = GSIM_NEVER;
    int64_t age = service_s(ctx, slot, attained_ns);
    if (job->queue + 1 < state->dlas.n_queues)
        delta = state->dlas.limits[job->queue] -
                service_s(ctx, slot, attained_ns - job->promotion.base_ns);
    int64_t index = gsim_gittins_index_near(&state->history, age, delta > 0 ? delta : 1, job->near);
    return GSIM_QUEUE_RANK - 2 - (index < GSIM_QUEUE_RANK - 2 ? index : GSIM_QUEUE_RANK - 2);
}

static int64_t value(const struct gsim_ctx *ctx, gsim_slot slot) {
    bool stays =
        !((const struct state *)ctx->state)->is_gittins &&
        ctx->view->jobs.state[slot] == GSIM_RUNNING; /* it gives way to no job of its queue */
    return own(ctx, slot)->queue * GSIM_QUEUE_RANK +
           (stays ? GSIM_QUEUE_RANK - 1 : order_in_queue(ctx, slot));
}

/* Attained service at which the job falls out of its queue. */
static int64_t limit_ns(const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct state *state = ctx->state;
    const struct job *job = own(ctx, slot);
    return job->promotion.base_ns + gsim_muldiv_ceil(state->dlas.limits[job->queue],
                                                     GSIM_NS_PER_S * GSIM_PPM,
                                                     width_ppm(ctx, slot));
}

static void fall(const struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    struct job *job = own(ctx, slot);
    for (; job->queue + 1 < state->dlas.n_queues; job->queue++) {
        if (gsim_service_ns(ctx, slot) < limit_ns(ctx, slot))
            return;
        state->ranked.needs_full_pass = true;
    }
}

/* Watches waiting jobs too: they may start and reach their limit before the next decide. */
static void watch_limit(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot) {
    struct state *state = ctx->state;
    if (own(ctx, slot)->queue + 1 < state->dlas.n_queues)
        gsim_service_set(&state->limits, ctx, plan, slot, limit_ns(ctx, slot));
}

/* --- starvation ------------------------------------------------------------------------------- */

static void promote(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    gsim_slot slot;
    bool is_round = false;
    while ((slot = gsim_promotion_take(&state->promotion, ctx)) != GSIM_NO_SLOT) {
        struct job *job = own(ctx, slot);
        gsim_promotion_promote(&state->promotion, ctx, slot, &job->promotion);
        job->queue = 0;
        gsim_ranked_changed(&state->ranked, ctx, slot);
        watch_limit(ctx, plan, slot);
        is_round = true;
    }
    state->promotion.n_rounds += is_round;
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
    enum gsim_status status = gsim_settings_open_memory(ctx);
    status = status == GSIM_OK ? open_history(ctx, state) : status;
    if (status != GSIM_OK || state->is_reference)
        return status != GSIM_OK ? status : gsim_dlas_open(&state->dlas, ctx);
    gsim_service_init(&state->limits, ctx);
    state->wake_ns = GSIM_NEVER;
    state->promotion.knob_ppm = state->dlas.knob_ppm;
    gsim_index_init(&state->promotion.due, ctx->arena);
    gsim_ranked_init(&state->ranked, ctx);
    state->ranked.is_preemptive = true;
    state->ranked.preemption = gsim_settings_preemption(ctx, GSIM_KEEP_STORAGE);
    state->ranked.value = value;
    state->ranked.slack_rank = state->is_gittins ? 0 : GSIM_QUEUE_RANK - 1;
    state->ranked.breaks_ties = state->is_gittins;
    return GSIM_OK;
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    if (state->is_reference)
        gsim_dlas_arrived(ctx->state, ctx, slot);
    else
        gsim_promotion_arrive(&state->promotion, &own(ctx, slot)->promotion);
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    if (state->is_reference) {
        gsim_dlas_completed(&state->dlas, ctx, slot);
        return;
    }
    gsim_ranked_completed(&state->ranked, slot);
    gsim_service_forget(&state->limits, slot);
    gsim_index_remove(&state->promotion.due, slot); /* a job that failed on its way to its GPUs */
    int64_t service = gsim_muldiv_floor(gsim_service_ns(ctx, slot), width_ppm(ctx, slot), GSIM_PPM);
    if (state->is_own_history &&
        !gsim_history_add(&state->history, service / GSIM_NS_PER_S + 1, ctx->arena))
        gsim_common_no_memory(ctx);
}

static void on_watch(struct gsim_ctx *ctx, gsim_slot slot, enum gsim_watch_kind kind) {
    (void)kind;
    gsim_service_watched(&((struct state *)ctx->state)->limits, ctx, slot);
}

static void on_timer(struct gsim_ctx *ctx) {
    if (((struct state *)ctx->state)->is_reference)
        gsim_dlas_woken(ctx->state);
}

static void book_settled(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot) {
    struct state *state = ctx->state;
    if (ctx->view->jobs.state[slot] == GSIM_DONE)
        return;
    fall(ctx, slot);
    gsim_service_forget(&state->limits, slot);
    if (ctx->view->jobs.state[slot] == GSIM_RUNNING)
        gsim_promotion_run(&state->promotion, ctx, slot, &own(ctx, slot)->promotion);
    else
        gsim_promotion_wait(&state->promotion, ctx, slot, &own(ctx, slot)->promotion,
                            own(ctx, slot)->queue == 0);
    watch_limit(ctx, plan, slot);
}

/* The least place of a job that has started, and not been told so; GSIM_NEVER: there is none. */
static int64_t first_place(const struct gsim_ctx *ctx) {
    int64_t first = GSIM_NEVER;
    for (uint32_t i = 0; i < ctx->view->changes.n_settled; i++) {
        gsim_slot slot = ctx->view->changes.settled[i];
        int64_t order = own(ctx, slot)->promotion.order;
        if (ctx->view->jobs.state[slot] == GSIM_RUNNING && order >= GSIM_NOT_STARTED &&
            order < first)
            first = order;
    }
    return first;
}

static void book_starts(const struct gsim_ctx *ctx, struct state *state) {
    int64_t place;
    while ((place = first_place(ctx)) != GSIM_NEVER)
        for (uint32_t i = 0; i < ctx->view->changes.n_settled; i++) {
            gsim_slot slot = ctx->view->changes.settled[i];
            struct gsim_promotion_job *job = &own(ctx, slot)->promotion;
            if (ctx->view->jobs.state[slot] == GSIM_RUNNING && job->order == place)
                gsim_promotion_start(&state->promotion, ctx, slot, job);
        }
}

static void book_changes(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    gsim_slot slot;
    book_starts(ctx, state);
    for (uint32_t i = 0; i < ctx->view->changes.n_settled; i++)
        book_settled(ctx, plan, ctx->view->changes.settled[i]);
    for (uint32_t i = 0; i < ctx->view->changes.n_arrived; i++)
        watch_limit(ctx, plan, ctx->view->changes.arrived[i]);
    while ((slot = gsim_service_take(&state->limits)) != GSIM_NO_SLOT) {
        fall(ctx, slot);
        gsim_ranked_changed(&state->ranked, ctx, slot);
        watch_limit(ctx, plan, slot);
    }
}

/* Indices of running jobs go up and down as they age; those of waiting jobs change with the
 * history. */
static void rerank(struct gsim_ctx *ctx) {
    struct state *state = ctx->state;
    if (state->ranked.waiting.n_jobs == 0 && ctx->view->changes.n_arrived == 0 &&
        ctx->view->changes.n_settled == 0)
        return; /* no job needs a rank */
    gsim_ranked_rerank(&state->ranked, ctx, state->history.n != state->n_learned);
    state->n_learned = state->history.n;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    if (state->is_reference) {
        gsim_dlas_decide(&state->dlas, ctx, plan);
        return;
    }
    book_changes(ctx, plan);
    promote(ctx, plan);
    if (state->is_gittins)
        rerank(ctx);
    gsim_ranked_decide(&state->ranked, ctx, plan);
    gsim_promotion_forget_placed(&state->promotion, plan);
    gsim_common_wake_first(plan, &state->promotion.due, &state->wake_ns);
}

static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM_AS("skew"),
    GSIM_PREEMPT_PARAM_AS("restart, the paper's checkpoint (62 s in its testbed)"),
    GSIM_MEMORY_PARAM,
    {.name = "index",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "las",
     .choices = "las|gittins",
     .help = "order within a queue: by the time of the start, or by the best Gittins index"},
    {.name = "queues",
     .type = GSIM_PARAM_INT_LIST,
     .fallback = "3250,7200",
     .min = 1,
     .max = INT64_C(1000000000),
     .help = "service at which a job falls into the next queue (the authors' simulator's)"},
    {.name = "unit",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "gpu-seconds",
     .choices = "gpu-seconds|seconds",
     .help = "unit of service"},
    {.name = "knob",
     .type = GSIM_PARAM_PPM,
     .fallback = "0",
     .max = INT64_C(1000000000000),
     .help = "a job goes to the end of the first queue after waiting this many times as long as it "
             "ran; 0: never"},
    {.name = "history",
     .type = GSIM_PARAM_FILE,
     .fallback = "",
     .help = "file with the service of past jobs, a number a line ('gsim fit'); without it: of "
             "jobs completed in the run"},
    {0}};

const struct gsim_policy gsim_policy_tiresias = {
    .name = "tiresias",
    .summary = "discretised least attained service or Gittins index, gang-aware, preemptive",
    .paper = "Gu et al., Tiresias, NSDI 2019",
    .deviations = "takes victims one by one, of the last queue first, without an index latest "
                  "arrival first; skew by the model's name; a promoted job's index is of all "
                  "that it has had; defaults are those of the authors' simulator, others quote "
                  "queues=3600 and knob=8",
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
