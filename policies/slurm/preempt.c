/* SPDX-License-Identifier: GPL-3.0-or-later */
/* preempt/qos and preempt/partition_prio: a job that does not fit may push out running jobs of the
 * QOS that its own QOS lists, or of partitions with a lower PriorityTier, once these have run for
 * PreemptExemptTime. Candidates go in the order of lower QOS priority (tier), then fewer nodes, or
 * with youngest_first in that of later starts, one after the other until the job fits. Then those
 * tried last, and those with most nodes of the job, come to the front of the list, and it is walked
 * anew, reorder_count + 1 times, so that fewer of them suffice (PreemptParameters in slurm.conf(5);
 * _run_now of Slurm's public job_test.c). Of the candidates up to the last one that was needed
 * those on nodes of the job leave. With PreemptMode=REQUEUE they begin anew, with CANCEL they end.
 * */
#include "policies/lib/common.h"
#include "policies/slurm/limits.h"
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
    if (job->qos == GSIM_SLURM_NONE || victim->qos == GSIM_SLURM_NONE || job->qos == victim->qos)
        return false;
    const char *name = conf->qos[victim->qos].name;
    return gsim_slurm_lists(conf->qos[job->qos].preempts, name, strlen(name));
}

static int64_t begin_of(const struct gsim_slurm_job *job) {
    return job->end_ns - job->way.limit_ns;
}

/* Until when a running job may not be preempted: PreemptExemptTime of the first of its QOS that has
 * it, else that of slurm.conf. */
static int64_t exempt_until(const struct gsim_slurm_state *state,
                            const struct gsim_slurm_job *victim) {
    uint32_t qos[2];
    int n = gsim_slurm_limits_qos(state, victim, qos), i = 0;
    while (i < n && state->conf.qos[qos[i]].exempt_ns < 0)
        i++;
    return begin_of(victim) + (i < n ? state->conf.qos[qos[i]].exempt_ns : state->conf.exempt_ns);
}

/* A job that has begun at this instant stays: schedulers take no time here, and a job that it let
 * in by its begin (after:7) would have come after nothing. */
static bool may_be_pushed_out(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                              gsim_slot slot) {
    const struct gsim_slurm_job *victim = gsim_slurm_job(ctx, slot);
    int64_t now_ns = ctx->view->now_ns;
    return ctx->view->jobs.state[slot] == GSIM_RUNNING && begin_of(victim) < now_ns &&
           exempt_until(state, victim) <= now_ns &&
           mode_of(state, victim) != GSIM_SLURM_PREEMPT_OFF;
}

int64_t gsim_slurm_preempt_next(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx) {
    int64_t next_ns = GSIM_NEVER;
    for (uint32_t i = 0; state->has_exempt && i < state->n_running; i++) {
        int64_t at_ns = exempt_until(state, gsim_slurm_job(ctx, state->running[i]));
        next_ns = at_ns > ctx->view->now_ns && at_ns < next_ns ? at_ns : next_ns;
    }
    return next_ns;
}

/* What Slurm has 16 bits for. */
static int64_t cut(int64_t number) {
    return number < UINT16_MAX ? number : UINT16_MAX;
}

static int64_t count_nodes(const struct gsim_slurm_state *state, const struct gsim_slurm_job *job) {
    int64_t n = 0;
    for (uint32_t p = job->first_piece; p != GSIM_SLURM_NONE; p = state->piece[p].next)
        n++;
    return n;
}

/* Whether victim a goes before b. */
static bool goes_first(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                       gsim_slot a, gsim_slot b) {
    const struct gsim_slurm_job *job_a = gsim_slurm_job(ctx, a), *job_b = gsim_slurm_job(ctx, b);
    int64_t rank_a = gsim_slurm_partition_of(state, job_a)->tier;
    int64_t rank_b = gsim_slurm_partition_of(state, job_b)->tier;
    int64_t nodes_a = cut(count_nodes(state, job_a)), nodes_b = cut(count_nodes(state, job_b));
    if (!state->conf.preempts_by_tier) {
        rank_a = cut(state->conf.qos[job_a->qos].priority);
        rank_b = cut(state->conf.qos[job_b->qos].priority);
    }
    if (state->conf.youngest_first && begin_of(job_a) != begin_of(job_b))
        return begin_of(job_a) > begin_of(job_b);
    if (!state->conf.youngest_first && rank_a != rank_b)
        return rank_a < rank_b;
    if (!state->conf.youngest_first && nodes_a != nodes_b)
        return nodes_a < nodes_b;
    return gsim_slurm_id(ctx, a) < gsim_slurm_id(ctx, b);
}

