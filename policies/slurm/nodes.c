/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/slurm/nodes.h"

#include <string.h>
#include <strings.h>

#include "policies/lib/common.h"
#include "policies/slurm/shards.h"
#include "sim/base/features.h"
#include "sim/base/hostlist.h"

enum { MOST_WISHES = 1 << 24 };

/* --- the site's nodes ------------------------------------------------------------------------- */

/* A node of the cluster stands for one of the file, of which the cluster may have more or fewer. */
static enum gsim_status check_nodes(const struct gsim_slurm_state *state, struct gsim_ctx *ctx) {
    uint32_t n = gsim_slurm_count_nodes(&state->conf), n_nodes = ctx->view->cluster.n_nodes,
             bad = 0;
    const uint32_t *first = ctx->view->cluster.node_first_gpu;
    for (uint32_t i = 0; i < n_nodes && n > 0; i++)
        bad += first[i + 1] - first[i] != state->of_file[i]->gpus;
    if (bad > 0)
        return gsim_fail(
            ctx->log, GSIM_BAD_INPUT, state->conf.path, 0,
            "the %u nodes with GPUs of the file are of other sizes than those of the cluster (%u "
            "nodes); leave "
            "out --gpus-per-node and --cluster, so that the cluster has the file's nodes, or with "
            "--nodes as many as that, of its kinds in proportion",
            n, n_nodes);
    if (n > 0 && n != n_nodes)
        gsim_warn(
            ctx->log, state->conf.path, 0,
            "the file has %u nodes with GPUs, the cluster %u: the kinds of nodes, and nodes of "
            "partitions and reservations, are there in proportion",
            n, n_nodes);
    return GSIM_OK;
}

struct marking {
    const struct gsim_slurm_state *state;
    bool *has;
};

/* Nodes without GPUs run no job here. */
static bool mark(void *arg, const char *name, size_t length) {
    struct marking *m = arg;
    for (uint32_t i = 0; i < m->state->n_nodes; i++) {
        const char *own = m->state->of_file[i] ? m->state->of_file[i]->name : "";
        m->has[i] |= strlen(own) == length && strncmp(own, name, length) == 0;
    }
    return true;
}

/* Marks the nodes of a list. "ALL", and a list where the site's file names no nodes, is all. */
static bool mark_all(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                     const char *list, bool *has) {
    struct marking m = {state, has};
    bool is_all = strcasecmp(list, "ALL") == 0 || state->conf.n_nodes == 0;
    for (uint32_t node = 0; is_all && node < ctx->view->cluster.n_nodes; node++)
        has[node] = true;
    return is_all || !*list || gsim_hostlist_each(list, mark, &m);
}

/* --- windows ---------------------------------------------------------------------------------- */

static uint32_t new_window(struct gsim_slurm_state *state, struct gsim_ctx *ctx) {
    struct gsim_slurm_window *window = gsim_arena_room(ctx->arena, state->window, state->n_windows,
                                                       &state->windows_capacity, sizeof *window);
    if (!window)
        return GSIM_SLURM_NONE;
    state->window = window;
    return state->n_windows++;
}

static bool is_plan(const struct gsim_slurm_state *state, uint32_t window) {
    return window != GSIM_SLURM_NONE && state->window[window].reservation == GSIM_SLURM_NONE;
}

/* Joins a plan with those behind it that it meets: no job begins where they meet, and a node with a
 * long backlog has few windows. */
static void join_next(struct gsim_slurm_state *state, uint32_t at) {
    struct gsim_slurm_window *window = &state->window[at];
    while (is_plan(state, window->next) && state->window[window->next].from_ns <= window->to_ns) {
        const struct gsim_slurm_window *next = &state->window[window->next];
        window->to_ns = next->to_ns > window->to_ns ? next->to_ns : window->to_ns;
        window->next = next->next;
    }
}

