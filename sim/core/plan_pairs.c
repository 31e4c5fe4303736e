/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a table of speeds allows: the units of a job, and which two jobs may share GPUs in a pair
 * (GSIM_DISCIPLINE_PAIR). */
#include "sim/core/core.h"

/* Whether the job has units reserved when the plan, as far as it is, is carried out. */
static bool stays(const struct gsim_plan *plan, gsim_slot slot) {
    uint32_t touched = plan->touched[slot];
    if (touched > 0)
        return plan->ops[touched - 1].kind == GSIM_OP_PLACE;
    enum gsim_state state = (enum gsim_state)plan->core->jobs.state[slot];
    return state == GSIM_STARTING || state == GSIM_RUNNING || state == GSIM_RESUMING;
}

/* Whether the job is on a GPU of these units that is shared in pairs. */
static bool is_beside(const struct gsim_plan *plan, const struct gsim_job *job,
                      const struct gsim_job *other) {
    for (uint32_t u = 0; u < job->n_units; u++)
        for (uint32_t v = 0; v < other->n_units; v++)
            if (job->units[u].gpu == other->units[v].gpu &&
                plan->core->cluster.gpu_is_paired[job->units[u].gpu])
                return true;
    return false;
}

static bool has_partner(const struct gsim_plan *plan, const struct gsim_job *job) {
    const struct gsim_cluster *cluster = &plan->core->cluster;
    for (uint32_t u = 0; u < job->n_units; u++)
        if (cluster->gpu_is_paired[job->units[u].gpu] &&
            cluster->gpu_clients[job->units[u].gpu] > 1)
            return true;
    return false;
}

static bool refuse_pair(struct gsim_plan *plan, gsim_slot slot, gsim_slot other, const char *what) {
    const struct gsim_core *core = plan->core;
    const char *why = gsim_arena_printf(core->arena, "beside job '%s': %s",
                                        gsim_trace_id(core->trace, core->jobs.job[other]), what);
    (void)gsim_plan_broke(plan, slot, "placing", why ? why : what);
    return true;
}

static bool breaks_pair(struct gsim_plan *plan, gsim_slot slot) {
    struct gsim_core *core = plan->core;
    const struct gsim_job *job = &core->jobs.info[slot];
    if (!has_partner(plan, job))
        return false;
    for (uint32_t i = 0; i < core->view.jobs.n_active; i++) {
        gsim_slot other = core->view.jobs.active[i];
        const struct gsim_job *about = &core->jobs.info[other];
        if (other == slot || !stays(plan, other) || !is_beside(plan, job, about))
            continue;
        if (about->n_units != job->n_units)
            return refuse_pair(
                plan, slot, other,
                "two jobs that share GPUs by a table of speeds (--rates) have equally "
                "many of them");
        if (core->ops->pace_beside(core->model, slot, other) == 0 ||
            core->ops->pace_beside(core->model, other, slot) == 0)
            return refuse_pair(
                plan, slot, other,
                "by the table of speeds (--rates) their models do not run beside each "
                "other on that number of GPUs of that device");
    }
    return false;
}

bool gsim_plan_has_speed(const struct gsim_core *core, gsim_slot slot) {
    return core->ops->pace(core->model, slot) > 0;
}

bool gsim_plan_breaks_table(struct gsim_plan *plan, gsim_slot slot) {
    if (gsim_plan_has_speed(plan->core, slot))
        return plan->core->cluster.n_arranged > 0 && breaks_pair(plan, slot);
    (void)gsim_plan_broke(
        plan, slot, "placing",
        "by the table of speeds (--rates, --goodput) its model cannot run on that number of GPUs "
        "of that device, or with so little of a host's memory beside each");
    return true;
}
