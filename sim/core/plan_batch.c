/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verb and the question of jobs that learn by a table. No GPU changes hands by them. */
#include "sim/core/core.h"

bool gsim_plan_batch(struct gsim_plan *plan, gsim_slot job, struct gsim_batch batch) {
    const struct gsim_core *core = plan->core;
    if (job >= core->jobs.capacity || core->jobs.state[job] == GSIM_FREE)
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
