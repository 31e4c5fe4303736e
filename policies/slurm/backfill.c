/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slurm's sched/backfill (backfill.c): at each bf_interval where something has happened, up to
 * bf_max_job_test jobs in order. A job that fits now, until its limit, starts. Every other job is
 * planned for the earliest time at which running jobs' limits make room, on nodes that are then
 * kept from later jobs as a whole, as in Slurm's map of node space, from that time until the job's
 * limit, both cut down to bf_resolution. Times beyond bf_window are not planned. A job that a limit
 * on what jobs have holds back counts among those that were looked at; one that a limit on numbers
 * of jobs holds back does not. A job of a QOS with NoReserve gets no plan, and, where any job may
 * be preempted, is tested as one of a minute. */
#include "policies/lib/common.h"
#include "policies/slurm/limits.h"
#include "policies/slurm/nodes.h"
#include "policies/slurm/outlook.h"
#include "policies/slurm/passes.h"
#include "policies/slurm/ranking.h"
#include "policies/slurm/ways.h"

#include <string.h>

/* --- the earliest time ------------------------------------------------------------------------ */

static bool is_usable(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                      gsim_slot slot, uint32_t node, int64_t at_ns) {
    return gsim_slurm_nodes_has(state, gsim_slurm_job(ctx, slot)->way.set, node) &&
           !ctx->view->cluster.node_is_down[node] &&
           gsim_slurm_nodes_clear(state, ctx, slot, node, at_ns, at_ns) == at_ns;
}

/* Lists the node if the job can use GPUs of it at that time. */
static void offer_node(struct gsim_slurm_state *state, const struct gsim_ctx *ctx, gsim_slot slot,
                       uint32_t node, int64_t at_ns) {
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    if (!is_usable(state, ctx, slot, node, at_ns))
        return;
    state->usable[node] = gsim_slurm_outlook_free_at(state, ctx, job, node, at_ns);
    state->offered[state->n_offered++] = node;
}

/* The first time after at_ns at which a node may have become usable: a job ends, or a window. */
static int64_t next_change(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                           gsim_slot slot, int64_t at_ns) {
    uint32_t set = gsim_slurm_job(ctx, slot)->way.set;
    int64_t next_ns = GSIM_NEVER;
    for (uint32_t node = 0; node < state->n_nodes; node++) {
        if (!gsim_slurm_nodes_has(state, set, node))
            continue;
        for (uint32_t f = state->first_freeing[node]; f != GSIM_SLURM_NONE;
             f = state->freeing[f].next)
            if (state->freeing[f].end_ns > at_ns && state->freeing[f].end_ns < next_ns)
                next_ns = state->freeing[f].end_ns;
        for (uint32_t w = state->first_window[node]; w != GSIM_SLURM_NONE;
             w = state->window[w].next)
            if (state->window[w].to_ns > at_ns && state->window[w].to_ns < next_ns)
                next_ns = state->window[w].to_ns;
    }
    return next_ns;
}

/* The first time, of those up to last_ns, at which the job can use the first of the nodes; lists
 * the nodes that it can use then. */
static int64_t first_of_all(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                            gsim_slot slot, struct gsim_slurm_outlook *outlook, int64_t last_ns) {
    int64_t limit_ns = gsim_slurm_job(ctx, slot)->way.limit_ns, first_ns = GSIM_NEVER;
    struct gsim_slurm_walk walk = {limit_ns, {{0, 1}}, 1};
    uint32_t node;
    int64_t most_ns = last_ns;
    while ((node = gsim_slurm_outlook_next(state, outlook, &walk, most_ns)) != GSIM_SLURM_NONE) {
        int64_t when_ns = gsim_slurm_outlook_look(state, ctx, slot, outlook, node, most_ns);
        if (when_ns < first_ns)
            state->n_offered = 0;
        first_ns = gsim_slurm_least(when_ns, first_ns);
        if (when_ns != GSIM_NEVER)
            state->offered[state->n_offered++] = node;
        most_ns = gsim_slurm_least(first_ns, last_ns);
    }
    return first_ns;
}