bool gsim_slurm_nodes_plan(struct gsim_slurm_state *state, struct gsim_ctx *ctx, uint32_t node,
                           int64_t from_ns, int64_t to_ns, uint32_t reservation) {
    uint32_t before = GSIM_SLURM_NONE, next = state->first_window[node];
    for (; next != GSIM_SLURM_NONE && state->window[next].from_ns < from_ns;
         next = state->window[next].next)
        before = next;
    uint32_t own = new_window(state, ctx);
    if (own == GSIM_SLURM_NONE)
        return false;
    state->window[own] = (struct gsim_slurm_window){from_ns, to_ns, next, reservation};
    *(before == GSIM_SLURM_NONE ? &state->first_window[node] : &state->window[before].next) = own;
    if (is_plan(state, own))
        join_next(state, own);
    if (is_plan(state, before))
        join_next(state, before);
    return true;
}

void gsim_slurm_nodes_drop_plans(struct gsim_slurm_state *state, const struct gsim_ctx *ctx) {
    bool has_plans = state->n_windows > state->n_lasting_windows;
    for (uint32_t node = 0; has_plans && node < ctx->view->cluster.n_nodes; node++) {
        uint32_t *link = &state->first_window[node];
        while (*link != GSIM_SLURM_NONE)
            if (*link >= state->n_lasting_windows)
                *link = state->window[*link].next;
            else
                link = &state->window[*link].next;
    }
    state->n_windows = state->n_lasting_windows;
}

static int64_t time_of(const struct gsim_slurm_state *state, int64_t date_s) {
    return (date_s - state->origin_s) * GSIM_NS_PER_S;
}

static enum gsim_status open_windows(struct gsim_slurm_state *state, struct gsim_ctx *ctx) {
    uint32_t n_nodes = ctx->view->cluster.n_nodes;
    for (uint32_t i = 0; i < state->conf.n_reservations; i++) {
        const struct gsim_slurm_reservation *resv = &state->conf.reservation[i];
        bool *has = gsim_arena_array(ctx->arena, n_nodes, sizeof *has);
        if (!has)
            return gsim_no_memory(ctx->log, "reading reservations");
        if (!mark_all(state, ctx, resv->nodes, has))
            return gsim_fail(ctx->log, GSIM_BAD_INPUT, state->conf.path, resv->line,
                             "reservation '%s': '%.80s' is no list of nodes", resv->name,
                             resv->nodes);
        for (uint32_t node = 0; node < n_nodes; node++)
            if (has[node] && !gsim_slurm_nodes_plan(state, ctx, node, time_of(state, resv->from_s),
                                                    time_of(state, resv->to_s), i))
                return gsim_no_memory(ctx->log, "reading reservations");
    }
    state->n_lasting_windows = state->n_windows;
    return GSIM_OK;
}

static bool lists_name(const struct gsim_ctx *ctx, const char *names, enum gsim_column column,
                       uint32_t job) {
    const struct gsim_trace *trace = ctx->view->trace;
    int64_t name = *names ? gsim_trace_get(trace, column, job) : -1;
    return name >= 0 && gsim_slurm_lists(names, trace->names[column].name[name],
                                         strlen(trace->names[column].name[name]));
}

/* Whether the reservation is for the job's user or account. */
static bool may_enter(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                      gsim_slot slot, uint32_t reservation) {
    uint32_t job = ctx->view->jobs.index[slot];
    if (reservation == GSIM_SLURM_NONE)
        return false;
    const struct gsim_slurm_reservation *resv = &state->conf.reservation[reservation];
    return lists_name(ctx, resv->users, GSIM_COL_USER, job) ||
           lists_name(ctx, resv->accounts, GSIM_COL_VC, job);
}

/* Windows are in the order of their beginnings: behind the first one that begins after the job's
 * limit, none overlaps with the job. A job that would end as a plan begins does not start now, as
 * in Slurm's backfill.c: its clock is somewhere in the second, and plans begin with a slot of
 * bf_resolution. */
