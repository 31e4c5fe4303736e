/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TGS: a production job and an opportunistic job in containers on one GPU, neither of which knows
 * of the other. The production job launches as it likes and its launches are reported every
 * tgs.report; a feedback (policies/tgs/throttle.h) sets the number of thread blocks that the
 * opportunistic job may launch in each tgs.refill. The driver lets their contexts take turns as
 * always. Launches are counted by the time that their iterations or requests took, not by the
 * clock: otherwise the feedback would take random arrivals, or the place of a long pause, for
 * degradation.
 *
 * Jobs of class opportunistic are opportunistic, all others production. A GPU has at most one
 * production job and one opportunistic job; production jobs come first, each kind in order of
 * arrival; with tgs.queue=backfill a job that finds no room is passed over.
 *
 * tgs.memory=uvm is TGS's own way with memory: memory that does not fit is paged, and pages of the
 * opportunistic job go first, so that a production job keeps the pages that it has brought. When
 * the production job leaves, the opportunistic job faults its pages in again, where TGS prefetches
 * them. By default memory is resident, and a production job waits for room.
 * Source: Wu et al., "Transparent GPU sharing in container clouds for deep learning workloads",
 * NSDI 2023, and its public code. */
#include "policies/lib/common.h"
#include "policies/lib/queue.h"
#include "policies/lib/settings.h"
#include "policies/lib/sharing.h"
#include "policies/tgs/throttle.h"
#include "sim/base/index.h"

struct launches {
    int64_t n;
    int64_t taken_ns; /* time of the iterations or requests that launched them */
};

struct pair { /* one GPU */
    gsim_slot production, opportunistic; /* GSIM_NO_SLOT: none */
    bool is_controlled; /* these two: whichever leaves, its successor is measured anew */
    bool is_capped; /* the opportunistic job, until it has the GPU to itself */
    int64_t due_ns; /* time of the next report */
    struct launches last; /* launches up to the last report */
    struct gsim_throttle throttle;
};

struct state {
    struct gsim_sharing sharing; /* first; its queue holds production jobs */
    struct gsim_queue opportunistic;
    struct pair *pairs; /* by GPU */
    struct gsim_index paired; /* GPUs with a pair, or with a job that was in one, by number */
    int64_t report_ns, refill_ns;
};

static bool is_opportunistic(const struct gsim_view *view, gsim_slot slot) {
    return gsim_trace_get(view->trace, GSIM_COL_CLASS, view->jobs.index[slot]) ==
           GSIM_CLASS_OPPORTUNISTIC;
}

static bool is_pair(const struct pair *pair) {
    return pair->production != GSIM_NO_SLOT && pair->opportunistic != GSIM_NO_SLOT;
}

static bool accepts(const struct gsim_ctx *ctx, uint32_t gpu, gsim_slot slot) {
    const struct pair *pair = &((const struct state *)ctx->state)->pairs[gpu];
    gsim_slot rival = is_opportunistic(ctx->view, slot) ? pair->opportunistic : pair->production;
    return rival == GSIM_NO_SLOT;
}

/* Pages of the opportunistic job go out before those of the production job. */
static bool enter(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot,
                  struct gsim_unit unit) {
    const struct state *state = ctx->state;
    const struct gsim_entry entry = {.job = slot,
                                     .memory_yields = is_opportunistic(ctx->view, slot)};
    return gsim_sharing_say(&state->sharing, plan, unit.gpu, &entry);
}

static void warn_of_what_cannot_be_throttled(const struct gsim_ctx *ctx) {
    const struct gsim_trace *trace = ctx->view->trace;
    uint32_t n = 0;
    for (uint32_t job = 0; job < trace->n_jobs; job++)
        n += gsim_trace_get(trace, GSIM_COL_CLASS, job) == GSIM_CLASS_OPPORTUNISTIC &&
             !gsim_common_has_program(trace, job) &&
             (gsim_trace_get(trace, GSIM_COL_KERNELS, job) <= 0 ||
              gsim_trace_get(trace, GSIM_COL_BLOCKS, job) <= 0);
    if (n > 0)
        gsim_warn(ctx->log, NULL, 0,
                  "tgs: %u opportunistic jobs lack column 'kernels' or 'blocks': a kernel without "
                  "blocks counts as one block, and how many kernels an iteration has is assumed "
                  "(job.kernels)",
                  n);
}

