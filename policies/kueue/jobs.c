/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ways of a job. Quota comes first: an admitted job waits until nodes of its flavor have room
 * for all of its GPUs. A job that is evicted uses its quota until it has left its GPUs, then it is
 * pending again, at its old place. */
#include "policies/kueue/jobs.h"

#include "policies/kueue/quota.h"
#include "policies/lib/common.h"

enum gsim_status gsim_kueue_jobs_open(struct gsim_kueue_state *state, struct gsim_ctx *ctx) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    uint32_t n = state->conf.n_queues;
    state->line = gsim_arena_array(ctx->arena, n, sizeof *state->line);
    state->entry = gsim_arena_array(ctx->arena, n, sizeof *state->entry);
    state->free_gpus = gsim_arena_array(ctx->arena, cluster->n_nodes, sizeof *state->free_gpus);
    state->unit = gsim_arena_array(ctx->arena, cluster->n_gpus, sizeof *state->unit);
    if (!state->line || !state->entry || !state->free_gpus || !state->unit)
        return gsim_no_memory(ctx->log, "opening queues");
    gsim_index_init(&state->waiting, ctx->arena);
    for (uint32_t q = 0; q < n; q++) {
        gsim_index_init(&state->line[q].pending, ctx->arena);
        state->line[q].head = state->line[q].preemptor = GSIM_NO_SLOT;
        state->line[q].round = 1;
    }
    return GSIM_OK;
}

/* --- pending ---------------------------------------------------------------------------------- */

static bool goes_before(const struct gsim_kueue_line *line, gsim_slot a, gsim_slot b) {
    int64_t key_a = gsim_index_key(&line->pending, a), key_b = gsim_index_key(&line->pending, b);
    return key_a != key_b ? key_a < key_b
                          : gsim_index_tie(&line->pending, a) < gsim_index_tie(&line->pending, b);
}

void gsim_kueue_pend(struct gsim_kueue_state *state, struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_kueue_job *job = gsim_kueue_job(ctx, slot);
    struct gsim_kueue_line *line = &state->line[job->queue];
    job->phase = GSIM_KUEUE_PENDING;
    job->parked_in = 0;
    if (!gsim_index_insert_sized(&line->pending, slot, -job->priority, job->nth,
                                 ctx->view->jobs.gpus[slot])) {
        gsim_common_no_memory(ctx);
        return;
    }
    if (line->head == GSIM_NO_SLOT || goes_before(line, slot, line->head))
        line->head = slot;
    state->is_due = true;
}

/* Whether a job of the queue that asks for more GPUs than are left can only be parked: such a queue
 * stands alone, and its jobs evict no job. */
static bool parks_the_wide(const struct gsim_kueue_state *state, uint32_t queue) {
    const struct gsim_kueue_node *node = &state->conf.node[queue];
    return state->conf.n_queues == 1 && !node->is_strict && node->parent == GSIM_KUEUE_NONE &&
           node->within == GSIM_KUEUE_NEVER;
}

static int64_t most_left(const struct gsim_kueue_state *state, uint32_t queue) {
    int64_t most = 0;
    for (uint32_t f = 0; f < state->conf.n_flavors; f++) {
        int64_t left = gsim_kueue_quota_left(state, queue, f);
        most = left > most ? left : most;
    }
    return most;
}

gsim_slot gsim_kueue_head(struct gsim_kueue_state *state, const struct gsim_ctx *ctx,
                          uint32_t queue) {
    struct gsim_kueue_line *line = &state->line[queue];
    if (line->preemptor != GSIM_NO_SLOT)
        return line->preemptor;
    int64_t most = parks_the_wide(state, queue) ? most_left(state, queue) : INT64_MAX;
    line->head = gsim_index_fitting(&line->pending, line->head, most);
    while (line->head != GSIM_NO_SLOT && gsim_kueue_job(ctx, line->head)->parked_in == line->round)
        line->head =
            gsim_index_fitting(&line->pending, gsim_index_next(&line->pending, line->head), most);
    return line->head;
}

void gsim_kueue_park(struct gsim_kueue_state *state, const struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_kueue_job *job = gsim_kueue_job(ctx, slot);
    job->parked_in = state->line[job->queue].round;
}

static void leave_line(struct gsim_kueue_state *state, const struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_kueue_line *line = &state->line[gsim_kueue_job(ctx, slot)->queue];
    if (line->head == slot)
        line->head = gsim_index_next(&line->pending, slot);
    if (line->preemptor == slot)
        line->preemptor = GSIM_NO_SLOT;
    gsim_index_remove(&line->pending, slot);
}

/* --- quota ------------------------------------------------------------------------------------ */

static void wait_for_nodes(struct gsim_kueue_state *state, struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_kueue_job *job = gsim_kueue_job(ctx, slot);
    job->phase = GSIM_KUEUE_ADMITTED;
    if (!gsim_index_insert(&state->waiting, slot, -job->priority, job->admitted_nth))
        gsim_common_no_memory(ctx);
}

static bool grow(struct gsim_kueue_state *state, struct gsim_ctx *ctx) {
    uint32_t room = state->admitted_capacity ? 2 * state->admitted_capacity : 64;
    gsim_slot *admitted = gsim_arena_grow_raw(ctx->arena, state->admitted, room * sizeof *admitted);
    state->admitted = admitted ? admitted : state->admitted;
    struct gsim_kueue_candidate *candidate =
        gsim_arena_grow_raw(ctx->arena, state->candidate, room * sizeof *candidate);
    state->candidate = candidate ? candidate : state->candidate;
    if (!admitted || !candidate) {
        gsim_common_no_memory(ctx);
        return false;
    }
    state->admitted_capacity = room;
    return true;
}

