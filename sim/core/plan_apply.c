/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hands the operations of a plan, each with its reservation taken, to the states of jobs and to the
 * model of devices. */
#include "sim/core/core.h"
#include "sim/core/parts.h"
#include "sim/base/hints.h"

#include <assert.h>

GSIM_APART static void apply(struct gsim_core *core, const struct gsim_op *op) {
    int64_t now = core->view.now_ns;
    switch ((enum gsim_op_kind)op->kind) {
    case GSIM_OP_PLACE:
        break; /* handled in gsim_plan_apply */
    case GSIM_OP_PREEMPT:
        core->metrics.keeps |= 1u << op->keep;
        gsim_job_preempt(core, op->slot, op->stop, op->keep);
        break;
    case GSIM_OP_MOVE:
        gsim_job_move(core, op->slot, op->units, op->n_units, (enum gsim_stop)op->stop,
                      (enum gsim_keep)op->keep);
        break;
    case GSIM_OP_END:
        core->jobs.core[op->slot].is_declined = op->value != 0;
        gsim_job_end(core, op->slot);
        break;
    case GSIM_OP_SUPPOSE: /* refused before anything is applied */
        assert(false);
        break;
    case GSIM_OP_ARRANGE:
        core->ops->arrange(core->model, op->units, op->n_units, op->arrangement, now);
        break;
    case GSIM_OP_PARTITION:
        core->ops->partition(core->model, op->units->gpu, op->layout, now);
        break;
    case GSIM_OP_BATCH:
        core->ops->set_batch(core->model, op->slot, op->batch, now);
        break;
    case GSIM_OP_WATCH:
        if (op->watch == GSIM_WATCH_RAN)
            gsim_watches_set(core, op->slot, op->value);
        else
            core->ops->watch(core->model, op->slot, op->watch, op->value, now);
        break;
    case GSIM_OP_WAKE:
        if (gsim_rarely(core->parts))
            gsim_parts_wake(core, op->part, op->value);
        else
            core->timer_ns = op->value;
        break;
    }
}

/* Records the peak of host memory that the plan has reserved. */
GSIM_APART static void note_hosts(struct gsim_plan *plan) {
    for (uint32_t i = 0; i < plan->n; i++)
        if (plan->ops[i].slot != GSIM_NO_SLOT) {
            const struct gsim_job *job = &plan->core->jobs.info[plan->ops[i].slot];
            gsim_cluster_note_hosts(&plan->core->cluster, job->units, job->n_units);
        }
}

void gsim_plan_apply(struct gsim_plan *plan) {
    if (gsim_rarely(plan->n_supposed > 0))
        (void)gsim_plan_broke(plan, GSIM_NO_SLOT, "deciding with an end supposed",
                              "that is a question, to be rolled back before the decide ends");
    if (gsim_rarely(plan->is_broken))
        gsim_plan_rollback(plan, 0);
    if (gsim_rarely(plan->core->cluster.has_host_used))
        note_hosts(plan);
    bool has_shares = plan->core->trace->column[GSIM_COL_SHARE_PPM] != NULL;
    if (gsim_rarely(has_shares))
        gsim_jobs_will_change(plan->core, plan->ops, plan->n);
    for (uint32_t i = 0; i < plan->n; i++) {
        if (gsim_rarely(gsim_arena_has_failed(plan->core->arena))) {
            (void)gsim_core_no_memory(plan->core);
            break;
        }
        if (gsim_rarely(has_shares))
            gsim_job_changes_now(plan->core, &plan->ops[i]);
        if (plan->ops[i].slot != GSIM_NO_SLOT)
            plan->touched[plan->ops[i].slot] = 0;
        if (plan->ops[i].kind == GSIM_OP_PLACE) /* mostly: a predictable jump */
            gsim_job_place(plan->core, plan->ops[i].slot);
        else
            apply(plan->core, &plan->ops[i]);
    }
    plan->n = 0;
    gsim_arena_free(plan->scratch);
    plan->scratch = NULL;
}