static enum gsim_status open_tgs(struct gsim_ctx *ctx) {
    struct state *state = ctx->state;
    uint32_t n = ctx->view->cluster.n_gpus;
    const struct gsim_lane lane = {.discipline = GSIM_DISCIPLINE_RR, .caps_launches = true};
    gsim_sharing_init(&state->sharing, ctx, &lane);
    state->sharing.accepts = accepts;
    state->sharing.arrange = enter;
    gsim_queue_init(&state->opportunistic);
    gsim_index_init(&state->paired, ctx->arena);
    state->report_ns = gsim_param(ctx->params, "report");
    state->refill_ns = gsim_param(ctx->params, "refill");
    state->pairs = gsim_arena_array(ctx->arena, n > 0 ? n : 1, sizeof *state->pairs);
    if (!state->pairs)
        return gsim_no_memory(ctx->log, "opening GPUs");
    for (uint32_t gpu = 0; gpu < n; gpu++)
        state->pairs[gpu] =
            (struct pair){.production = GSIM_NO_SLOT,
                          .opportunistic = GSIM_NO_SLOT,
                          .throttle = {.initial = gsim_param(ctx->params, "initial"),
                                       .tolerance_ppm = gsim_param(ctx->params, "tolerance"),
                                       .profile_reports = (int)gsim_param(ctx->params, "profile")}};
    warn_of_what_cannot_be_throttled(ctx);
    return gsim_sharing_set_memory(&state->sharing, ctx);
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    bool waits_behind = is_opportunistic(ctx->view, slot);
    gsim_queue_append(waits_behind ? &state->opportunistic : &state->sharing.queue, ctx, slot);
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    const struct gsim_sharing_job *job = gsim_job_state(ctx, slot);
    if (job->gpu == 0)
        return;
    struct pair *pair = &state->pairs[job->gpu - 1];
    *(pair->production == slot ? &pair->production : &pair->opportunistic) = GSIM_NO_SLOT;
    pair->is_controlled = false;
    pair->is_capped = pair->is_capped && pair->opportunistic != GSIM_NO_SLOT;
}

/* --- pairing of jobs -------------------------------------------------------------------------- */

static bool place(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot) {
    struct state *state = ctx->state;
    if (ctx->view->jobs.gpus[slot] > 1)
        return gsim_settings_place(ctx, plan, slot, state->sharing.rule);
    if (!gsim_sharing_share(&state->sharing, ctx, plan, slot))
        return false;
    const struct gsim_sharing_job *job = gsim_job_state(ctx, slot);
    struct pair *pair = &state->pairs[job->gpu - 1];
    *(is_opportunistic(ctx->view, slot) ? &pair->opportunistic : &pair->production) = slot;
    if (is_pair(pair) && !gsim_index_has(&state->paired, job->gpu - 1) &&
        !gsim_index_insert(&state->paired, job->gpu - 1, 0, job->gpu - 1))
        gsim_common_no_memory(ctx);
    return true;
}

static void place_queue(struct gsim_ctx *ctx, struct gsim_plan *plan, struct gsim_queue *queue) {
    const struct state *state = ctx->state;
    struct gsim_order_misfit misfits[2] = {{0}};
    for (gsim_slot slot = queue->first, next; slot != GSIM_NO_SLOT; slot = next) {
        next = gsim_queue_after(ctx, slot);
        if (gsim_order_is_misfit(misfits, ctx, slot))
            continue;
        if (place(ctx, plan, slot))
            gsim_queue_remove(queue, ctx, slot);
        else if (state->sharing.order.kind == GSIM_ORDER_FIFO)
            return;
        else
            gsim_order_note_misfit(misfits, ctx, slot);
    }
}

/* --- the feedback ----------------------------------------------------------------------------- */

/* Where the trace does not give a job's launches, microseconds of service stand in: only ratios of
 * rates matter. */
static struct launches launched(const struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_counters counters = gsim_count(ctx, slot);
    int64_t n = counters.blocks >= 0    ? counters.blocks
                : counters.kernels >= 0 ? counters.kernels
                                        : counters.work_ns / 1000;
    return (struct launches){n, counters.taken_ns};
}

/* Launch rate per report, normalised by the time that iterations or requests took, so that random
 * arrivals do not look like interference. A job that had nothing to do keeps its best rate. */
static int64_t rate(const struct pair *pair, struct launches now, int64_t report_ns) {
    int64_t taken_ns = now.taken_ns - pair->last.taken_ns;
    if (taken_ns <= 0)
        return pair->throttle.best;
    return gsim_muldiv_floor(now.n - pair->last.n, report_ns, taken_ns);
}

static void set_budget(const struct gsim_ctx *ctx, struct gsim_plan *plan, uint32_t gpu,
                       int64_t refill_ns) {
    struct state *state = ctx->state;
    const struct pair *pair = &state->pairs[gpu];
    const struct gsim_entry entry = {.job = pair->opportunistic,
                                     .launch_cap = pair->throttle.budget,
                                     .launch_refill_ns = refill_ns};
    (void)gsim_sharing_say(&state->sharing, plan, gpu, &entry);
}