/* A job for which there was no time: none has a longer one, and where no node has room, none. */
static void note_none(const struct gsim_slurm_state *state, struct gsim_slurm_outlook *outlook,
                      int64_t limit_ns, int64_t last_ns) {
    if (outlook->times[1].first_ns > last_ns)
        outlook->none_from_limit_ns = 0;
    else if (state->conf.n_reservations == 0)
        outlook->none_from_limit_ns = limit_ns;
}

/* A job of one node starts when the first node can be used. Fills in what it could have by then of
 * the nodes that have room for it; GSIM_NEVER: none has. */
static int64_t earliest_of_one(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                               gsim_slot slot, int64_t last_ns) {
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    struct gsim_slurm_outlook *outlook = gsim_slurm_outlook_of(state, ctx, slot);
    if (job->way.limit_ns >= outlook->none_from_limit_ns)
        return GSIM_NEVER;
    int64_t first_ns = first_of_all(state, ctx, slot, outlook, last_ns);
    if (first_ns == GSIM_NEVER) {
        note_none(state, outlook, job->way.limit_ns, last_ns);
        return GSIM_NEVER;
    }
    memset(state->usable, 0, state->n_nodes * sizeof *state->usable);
    for (uint32_t i = 0; i < state->n_offered; i++)
        state->usable[state->offered[i]] =
            gsim_slurm_outlook_free_at(state, ctx, job, state->offered[i], first_ns);
    return first_ns;
}

/* A job of several nodes, and the times within which it is looked for a start. */
struct search {
    gsim_slot slot;
    struct gsim_slurm_outlook *outlook;
    int64_t from_ns, last_ns;
};

/* When, of the times up to most_ns, the job can have its part of the node. */
static int64_t part_from(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                         const struct search *search, uint32_t node, int64_t most_ns) {
    int64_t when_ns =
        gsim_slurm_outlook_look(state, ctx, search->slot, search->outlook, node, most_ns);
    return when_ns >= search->from_ns
               ? when_ns
               : gsim_slurm_nodes_clear(state, ctx, search->slot, node, search->from_ns, most_ns);
}

/* Adds a time to the n least ones, of which there are up to `most`, as a heap with the greatest
 * first, in place of that one where it is full. Returns how many there are. */
static uint32_t keep_least(int64_t *heap, uint32_t n, uint32_t most, int64_t time_ns) {
    uint32_t at = n < most ? n : 0, above, below;
    for (; at > 0 && heap[above = (at - 1) / 2] < time_ns; at = above)
        heap[at] = heap[above];
    for (; n == most && (below = 2 * at + 1) < n; at = below) {
        below += below + 1 < n && heap[below + 1] > heap[below];
        if (heap[below] <= time_ns)
            break;
        heap[at] = heap[below];
    }
    heap[at] = time_ns;
    return n < most ? n + 1 : n;
}

/* No sooner than this time, from from_ns on, a job of several nodes can start: as many nodes as it
 * takes as a whole, or asked for, can be used then. What jobs like it found rules out most of the
 * nodes. */
static int64_t bound(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                     const struct search *search) {
    const struct gsim_slurm_way *way = &gsim_slurm_job(ctx, search->slot)->way;
    uint32_t n = way->n_nodes > 0 ? way->n_nodes : ctx->view->jobs.gpus[search->slot] / way->widest;
    if (way->is_spread || search->from_ns > search->last_ns)
        return search->from_ns;
    if (n > state->n_nodes)
        return GSIM_NEVER;
    struct gsim_slurm_walk walk = {way->limit_ns, {{0, 1}}, 1};
    int64_t most_ns = search->last_ns; /* a later node makes the job start no sooner */
    uint32_t n_found = 0, node;
    while (most_ns >= search->from_ns &&
           (node = gsim_slurm_outlook_next(state, search->outlook, &walk, most_ns)) !=
               GSIM_SLURM_NONE) {
        int64_t when_ns = part_from(state, ctx, search, node, most_ns);
        if (when_ns > most_ns)
            continue;
        n_found = keep_least(state->in_order, n_found, n, when_ns);
        if (n_found == n)
            most_ns = state->in_order[0] - 1;
    }
    return n_found == n ? state->in_order[0] : GSIM_NEVER;
}