int64_t gsim_slurm_nodes_clear(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                               gsim_slot slot, uint32_t node, int64_t from_ns, int64_t last_ns) {
    int64_t limit_ns = gsim_slurm_job(ctx, slot)->way.limit_ns, at_ns = from_ns;
    for (uint32_t w = state->first_window[node]; w != GSIM_SLURM_NONE && at_ns <= last_ns;
         w = state->window[w].next) {
        const struct gsim_slurm_window *window = &state->window[w];
        bool meets = at_ns == ctx->view->now_ns && is_plan(state, w);
        if (window->from_ns >= at_ns + limit_ns + meets)
            break;
        if (at_ns < window->to_ns && !may_enter(state, ctx, slot, window->reservation))
            at_ns = window->to_ns;
    }
    return at_ns;
}

int64_t gsim_slurm_nodes_next(const struct gsim_slurm_state *state, int64_t now_ns) {
    int64_t next_ns = GSIM_NEVER;
    for (uint32_t i = 0; i < state->conf.n_reservations; i++) {
        int64_t ends[] = {time_of(state, state->conf.reservation[i].from_s),
                          time_of(state, state->conf.reservation[i].to_s)};
        for (int e = 0; e < 2; e++)
            if (ends[e] > now_ns && ends[e] < next_ns)
                next_ns = ends[e];
    }
    return next_ns;
}

/* --- sets ------------------------------------------------------------------------------------- */

bool gsim_slurm_nodes_has(const struct gsim_slurm_state *state, uint32_t set, uint32_t node) {
    return state->set[(size_t)set * state->set_words + node / 64] >> (node % 64) & 1;
}

static void add_node(uint64_t *bits, uint32_t node) {
    bits[node / 64] |= UINT64_C(1) << (node % 64);
}

/* Room for n more sets; NULL: no memory. */
static uint64_t *grow_sets(struct gsim_slurm_state *state, struct gsim_ctx *ctx, uint32_t n) {
    size_t size = (size_t)state->set_words * sizeof *state->set;
    uint64_t *grown =
        gsim_arena_grow(ctx->arena, state->set, state->n_sets * size, (state->n_sets + n) * size);
    if (!grown)
        return NULL;
    state->set = grown;
    state->n_sets += n;
    return &grown[(size_t)(state->n_sets - n) * state->set_words];
}

/* The nodes of each partition, whatever a job asks for. */
static enum gsim_status make_sets_of_partitions(struct gsim_slurm_state *state,
                                                struct gsim_ctx *ctx) {
    uint32_t n_nodes = state->n_nodes, n = state->conf.n_partitions;
    bool *has = gsim_arena_array(ctx->arena, n_nodes, sizeof *has);
    uint64_t *bits = grow_sets(state, ctx, n);
    if (!has || !bits)
        return gsim_no_memory(ctx->log, "opening partitions");
    for (uint32_t p = 0; p < n; p++) {
        memset(has, 0, n_nodes * sizeof *has);
        if (!mark_all(state, ctx, state->conf.partition[p].nodes, has))
            return gsim_fail(ctx->log, GSIM_BAD_INPUT, state->conf.path, 0,
                             "partition '%.64s': '%.80s' is no list of nodes",
                             state->conf.partition[p].name, state->conf.partition[p].nodes);
        for (uint32_t node = 0; node < n_nodes; node++)
            if (has[node])
                add_node(&bits[(size_t)p * state->set_words], node);
    }
    return GSIM_OK;
}

static const char *features_of(const struct gsim_slurm_state *state, uint32_t node) {
    return state->of_file[node] ? state->of_file[node]->features : "";
}

/* The nodes of the job's partition on which the core lets it run, and of each choice those with the
 * feature. */
