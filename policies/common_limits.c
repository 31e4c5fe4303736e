/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attained service, and the jobs that reach a limit of it. Service is the time that a job has had its
 * GPUs to run on, however slow they are and whatever it waited for there: a scheduler sees a clock,
 * and not how much of its work a job got done. */
#include "policies/common.h"

int64_t gsim_common_served_ns(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_ran_ns(ctx->view, slot);
}

void gsim_limits_init(struct gsim_limits *limits, struct gsim_ctx *ctx) {
    gsim_index_init(&limits->reached, ctx->arena);
}

void gsim_limits_forget(struct gsim_limits *limits, gsim_slot slot) {
    gsim_index_remove(&limits->reached, slot);
}

void gsim_limits_set(struct gsim_limits *limits, struct gsim_ctx *ctx, struct gsim_plan *plan,
                     gsim_slot slot, int64_t served_ns) {
    gsim_limits_forget(limits, slot);
    gsim_plan_watch(plan, slot, GSIM_WATCH_RAN, served_ns);
    if (served_ns <= gsim_common_served_ns(ctx, slot)) /* it failed, and has kept so much */
        gsim_common_insert(ctx, &limits->reached, slot, 0);
}

void gsim_limits_watched(struct gsim_limits *limits, struct gsim_ctx *ctx, gsim_slot slot) {
    gsim_common_insert(ctx, &limits->reached, slot, 0);
}

gsim_slot gsim_limits_take(struct gsim_limits *limits) {
    gsim_slot slot = gsim_index_first(&limits->reached);
    if (slot != GSIM_NO_SLOT)
        gsim_limits_forget(limits, slot);
    return slot;
}