/* Whether the job takes no less of a node than the part for which the outlook has times. */
static bool takes_equal_parts(const struct gsim_slurm_state *state,
                              const struct gsim_slurm_way *way, uint32_t gpus) {
    if (way->n_nodes > 0)
        return gpus % way->n_nodes == 0;
    return !way->is_spread && state->has_one_width && way->widest == state->widest_node &&
           gpus % way->widest == 0;
}

/* Finds out what the job could have of each node at that time, or of those on which it could have
 * its part. */
static void look_at_nodes(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                          const struct search *search, int64_t at_ns) {
    const struct gsim_slurm_way *way = &gsim_slurm_job(ctx, search->slot)->way;
    uint32_t gpus = ctx->view->jobs.gpus[search->slot], node;
    memset(state->usable, 0, state->n_nodes * sizeof *state->usable);
    state->n_offered = 0;
    if (takes_equal_parts(state, way, gpus)) {
        struct gsim_slurm_walk walk = {way->limit_ns, {{0, 1}}, 1};
        while ((node = gsim_slurm_outlook_next(state, search->outlook, &walk, at_ns)) !=
               GSIM_SLURM_NONE)
            offer_node(state, ctx, search->slot, node, at_ns);
    } else {
        for (node = 0; node < state->n_nodes; node++)
            offer_node(state, ctx, search->slot, node, at_ns);
    }
}

static bool choose_offered(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                           gsim_slot slot) {
    return gsim_slurm_nodes_choose_of(state, gsim_slurm_job(ctx, slot), ctx->view->jobs.gpus[slot],
                                      state->usable, state->offered, state->n_offered);
}

/* A job of several nodes starts when enough of them can be used at once; chooses the nodes.
 * GSIM_NEVER: there is no such time up to last_ns. */
static int64_t earliest_of_several(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                                   gsim_slot slot, int64_t last_ns) {
    struct search search = {slot, gsim_slurm_outlook_of(state, ctx, slot), ctx->view->now_ns,
                            last_ns};
    int64_t at_ns;
    while ((at_ns = bound(state, ctx, &search)) <= last_ns) {
        look_at_nodes(state, ctx, &search, at_ns);
        if (choose_offered(state, ctx, slot))
            break;
        search.from_ns = next_change(state, ctx, slot, at_ns);
    }
    return at_ns <= last_ns ? at_ns : GSIM_NEVER;
}

/* Finds the earliest time within bf_window, and chooses the nodes; GSIM_NEVER: there is none. */
static int64_t earliest(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                        gsim_slot slot) {
    int64_t last_ns = ctx->view->now_ns + state->conf.bf_window_ns;
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    if (ctx->view->jobs.gpus[slot] > job->way.widest || job->way.n_nodes > 1)
        return earliest_of_several(state, ctx, slot, last_ns);
    int64_t at_ns = earliest_of_one(state, ctx, slot, last_ns);
    return at_ns != GSIM_NEVER && choose_offered(state, ctx, slot) ? at_ns : GSIM_NEVER;
}

/* --- the pass --------------------------------------------------------------------------------- */

static bool plan_nodes(struct gsim_slurm_state *state, struct gsim_ctx *ctx, gsim_slot slot,
                       int64_t at_ns) {
    int64_t step_ns = state->conf.bf_resolution_ns, now_ns = ctx->view->now_ns;
    int64_t end_ns = at_ns + gsim_slurm_job(ctx, slot)->way.limit_ns;
    int64_t from_ns = at_ns - at_ns % step_ns > now_ns ? at_ns - at_ns % step_ns : now_ns;
    int64_t to_ns = end_ns - end_ns % step_ns;
    if (to_ns < from_ns + step_ns)
        to_ns = from_ns + step_ns;
    for (uint32_t i = 0; i < state->n_chosen; i++) {
        state->has_taken |= state->node[state->chosen[i]].free.gpus > 0;
        if (!gsim_slurm_nodes_plan(state, ctx, state->chosen[i], from_ns, to_ns, GSIM_SLURM_NONE))
            return false;
    }
    return true;
}