static bool make_sets(struct gsim_slurm_state *state, struct gsim_ctx *ctx, gsim_slot slot,
                      uint32_t n_choices) {
    const struct gsim_trace *trace = ctx->view->trace;
    uint32_t partition = gsim_slurm_job(ctx, slot)->way.partition;
    int64_t name = gsim_trace_get(trace, GSIM_COL_FEATURES, ctx->view->jobs.index[slot]);
    uint64_t *bits = grow_sets(state, ctx, n_choices > 1 ? n_choices + 1 : 1);
    for (uint32_t node = 0; bits && node < state->n_nodes; node++) {
        if (!gsim_slurm_nodes_has(state, partition, node) ||
            !gsim_ask_may_use(ctx, slot, ctx->view->cluster.node_first_gpu[node]))
            continue;
        add_node(bits, node);
        for (uint32_t c = 0; n_choices > 1 && c < n_choices; c++)
            if (gsim_constraint_meets(trace->names[GSIM_COL_FEATURES].name[name],
                                      features_of(state, node), c))
                add_node(&bits[(size_t)(c + 1) * state->set_words], node);
    }
    return bits != NULL;
}

bool gsim_slurm_nodes_enter(struct gsim_slurm_state *state, struct gsim_ctx *ctx, gsim_slot slot,
                            uint32_t listed, uint32_t n_choices, uint32_t *set) {
    const struct gsim_trace *trace = ctx->view->trace;
    uint32_t job = ctx->view->jobs.index[slot];
    size_t wish = (size_t)listed * state->n_types +
                  (size_t)(gsim_trace_get(trace, GSIM_COL_GPU_TYPE, job) + 1);
    wish =
        wish * state->n_constraints + (size_t)(gsim_trace_get(trace, GSIM_COL_FEATURES, job) + 1);
    if (state->set_of[wish] == GSIM_SLURM_NONE) {
        uint32_t at = state->n_sets;
        if (!make_sets(state, ctx, slot, n_choices)) {
            gsim_common_no_memory(ctx);
            return false;
        }
        state->set_of[wish] = at;
    }
    *set = state->set_of[wish];
    return true;
}

/* --- free GPUs -------------------------------------------------------------------------------- */

/* Nodes stand in sets by their free GPUs, so that one with enough is found without a look at the
 * others. A pass counts before it takes, so that no node has more free GPUs than the widest. */
static uint64_t *with_free(const struct gsim_slurm_state *state, uint32_t gpus) {
    return &state->with_free[(size_t)gpus * state->set_words];
}

static void set_free(struct gsim_slurm_state *state, uint32_t node, uint32_t gpus) {
    struct gsim_slurm_room *free = &state->node[node].free;
    uint64_t bit = UINT64_C(1) << (node % 64);
    if (free->gpus <= state->widest_node)
        with_free(state, free->gpus)[node / 64] &= ~bit;
    state->is_stale[node] |= free->gpus != gpus;
    free->gpus = gpus;
    if (gpus <= state->widest_node)
        with_free(state, gpus)[node / 64] |= bit;
}

/* Of nodes with fewer GPUs no bits of idle ones. */
static const uint64_t not_seen = UINT64_MAX;

/* The jobs on the node are others than when its free GPUs were counted. */
static void change_free(struct gsim_slurm_state *state, uint32_t node, uint32_t gpus) {
    set_free(state, node, gpus);
    state->seen_idle[node] = not_seen;
    state->is_stale[node] = true;
}

static void count_free(struct gsim_slurm_state *state, const struct gsim_ctx *ctx, uint32_t node) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    set_free(state, node, cluster->node_is_down[node] ? 0 : gsim_node_idle_gpus(ctx->view, node));
    state->seen_idle[node] = cluster->idle_gpus[(size_t)node * cluster->node_words];
}

