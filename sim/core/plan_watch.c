/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Verbs by which no GPU changes hands: watches, and the batches of jobs that learn by a table; and
 * the question of such a job's learning. */
#include "sim/core/core.h"

void gsim_plan_watch(struct gsim_plan *plan, gsim_slot job, enum gsim_watch_kind kind,
                     int64_t threshold) {
    const char *why = !gsim_core_has_job(plan->core, job) ? "only active jobs can be watched"
                      : kind >= GSIM_WATCH_COUNT          ? "there is no such kind of watch"
                                                          : NULL;
    if (why) {
        (void)gsim_plan_broke(plan, job, "watching", why);
        return;
    }
    struct gsim_op *op = gsim_plan_append(plan, GSIM_OP_WATCH);
    if (!op)
        return;
    op->slot = job;
    op->watch = (uint8_t)kind;
    op->value = threshold;
}

bool gsim_plan_batch(struct gsim_plan *plan, gsim_slot job, struct gsim_batch batch) {
    const struct gsim_core *core = plan->core;
    if (!gsim_core_has_job(core, job))
        return gsim_plan_broke(plan, job, "setting the batch of", "only active jobs have one");
    if (!core->ops->may_have_batch || !core->ops->may_have_batch(core->model, job, batch))
        return false;
    struct gsim_op *op = gsim_plan_append(plan, GSIM_OP_BATCH);
    if (!op)
        return false;
    op->slot = job;
    op->batch = batch;
    return true;
}

bool gsim_ask_learning(const struct gsim_ctx *ctx, gsim_slot job, struct gsim_learning *out) {
    const struct gsim_core *core = ctx->core;
    return core->ops->learning && core->ops->learning(core->model, job, core->view.now_ns, out);
}

bool gsim_ask_learning_on(const struct gsim_ctx *ctx, gsim_slot job, uint16_t type,
                          struct gsim_learning *out) {
    const struct gsim_core *core = ctx->core;
    return core->ops->learning_on && core->ops->learning_on(core->model, job, type, out);
}
