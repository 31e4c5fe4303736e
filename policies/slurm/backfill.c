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
#include "policies/slurm/passes.h"
#include "policies/slurm/ranking.h"
#include "policies/slurm/shards.h"
#include "policies/slurm/ways.h"

#include <string.h>

/* Of a tree of up to 2^32 leaves, of which two for each level wait. */
enum { MOST_BRANCHES = 64 };

/* --- what running jobs free, and when --------------------------------------------------------- */

static bool reserve(struct gsim_slurm_state *state, struct gsim_ctx *ctx) {
    uint32_t n = ctx->view->cluster.n_gpus + state->n_running + 1;
    if (state->freeing_capacity >= n)
        return true;
    state->freeing = gsim_arena_array(ctx->arena, n, sizeof *state->freeing);
    state->freeing_capacity = state->freeing ? n : 0;
    return state->freeing != NULL;
}

/* Adds what a job frees to the lists of its nodes, each in the order of ends. */
static void add_ending(struct gsim_slurm_state *state, struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    int64_t end_ns = gsim_slurm_end_of(state, ctx, slot);
    bool frees_gpu = job->share_ppm > 0 && gsim_slurm_shards_end_last(state, ctx, slot);
    for (uint32_t p = job->first_piece;
         p != GSIM_SLURM_NONE && state->n_freeing < state->freeing_capacity;
         p = state->piece[p].next) {
        uint32_t *link = &state->first_freeing[state->piece[p].node];
        while (*link != GSIM_SLURM_NONE && state->freeing[*link].end_ns < end_ns)
            link = &state->freeing[*link].next;
        if (*link == GSIM_SLURM_NONE || state->freeing[*link].end_ns != end_ns) {
            state->freeing[state->n_freeing] =
                (struct gsim_slurm_freeing){.end_ns = end_ns, .next = *link};
            *link = state->n_freeing++;
        }
        gsim_slurm_nodes_add(&state->freeing[*link].room, job, state->piece[p].gpus, 1);
        state->freeing[*link].room.gpus += frees_gpu;
    }
}

/* A job that starts in a pass has taken room of its nodes. */
static void forget_room(struct gsim_slurm_state *state, const struct gsim_slurm_job *job) {
    for (uint32_t i = 0; i < state->n_outlooks && i < GSIM_SLURM_OUTLOOKS; i++)
        for (uint32_t p = job->first_piece; p != GSIM_SLURM_NONE; p = state->piece[p].next)
            state->outlook[i].knows_room[state->piece[p].node] = false;
}

static bool foresee(struct gsim_slurm_state *state, struct gsim_ctx *ctx) {
    memset(state->first_freeing, 0xff, state->n_nodes * sizeof *state->first_freeing);
    state->n_freeing = state->n_outlooks = 0;
    if (!reserve(state, ctx))
        return false;
    for (uint32_t i = 0; i < state->n_running; i++)
        add_ending(state, ctx, state->running[i]);
    return true;
}

/* How many GPUs of the node the job could have by then. */
static uint32_t free_at(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                        const struct gsim_slurm_job *job, uint32_t node, int64_t at_ns) {
    struct gsim_slurm_room room = state->node[node].free;
    for (uint32_t f = state->first_freeing[node];
         f != GSIM_SLURM_NONE && state->freeing[f].end_ns <= at_ns; f = state->freeing[f].next)
        gsim_slurm_nodes_join(&room, &state->freeing[f].room);
    return gsim_slurm_nodes_fit_at(state, ctx, job, node, &room, at_ns);
}