/* Nodes of 64 GPUs and more, of which a word does not tell all, are counted each time. */
void gsim_slurm_nodes_look(struct gsim_slurm_state *state, const struct gsim_ctx *ctx) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    uint64_t n_turns = (uint64_t)cluster->n_failures + cluster->n_repairs;
    bool is_all =
        !state->has_looked || state->n_seen_turns != n_turns || cluster->widest_node >= 64;
    if (state->n_seen_turns != n_turns)
        memset(state->is_stale, true, state->n_nodes * sizeof *state->is_stale);
    for (uint32_t node = 0; node < state->n_nodes; node++)
        if (is_all || cluster->idle_gpus[node] != state->seen_idle[node])
            count_free(state, ctx, node);
    state->n_seen_turns = n_turns;
    state->has_looked = true;
    memset(state->closed, 0, state->set_words * sizeof *state->closed);
}

/* Whether the free GPUs of nodes alone decide which one the job gets now. */
bool gsim_slurm_nodes_are_plain(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                                gsim_slot slot) {
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    const struct gsim_slurm_way *way = &job->way;
    bool asks_for_gpus_alone =
        job->share_ppm == 0 && way->each.cpus_milli == 0 && way->each.mem_bytes == 0;
    bool goes_to_one =
        !way->is_spread && way->n_nodes <= 1 && ctx->view->jobs.gpus[slot] <= way->widest;
    return asks_for_gpus_alone && goes_to_one && state->has_one_weight && state->n_windows == 0 &&
           gsim_job_memory(ctx->view, slot) <= state->least_hbm_bytes;
}

void gsim_slurm_nodes_close(struct gsim_slurm_state *state, uint32_t set) {
    for (uint32_t w = 0; w < state->set_words; w++)
        state->closed[w] |= state->set[(size_t)set * state->set_words + w];
}

bool gsim_slurm_nodes_choose_plain(struct gsim_slurm_state *state, const struct gsim_slurm_job *job,
                                   uint32_t gpus) {
    const uint64_t *set = &state->set[(size_t)job->way.set * state->set_words];
    state->n_chosen = 0;
    for (uint32_t n = gpus; n <= state->widest_node; n++)
        for (uint32_t w = 0; w < state->set_words; w++) {
            uint64_t both = set[w] & with_free(state, n)[w] & ~state->closed[w];
            if (both == 0)
                continue;
            state->chosen[0] = w * 64 + (uint32_t)__builtin_ctzll(both);
            state->chosen_gpus[0] = gpus;
            state->n_chosen = 1;
            return true;
        }
    return false;
}

uint32_t gsim_slurm_nodes_most_free(const struct gsim_slurm_state *state, uint32_t set) {
    const uint64_t *has = &state->set[(size_t)set * state->set_words];
    for (uint32_t n = state->widest_node; n > 0; n--)
        for (uint32_t w = 0; w < state->set_words; w++)
            if (has[w] & with_free(state, n)[w])
                return n;
    return 0;
}

uint32_t gsim_slurm_nodes_usable(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                                 gsim_slot slot, uint32_t node, int64_t from_ns,
                                 const struct gsim_slurm_room *freed) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    struct gsim_slurm_room room = state->node[node].free;
    if (freed)
        gsim_slurm_nodes_join(&room, &freed[node]);
    uint32_t n = gsim_slurm_nodes_fit_at(state, ctx, job, node, &room, from_ns);
    if (n == 0 || gsim_slurm_nodes_is_closed(state, node) ||
        !gsim_slurm_nodes_has(state, job->way.set, node) ||
        gsim_job_memory(ctx->view, slot) > cluster->hbm_bytes[cluster->node_first_gpu[node]])
        return 0;
    return gsim_slurm_nodes_clear(state, ctx, slot, node, from_ns, from_ns) == from_ns ? n : 0;
}

static bool can_take_now(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                         gsim_slot slot, uint32_t node, uint32_t gpus) {
    uint32_t most = gsim_slurm_nodes_fit(gsim_slurm_job(ctx, slot), &state->node[node].free);
    int64_t now_ns = ctx->view->now_ns;
    return most >= (gpus > 0 ? gpus : state->node[node].n_gpus) &&
           !ctx->view->cluster.node_is_down[node] &&
           gsim_slurm_nodes_clear(state, ctx, slot, node, now_ns, now_ns) == now_ns;
}

