/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/elasticflow/place.h"

static struct gsim_shape shape_of(int64_t gpus) {
    return (struct gsim_shape){
        .gpus = (uint32_t)gpus, .share_ppm = GSIM_PPM, .rule = GSIM_RULE_CONSOLIDATE};
}

static int64_t wanted(const struct elasticflow_job *job) {
    return job->is_through ? 0 : elasticflow_gpus(job, job->now_level);
}

static bool runs(const struct gsim_ctx *ctx, const struct elasticflow_job *job) {
    return ctx->view->jobs.state[job->slot] == GSIM_RUNNING;
}

/* The reference's jobs change their width at once: they stop, and are placed again. */
static void change(struct gsim_plan *plan, const struct elasticflow *own,
                   const struct elasticflow_job *job) {
    struct gsim_shape shape = shape_of(wanted(job));
    if (wanted(job) == 0 || own->is_reference)
        (void)gsim_plan_preempt(plan, job->slot, own->way.stop, own->way.keep);
    else
        (void)gsim_plan_move(plan, job->slot, &shape);
}

static void place(const struct gsim_ctx *ctx, struct gsim_plan *plan, const struct elasticflow *own,
                  const struct elasticflow_job *job) {
    struct gsim_shape shape = shape_of(wanted(job));
    bool is_placed = gsim_plan_place(plan, job->slot, &shape);
    if (is_placed && own->is_reference)
        gsim_plan_watch(plan, job->slot, GSIM_WATCH_ATTAINED,
                        ctx->view->jobs.service_ns[job->slot] - 1000000);
}

void elasticflow_place(const struct gsim_ctx *ctx, struct gsim_plan *plan,
                       struct elasticflow *own) {
    const struct gsim_unit *units;
    for (uint32_t i = 0; i < own->n_order; i++) {
        const struct elasticflow_job *job = &own->job[own->order[i]];
        if (job->is_active && runs(ctx, job) &&
            gsim_plan_units(plan, job->slot, &units) > wanted(job))
            change(plan, own, job);
    }
    for (uint32_t i = 0; i < own->n_order; i++) {
        const struct elasticflow_job *job = &own->job[own->order[i]];
        if (!job->is_active || wanted(job) == 0)
            continue;
        uint32_t had = gsim_plan_units(plan, job->slot, &units);
        if (runs(ctx, job) && had > 0 && had < wanted(job))
            change(plan, own, job);
        else if (gsim_state_waits((enum gsim_state)ctx->view->jobs.state[job->slot]))
            place(ctx, plan, own, job);
    }
}
