/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compile-only: can the interface say MSched? A rotation over all tasks of a GPU with proactive
 * migration at each switch; predictor, pipeline and early start are switches of the arrangement,
 * slices are entries. Nothing was missing: the timeline (who runs next, for how long) is the order
 * and quanta of the entries, so the model can do Belady without asking the policy. */
#include "sim/api/policy.h"

enum { MAX_TASKS = 64 };

struct state {
    bool pipeline, early_start, by_template;
    int64_t period_ns;
};

static enum gsim_status open_msched(struct gsim_ctx *ctx) {
    struct state *state = ctx->state;
    state->pipeline = gsim_param(ctx->params, "pipeline") != 0;
    state->early_start = gsim_param(ctx->params, "early_start") != 0;
    state->by_template = gsim_param(ctx->params, "predictor") == 0;
    state->period_ns = gsim_param(ctx->params, "slice");
    return GSIM_OK;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    const struct state *state = ctx->state;
    const struct gsim_view *view = ctx->view;
    static const struct gsim_lane lane = {.discipline = GSIM_DISCIPLINE_RR};
    struct gsim_entry entries[MAX_TASKS];
    struct gsim_unit gpu = {0, 0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < view->n_active && n < MAX_TASKS; i++)
        if (view->state[view->active[i]] != GSIM_DONE)
            entries[n++] = (struct gsim_entry){.job = view->active[i]};
    for (uint32_t i = 0; i < n; i++)
        entries[i].quantum_ns = state->period_ns / n;
    struct gsim_arrangement rotation = {.lanes = &lane,
                                        .n_lanes = 1,
                                        .entries = entries,
                                        .n_entries = n,
                                        .memory = GSIM_MEMORY_PROACTIVE,
                                        .pipeline = state->pipeline,
                                        .early_start = state->early_start,
                                        .predict_by_template = state->by_template};
    (void)gsim_plan_arrange(plan, &gpu, 1, &rotation);
    for (uint32_t i = 0; i < view->n_arrived; i++)
        (void)gsim_plan_place_on(plan, view->arrived[i], &gpu, 1);
}

static const struct gsim_param_def params[] = {
    {.name = "pipeline", .type = GSIM_PARAM_BOOL, .fallback = "on", .help = "duplex migration"},
    {.name = "early_start", .type = GSIM_PARAM_BOOL, .fallback = "on", .help = "early start"},
    {.name = "predictor",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "template",
     .choices = "template|allocation",
     .help = "how the next working set is predicted"},
    {.name = "slice", .type = GSIM_PARAM_TIME, .fallback = "1s", .help = "rotation period"},
    {0}};

const struct gsim_policy skeleton_msched = {.name = "msched",
                                            .params = params,
                                            .state_size = sizeof(struct state),
                                            .open = open_msched,
                                            .decide = decide};