bool gsim_slurm_nodes_have_room(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                                gsim_slot slot, uint32_t n, uint32_t gpus) {
    const uint64_t *set =
        &state->set[(size_t)gsim_slurm_job(ctx, slot)->way.set * state->set_words];
    uint32_t found = 0;
    for (uint32_t g = gpus > 0 ? gpus : 1; g <= state->widest_node && found < n; g++)
        for (uint32_t w = 0; w < state->set_words; w++)
            for (uint64_t both = set[w] & with_free(state, g)[w]; both != 0 && found < n;
                 both &= both - 1)
                found +=
                    can_take_now(state, ctx, slot, w * 64 + (uint32_t)__builtin_ctzll(both), gpus);
    return found >= n;
}

/* --- where jobs run --------------------------------------------------------------------------- */

uint32_t gsim_slurm_nodes_fit_shards(const struct gsim_slurm_state *state,
                                     const struct gsim_ctx *ctx, const struct gsim_slurm_job *job,
                                     uint32_t node, const struct gsim_slurm_room *room,
                                     int64_t at_ns) {
    struct gsim_slurm_room own = *room;
    if (!gsim_slurm_shards_are_on(state, node))
        return 0;
    own.gpus = own.gpus > 0 || gsim_slurm_shards_have_room(state, ctx, job, node, at_ns) ? 1 : 0;
    return gsim_slurm_nodes_fit(job, &own) > 0 ? 1 + room->gpus : 0;
}

void gsim_slurm_nodes_add(struct gsim_slurm_room *room, const struct gsim_slurm_job *job,
                          uint32_t gpus, int sign) {
    room->gpus += job->share_ppm > 0 ? 0 : (uint32_t)sign * gpus;
    room->host.cpus_milli += sign * job->way.each.cpus_milli * (int64_t)gpus;
    room->host.mem_bytes += sign * job->way.each.mem_bytes * (int64_t)gpus;
}

/* A piece that is not in use; GSIM_SLURM_NONE: no memory. */
static uint32_t new_piece(struct gsim_slurm_state *state, struct gsim_arena *arena) {
    uint32_t at = state->first_idle_piece;
    if (at != GSIM_SLURM_NONE) {
        state->first_idle_piece = state->piece[at].next;
        return at;
    }
    struct gsim_slurm_piece *piece = gsim_arena_room(arena, state->piece, state->n_pieces,
                                                     &state->pieces_capacity, sizeof *piece);
    if (!piece)
        return GSIM_SLURM_NONE;
    state->piece = piece;
    return state->n_pieces++;
}

bool gsim_slurm_nodes_take(struct gsim_slurm_state *state, struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    for (uint32_t i = 0; i < state->n_chosen; i++) {
        struct gsim_slurm_node_state *node = &state->node[state->chosen[i]];
        uint32_t gpus = state->chosen_gpus[i], at = new_piece(state, ctx->arena);
        if (at == GSIM_SLURM_NONE)
            return false;
        state->piece[at] = (struct gsim_slurm_piece){state->chosen[i], gpus, job->first_piece};
        job->first_piece = at;
        struct gsim_slurm_room room = node->free;
        gsim_slurm_nodes_add(&room, job, gpus, -1);
        node->free.host = room.host;
        if (job->share_ppm > 0)
            room.gpus -= gsim_slurm_shards_take(state, ctx, slot, state->unit[0].gpu);
        change_free(state, state->chosen[i], room.gpus);
        if (job->share_ppm > 0)
            continue;
        if (node->type > 0)
            job->of_type[node->type - 1] += gpus;
    }
    return true;
}

