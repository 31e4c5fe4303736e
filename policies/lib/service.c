/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attained service, and the jobs that reach a limit of it. Service is the time that a job has had
 * its GPUs to run on, however slow they are and including waits there: a scheduler sees a clock,
 * and not the progress of a job's work. */
#include "policies/lib/service.h"

#include "policies/lib/common.h"

int64_t gsim_service_ns(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_ran_ns(ctx->view, slot);
}

void gsim_service_init(struct gsim_service *limits, struct gsim_ctx *ctx) {
    gsim_index_init(&limits->reached, ctx->arena);
}

void gsim_service_forget(struct gsim_service *limits, gsim_slot slot) {
    gsim_index_remove(&limits->reached, slot);
}

void gsim_service_set(struct gsim_service *limits, struct gsim_ctx *ctx, struct gsim_plan *plan,
                      gsim_slot slot, int64_t served_ns) {
    gsim_service_forget(limits, slot);
    gsim_plan_watch(plan, slot, GSIM_WATCH_RAN, served_ns);
    if (served_ns <= gsim_service_ns(ctx, slot)) /* the job failed, and has kept this much */
        gsim_common_insert(ctx, &limits->reached, slot, 0);
}

void gsim_service_watched(struct gsim_service *limits, struct gsim_ctx *ctx, gsim_slot slot) {
    gsim_common_insert(ctx, &limits->reached, slot, 0);
}

gsim_slot gsim_service_take(struct gsim_service *limits) {
    gsim_slot slot = gsim_index_first(&limits->reached);
    if (slot != GSIM_NO_SLOT)
        gsim_service_forget(limits, slot);
    return slot;
}