static void begin(const struct gsim_ctx *ctx, struct gsim_plan *plan, uint32_t gpu) {
    const struct state *state = ctx->state;
    struct pair *pair = &state->pairs[gpu];
    pair->is_controlled = pair->is_capped = true;
    pair->due_ns = ctx->view->now_ns + state->report_ns;
    pair->last = launched(ctx, pair->production);
    gsim_throttle_start(&pair->throttle);
    set_budget(ctx, plan, gpu, state->refill_ns);
}

static void report(const struct gsim_ctx *ctx, struct gsim_plan *plan, uint32_t gpu) {
    const struct state *state = ctx->state;
    struct pair *pair = &state->pairs[gpu];
    struct launches now = launched(ctx, pair->production);
    int64_t before = pair->throttle.budget;
    gsim_throttle_report(&pair->throttle, rate(pair, now, state->report_ns));
    pair->last = now;
    pair->due_ns += state->report_ns;
    if (pair->throttle.budget != before)
        set_budget(ctx, plan, gpu, state->refill_ns);
}

/* Returns the time of the next look at the GPU. */
static int64_t control(const struct gsim_ctx *ctx, struct gsim_plan *plan, uint32_t gpu) {
    struct pair *pair = &((struct state *)ctx->state)->pairs[gpu];
    if (!is_pair(pair)) {
        if (pair->is_capped)
            set_budget(ctx, plan, gpu, 0);
        pair->is_capped = false;
        return GSIM_NEVER;
    }
    if (!pair->is_controlled)
        begin(ctx, plan, gpu);
    else if (ctx->view->now_ns >= pair->due_ns)
        report(ctx, plan, gpu);
    return pair->due_ns;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    int64_t wake_ns = GSIM_NEVER;
    gsim_sharing_give_back(&state->sharing, ctx, plan);
    place_queue(ctx, plan, &state->sharing.queue);
    place_queue(ctx, plan, &state->opportunistic);
    for (uint32_t gpu = gsim_index_first(&state->paired), after; gpu != GSIM_NO_ID; gpu = after) {
        int64_t due_ns = control(ctx, plan, gpu);
        after = gsim_index_next(&state->paired, gpu);
        if (due_ns == GSIM_NEVER)
            gsim_index_remove(&state->paired, gpu);
        wake_ns = due_ns < wake_ns ? due_ns : wake_ns;
    }
    gsim_plan_wake(plan, wake_ns);
}

static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM,
    GSIM_QUEUE_PARAM_OF_CLASSES("fifo"),
    GSIM_MEMORY_PARAM_AS("resident"),
    {.name = "report",
     .type = GSIM_PARAM_TIME,
     .fallback = "5s",
     .min = 1000000,
     .max = GSIM_TIME_MAX,
     .help = "time between two reports of the production job's launches (TGS' code)"},
    {.name = "refill",
     .type = GSIM_PARAM_TIME,
     .fallback = "50ms",
     .min = 1000,
     .max = GSIM_TIME_MAX,
     .help = "period of the opportunistic budget (TGS' code)"},
    {.name = "initial",
     .type = GSIM_PARAM_INT,
     .fallback = "20000",
     .min = 0,
     .max = GSIM_THROTTLE_FREE,
     .help = "first budget after profiling, in thread blocks a refill (TGS' code)"},
    {.name = "tolerance",
     .type = GSIM_PARAM_PPM,
     .fallback = "3%",
     .min = 0,
     .max = GSIM_PPM,
     .help = "change of the production job's rate that is ignored (TGS' code)"},
    {.name = "profile",
     .type = GSIM_PARAM_INT,
     .fallback = "5",
     .min = 1,
     .max = 1000,
     .help = "reports that measure the production job, with a budget of 0, before the one that "
             "opens the cap (TGS' code)"},
    {0}};

const struct gsim_policy gsim_policy_tgs = {
    .name = "tgs",
    .summary = "production jobs unthrottled, an opportunistic job beside each takes the gaps",
    .paper = "Wu et al., Transparent GPU sharing in container clouds for deep learning workloads "
             "(TGS), NSDI 2023, and its public code",
    .deviations = "launches are counted by the time that iterations or requests took, not by the "
                  "clock; no prefetch back when a production job leaves; a launch counts "
                  "when its kernel begins; budgets "
                  "do not follow the opportunistic job's own rate; profiling ends after "
                  "tgs.profile reports, where the code goes on while the rate still rises; the cap "
                  "is not lifted where most of the last five reports have fewer than 1000 blocks; "
                  "no GiB of each GPU is kept free; gangs of several GPUs have them to themselves",
    .shares_gpus = true,
    .has_contexts = true,
    .oversubscribes = true,
    .params = params,
    .state_size = sizeof(struct state),
    .job_size = sizeof(struct gsim_sharing_job),
    .open = open_tgs,
    .on_arrival = on_arrival,
    .on_completion = on_completion,
    .decide = decide,
};
