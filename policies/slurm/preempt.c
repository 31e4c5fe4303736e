/* SPDX-License-Identifier: GPL-3.0-or-later */
/* preempt/qos and preempt/partition_prio: a job that does not fit may push out running jobs of the
 * QOS that its own QOS lists, or of partitions with a lower PriorityTier. Candidates go in the
 * order of lower QOS priority (tier), then more GPUs, then later starts, one after the other until
 * the job fits; those that do not free a node of the job, or that it does not need, stay. With
 * PreemptMode=REQUEUE they begin anew, with CANCEL they end. */
#include "policies/lib/common.h"
#include "policies/slurm/nodes.h"
#include "policies/slurm/passes.h"
#include "policies/slurm/shards.h"

#include <string.h>

static enum gsim_slurm_preempt mode_of(const struct gsim_slurm_state *state,
                                       const struct gsim_slurm_job *victim) {
    enum gsim_slurm_preempt own = GSIM_SLURM_PREEMPT_UNSET;
    if (state->conf.preempts_by_qos && victim->qos != GSIM_SLURM_NONE)
        own = state->conf.qos[victim->qos].mode;
    if (state->conf.preempts_by_tier)
        own = gsim_slurm_partition_of(state, victim)->mode;
    return own == GSIM_SLURM_PREEMPT_UNSET ? state->conf.mode : own;
}

static bool outranks(const struct gsim_slurm_state *state, const struct gsim_slurm_job *job,
                     const struct gsim_slurm_job *victim) {
    const struct gsim_slurm *conf = &state->conf;
    if (conf->preempts_by_tier)
        return gsim_slurm_partition_of(state, victim)->tier <
               gsim_slurm_partition_of(state, job)->tier;
    if (job->qos == GSIM_SLURM_NONE || victim->qos == GSIM_SLURM_NONE)
        return false;
    const char *name = conf->qos[victim->qos].name;
    return gsim_slurm_lists(conf->qos[job->qos].preempts, name, strlen(name));
}

static int64_t start_of(const struct gsim_slurm_job *job) {
    return job->end_ns - job->way.limit_ns;
}

/* A job that has begun at this instant stays: schedulers take no time here, and a job that it let
 * in by its begin (after:7) would have come after nothing. */
static bool may_be_pushed_out(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                              gsim_slot slot) {
    const struct gsim_slurm_job *victim = gsim_slurm_job(ctx, slot);
    return ctx->view->jobs.state[slot] == GSIM_RUNNING && start_of(victim) < ctx->view->now_ns &&
           mode_of(state, victim) != GSIM_SLURM_PREEMPT_OFF;
}

/* Whether victim a goes before b. */
static bool goes_first(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                       gsim_slot a, gsim_slot b) {
    const struct gsim_slurm_job *job_a = gsim_slurm_job(ctx, a), *job_b = gsim_slurm_job(ctx, b);
    int64_t rank_a = gsim_slurm_partition_of(state, job_a)->tier;
    int64_t rank_b = gsim_slurm_partition_of(state, job_b)->tier;
    const uint32_t *gpus = ctx->view->jobs.gpus;
    if (!state->conf.preempts_by_tier) {
        rank_a = state->conf.qos[job_a->qos].priority;
        rank_b = state->conf.qos[job_b->qos].priority;
    }
    if (rank_a != rank_b)
        return rank_a < rank_b;
    if (!state->conf.youngest_first && gpus[a] != gpus[b])
        return gpus[a] > gpus[b];
    if (start_of(job_a) != start_of(job_b))
        return start_of(job_a) > start_of(job_b);
    return gsim_nth(ctx->view, a) > gsim_nth(ctx->view, b);
}

static bool reserve(struct gsim_slurm_state *state, struct gsim_arena *arena) {
    if (state->n_running <= state->victims_capacity)
        return true;
    gsim_slot *victim =
        gsim_arena_grow_raw(arena, state->victim, 2 * (size_t)state->n_running * sizeof *victim);
    state->victim = victim ? victim : state->victim;
    state->victims_capacity = victim ? 2 * state->n_running : state->victims_capacity;
    return victim != NULL;
}