/* Whether bf_max_job_user jobs of the user, or bf_max_job_part in the partition, were looked at;
 * else counts the job. */
static bool has_had_enough(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                           gsim_slot slot) {
    const struct gsim_slurm *conf = &state->conf;
    int64_t user = gsim_trace_get(ctx->view->trace, GSIM_COL_USER, ctx->view->jobs.index[slot]) + 1;
    uint32_t *of_user = &state->user_tests[user];
    uint32_t *of_part = &state->part_tests[gsim_slurm_job(ctx, slot)->way.partition];
    if ((conf->bf_user_tests > 0 && *of_user >= conf->bf_user_tests) ||
        (conf->bf_part_tests > 0 && *of_part >= conf->bf_part_tests))
        return true;
    ++*of_user;
    ++*of_part;
    return false;
}

/* Whether backfill plans for the job: not before it has waited, or where its priority is low. */
static bool gets_plans(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                       const struct gsim_slurm_entry *entry) {
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, entry->slot);
    return ctx->view->now_ns - job->eligible_ns >= state->conf.bf_min_age_ns &&
           gsim_slurm_ranking_priority(entry) >= state->conf.bf_min_priority;
}

static bool is_standby(const struct gsim_slurm_state *state, const struct gsim_slurm_job *job) {
    return job->qos != GSIM_SLURM_NONE && state->conf.qos[job->qos].plans_nothing;
}

static int64_t limit_of_test(const struct gsim_slurm_state *state,
                             const struct gsim_slurm_job *job) {
    bool is_brief = is_standby(state, job) && state->conf.mode != GSIM_SLURM_PREEMPT_OFF;
    return is_brief ? 60 * GSIM_NS_PER_S : job->way.limit_ns;
}

/* The earliest time for a way of the job; sets the way's limit to that of the test. */
static int64_t earliest_of_way(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                               gsim_slot slot, uint32_t choice) {
    struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    gsim_slurm_ways_load(state, job, choice);
    int64_t limit_ns = job->way.limit_ns;
    job->way.limit_ns = limit_of_test(state, job);
    int64_t at_ns = earliest(state, ctx, slot);
    job->way.limit_ns = limit_ns;
    return at_ns;
}

/* The earliest time over the ways of an entry, of which the job gets the one. */
static int64_t earliest_of_ways(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                                const struct gsim_slurm_entry *entry) {
    uint32_t found = entry->first_choice, choice = entry->first_choice;
    int64_t first_ns = GSIM_NEVER;
    do {
        int64_t at_ns = earliest_of_way(state, ctx, entry->slot, choice);
        found = at_ns < first_ns ? choice : found;
        first_ns = at_ns < first_ns ? at_ns : first_ns;
        choice = gsim_slurm_ways_next(state, choice);
    } while (choice != GSIM_SLURM_NONE);
    if (first_ns == GSIM_NEVER ||
        gsim_slurm_ways_next(state, entry->first_choice) == GSIM_SLURM_NONE)
        return first_ns;
    /* the nodes chosen are those of this way again */
    return earliest_of_way(state, ctx, entry->slot, found);
}

/* The bit of the entry's partition among those that its job names; those beyond 64 share one. */
static uint64_t bit_of(const struct gsim_slurm_entry *entry) {
    return UINT64_C(1) << (entry->nth < 64 ? entry->nth : 63);
}

/* Of an array a pass plans no more than bf_max_job_array_resv tasks, and looks at the next task of
 * a partition only behind one that has started, or was planned and was not the last of these: tasks
 * ask for as much as each other. */
static bool is_planned(struct gsim_slurm_state *state, const struct gsim_slurm_entry *entry,
                       uint32_t array) {
    if (array == GSIM_SLURM_NONE)
        return true;
    int64_t n = ++state->array_plans[array];
    if (n < state->conf.bf_array_plans)
        state->array_is_done[array] &= ~bit_of(entry);
    return n <= state->conf.bf_array_plans;
}

