/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attained service, and the jobs that reach a limit of it. Where GPUs page, a job is served while it
 * waits for pages too: service is time, and a limit is reached at an instant that is known as soon as
 * the job runs. Elsewhere the model watches for it. */
#include "policies/common.h"

int64_t gsim_common_served_ns(const struct gsim_ctx *ctx, gsim_slot slot) {
    return ctx->devices ? gsim_ran_ns(ctx->view, slot) : gsim_attained_ns(ctx->view, slot);
}

void gsim_limits_init(struct gsim_limits *limits, struct gsim_ctx *ctx) {
    gsim_index_init(&limits->reached, ctx->arena);
    gsim_index_init(&limits->running, ctx->arena);
    gsim_index_init(&limits->others, ctx->arena);
    limits->wake_ns = GSIM_NEVER;
}

void gsim_limits_forget(struct gsim_limits *limits, gsim_slot slot) {
    gsim_index_remove(&limits->reached, slot);
    gsim_index_remove(&limits->running, slot);
    gsim_index_remove(&limits->others, slot);
}

void gsim_limits_set(struct gsim_limits *limits, struct gsim_ctx *ctx, struct gsim_plan *plan,
                     gsim_slot slot, int64_t served_ns) {
    gsim_limits_forget(limits, slot);
    if (!ctx->devices) {
        gsim_plan_watch(plan, slot, GSIM_WATCH_ATTAINED, served_ns);
        return;
    }
    int64_t left_ns = served_ns - gsim_common_served_ns(ctx, slot);
    if (left_ns <= 0) /* one that failed, and comes again with what it has kept */
        gsim_common_insert(ctx, &limits->reached, slot, 0);
    else if (ctx->view->state[slot] == GSIM_RUNNING)
        gsim_common_insert(ctx, &limits->running, slot, ctx->view->now_ns + left_ns);
    else
        gsim_common_insert(ctx, &limits->others, slot, left_ns);
}

void gsim_limits_watched(struct gsim_limits *limits, struct gsim_ctx *ctx, gsim_slot slot) {
    gsim_common_insert(ctx, &limits->reached, slot, 0);
}

gsim_slot gsim_limits_take(struct gsim_limits *limits, const struct gsim_ctx *ctx) {
    gsim_slot slot = gsim_index_first(&limits->reached);
    if (slot == GSIM_NO_ID)
        slot = gsim_index_first(&limits->running);
    if (slot == GSIM_NO_ID || (gsim_index_has(&limits->running, slot) &&
                               gsim_index_key(&limits->running, slot) > ctx->view->now_ns))
        return GSIM_NO_SLOT;
    gsim_limits_forget(limits, slot);
    return slot;
}

static int64_t first_key(const struct gsim_index *index) {
    gsim_slot first = gsim_index_first(index);
    return first == GSIM_NO_ID ? GSIM_NEVER : gsim_index_key(index, first);
}

/* Whoever is placed and starts at once is heard of at the next decide, which has to come before it is
 * at its limit. */
void gsim_limits_wake(struct gsim_limits *limits, const struct gsim_ctx *ctx,
                      struct gsim_plan *plan, const struct gsim_index *timed) {
    int64_t timed_ns = first_key(timed), then_ns = first_key(&limits->running);
    then_ns = timed_ns < then_ns ? timed_ns : then_ns;
    for (gsim_slot slot = gsim_index_first(&limits->others); slot != GSIM_NO_ID;
         slot = gsim_index_next(&limits->others, slot)) {
        const struct gsim_unit *units;
        int64_t first_ns = ctx->view->now_ns + gsim_index_key(&limits->others, slot);
        if (first_ns >= then_ns)
            break;
        if (gsim_plan_units(plan, slot, &units) > 0)
            then_ns = first_ns;
    }
    if (then_ns != limits->wake_ns) /* else the timer is set already, or there is none */
        gsim_plan_wake(plan, then_ns);
    limits->wake_ns = then_ns;
}
