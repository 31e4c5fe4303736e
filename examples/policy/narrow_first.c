/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A policy outside of gsim's tree: of the jobs that wait, the one that asks for the fewest GPUs is
 * placed first, without preemption. It shows the three hooks that most policies have, an ordered
 * index of waiting jobs, and a parameter. */
#include "narrow_first.h"

#include <gsim/lib.h>

/* The private state of a run, zeroed when it begins. */
struct state {
    struct gsim_index waiting; /* by GPUs, then by arrival */
    enum gsim_rule rule;
};

static enum gsim_status open_narrow_first(struct gsim_ctx *ctx) {
    struct state *state = ctx->state;
    gsim_index_init(&state->waiting, ctx->arena);
    state->rule = gsim_settings_rule(ctx);
    return GSIM_OK;
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *state = ctx->state;
    gsim_common_insert(ctx, &state->waiting, slot, ctx->view->jobs.gpus[slot]);
}

/* Only a decide changes the world. A wider job than one that did not fit cannot fit either. */
static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *state = ctx->state;
    for (gsim_slot slot = gsim_index_first(&state->waiting); slot != GSIM_NO_ID;) {
        gsim_slot next = gsim_index_next(&state->waiting, slot);
        if (!gsim_settings_place(ctx, plan, slot, state->rule))
            return;
        gsim_index_remove(&state->waiting, slot);
        slot = next;
    }
}

static const struct gsim_param_def params[] = {GSIM_PLACEMENT_PARAM, {.type = GSIM_PARAM_END}};

const struct gsim_policy narrow_first = {
    .name = "narrow-first",
    .summary = "the job with the fewest GPUs first",
    .paper = "an example",
    .deviations = "none known",
    .params = params,
    .state_size = sizeof(struct state),
    .open = open_narrow_first,
    .on_arrival = on_arrival,
    .decide = decide,
};

/* For a program that loads the policy: gsim --policy ./narrow_first.so */
GSIM_POLICY_EXPORT(narrow_first)