static bool start(struct gsim_slurm_state *state, struct gsim_ctx *ctx, struct gsim_plan *plan,
                  const struct gsim_slurm_entry *entry) {
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, entry->slot);
    if (!gsim_slurm_place(state, ctx, plan, entry->slot))
        return false;
    state->has_taken = true;
    /* with shards another job of the GPU may no longer be the last to end there */
    if (job->share_ppm == 0)
        gsim_slurm_outlook_start(state, ctx, entry->slot);
    else if (!gsim_slurm_outlook_open(state, ctx))
        gsim_common_no_memory(ctx);
    if (job->array != GSIM_SLURM_NONE)
        state->array_is_done[job->array] &= ~bit_of(entry);
    return true;
}

/* Whether the job starts. */
static bool try_job(struct gsim_slurm_state *state, struct gsim_ctx *ctx, struct gsim_plan *plan,
                    const struct gsim_slurm_entry *entry) {
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, entry->slot);
    if (job->array != GSIM_SLURM_NONE)
        state->array_is_done[job->array] |= bit_of(entry);
    if (!gsim_slurm_limits_let(state, ctx, entry->slot, GSIM_SLURM_LIMITS_OF_TRES))
        return false;
    int64_t at_ns = earliest_of_ways(state, ctx, entry);
    if (at_ns == ctx->view->now_ns && start(state, ctx, plan, entry))
        return true;
    if (at_ns != GSIM_NEVER && at_ns > ctx->view->now_ns && !is_standby(state, job) &&
        gets_plans(state, ctx, entry) && is_planned(state, entry, job->array) &&
        !plan_nodes(state, ctx, entry->slot, at_ns))
        gsim_common_no_memory(ctx);
    return false;
}

/* Whether the entry is a task of an array of which the pass looks at no more. */
static bool is_passed_over(const struct gsim_slurm_state *state,
                           const struct gsim_slurm_entry *entry) {
    return entry->array != GSIM_SLURM_NONE && state->array_is_done[entry->array] & bit_of(entry);
}

static bool is_tried(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                     const struct gsim_slurm_entry *entry) {
    gsim_slurm_ways_load(state, gsim_slurm_job(ctx, entry->slot), entry->first_choice);
    return gsim_slurm_limits_let_array(state, ctx, entry->slot) &&
           gsim_slurm_limits_let(state, ctx, entry->slot, GSIM_SLURM_LIMITS_OF_JOBS) &&
           !has_had_enough(state, ctx, entry->slot);
}

/* Whether enough nodes have room now for the job's way, until its limit. */
static bool has_room_now(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                         gsim_slot slot) {
    const struct gsim_slurm_way *way = &gsim_slurm_job(ctx, slot)->way;
    uint32_t gpus = ctx->view->jobs.gpus[slot];
    if (way->is_spread)
        return gsim_slurm_nodes_have_room(state, ctx, slot, 1, 1);
    if (way->n_nodes > 0)
        return gsim_slurm_nodes_have_room(state, ctx, slot, way->n_nodes, gpus / way->n_nodes);
    return gpus > way->widest ? gsim_slurm_nodes_have_room(state, ctx, slot, gpus / way->widest, 0)
                              : gsim_slurm_nodes_have_room(state, ctx, slot, 1, gpus);
}

static bool could_start(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                        const struct gsim_slurm_entry *entry) {
    struct gsim_slurm_job *job = gsim_slurm_job(ctx, entry->slot);
    uint32_t choice = entry->first_choice;
    if (entry->part > state->most_free[entry->partition] || job->running_at != GSIM_SLURM_NONE)
        return false;
    do {
        gsim_slurm_ways_load(state, job, choice);
        int64_t limit_ns = job->way.limit_ns;
        job->way.limit_ns = limit_of_test(state, job);
        bool has_room = has_room_now(state, ctx, entry->slot);
        job->way.limit_ns = limit_ns;
        if (has_room)
            return true;
        choice = gsim_slurm_ways_next(state, choice);
    } while (choice != GSIM_SLURM_NONE);
    return false;
}

