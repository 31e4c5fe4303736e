/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MSched: before a task's turn begins, the memory that it is predicted to use is moved to the GPU,
 * and the memory with the last next use, by the known order of turns, goes out for it, in both
 * directions at once. Each piece can be switched off. The paper does not give the length of a turn:
 * by default all turns of a round take msched.period together (run time, migrations not
 * counted), which fits its figures better than a constant turn.
 * Source: "MSched" (arXiv 2512.24637). */
#include "policies/lib/settings.h"
#include "policies/lib/sharing.h"

struct state {
    struct gsim_sharing sharing;
    int64_t slice_ns; /* 0: a share of the period */
    int64_t period_ns;
};

static void adapt(const struct gsim_ctx *ctx, struct gsim_lane *lane, uint32_t n_jobs,
                  bool is_oversubscribed) {
    const struct state *state = ctx->state;
    (void)is_oversubscribed;
    int64_t share_ns = state->period_ns / n_jobs;
    lane->quantum_ns = state->slice_ns > 0 ? state->slice_ns : share_ns > 0 ? share_ns : 1;
}

static enum gsim_status open_msched(struct gsim_ctx *ctx) {
    struct state *state = ctx->state;
    bool is_by_priority = gsim_param(ctx->params, "order") == 1;
    struct gsim_lane lane = {.discipline =
                                 is_by_priority ? GSIM_DISCIPLINE_PRIORITY : GSIM_DISCIPLINE_RR,
                             .ends_at_boundary = true,
                             .idle_release_ns = gsim_param(ctx->params, "idle_release")};
    if (is_by_priority)
        lane.urgent.stop = GSIM_STOP_SAVE;
    int64_t slice_ns = gsim_param(ctx->params, "slice");
    state->slice_ns = slice_ns > 0 ? slice_ns : 0;
    state->period_ns = gsim_param(ctx->params, "period");
    gsim_sharing_init(&state->sharing, ctx, &lane);
    state->sharing.adapt = adapt;
    struct gsim_arrangement *how = &state->sharing.how;
    how->migration.pipeline = gsim_param(ctx->params, "pipeline") != 0;
    how->migration.evicts_lru = gsim_param(ctx->params, "eviction") == 1;
    how->migration.early_start = gsim_param(ctx->params, "early_start") != 0;
    how->migration.predict_by_template = gsim_param(ctx->params, "predictor") == 0;
    how->migration.missed_ppm = gsim_param(ctx->params, "missed");
    how->migration.spare_ppm = gsim_param(ctx->params, "spare");
    return gsim_sharing_set_memory(&state->sharing, ctx);
}

static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM,
    GSIM_QUEUE_PARAM,
    {.name = "slice",
     .type = GSIM_PARAM_CHOICE_TIME,
     .fallback = "period",
     .usual = "900ms",
     .min = 1000,
     .max = GSIM_TIME_MAX,
     .choices = "period",
     .help = "run time of a turn, which ends with the iteration, or with the "
             "kernel of a program that says what it touches; period: an equal share of it"},
    {.name = "period",
     .type = GSIM_PARAM_TIME,
     .fallback = "900ms",
     .min = 1000,
     .max = GSIM_TIME_MAX,
     .help = "run time of a whole round of turns, fitted to figure 1 of the paper"},
    {.name = "order",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "rr",
     .choices = "rr|priority",
     .help = "order of turns: in a ring, or the most urgent task at once"},
    {.name = "pipeline",
     .type = GSIM_PARAM_BOOL,
     .fallback = "on",
     .help = "evict and populate at the same time"},
    {.name = "eviction",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "belady",
     .choices = "belady|lru",
     .help = "pages that go out: those with the last next use, by the order of turns, or the least "
             "recently used"},
    {.name = "early_start",
     .type = GSIM_PARAM_BOOL,
     .fallback = "on",
     .help = "a turn begins as soon as its pages cannot be overtaken, where its program says what "
             "kernels touch, or job.first_touch_ppm how fast it comes to its memory"},
    {.name = "predictor",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "template",
     .choices = "template|allocation",
     .help =
         "memory that is moved: the working set as templates predict it, or all allocated memory"},
    {.name = "missed",
     .type = GSIM_PARAM_PPM,
     .fallback = "0.25%",
     .help = "share of the working set that templates do not predict"},
    {.name = "spare",
     .type = GSIM_PARAM_PPM,
     .fallback = "0%",
     .help = "share of the working set that templates predict besides it"},
    {.name = "idle_release",
     .type = GSIM_PARAM_TIME,
     .fallback = "1ms",
     .max = GSIM_TIME_MAX,
     .help = "how long a task that waits for its host, or for a request, keeps its turn from tasks "
             "that are not more urgent (not published)"},
    GSIM_MEMORY_PARAM_AS("proactive"),
    {0}};

const struct gsim_policy gsim_policy_msched = {
    .name = "msched",
    .summary = "turns with the next task's memory moved in ahead of it",
    .paper = "MSched, arXiv 2512.24637",
    .deviations =
        "the length of a turn is not published: see msched.period; a turn ends with an iteration "
        "and its memory is that of an iteration, or with a kernel and what its kernels touch, "
        "where a program says that, and the paper suspends at any time; gangs of several GPUs have "
        "them to themselves; jobs wait in one "
        "queue, of which the head holds up all jobs behind it unless queue= says another",
    GSIM_QUEUE_ORACLE,
    .shares_gpus = true,
    .oversubscribes = true,
    .params = params,
    .state_size = sizeof(struct state),
    .job_size = sizeof(struct gsim_sharing_job),
    .open = open_msched,
    .on_arrival = gsim_sharing_on_arrival,
    .decide = gsim_sharing_on_decide,
};
