/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A policy to start from: the last job to come is the first to be served, and a job that arrives
 * while no GPU is idle pauses the job that has run longest. Copy this file to policies/NAME.c,
 * rename `skeleton`, add GSIM_POLICY(NAME) to policies/list.def, and it is built, listed,
 * documented and tested with the others. It is compiled, but not listed.
 *
 * State here the source (a paper, a manual) and where the policy deviates from it. */
#include "policies/lib/queue.h"
#include "policies/lib/settings.h"

/* Private state of a run, zeroed. All memory of a policy is here or in the per-job state: no
 * globals, since several runs go on at once. */
struct state {
    struct gsim_queue waiting; /* needs struct gsim_queue_link as the start of the per-job state */
    enum gsim_rule rule;
    bool pauses;
};

/* Reads parameters, once; may refuse a trace that lacks a column. */
static enum gsim_status open_skeleton(struct gsim_ctx *ctx) {
    struct state *state = ctx->state;
    gsim_queue_init(&state->waiting);
    state->rule = gsim_settings_rule(ctx);
    state->pauses = gsim_param(ctx->params, "pause") != 0;
    return GSIM_OK;
}

/* Hooks note events. They cannot change the world. */
static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    gsim_queue_append(&state->waiting, ctx, slot);
}

/* The running job that has run longest; scanning the view's columns is cheap. */
static gsim_slot longest_running(const struct gsim_view *view) {
    gsim_slot longest = GSIM_NO_SLOT;
    for (uint32_t i = 0; i < view->jobs.n_active; i++) {
        gsim_slot slot = view->jobs.active[i];
        if (view->jobs.state[slot] != GSIM_RUNNING)
            continue;
        if (longest == GSIM_NO_SLOT ||
            gsim_attained_ns(view, slot) > gsim_attained_ns(view, longest))
            longest = slot;
    }
    return longest;
}

/* Tries to make room; takes all verbs back when that was not enough. */
static bool place_by_pausing(struct state *state, struct gsim_ctx *ctx, struct gsim_plan *plan,
                             gsim_slot slot) {
    gsim_slot victim = longest_running(ctx->view);
    uint32_t mark = gsim_plan_mark(plan);
    if (victim == GSIM_NO_SLOT)
        return false;
    if (gsim_plan_preempt(plan, victim, GSIM_STOP_KERNEL, GSIM_KEEP_RESIDENT) &&
        gsim_settings_place(ctx, plan, slot, state->rule))
        return true;
    gsim_plan_rollback(plan, mark);
    return false;
}

/* Only decide changes the world. Called at most once per instant and round. */
static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    const struct gsim_view *view = ctx->view;
    for (uint32_t i = 0; i < view->changes.n_settled; i++) /* paused jobs wait again */
        if (view->jobs.state[view->changes.settled[i]] == GSIM_PAUSED)
            gsim_queue_append(&state->waiting, ctx, view->changes.settled[i]);
    bool may_pause = state->pauses && view->changes.n_arrived > 0;
    while (state->waiting.last != GSIM_NO_SLOT) {
        gsim_slot slot = state->waiting.last;
        bool is_placed = gsim_settings_place(ctx, plan, slot, state->rule);
        if (!is_placed && may_pause) {
            is_placed = place_by_pausing(state, ctx, plan, slot);
            may_pause = false;
        }
        if (!is_placed)
            return;
        gsim_queue_remove(&state->waiting, ctx, slot);
    }
}

/* Help, the man page and --set are made from this table. */
static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM,
    {.name = "pause",
     .type = GSIM_PARAM_BOOL,
     .fallback = "on",
     .help = "whether an arrival may pause the job that has run longest"},
    {0}};

const struct gsim_policy gsim_policy_skeleton = {
    .name = "skeleton",
    .summary = "last come, first served; a policy to start from",
    .paper = "none",
    .deviations = "none known",
    .params = params,
    .state_size = sizeof(struct state),
    .job_size = sizeof(struct gsim_queue_link),
    .open = open_skeleton,
    .on_arrival = on_arrival,
    .decide = decide,
};