/* Entries of the order up to which a pass goes on: of those from begin to last, the ones from end
 * on cannot start, nor could those before them. */
struct ahead {
    uint32_t begin, end, last;
};

/* Whether a job from there on in the order may start: the plans of a pass are for nothing else. In
 * a pass jobs start and are planned, so that a job without room now gets none. As many are looked
 * at together as may be tested yet, since a pass hardly comes to those behind. With shards, a job
 * that starts opens its GPU to others. */
static bool may_start_one(struct gsim_slurm_state *state, const struct gsim_ctx *ctx, uint32_t from,
                          uint32_t n_tests, struct ahead *ahead) {
    if (state->has_shards)
        return from < state->n_order;
    if (!state->has_taken && ahead->end > from)
        return true;
    state->has_taken = false;
    for (uint32_t p = 0; p < state->conf.n_partitions; p++)
        state->most_free[p] = state->waiting_in[p] > 0 ? gsim_slurm_nodes_most_free(state, p) : 0;
    for (;;) {
        uint32_t begin = ahead->begin > from ? ahead->begin : from;
        while (ahead->end > begin && !could_start(state, ctx, &state->order[ahead->end - 1]))
            ahead->end--;
        if (ahead->end > begin || ahead->last == state->n_order)
            return ahead->end > begin;
        ahead->begin = ahead->last;
        ahead->last +=
            state->n_order - ahead->last < n_tests ? state->n_order - ahead->last : n_tests;
        ahead->end = ahead->last;
    }
}

/* How many jobs the pass may look at yet; 0: none. */
static uint32_t tests_left(const struct gsim_slurm_state *state, int64_t n_tests) {
    int64_t most = state->conf.bf_tests;
    if (most == 0 || most - n_tests > state->n_order)
        return state->n_order;
    return most > n_tests ? (uint32_t)(most - n_tests) : 0;
}

void gsim_slurm_backfill_pass(struct gsim_slurm_state *state, struct gsim_ctx *ctx,
                              struct gsim_plan *plan) {
    const struct gsim_slurm *conf = &state->conf;
    int64_t n_tests = 0, n_starts = 0;
    uint32_t kept = 0, i = 0, n_left;
    struct ahead ahead = {0, 0, 0};
    state->has_changed = false;
    state->backfilled_ns = ctx->view->now_ns;
    memset(state->user_tests, 0, state->n_users * sizeof *state->user_tests);
    memset(state->part_tests, 0, conf->n_partitions * sizeof *state->part_tests);
    memset(state->array_plans, 0, state->n_arrays * sizeof *state->array_plans);
    memset(state->array_is_done, 0, state->n_arrays * sizeof *state->array_is_done);
    gsim_slurm_nodes_drop_plans(state, ctx);
    gsim_slurm_nodes_look(state, ctx);
    if (!gsim_slurm_outlook_open(state, ctx))
        gsim_common_no_memory(ctx);
    for (; (n_left = tests_left(state, n_tests)) > 0 &&
           may_start_one(state, ctx, i, n_left, &ahead) &&
           (state->has_shards || ctx->view->cluster.n_idle_gpus > 0) && ctx->status == GSIM_OK &&
           (conf->bf_starts == 0 || n_starts < conf->bf_starts);
         i++) {
        const struct gsim_slurm_entry *entry = &state->order[i];
        bool is_over = is_passed_over(state, entry);
        bool has_started =
            !is_over && gsim_slurm_job(ctx, entry->slot)->running_at != GSIM_SLURM_NONE;
        bool is_looked_at = !is_over && !has_started && is_tried(state, ctx, entry);
        bool starts = is_looked_at && try_job(state, ctx, plan, entry);
        n_tests += is_looked_at;
        n_starts += starts;
        if (starts || has_started)
            gsim_slurm_ways_leave(state, entry);
        else
            state->order[kept++] = *entry;
    }
    gsim_slurm_ranking_drop(state, kept, i);
    gsim_slurm_ways_tidy(state, ctx);
}
