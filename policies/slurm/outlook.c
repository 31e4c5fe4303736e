/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/slurm/outlook.h"

#include "policies/slurm/nodes.h"
#include "policies/slurm/shards.h"

#include <string.h>

/* --- what running jobs free, and when --------------------------------------------------------- */

/* Of a node of which it is to be found out since when it has room. */
static const int64_t not_known = -1;

/* A list of ends for each job and node; where it grows all of them are made anew. */
static bool reserve(struct gsim_slurm_state *state, struct gsim_ctx *ctx) {
    uint32_t n = ctx->view->cluster.n_gpus + state->n_running + 1;
    if (state->freeing_capacity >= n)
        return true;
    n += state->n_running;
    state->freeing = gsim_arena_array(ctx->arena, n, sizeof *state->freeing);
    state->freeing_capacity = state->freeing ? n : 0;
    state->n_freeing = 0;
    state->first_idle_freeing = GSIM_SLURM_NONE;
    memset(state->first_freeing, 0xff, state->n_nodes * sizeof *state->first_freeing);
    memset(state->is_stale, true, state->n_nodes * sizeof *state->is_stale);
    return state->freeing != NULL;
}

/* A place for an end; GSIM_SLURM_NONE: there is none. */
static uint32_t new_freeing(struct gsim_slurm_state *state) {
    uint32_t at = state->first_idle_freeing;
    if (at != GSIM_SLURM_NONE)
        state->first_idle_freeing = state->freeing[at].next;
    else if (state->n_freeing < state->freeing_capacity)
        at = state->n_freeing++;
    return at;
}

static void add_room(struct gsim_slurm_state *state, const struct gsim_slurm_job *job,
                     const struct gsim_slurm_piece *piece, int64_t end_ns, bool frees_gpu) {
    uint32_t *link = &state->first_freeing[piece->node];
    while (*link != GSIM_SLURM_NONE && state->freeing[*link].end_ns < end_ns)
        link = &state->freeing[*link].next;
    if (*link == GSIM_SLURM_NONE || state->freeing[*link].end_ns != end_ns) {
        uint32_t at = new_freeing(state);
        if (at == GSIM_SLURM_NONE)
            return;
        state->freeing[at] = (struct gsim_slurm_freeing){.end_ns = end_ns, .next = *link};
        *link = at;
    }
    gsim_slurm_nodes_add(&state->freeing[*link].room, job, piece->gpus, 1);
    state->freeing[*link].room.gpus += frees_gpu;
}

/* Adds what a job frees to the lists of its nodes that are made anew, each in the order of ends. A
 * job past its limit ends at another time in the next pass. */
static void add_ending(struct gsim_slurm_state *state, struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    int64_t end_ns = gsim_slurm_end_of(state, ctx, slot);
    bool frees_gpu = job->share_ppm > 0 && gsim_slurm_shards_end_last(state, ctx, slot);
    for (uint32_t p = job->first_piece; p != GSIM_SLURM_NONE; p = state->piece[p].next) {
        uint32_t node = state->piece[p].node;
        if (!state->is_stale[node])
            continue;
        add_room(state, job, &state->piece[p], end_ns, frees_gpu);
        state->has_overdue[node] |= end_ns != job->end_ns;
    }
}

/* Empties the node's list; since when it has room is not known any more. */
static void clear_node(struct gsim_slurm_state *state, uint32_t node) {
    while (state->first_freeing[node] != GSIM_SLURM_NONE) {
        uint32_t at = state->first_freeing[node];
        state->first_freeing[node] = state->freeing[at].next;
        state->freeing[at].next = state->first_idle_freeing;
        state->first_idle_freeing = at;
    }
    state->has_overdue[node] = false;
    for (uint32_t i = 0; i < state->n_outlooks && i < GSIM_SLURM_OUTLOOKS; i++)
        state->outlook[i].room_ns[node] = not_known;
}

void gsim_slurm_outlook_start(struct gsim_slurm_state *state, struct gsim_ctx *ctx,
                              gsim_slot slot) {
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    add_ending(state, ctx, slot);
    for (uint32_t i = 0; i < state->n_outlooks && i < GSIM_SLURM_OUTLOOKS; i++)
        for (uint32_t p = job->first_piece; p != GSIM_SLURM_NONE; p = state->piece[p].next)
            state->outlook[i].room_ns[state->piece[p].node] = not_known;
}

void gsim_slurm_outlook_forget(struct gsim_slurm_state *state, const struct gsim_slurm_job *job) {
    for (uint32_t p = job->first_piece; p != GSIM_SLURM_NONE; p = state->piece[p].next)
        state->is_stale[state->piece[p].node] = true;
}

/* Lists are made anew of nodes where jobs have started or ended, and where one is past its limit.
 * Whether a job with shards is the last to end on its GPU may change with any other. */
