/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Classic preemption. Candidates are jobs of the own queue (withinClusterQueue) and of queues of
 * the cohort that use more than their quota (reclaimWithinCohort, borrowWithinCohort). They are
 * taken in the order: those that leave already, then by variant, then lowest priority, then latest
 * admission, until the job fits; then, backwards, each that is not needed stays. */
#include "policies/kueue/targets.h"

#include "policies/kueue/jobs.h"
#include "policies/kueue/quota.h"
#include "policies/lib/common.h"
#include "policies/lib/heap.h"

static bool uses_more(const struct gsim_kueue_state *state, uint32_t node, uint32_t flavor) {
    return gsim_kueue_quota_borrows(state, node, flavor, 0);
}

static void book(struct gsim_kueue_state *state, const struct gsim_ctx *ctx, gsim_slot slot,
                 int sign) {
    const struct gsim_kueue_job *job = gsim_kueue_job(ctx, slot);
    gsim_kueue_quota_use(state, job->queue, job->flavor,
                         sign * (int64_t)ctx->view->jobs.gpus[slot]);
}

void gsim_kueue_book_targets(struct gsim_kueue_state *state, const struct gsim_ctx *ctx,
                             uint32_t first, uint32_t n, int sign) {
    for (uint32_t t = first; t < first + n; t++)
        book(state, ctx, state->target[t], sign);
}

/* --- candidates ------------------------------------------------------------------------------- */

struct search {
    struct gsim_kueue_state *state;
    struct gsim_ctx *ctx;
    gsim_slot slot;
    const struct gsim_kueue_job *job;
    const struct gsim_kueue_node *queue;
    uint32_t flavor;
    int64_t gpus;
    uint32_t n_variant[GSIM_KUEUE_WITHIN + 1];
};

static bool is_low_enough(const struct search *s, enum gsim_kueue_preempt policy, gsim_slot other) {
    int64_t priority = gsim_kueue_job(s->ctx, other)->priority;
    bool is_lower = priority < s->job->priority;
    switch (policy) {
    case GSIM_KUEUE_LOWER_PRIORITY:
        return is_lower;
    case GSIM_KUEUE_LOWER_OR_NEWER_EQUAL:
        return is_lower || (priority == s->job->priority &&
                            gsim_kueue_job(s->ctx, other)->arrived_s > s->job->arrived_s);
    case GSIM_KUEUE_ANY:
        return true;
    default:
        return false;
    }
}

static bool is_ancestor(const struct gsim_kueue_state *state, uint32_t node, uint32_t of) {
    while (of != GSIM_KUEUE_NONE && of != node)
        of = state->conf.node[of].parent;
    return of == node;
}

/* Whether the job's queue, or a subtree of its below the cohort, has room of its own for the job:
 * its quota is nearer to the job than to what others borrow of it. */
static bool is_nearer(const struct search *s, uint32_t cohort) {
    int64_t gpus = s->gpus;
    for (uint32_t node = s->job->queue; node != cohort; node = s->state->conf.node[node].parent) {
        if (!gsim_kueue_quota_borrows(s->state, node, s->flavor, gpus))
            return true;
        gpus -= gsim_kueue_quota_own(s->state, node, s->flavor);
        gpus = gpus > 0 ? gpus : 0;
    }
    return false;
}

/* Whether each node from the queue up to the cohort uses more than its own quota. */
static bool borrows_up_to(const struct search *s, uint32_t queue, uint32_t cohort) {
    for (uint32_t node = queue; node != cohort; node = s->state->conf.node[node].parent)
        if (!uses_more(s->state, node, s->flavor))
            return false;
    return true;
}

static enum gsim_kueue_variant variant_of(const struct search *s, gsim_slot other,
                                          uint32_t cohort) {
    int64_t priority = gsim_kueue_job(s->ctx, other)->priority;
    if (is_nearer(s, cohort))
        return GSIM_KUEUE_BY_PLACE;
    return s->queue->borrows_by_force && priority < s->job->priority &&
                   priority <= s->queue->threshold
               ? GSIM_KUEUE_WHILE_BORROWING
               : GSIM_KUEUE_WITHOUT_BORROWING;
}

static void consider(struct search *s, gsim_slot other) {
    const struct gsim_kueue_job *job = gsim_kueue_job(s->ctx, other);
    bool is_own = job->queue == s->job->queue;
    uint32_t meets_at = s->queue->parent;
    if (job->flavor != s->flavor ||
        !is_low_enough(s, is_own ? s->queue->within : s->queue->reclaim, other))
        return;
    while (!is_own && meets_at != GSIM_KUEUE_NONE && !is_ancestor(s->state, meets_at, job->queue))
        meets_at = s->state->conf.node[meets_at].parent;
    if (!is_own && (meets_at == GSIM_KUEUE_NONE || !borrows_up_to(s, job->queue, meets_at)))
        return;
    enum gsim_kueue_variant variant = is_own ? GSIM_KUEUE_WITHIN : variant_of(s, other, meets_at);
    s->n_variant[variant]++;
    s->state->candidate[s->state->n_candidates++] =
        (struct gsim_kueue_candidate){.slot = other,
                                      .meets_at = meets_at,
                                      .variant = variant,
                                      .leaves = gsim_kueue_is_evicted(job),
                                      .priority = job->priority,
                                      .admitted_nth = job->admitted_nth};
}