/* When the job could have that number of the node's GPUs; GSIM_NEVER: not by any job's end. */
static int64_t free_from(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                         const struct gsim_slurm_job *job, uint32_t node, uint32_t gpus) {
    struct gsim_slurm_room room = state->node[node].free;
    int64_t at_ns = ctx->view->now_ns;
    for (uint32_t f = state->first_freeing[node];
         gsim_slurm_nodes_fit_at(state, ctx, job, node, &room, at_ns) < gpus;
         f = state->freeing[f].next) {
        if (f == GSIM_SLURM_NONE)
            return GSIM_NEVER;
        gsim_slurm_nodes_join(&room, &state->freeing[f].room);
        at_ns = state->freeing[f].end_ns;
    }
    return at_ns;
}

/* --- the earliest time ------------------------------------------------------------------------ */

static bool is_usable(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                      gsim_slot slot, uint32_t node, int64_t at_ns) {
    return gsim_slurm_nodes_has(state, gsim_slurm_job(ctx, slot)->way.set, node) &&
           !ctx->view->cluster.node_is_down[node] &&
           gsim_slurm_nodes_clear(state, ctx, slot, node, at_ns, at_ns) == at_ns;
}

static void look_at_nodes(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                          gsim_slot slot, int64_t at_ns) {
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    for (uint32_t node = 0; node < state->n_nodes; node++)
        state->usable[node] =
            is_usable(state, ctx, slot, node, at_ns) ? free_at(state, ctx, job, node, at_ns) : 0;
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

/* The first time at which the job could have that number of the node's GPUs if none were planned
 * for other jobs; GSIM_NEVER: none. */
static int64_t room_from(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                         gsim_slot slot, uint32_t node, uint32_t gpus) {
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    if (!gsim_slurm_nodes_has(state, job->way.set, node) || ctx->view->cluster.node_is_down[node])
        return GSIM_NEVER;
    return free_from(state, ctx, job, node, gpus);
}

/* The time before which none of the outlook's jobs starts on the node. */
static int64_t from_of(const struct gsim_slurm_state *state,
                       const struct gsim_slurm_outlook *outlook, uint32_t node) {
    return outlook->from_ns[state->n_leaves + node];
}

static void clear_from(const struct gsim_slurm_state *state, struct gsim_slurm_outlook *outlook) {
    uint32_t n = state->n_leaves;
    for (uint32_t leaf = 0; leaf < n; leaf++)
        outlook->from_ns[n + leaf] = leaf < state->n_nodes ? 0 : GSIM_NEVER;
    for (uint32_t at = n - 1; at > 0; at--)
        outlook->from_ns[at] =
            gsim_slurm_least(outlook->from_ns[2 * at], outlook->from_ns[2 * at + 1]);
}

static void set_from(const struct gsim_slurm_state *state, struct gsim_slurm_outlook *outlook,
                     uint32_t node, int64_t from_ns) {
    int64_t *tree = outlook->from_ns;
    uint32_t at = state->n_leaves + node;
    tree[at] = from_ns;
    for (at /= 2; at > 0; at /= 2) {
        int64_t least_ns = gsim_slurm_least(tree[2 * at], tree[2 * at + 1]);
        if (tree[at] == least_ns)
            break;
        tree[at] = least_ns;
    }
}

/* The times before which jobs that ask for as much as this one find no room on a node: in a pass
 * jobs start and are planned, so that these times only grow. */
static struct gsim_slurm_outlook *outlook_of(struct gsim_slurm_state *state,
                                             const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    uint32_t gpus = ctx->view->jobs.gpus[slot];
    for (uint32_t i = 0; i < state->n_outlooks && i < GSIM_SLURM_OUTLOOKS; i++) {
        struct gsim_slurm_outlook *known = &state->outlook[i];
        if (known->set == job->way.set && known->gpus == gpus &&
            known->share_ppm == job->share_ppm && known->n_nodes == job->way.n_nodes &&
            known->each.cpus_milli == job->way.each.cpus_milli &&
            known->each.mem_bytes == job->way.each.mem_bytes)
            return known;
    }
    struct gsim_slurm_outlook *own = &state->outlook[state->n_outlooks++ % GSIM_SLURM_OUTLOOKS];
    own->set = job->way.set;
    own->gpus = gpus;
    own->share_ppm = job->share_ppm;
    own->n_nodes = job->way.n_nodes;
    own->each = job->way.each;
    own->none_from_limit_ns = GSIM_NEVER;
    clear_from(state, own);
    memset(own->knows_room, 0, state->n_nodes * sizeof *own->knows_room);
    memset(own->clear_ns, 0, state->n_nodes * sizeof *own->clear_ns);
    return own;
}

/* The time before which a job does not start on the node: a gap between plans that was too short
 * for one job is too short for all that take as long or longer. */
static int64_t bound_of(const struct gsim_slurm_state *state,
                        const struct gsim_slurm_outlook *outlook, uint32_t node, int64_t limit_ns) {
    return limit_ns >= outlook->limit_ns[node] ? outlook->clear_ns[node]
                                               : from_of(state, outlook, node);
}

/* The first time, of those up to most_ns, at which the job can use that number of the node's GPUs;
 * GSIM_NEVER: none. What a reservation does depends on the job's user, so that it says nothing of
 * others. */
static int64_t look_at_node(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                            gsim_slot slot, struct gsim_slurm_outlook *outlook, uint32_t node,
                            uint32_t gpus, int64_t most_ns) {
    int64_t free_ns = outlook->knows_room[node] ? from_of(state, outlook, node)
                                                : room_from(state, ctx, slot, node, gpus);
    int64_t from_ns = gsim_slurm_nodes_unplanned(state, node, free_ns);
    outlook->knows_room[node] = true;
    int64_t clear_ns = gsim_slurm_nodes_clear(state, ctx, slot, node, from_ns, most_ns);
    set_from(state, outlook, node, from_ns);
    outlook->limit_ns[node] = gsim_slurm_job(ctx, slot)->way.limit_ns;
    outlook->clear_ns[node] = state->conf.n_reservations == 0 ? clear_ns : from_ns;
    return clear_ns > most_ns ? GSIM_NEVER : clear_ns;
}

/* Branches of an outlook's tree that are still to be seen. */
struct walk {
    uint32_t branch[MOST_BRANCHES], n;
};

/* The next node on which jobs of the outlook may start by then, GSIM_SLURM_NONE: there is none. Of
 * two branches that of the node that may be sooner comes first: its time rules out most of the
 * others. */
static uint32_t next_node(const struct gsim_slurm_state *state,
                          const struct gsim_slurm_outlook *outlook, struct walk *walk,
                          int64_t most_ns) {
    while (walk->n > 0) {
        uint32_t at = walk->branch[--walk->n];
        if (outlook->from_ns[at] > most_ns)
            continue;
        if (at >= state->n_leaves)
            return at - state->n_leaves;
        bool is_left = outlook->from_ns[2 * at] <= outlook->from_ns[2 * at + 1];
        walk->branch[walk->n++] = 2 * at + is_left;
        walk->branch[walk->n++] = 2 * at + !is_left;
    }
    return GSIM_SLURM_NONE;
}

/* The first time, of those up to last_ns, at which the job can use the first of the nodes; lists
 * the nodes that it can use then. */
static int64_t first_of_all(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                            gsim_slot slot, struct gsim_slurm_outlook *outlook, int64_t last_ns) {
    int64_t limit_ns = gsim_slurm_job(ctx, slot)->way.limit_ns, first_ns = GSIM_NEVER;
    struct walk walk = {{1}, 1};
    uint32_t node;
    while ((node = next_node(state, outlook, &walk, gsim_slurm_least(first_ns, last_ns))) !=
           GSIM_SLURM_NONE) {
        int64_t most_ns = gsim_slurm_least(first_ns, last_ns);
        if (bound_of(state, outlook, node, limit_ns) > most_ns)
            continue;
        int64_t when_ns = look_at_node(state, ctx, slot, outlook, node, outlook->gpus, most_ns);
        if (when_ns < first_ns)
            state->n_soonest = 0;
        first_ns = gsim_slurm_least(when_ns, first_ns);
        if (when_ns != GSIM_NEVER)
            state->soonest[state->n_soonest++] = node;
    }
    return first_ns;
}

/* A job for which there was no time: none has a longer one, and where no node has room, none. */
static void note_none(const struct gsim_slurm_state *state, struct gsim_slurm_outlook *outlook,
                      int64_t limit_ns, int64_t last_ns) {
    if (outlook->from_ns[1] > last_ns)
        outlook->none_from_limit_ns = 0;
    else if (state->conf.n_reservations == 0)
        outlook->none_from_limit_ns = limit_ns;
}

/* A job of one node starts when the first node can be used. Fills in what it could have by then of
 * the nodes that have room for it; GSIM_NEVER: none has. */
static int64_t earliest_of_one(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                               gsim_slot slot, int64_t last_ns) {
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    struct gsim_slurm_outlook *outlook = outlook_of(state, ctx, slot);
    if (job->way.limit_ns >= outlook->none_from_limit_ns)
        return GSIM_NEVER;
    int64_t first_ns = first_of_all(state, ctx, slot, outlook, last_ns);
    if (first_ns == GSIM_NEVER) {
        note_none(state, outlook, job->way.limit_ns, last_ns);
        return GSIM_NEVER;
    }
    memset(state->usable, 0, state->n_nodes * sizeof *state->usable);
    for (uint32_t i = 0; i < state->n_soonest; i++)
        state->usable[state->soonest[i]] = free_at(state, ctx, job, state->soonest[i], first_ns);
    return first_ns;
}

/* A job of several nodes, and the times within which it is looked for a start. */
struct search {
    gsim_slot slot;
    struct gsim_slurm_outlook *outlook;
    int64_t from_ns, last_ns;
};

/* What the job takes at least of each node of those that it asked for, or takes as a whole. */
static uint32_t part_of(const struct gsim_slurm_state *state, const struct gsim_slurm_way *way,
                        uint32_t gpus, uint32_t node) {
    return way->n_nodes > 0 ? gpus / way->n_nodes : state->node[node].n_gpus;
}

/* When, of the times up to most_ns, the job can have its part of the node. */
static int64_t part_from(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                         const struct search *search, uint32_t node, int64_t most_ns) {
    const struct gsim_slurm_way *way = &gsim_slurm_job(ctx, search->slot)->way;
    uint32_t part = part_of(state, way, search->outlook->gpus, node);
    if (bound_of(state, search->outlook, node, way->limit_ns) > most_ns)
        return GSIM_NEVER;
    int64_t when_ns = look_at_node(state, ctx, search->slot, search->outlook, node, part, most_ns);
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
    uint32_t n = way->n_nodes > 0 ? way->n_nodes : search->outlook->gpus / way->widest;
    if (way->is_spread || search->from_ns > search->last_ns)
        return search->from_ns;
    if (n > state->n_nodes)
        return GSIM_NEVER;
    struct walk walk = {{1}, 1};
    int64_t most_ns = search->last_ns; /* a later node makes the job start no sooner */
    uint32_t n_found = 0, node;
    while (most_ns >= search->from_ns &&
           (node = next_node(state, search->outlook, &walk, most_ns)) != GSIM_SLURM_NONE) {
        int64_t when_ns = part_from(state, ctx, search, node, most_ns);
        if (when_ns > most_ns)
            continue;
        n_found = keep_least(state->in_order, n_found, n, when_ns);
        if (n_found == n)
            most_ns = state->in_order[0] - 1;
    }
    return n_found == n ? state->in_order[0] : GSIM_NEVER;
}

/* A job of several nodes starts when enough of them can be used at once. Fills in what it could
 * have of each node by then; GSIM_NEVER: there is no such time up to last_ns. */
static int64_t earliest_of_several(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                                   gsim_slot slot, int64_t last_ns) {
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    struct search search = {slot, outlook_of(state, ctx, slot), ctx->view->now_ns, last_ns};
    int64_t at_ns;
    while ((at_ns = bound(state, ctx, &search)) <= last_ns) {
        look_at_nodes(state, ctx, slot, at_ns);
        if (gsim_slurm_nodes_choose(state, job, search.outlook->gpus, state->usable))
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
    uint32_t gpus = ctx->view->jobs.gpus[slot];
    if (gpus > job->way.widest || job->way.n_nodes > 1)
        return earliest_of_several(state, ctx, slot, last_ns);
    int64_t at_ns = earliest_of_one(state, ctx, slot, last_ns);
    bool has = at_ns != GSIM_NEVER && gsim_slurm_nodes_choose_of(state, gpus, state->usable,
                                                                 state->soonest, state->n_soonest);
    return has ? at_ns : GSIM_NEVER;
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
    for (uint32_t i = 0; i < state->n_chosen; i++)
        if (!gsim_slurm_nodes_plan(state, ctx, state->chosen[i], from_ns, to_ns, GSIM_SLURM_NONE))
            return false;
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
    /* with shards another job of the GPU may no longer be the last to end there */
    forget_room(state, job);
    if (job->share_ppm == 0)
        add_ending(state, ctx, entry->slot);
    else if (!foresee(state, ctx))
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

static bool is_tried(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                     const struct gsim_slurm_entry *entry) {
    struct gsim_slurm_job *job = gsim_slurm_job(ctx, entry->slot);
    if (job->array != GSIM_SLURM_NONE && state->array_is_done[job->array] & bit_of(entry))
        return false;
    gsim_slurm_ways_load(state, job, entry->first_choice);
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
    if (job->running_at != GSIM_SLURM_NONE)
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

/* Whether a job from there on in the order may start: the plans of a pass are for nothing else. In
 * a pass jobs start and are planned, so that a job without room now gets none; end is behind the
 * last with room. With shards, a job that starts opens its GPU to others. */
static bool may_start_one(struct gsim_slurm_state *state, const struct gsim_ctx *ctx, uint32_t from,
                          uint32_t *end) {
    while (!state->has_shards && *end > from && !could_start(state, ctx, &state->order[*end - 1]))
        --*end;
    return *end > from;
}

void gsim_slurm_backfill_pass(struct gsim_slurm_state *state, struct gsim_ctx *ctx,
                              struct gsim_plan *plan) {
    const struct gsim_slurm *conf = &state->conf;
    int64_t n_tests = 0, n_starts = 0;
    uint32_t kept = 0, i = 0, end = state->n_order;
    state->has_changed = false;
    state->backfilled_ns = ctx->view->now_ns;
    memset(state->user_tests, 0, state->n_users * sizeof *state->user_tests);
    memset(state->part_tests, 0, conf->n_partitions * sizeof *state->part_tests);
    memset(state->array_plans, 0, state->n_arrays * sizeof *state->array_plans);
    memset(state->array_is_done, 0, state->n_arrays * sizeof *state->array_is_done);
    gsim_slurm_nodes_drop_plans(state, ctx);
    gsim_slurm_nodes_look(state, ctx);
    if (!foresee(state, ctx))
        gsim_common_no_memory(ctx);
    for (; may_start_one(state, ctx, i, &end) &&
           (state->has_shards || ctx->view->cluster.n_idle_gpus > 0) && ctx->status == GSIM_OK &&
           (conf->bf_tests == 0 || n_tests < conf->bf_tests) &&
           (conf->bf_starts == 0 || n_starts < conf->bf_starts);
         i++) {
        const struct gsim_slurm_entry *entry = &state->order[i];
        bool has_started = gsim_slurm_job(ctx, entry->slot)->running_at != GSIM_SLURM_NONE;
        bool is_looked_at = !has_started && is_tried(state, ctx, entry);
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