bool gsim_slurm_outlook_open(struct gsim_slurm_state *state, struct gsim_ctx *ctx) {
    if (!reserve(state, ctx))
        return false;
    if (state->has_shards) {
        state->n_outlooks = 0;
        memset(state->is_stale, true, state->n_nodes * sizeof *state->is_stale);
    }
    for (uint32_t node = 0; node < state->n_nodes; node++) {
        uint32_t first = state->first_freeing[node];
        state->is_stale[node] |=
            state->has_overdue[node] ||
            (first != GSIM_SLURM_NONE && state->freeing[first].end_ns <= ctx->view->now_ns);
        if (state->is_stale[node])
            clear_node(state, node);
    }
    for (uint32_t i = 0; i < state->n_running; i++)
        add_ending(state, ctx, state->running[i]);
    memset(state->is_stale, 0, state->n_nodes * sizeof *state->is_stale);
    return true;
}

uint32_t gsim_slurm_outlook_free_at(const struct gsim_slurm_state *state,
                                    const struct gsim_ctx *ctx, const struct gsim_slurm_job *job,
                                    uint32_t node, int64_t at_ns) {
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

/* The first time at which the job could have that number of the node's GPUs if none were planned
 * for other jobs; GSIM_NEVER: none. */
static int64_t room_from(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                         gsim_slot slot, uint32_t node, uint32_t gpus) {
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    if (!gsim_slurm_nodes_has(state, job->way.set, node) || ctx->view->cluster.node_is_down[node])
        return GSIM_NEVER;
    return free_from(state, ctx, job, node, gpus);
}

/* --- a tree of times -------------------------------------------------------------------------- */

/* No job of that limit starts sooner there. */
static int64_t bound_of(const struct gsim_slurm_times *times, int64_t limit_ns) {
    return limit_ns <= times->fits_ns ? times->first_ns : times->then_ns;
}

static struct gsim_slurm_times join(const struct gsim_slurm_times *both) {
    const struct gsim_slurm_times *a = &both[0], *b = &both[1];
    return (struct gsim_slurm_times){gsim_slurm_least(a->first_ns, b->first_ns),
                                     a->fits_ns > b->fits_ns ? a->fits_ns : b->fits_ns,
                                     gsim_slurm_least(a->then_ns, b->then_ns)};
}

/* What running jobs leave is known of most nodes; others may have room at once. */
static void open_times(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                       struct gsim_slurm_outlook *outlook) {
    uint32_t n = state->n_leaves;
    for (uint32_t leaf = 0; leaf < n; leaf++) {
        int64_t from_ns = leaf < state->n_nodes ? outlook->room_ns[leaf] : GSIM_NEVER;
        outlook->times[n + leaf] = (struct gsim_slurm_times){from_ns, -1, from_ns};
    }
    for (uint32_t at = n - 1; at > 0; at--)
        outlook->times[at] = join(&outlook->times[2 * at]);
    outlook->none_from_limit_ns = GSIM_NEVER;
    outlook->opened_ns = ctx->view->now_ns;
}

static void set_times(const struct gsim_slurm_state *state, struct gsim_slurm_outlook *outlook,
                      uint32_t node, const struct gsim_slurm_times *own) {
    struct gsim_slurm_times *times = outlook->times;
    uint32_t at = state->n_leaves + node;
    times[at] = *own;
    for (at /= 2; at > 0; at /= 2) {
        struct gsim_slurm_times both = join(&times[2 * at]), *known = &times[at];
        if (known->first_ns == both.first_ns && known->fits_ns == both.fits_ns &&
            known->then_ns == both.then_ns)
            break;
        *known = both;
    }
}

/* Of two branches that of the node that may be sooner comes first: its time rules out most of the
 * others. */
uint32_t gsim_slurm_outlook_next(const struct gsim_slurm_state *state,
                                 const struct gsim_slurm_outlook *outlook,
                                 struct gsim_slurm_walk *walk, int64_t most_ns) {
    const struct gsim_slurm_times *times = outlook->times;
    int64_t limit_ns = walk->limit_ns;
    while (walk->n > 0) {
        struct gsim_slurm_branch at = walk->branch[--walk->n];
        while (at.from_ns <= most_ns && at.place < state->n_leaves) {
            uint32_t left = 2 * at.place;
            int64_t left_ns = bound_of(&times[left], limit_ns);
            int64_t right_ns = bound_of(&times[left + 1], limit_ns);
            bool is_left = left_ns <= right_ns;
            struct gsim_slurm_branch other = {is_left ? right_ns : left_ns, left + is_left};
            at = (struct gsim_slurm_branch){is_left ? left_ns : right_ns, left + !is_left};
            if (other.from_ns <= most_ns)
                walk->branch[walk->n++] = other;
        }
        if (at.from_ns <= most_ns)
            return at.place - state->n_leaves;
    }
    return GSIM_SLURM_NONE;
}

/* --- jobs that ask for as much ---------------------------------------------------------------- */

uint32_t gsim_slurm_outlook_part(const struct gsim_slurm_state *state,
                                 const struct gsim_slurm_way *way, uint32_t gpus) {
    if (way->n_nodes > 0)
        return gpus / way->n_nodes;
    uint32_t whole = state->has_one_width ? state->widest_node : GSIM_SLURM_NONE;
    return gpus > way->widest ? whole : gpus;
}

static bool is_of(const struct gsim_slurm_outlook *outlook, const struct gsim_slurm_job *job,
                  uint32_t part) {
    return outlook->set == job->way.set && outlook->part == part &&
           outlook->share_ppm == job->share_ppm &&
           outlook->each.cpus_milli == job->way.each.cpus_milli &&
           outlook->each.mem_bytes == job->way.each.mem_bytes;
}

struct gsim_slurm_outlook *gsim_slurm_outlook_of(struct gsim_slurm_state *state,
                                                 const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    uint32_t part = gsim_slurm_outlook_part(state, &job->way, ctx->view->jobs.gpus[slot]), i = 0;
    while (i < state->n_outlooks && i < GSIM_SLURM_OUTLOOKS &&
           !is_of(&state->outlook[i], job, part))
        i++;
    if (i == state->n_outlooks || i == GSIM_SLURM_OUTLOOKS) {
        i = state->n_outlooks++ % GSIM_SLURM_OUTLOOKS;
        struct gsim_slurm_outlook *own = &state->outlook[i];
        own->set = job->way.set;
        own->part = part;
        own->share_ppm = job->share_ppm;
        own->each = job->way.each;
        own->opened_ns = -1;
        for (uint32_t node = 0; node < state->n_nodes; node++)
            own->room_ns[node] =
                gsim_slurm_nodes_has(state, own->set, node) ? not_known : GSIM_NEVER;
    }
    if (state->outlook[i].opened_ns != ctx->view->now_ns)
        open_times(state, ctx, &state->outlook[i]);
    return &state->outlook[i];
}

/* Goes through the gaps between the node's plans, from the time on from which running jobs leave
 * room, to the first that is long enough for the limit, and tells when it begins. Found are the
 * first gap, the longest of those that were passed over, and the one behind them; if none was, the
 * gap itself, and the end of the plan behind it. A job that would end as a plan begins does not
 * start now, see gsim_slurm_nodes_clear. */
static int64_t find_gap(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                        uint32_t node, int64_t at_ns, int64_t limit_ns,
                        struct gsim_slurm_times *found) {
    *found = (struct gsim_slurm_times){GSIM_NEVER, -1, GSIM_NEVER};
    for (uint32_t w = state->first_window[node]; w != GSIM_SLURM_NONE; w = state->window[w].next) {
        const struct gsim_slurm_window *window = &state->window[w];
        if (window->reservation != GSIM_SLURM_NONE || window->to_ns <= at_ns)
            continue;
        if (window->from_ns > at_ns) {
            int64_t fits_ns = window->from_ns - at_ns - (at_ns == ctx->view->now_ns);
            bool is_first = found->first_ns == GSIM_NEVER;
            if (limit_ns <= fits_ns && !is_first)
                break;
            found->first_ns = is_first ? at_ns : found->first_ns;
            found->fits_ns = fits_ns > found->fits_ns ? fits_ns : found->fits_ns;
            if (limit_ns <= fits_ns) {
                found->then_ns = window->to_ns;
                return at_ns;
            }
        }
        at_ns = window->to_ns;
    }
    found->then_ns = at_ns;
    found->first_ns = gsim_slurm_least(found->first_ns, at_ns);
    return at_ns;
}

/* What a reservation does depends on the job's user, so that it says nothing of others. */
int64_t gsim_slurm_outlook_look(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                                gsim_slot slot, struct gsim_slurm_outlook *outlook, uint32_t node,
                                int64_t most_ns) {
    struct gsim_slurm_times found;
    int64_t *room_ns = &outlook->room_ns[node], limit_ns = gsim_slurm_job(ctx, slot)->way.limit_ns;
    if (*room_ns == not_known)
        *room_ns =
            room_from(state, ctx, slot, node,
                      outlook->part == GSIM_SLURM_NONE ? state->node[node].n_gpus : outlook->part);
    int64_t now_ns = ctx->view->now_ns, from_ns = *room_ns > now_ns ? *room_ns : now_ns;
    int64_t when_ns = find_gap(state, ctx, node, from_ns, limit_ns, &found);
    set_times(state, outlook, node, &found);
    if (state->conf.n_reservations > 0)
        when_ns = gsim_slurm_nodes_clear(state, ctx, slot, node, when_ns, most_ns);
    return when_ns > most_ns ? GSIM_NEVER : when_ns;
}