static int group_of(const struct gsim_kueue_candidate *one) {
    return one->variant == GSIM_KUEUE_BY_PLACE ? 0 : one->variant == GSIM_KUEUE_WITHIN ? 2 : 1;
}

/* No two admissions have one number. */
static int by_order(const void *left, const void *right) {
    const struct gsim_kueue_candidate *a = left, *b = right;
    if (a->leaves != b->leaves)
        return a->leaves ? -1 : 1;
    if (group_of(a) != group_of(b))
        return group_of(a) - group_of(b);
    if (a->priority != b->priority)
        return a->priority < b->priority ? -1 : 1;
    return a->admitted_nth > b->admitted_nth ? -1 : a->admitted_nth < b->admitted_nth;
}

/* Sorts the candidates in descending order: the one to be evicted first stands last. */
static void put_in_order(const struct gsim_kueue_state *state) {
    struct gsim_heap heap = {state->candidate, state->n_candidates, sizeof *state->candidate,
                             by_order};
    gsim_heap_pile(&heap);
    while (heap.n > 0)
        (void)gsim_heap_take(&heap);
}

/* --- targets ---------------------------------------------------------------------------------- */

static bool fits(const struct search *s, bool may_borrow) {
    uint32_t queue = s->job->queue;
    return (may_borrow || !gsim_kueue_quota_borrows(s->state, queue, s->flavor, s->gpus)) &&
           s->gpus <= gsim_kueue_quota_left(s->state, queue, s->flavor);
}

/* What was evicted before may have brought the candidate's queue back to its quota. */
static bool is_valid(const struct search *s, const struct gsim_kueue_candidate *one,
                     bool may_borrow) {
    if (one->variant == GSIM_KUEUE_WITHIN)
        return true;
    return !(may_borrow && one->variant == GSIM_KUEUE_WITHOUT_BORROWING) &&
           borrows_up_to(s, gsim_kueue_job(s->ctx, one->slot)->queue, one->meets_at);
}

/* Leaves out the targets without which the job fits as well; the last one is needed. */
static uint32_t spare(const struct search *s, gsim_slot *target, uint32_t n, bool may_borrow) {
    for (uint32_t i = n - 1; i-- > 0;) {
        book(s->state, s->ctx, target[i], 1);
        if (fits(s, may_borrow))
            target[i] = target[--n];
        else
            book(s->state, s->ctx, target[i], -1);
    }
    return n;
}

static uint32_t attempt(const struct search *s, bool may_borrow) {
    struct gsim_kueue_state *state = s->state;
    gsim_slot *target = state->target + state->n_targets;
    uint32_t n = 0;
    bool is_enough = false;
    for (uint32_t c = state->n_candidates; c-- > 0 && !is_enough;) {
        if (!is_valid(s, &state->candidate[c], may_borrow))
            continue;
        target[n++] = state->candidate[c].slot;
        book(state, s->ctx, target[n - 1], -1);
        is_enough = fits(s, may_borrow);
    }
    uint32_t kept = is_enough ? spare(s, target, n, may_borrow) : 0;
    gsim_kueue_book_targets(state, s->ctx, state->n_targets, is_enough ? kept : n, 1);
    state->n_targets += kept;
    return kept;
}

/* Which attempts are made, in order: those of the algorithm's documentation. */
static uint32_t search_targets(const struct search *s) {
    bool is_without = !s->queue->borrows_by_force;
    bool is_below =
        s->state->use[(size_t)s->job->queue * s->state->conf.n_flavors + s->flavor].used <
        s->queue->quota[s->flavor].nominal;
    bool has_placed = s->n_variant[GSIM_KUEUE_BY_PLACE] > 0;
    bool has_others = s->state->n_candidates > s->n_variant[GSIM_KUEUE_WITHIN];
    if (!has_others || (is_without && !is_below))
        return attempt(s, true);
    bool first = !(is_without && !has_placed);
    uint32_t n = attempt(s, first);
    return n > 0 ? n : attempt(s, !first);
}

static bool reserve(struct gsim_kueue_state *state, struct gsim_ctx *ctx) {
    uint32_t needed = state->n_targets + state->n_admitted;
    if (needed <= state->targets_capacity)
        return true;
    gsim_slot *grown =
        gsim_arena_grow_raw(ctx->arena, state->target, 2 * (size_t)needed * sizeof *grown);
    if (!grown) {
        gsim_common_no_memory(ctx);
        return false;
    }
    state->target = grown;
    state->targets_capacity = 2 * needed;
    return true;
}

uint32_t gsim_kueue_find_targets(struct gsim_kueue_state *state, struct gsim_ctx *ctx,
                                 gsim_slot slot, uint32_t flavor) {
    const struct gsim_kueue_job *job = gsim_kueue_job(ctx, slot);
    struct search s = {.state = state,
                       .ctx = ctx,
                       .slot = slot,
                       .job = job,
                       .queue = &state->conf.node[job->queue],
                       .flavor = flavor,
                       .gpus = ctx->view->jobs.gpus[slot]};
    if ((s.queue->within == GSIM_KUEUE_NEVER && s.queue->reclaim == GSIM_KUEUE_NEVER) ||
        !reserve(state, ctx))
        return 0;
    state->n_candidates = 0;
    for (uint32_t i = 0; i < state->n_admitted; i++)
        consider(&s, state->admitted[i]);
    if (state->n_candidates == 0)
        return 0;
    put_in_order(state);
    return search_targets(&s);
}