static bool reserve_victims(struct gsim_slurm_state *state, struct gsim_arena *arena) {
    if (state->n_running <= state->victims_capacity)
        return true;
    size_t room = 2 * (size_t)state->n_running;
    struct gsim_slurm_victim *victim =
        gsim_arena_grow_raw(arena, state->victim, room * sizeof *victim);
    state->victim = victim ? victim : state->victim;
    state->victims_capacity = victim ? (uint32_t)room : state->victims_capacity;
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
        for (; k > 0 && goes_first(state, ctx, slot, state->victim[k - 1].slot); k--)
            state->victim[k] = state->victim[k - 1];
        state->victim[k] = (struct gsim_slurm_victim){.slot = slot};
        state->n_victims++;
    }
}

static void free_pieces(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                        gsim_slot victim) {
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, victim);
    for (uint32_t p = job->first_piece; p != GSIM_SLURM_NONE; p = state->piece[p].next)
        gsim_slurm_nodes_add(&state->freed[state->piece[p].node], job, state->piece[p].gpus, 1);
    if (job->share_ppm > 0 && gsim_slurm_shards_free(state, ctx, victim, true))
        state->freed[state->piece[job->first_piece].node].gpus++;
}

/* The candidates keep what they have. */
static void forget(struct gsim_slurm_state *state, const struct gsim_ctx *ctx) {
    memset(state->freed, 0, state->n_nodes * sizeof *state->freed);
    for (uint32_t v = 0; v < state->n_victims; v++)
        gsim_slurm_job(ctx, state->victim[v].slot)->is_freed = false;
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
    forget(state, ctx);
    for (uint32_t v = 0; v < state->n_victims; v++) {
        free_pieces(state, ctx, state->victim[v].slot);
        if (fits(state, ctx, slot))
            return v + 1;
    }
    return 0;
}

/* How many of the nodes that were chosen the candidate is on. */
static uint32_t count_shared(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                             gsim_slot victim) {
    uint32_t n = 0;
    for (uint32_t p = gsim_slurm_job(ctx, victim)->first_piece; p != GSIM_SLURM_NONE;
         p = state->piece[p].next)
        for (uint32_t i = 0; i < state->n_chosen; i++)
            n += state->chosen[i] == state->piece[p].node;
    return n;
}

/* Orders the candidates anew, of which the first n made room: the last of these comes first, then
 * the others of them by the nodes that they share with the job; with strict_order the rest keep
 * their order. */
static void reorder(struct gsim_slurm_state *state, const struct gsim_ctx *ctx, uint32_t n) {
    for (uint32_t v = 0; v < state->n_victims; v++)
        state->victim[v].n_shared = v == n - 1 ? UINT32_MAX
                                    : v >= n || state->conf.keeps_victims_order
                                        ? 0
                                        : count_shared(state, ctx, state->victim[v].slot);
    for (uint32_t v = 1; v < n; v++) {
        struct gsim_slurm_victim own = state->victim[v];
        uint32_t k = v;
        for (; k > 0 && own.n_shared > state->victim[k - 1].n_shared; k--)
            state->victim[k] = state->victim[k - 1];
        state->victim[k] = own;
    }
}

/* The candidates that have to leave are the first ones; returns how many, or 0: the job never
 * fits. */
static uint32_t find_victims(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                             gsim_slot slot) {
    uint32_t n = free_until_it_fits(state, ctx, slot);
    for (int64_t pass = 0;
         n > 0 && pass <= state->conf.victim_orders && pass + 1 < (int64_t)state->n_victims;
         pass++) {
        reorder(state, ctx, n);
        n = free_until_it_fits(state, ctx, slot);
    }
    return n;
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
    if (!reserve_victims(state, ctx->arena)) {
        gsim_common_no_memory(ctx);
        return false;
    }
    list_victims(state, ctx, gsim_slurm_job(ctx, slot));
    uint32_t n = find_victims(state, ctx, slot);
    for (uint32_t v = 0; v < n; v++)
        state->victim[v].n_shared = count_shared(state, ctx, state->victim[v].slot);
    forget(state, ctx);
    for (uint32_t v = 0; v < n; v++)
        if (state->victim[v].n_shared > 0)
            push_out(state, ctx, plan, state->victim[v].slot);
    return n > 0 && fits(state, ctx, slot) && gsim_slurm_place(state, ctx, plan, slot);
}