void gsim_slurm_nodes_leave(struct gsim_slurm_state *state, struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    while (job->first_piece != GSIM_SLURM_NONE) {
        uint32_t at = job->first_piece;
        struct gsim_slurm_piece *piece = &state->piece[at];
        job->first_piece = piece->next;
        struct gsim_slurm_room room = state->node[piece->node].free;
        gsim_slurm_nodes_add(&room, job, piece->gpus, 1);
        state->node[piece->node].free.host = room.host;
        if (job->share_ppm > 0)
            room.gpus += gsim_slurm_shards_leave(state, ctx, slot);
        change_free(state, piece->node, room.gpus);
        piece->next = state->first_idle_piece;
        state->first_idle_piece = at;
    }
    memset(job->of_type, 0, sizeof job->of_type);
}

/* --- opening ---------------------------------------------------------------------------------- */

static bool allocate_outlooks(struct gsim_slurm_state *state, struct gsim_arena *arena,
                              uint32_t n_nodes) {
    bool has_all = true;
    state->n_leaves = 1;
    while (state->n_leaves < n_nodes)
        state->n_leaves *= 2;
    for (uint32_t i = 0; has_all && i < GSIM_SLURM_OUTLOOKS; i++) {
        struct gsim_slurm_outlook *outlook = &state->outlook[i];
        outlook->times =
            gsim_arena_array(arena, 2 * (size_t)state->n_leaves, sizeof *outlook->times);
        outlook->room_ns = gsim_arena_array(arena, n_nodes, sizeof *outlook->room_ns);
        has_all = outlook->times && outlook->room_ns;
    }
    return has_all;
}

static bool allocate_free(struct gsim_slurm_state *state, struct gsim_arena *arena) {
    size_t n = state->n_nodes, n_words = (state->widest_node + (size_t)1) * state->set_words;
    state->is_stale = gsim_arena_array(arena, n, sizeof *state->is_stale);
    state->has_overdue = gsim_arena_array(arena, n, sizeof *state->has_overdue);
    state->closed = gsim_arena_array(arena, state->set_words, sizeof *state->closed);
    state->with_free = gsim_arena_array(arena, n_words, sizeof *state->with_free);
    state->seen_idle = gsim_arena_array(arena, n, sizeof *state->seen_idle);
    return state->closed && state->is_stale && state->has_overdue && state->with_free &&
           state->seen_idle;
}

static bool allocate_nodes(struct gsim_slurm_state *state, struct gsim_ctx *ctx, size_t n_wishes) {
    uint32_t n = ctx->view->cluster.n_nodes;
    state->of_file = gsim_arena_array(ctx->arena, n, sizeof *state->of_file);
    state->node = gsim_arena_array(ctx->arena, n, sizeof *state->node);
    state->first_window = gsim_arena_array(ctx->arena, n, sizeof *state->first_window);
    state->first_freeing = gsim_arena_array(ctx->arena, n, sizeof *state->first_freeing);
    state->chosen = gsim_arena_array(ctx->arena, n, sizeof *state->chosen);
    state->chosen_gpus = gsim_arena_array(ctx->arena, n, sizeof *state->chosen_gpus);
    state->freed = gsim_arena_array(ctx->arena, n, sizeof *state->freed);
    state->usable = gsim_arena_array(ctx->arena, n, sizeof *state->usable);
    state->offered = gsim_arena_array(ctx->arena, n, sizeof *state->offered);
    state->in_order = gsim_arena_array(ctx->arena, n, sizeof *state->in_order);
    state->unit = gsim_arena_array(ctx->arena, ctx->view->cluster.n_gpus, sizeof *state->unit);
    state->set_of = gsim_arena_array(ctx->arena, n_wishes, sizeof *state->set_of);
    return state->of_file && state->node && state->first_window && state->first_freeing &&
           state->chosen && state->chosen_gpus && state->freed && state->usable && state->offered &&
           state->in_order && state->unit && state->set_of &&
           allocate_outlooks(state, ctx->arena, n) && allocate_free(state, ctx->arena);
}