/* Lists what the job may push out, in order. */
static void list_victims(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                         const struct gsim_slurm_job *job) {
    state->n_victims = 0;
    for (uint32_t i = 0; i < state->n_running; i++) {
        gsim_slot slot = state->running[i];
        uint32_t k = state->n_victims;
        if (!may_be_pushed_out(state, ctx, slot) ||
            !outranks(state, job, gsim_slurm_job(ctx, slot)))
            continue;
        for (; k > 0 && goes_first(state, ctx, slot, state->victim[k - 1]); k--)
            state->victim[k] = state->victim[k - 1];
        state->victim[k] = slot;
        state->n_victims++;
    }
}

static void free_pieces(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                        gsim_slot victim, int sign) {
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, victim);
    for (uint32_t p = job->first_piece; p != GSIM_SLURM_NONE; p = state->piece[p].next)
        gsim_slurm_nodes_add(&state->freed[state->piece[p].node], job, state->piece[p].gpus, sign);
    if (job->share_ppm > 0 && gsim_slurm_shards_free(state, ctx, victim, sign > 0))
        state->freed[state->piece[job->first_piece].node].gpus += (uint32_t)sign;
}

/* The candidates keep their shards. */
static void forget(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx) {
    for (uint32_t v = 0; v < state->n_victims; v++)
        if (state->victim[v] != GSIM_NO_SLOT)
            gsim_slurm_job(ctx, state->victim[v])->is_freed = false;
}

static bool fits(struct gsim_slurm_state *state, const struct gsim_ctx *ctx, gsim_slot slot) {
    for (uint32_t node = 0; node < state->n_nodes; node++)
        state->usable[node] =
            gsim_slurm_nodes_usable(state, ctx, slot, node, ctx->view->now_ns, state->freed);
    return gsim_slurm_nodes_choose(state, gsim_slurm_job(ctx, slot), ctx->view->jobs.gpus[slot],
                                   state->usable);
}

/* Frees candidates until the job fits; returns how many, or 0: it never does. */
static uint32_t free_until_it_fits(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                                   gsim_slot slot) {
    memset(state->freed, 0, state->n_nodes * sizeof *state->freed);
    for (uint32_t v = 0; v < state->n_victims; v++) {
        free_pieces(state, ctx, state->victim[v], 1);
        if (fits(state, ctx, slot))
            return v + 1;
    }
    return 0;
}

/* Whether the nodes chosen have enough without the candidate. */
static bool is_spared(struct gsim_slurm_state *state, const struct gsim_ctx *ctx, gsim_slot slot,
                      gsim_slot victim) {
    free_pieces(state, ctx, victim, -1);
    for (uint32_t i = 0; i < state->n_chosen; i++) {
        if (gsim_slurm_nodes_usable(state, ctx, slot, state->chosen[i], ctx->view->now_ns,
                                    state->freed) >= state->chosen_gpus[i])
            continue;
        free_pieces(state, ctx, victim, 1);
        return false;
    }
    return true;
}

/* A job that begins anew is listed when it has left its GPUs (changes.settled). */
static void push_out(struct gsim_slurm_state *state, struct gsim_ctx *ctx, struct gsim_plan *plan,
                     gsim_slot victim) {
    bool cancels = mode_of(state, gsim_slurm_job(ctx, victim)) == GSIM_SLURM_PREEMPT_CANCEL;
    if (cancels ? gsim_plan_end(plan, victim)
                : gsim_plan_preempt(plan, victim, GSIM_STOP_SAVE, GSIM_KEEP_DISCARD))
        gsim_slurm_stop(state, ctx, victim);
}

bool gsim_slurm_preempt(struct gsim_slurm_state *state, struct gsim_ctx *ctx,
                        struct gsim_plan *plan, gsim_slot slot) {
    if (!state->conf.preempts_by_qos && !state->conf.preempts_by_tier)
        return false;
    if (!reserve(state, ctx->arena)) {
        gsim_common_no_memory(ctx);
        return false;
    }
    list_victims(state, ctx, gsim_slurm_job(ctx, slot));
    uint32_t n = free_until_it_fits(state, ctx, slot);
    if (n == 0) {
        forget(state, ctx);
        return false;
    }
    for (uint32_t v = n; v-- > 0;)
        if (is_spared(state, ctx, slot, state->victim[v]))
            state->victim[v] = GSIM_NO_SLOT;
    for (uint32_t v = 0; v < n; v++)
        if (state->victim[v] != GSIM_NO_SLOT)
            push_out(state, ctx, plan, state->victim[v]);
    forget(state, ctx);
    memset(state->freed, 0, state->n_nodes * sizeof *state->freed);
    return fits(state, ctx, slot) && gsim_slurm_place(state, ctx, plan, slot);
}
