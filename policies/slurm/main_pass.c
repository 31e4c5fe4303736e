/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slurm's main scheduler (schedule() of job_scheduler.c): jobs by tier, priority and submission. A
 * job that a limit of a QOS or an association holds back is passed over (unless assoc_limit_stop),
 * and so is a job that only a reservation keeps from starting. */
#include "policies/slurm/limits.h"
#include "policies/slurm/nodes.h"
#include "policies/slurm/passes.h"
#include "policies/slurm/ranking.h"
#include "policies/slurm/ways.h"

/* Whether the job would fit if there were no reservations. */
static bool fits_but_for_reservations(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                                      const struct gsim_slurm_entry *entry) {
    struct gsim_slurm_job *job = gsim_slurm_job(ctx, entry->slot);
    uint32_t choice = entry->first_choice;
    if (state->conf.n_reservations == 0)
        return false;
    do {
        gsim_slurm_ways_load(state, job, choice);
        for (uint32_t node = 0; node < state->n_nodes; node++)
            state->usable[node] =
                gsim_slurm_nodes_has(state, job->way.set, node) &&
                        !gsim_slurm_nodes_is_closed(state, node)
                    ? gsim_slurm_nodes_fit_at(state, ctx, job, node, &state->node[node].free,
                                              ctx->view->now_ns)
                    : 0;
        if (gsim_slurm_nodes_choose(state, job, ctx->view->jobs.gpus[entry->slot], state->usable))
            return true;
        choice = gsim_slurm_ways_next(state, choice);
    } while (choice != GSIM_SLURM_NONE);
    return false;
}

/* No later job of the partition starts in this pass, and none on a node of the partition. */
static void block(struct gsim_slurm_state *state, uint32_t partition) {
    state->n_open -= !state->is_blocked[partition];
    state->is_blocked[partition] = true;
    gsim_slurm_nodes_close(state, partition);
}

static bool fits_somewhere(struct gsim_slurm_state *state, struct gsim_ctx *ctx,
                           struct gsim_plan *plan, const struct gsim_slurm_entry *entry) {
    struct gsim_slurm_job *job = gsim_slurm_job(ctx, entry->slot);
    for (int by_preemption = 0; by_preemption < 2; by_preemption++) {
        uint32_t choice = entry->first_choice;
        do {
            gsim_slurm_ways_load(state, job, choice);
            if (by_preemption ? gsim_slurm_preempt(state, ctx, plan, entry->slot)
                              : gsim_slurm_place_now(state, ctx, plan, entry->slot))
                return true;
            choice = gsim_slurm_ways_next(state, choice);
        } while (choice != GSIM_SLURM_NONE);
    }
    return false;
}

/* Whether the job starts. */
static bool try_now(struct gsim_slurm_state *state, struct gsim_ctx *ctx, struct gsim_plan *plan,
                    const struct gsim_slurm_entry *entry) {
    struct gsim_slurm_job *job = gsim_slurm_job(ctx, entry->slot);
    gsim_slurm_ways_load(state, job, entry->first_choice);
    uint32_t partition = job->way.partition;
    if (!gsim_slurm_limits_let_array(state, ctx, entry->slot))
        return false;
    if (!gsim_slurm_limits_let(state, ctx, entry->slot, GSIM_SLURM_ALL_LIMITS)) {
        if (state->conf.stops_at_limits)
            block(state, partition);
        return false;
    }
    if (fits_somewhere(state, ctx, plan, entry))
        return true;
    if (!fits_but_for_reservations(state, ctx, entry))
        block(state, partition);
    return false;
}

/* Whether the entry is done: its job starts, or has started by another one. */
static bool is_done(struct gsim_slurm_state *state, struct gsim_ctx *ctx, struct gsim_plan *plan,
                    const struct gsim_slurm_entry *entry) {
    uint32_t partition = entry->partition;
    if (state->is_blocked[partition] ||
        (gsim_slurm_job(ctx, entry->slot)->running_at == GSIM_SLURM_NONE &&
         !try_now(state, ctx, plan, entry)))
        return false;
    gsim_slurm_ways_leave(state, entry);
    state->n_open -= state->waiting_in[partition] == 0;
    return true;
}

/* Partitions in which jobs wait; the pass is over when none of them is open any more. */
static void open_partitions(struct gsim_slurm_state *state) {
    state->n_open = 0;
    for (uint32_t p = 0; p < state->conf.n_partitions; p++) {
        state->is_blocked[p] = false;
        state->n_open += state->waiting_in[p] > 0;
    }
}

void gsim_slurm_main_pass(struct gsim_slurm_state *state, struct gsim_ctx *ctx,
                          struct gsim_plan *plan) {
    bool preempts = state->conf.preempts_by_qos || state->conf.preempts_by_tier;
    uint32_t kept = 0, i = 0;
    open_partitions(state);
    gsim_slurm_nodes_drop_plans(state, ctx); /* plans of backfill do not bind this scheduler */
    gsim_slurm_nodes_look(state, ctx);
    for (; i < state->n_order && state->n_open > 0 &&
           (preempts || state->has_shards || ctx->view->cluster.n_idle_gpus > 0);
         i++)
        if (!is_done(state, ctx, plan, &state->order[i]))
            state->order[kept++] = state->order[i];
    gsim_slurm_ranking_drop(state, kept, i);
    gsim_slurm_ways_tidy(state, ctx);
    state->is_due = false;
}