static void compare_nodes(struct gsim_slurm_state *state, const struct gsim_ctx *ctx) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    state->has_one_weight = state->has_one_width = true;
    for (uint32_t node = 1; node < state->n_nodes; node++) {
        state->has_one_weight &= state->node[node].weight == state->node[0].weight;
        state->has_one_width &= state->node[node].n_gpus == state->node[0].n_gpus;
    }
    state->least_hbm_bytes = GSIM_TIME_MAX;
    for (uint32_t gpu = 0; gpu < cluster->n_gpus; gpu++)
        if (cluster->hbm_bytes[gpu] < state->least_hbm_bytes)
            state->least_hbm_bytes = cluster->hbm_bytes[gpu];
}

/* The place of a name among the types of limits, counted from 1; 0: it is none of them. */
uint32_t gsim_slurm_nodes_type(const struct gsim_slurm *conf, const char *name) {
    for (uint32_t t = 0; t < conf->n_types; t++)
        if (strcasecmp(conf->type[t], name) == 0)
            return t + 1;
    return 0;
}

static void describe_node(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                          uint32_t node) {
    const struct gsim_slurm_node *of_file = state->of_file[node];
    struct gsim_slurm_node_state *own = &state->node[node];
    int64_t cpus_milli = gsim_ask_host(ctx, node).cpus_milli;
    int64_t mem_mib = of_file && state->conf.counts_memory ? of_file->mem_mib : 0;
    own->host.cpus_milli = cpus_milli > 0 ? cpus_milli : GSIM_TIME_MAX;
    own->host.mem_bytes = mem_mib > 0 ? mem_mib * (INT64_C(1) << 20) : GSIM_TIME_MAX;
    own->free.host = own->host;
    own->weight = of_file ? of_file->weight : 1;
    own->type = of_file ? gsim_slurm_nodes_type(&state->conf, of_file->type) : 0;
}

enum gsim_status gsim_slurm_nodes_open(struct gsim_slurm_state *state, struct gsim_ctx *ctx) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    const struct gsim_trace *trace = ctx->view->trace;
    state->n_types = trace->names[GSIM_COL_GPU_TYPE].n + 1;
    state->set_words = (cluster->n_nodes + 63) / 64;
    state->n_nodes = cluster->n_nodes;
    state->widest_node = cluster->widest_node;
    state->first_idle_piece = GSIM_SLURM_NONE;
    state->n_constraints = trace->names[GSIM_COL_FEATURES].n + 1;
    size_t n_wishes = (size_t)state->n_listed * state->n_types * state->n_constraints;
    if (n_wishes > MOST_WISHES)
        return gsim_fail(ctx->log, GSIM_BAD_INPUT, trace->path, 0,
                         "%zu wishes for a partition, a type of GPU and features; at most %d are "
                         "told apart",
                         n_wishes, MOST_WISHES);
    if (!allocate_nodes(state, ctx, n_wishes))
        return gsim_no_memory(ctx->log, "opening nodes");
    for (uint32_t node = 0; node < cluster->n_nodes; node++)
        state->of_file[node] = gsim_slurm_nth_node(&state->conf, node, cluster->n_nodes);
    enum gsim_status status = check_nodes(state, ctx);
    if (status != GSIM_OK)
        return status;
    memset(state->set_of, 0xff, n_wishes * sizeof *state->set_of);
    memset(state->first_window, 0xff, cluster->n_nodes * sizeof *state->first_window);
    for (uint32_t node = 0; node < cluster->n_nodes; node++) {
        state->node[node].n_gpus =
            cluster->node_first_gpu[node + 1] - cluster->node_first_gpu[node];
        describe_node(state, ctx, node);
        state->has_shards |= gsim_slurm_shards_are_on(state, node);
    }
    compare_nodes(state, ctx);
    status = gsim_slurm_shards_open(state, ctx);
    if (status == GSIM_OK)
        status = make_sets_of_partitions(state, ctx);
    return status == GSIM_OK ? open_windows(state, ctx) : status;
}