void gsim_kueue_take_quota(struct gsim_kueue_state *state, struct gsim_ctx *ctx, gsim_slot slot,
                           uint32_t flavor) {
    struct gsim_kueue_job *job = gsim_kueue_job(ctx, slot);
    if (state->n_admitted == state->admitted_capacity && !grow(state, ctx))
        return;
    leave_line(state, ctx, slot);
    job->flavor = flavor;
    job->admitted_nth = state->n_admissions++;
    job->admitted_at = state->n_admitted;
    state->admitted[state->n_admitted++] = slot;
    gsim_kueue_quota_use(state, job->queue, flavor, ctx->view->jobs.gpus[slot]);
    wait_for_nodes(state, ctx, slot);
}

/* Parked jobs of all queues of the tree become heads again. */
static void unpark(struct gsim_kueue_state *state, uint32_t queue) {
    uint32_t root = gsim_kueue_quota_root(state, queue);
    for (uint32_t q = 0; q < state->conf.n_queues; q++)
        if (gsim_kueue_quota_root(state, q) == root) {
            state->line[q].round++;
            state->line[q].head = gsim_index_first(&state->line[q].pending);
        }
    state->is_due = true;
}

void gsim_kueue_give_quota(struct gsim_kueue_state *state, struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_kueue_job *job = gsim_kueue_job(ctx, slot);
    gsim_slot last = state->admitted[--state->n_admitted];
    state->admitted[job->admitted_at] = last;
    gsim_kueue_job(ctx, last)->admitted_at = job->admitted_at;
    gsim_index_remove(&state->waiting, slot);
    gsim_kueue_quota_use(state, job->queue, job->flavor, -(int64_t)ctx->view->jobs.gpus[slot]);
    unpark(state, job->queue);
}

/* --- eviction --------------------------------------------------------------------------------- */

/* A job on its way to its GPUs cannot be stopped yet; it is when it runs (gsim_kueue_settle). */
static void stop(const struct gsim_kueue_state *state, const struct gsim_ctx *ctx,
                 struct gsim_plan *plan, gsim_slot slot) {
    if (ctx->view->jobs.state[slot] == GSIM_RUNNING)
        (void)gsim_plan_preempt(plan, slot, state->preemption.stop, state->preemption.keep);
}

/* Where queues settle, a decide admits and evicts each job a few times at most. Rules that go in a
 * circle do so without end. */
#define WITHDRAWN_PER_JOB 100u

/* Cycles take no time, so jobs that are evicted for each other in a circle would be so for ever. */
static void withdraw(struct gsim_kueue_state *state, struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_trace *trace = ctx->view->trace;
    uint32_t job = ctx->view->jobs.index[slot];
    gsim_kueue_give_quota(state, ctx, slot);
    gsim_kueue_pend(state, ctx, slot);
    if (++state->n_withdrawals / WITHDRAWN_PER_JOB < ctx->view->jobs.n_active)
        return;
    ctx->status = gsim_fail(
        ctx->log, GSIM_FAILED, trace->path, gsim_trace_line(trace, job),
        "policy 'kueue': queue '%s' admits job '%s' and evicts it again without end, "
        "since its job and those of other queues are evicted for each other in a circle; "
        "other withinClusterQueue or reclaimWithinCohort break it",
        state->conf.node[gsim_kueue_job(ctx, slot)->queue].name, gsim_trace_id(trace, job));
}

bool gsim_kueue_withdraw(struct gsim_kueue_state *state, struct gsim_ctx *ctx) {
    bool has_withdrawn = false, leaves_another = false;
    for (uint32_t i = 0; state->has_withdrawals && i < state->n_admitted; i++) {
        enum gsim_kueue_phase phase = gsim_kueue_job(ctx, state->admitted[i])->phase;
        leaves_another |= phase == GSIM_KUEUE_EVICTED;
        if (phase != GSIM_KUEUE_WITHDRAWN)
            continue;
        withdraw(state, ctx, state->admitted[i--]); /* the last of the list stands here now */
        has_withdrawn = true;
    }
    state->has_withdrawals = false;
    return has_withdrawn && !leaves_another && ctx->status == GSIM_OK;
}

void gsim_kueue_evict(struct gsim_kueue_state *state, struct gsim_ctx *ctx, struct gsim_plan *plan,
                      gsim_slot slot) {
    struct gsim_kueue_job *job = gsim_kueue_job(ctx, slot);
    if (job->phase == GSIM_KUEUE_ADMITTED) {
        job->phase = GSIM_KUEUE_WITHDRAWN;
        state->has_withdrawals = true;
        gsim_index_remove(&state->waiting, slot); /* it is given no nodes */
        return;
    }
    job->phase = GSIM_KUEUE_EVICTED;
    stop(state, ctx, plan, slot);
}

void gsim_kueue_settle(struct gsim_kueue_state *state, struct gsim_ctx *ctx, struct gsim_plan *plan,
                       gsim_slot slot) {
    struct gsim_kueue_job *job = gsim_kueue_job(ctx, slot);
    bool has_left = gsim_common_waits(ctx->view, slot);
    if (job->phase == GSIM_KUEUE_EVICTED && has_left) {
        gsim_kueue_give_quota(state, ctx, slot);
        gsim_kueue_pend(state, ctx, slot);
    } else if (job->phase == GSIM_KUEUE_EVICTED) {
        stop(state, ctx, plan, slot);
    } else if (job->phase == GSIM_KUEUE_PLACED && has_left) { /* its node failed */
        wait_for_nodes(state, ctx, slot);
    }
}
