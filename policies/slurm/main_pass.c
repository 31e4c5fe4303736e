/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slurm's main scheduler (schedule() of job_scheduler.c): jobs by tier, priority and submission. A
 * job that a limit of a QOS or an association holds back is passed over (unless assoc_limit_stop),
 * and so is a job that only a reservation keeps from starting. */
#include "policies/slurm/limits.h"
#include "policies/slurm/nodes.h"
#include "policies/slurm/passes.h"

#include <string.h>

static void look_at_nodes(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                          gsim_slot slot) {
    for (uint32_t node = 0; node < state->n_nodes; node++)
        state->usable[node] =
            gsim_slurm_nodes_usable(state, ctx, slot, node, ctx->view->now_ns, NULL);
}

/* Whether the job would fit if there were no reservations. */
static bool fits_but_for_reservations(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                                      gsim_slot slot) {
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    if (state->conf.n_reservations == 0)
        return false;
    for (uint32_t node = 0; node < state->n_nodes; node++)
        state->usable[node] =
            gsim_slurm_nodes_has(state, job->set, node) && !state->node[node].is_closed
                ? gsim_slurm_nodes_fit(job, &state->node[node].free)
                : 0;
    return gsim_slurm_nodes_choose(state, job, ctx->view->jobs.gpus[slot], state->usable);
}

/* No later job of the partition starts in this pass, and none on a node that the job could have. */
static void block(struct gsim_slurm_state *state, const struct gsim_slurm_job *job) {
    state->n_blocked += !state->is_blocked[job->partition];
    state->is_blocked[job->partition] = true;
    for (uint32_t node = 0; node < state->n_nodes; node++)
        state->node[node].is_closed |= gsim_slurm_nodes_has(state, job->set, node);
}

/* Whether the job starts. */
static bool try_job(struct gsim_slurm_state *state, struct gsim_ctx *ctx, struct gsim_plan *plan,
                    gsim_slot slot) {
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    if (state->is_blocked[job->partition])
        return false;
    if (!gsim_slurm_limits_let(state, ctx, slot)) {
        if (state->conf.stops_at_limits)
            block(state, job);
        return false;
    }
    look_at_nodes(state, ctx, slot);
    if (gsim_slurm_place(state, ctx, plan, slot) || gsim_slurm_preempt(state, ctx, plan, slot))
        return true;
    if (!fits_but_for_reservations(state, ctx, slot))
        block(state, job);
    return false;
}

void gsim_slurm_main_pass(struct gsim_slurm_state *state, struct gsim_ctx *ctx,
                          struct gsim_plan *plan) {
    bool preempts = state->conf.preempts_by_qos || state->conf.preempts_by_tier;
    uint32_t kept = 0, i = 0;
    memset(state->is_blocked, 0, state->conf.n_partitions * sizeof *state->is_blocked);
    state->n_blocked = 0;
    gsim_slurm_nodes_drop_plans(state, ctx); /* plans of backfill do not bind this scheduler */
    gsim_slurm_nodes_look(state, ctx);
    for (; i < state->n_order && state->n_blocked < state->conf.n_partitions &&
           (preempts || ctx->view->cluster.n_idle_gpus > 0);
         i++)
        if (!try_job(state, ctx, plan, state->order[i]))
            state->order[kept++] = state->order[i];
    memmove(&state->order[kept], &state->order[i], (state->n_order - i) * sizeof *state->order);
    state->n_order -= i - kept;
    state->is_due = false;
}
