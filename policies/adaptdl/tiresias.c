/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two queues: a job that has had its threshold of GPU time goes to the tail of the second one. In
 * the order of the queues a job runs if it fits into the GPUs that are left.
 *
 * The jobs of a queue stand in lines, one for each number of GPUs that jobs ask for. Once a line's
 * first job asks for more GPUs than are left, so do all jobs behind it, and the tick is done with
 * the line. */
#include "policies/adaptdl/state.h"
#include "policies/lib/heap.h"

/* --- lines ------------------------------------------------------------------------------------ */

static const uint64_t second_queue = UINT64_C(1) << 63; /* the bit of a turn */

/* Lines stand in pairs: the one of the first queue, and the one of the second. */
static uint32_t find_line(const struct adaptdl *adaptdl, uint32_t gpus) {
    uint32_t line = 0;
    while (line < adaptdl->n_lines && adaptdl->line[line].gpus != gpus)
        line += 2;
    return line;
}

static bool add_lines(struct gsim_ctx *ctx, struct adaptdl *adaptdl, uint32_t gpus) {
    uint32_t n = adaptdl->n_lines;
    struct adaptdl_line *line =
        gsim_arena_room(ctx->arena, adaptdl->line, n + 1, &adaptdl->room_lines, sizeof *line);
    struct adaptdl_head *head =
        gsim_arena_room(ctx->arena, adaptdl->head, n + 1, &adaptdl->room_heads, sizeof *head);
    adaptdl->line = line ? line : adaptdl->line;
    adaptdl->head = head ? head : adaptdl->head;
    if (!line || !head)
        return false;
    line[n] = line[n + 1] = (struct adaptdl_line){gpus, ADAPTDL_NONE, ADAPTDL_NONE};
    adaptdl->n_lines += 2;
    return true;
}

static struct adaptdl_line *line_of(const struct adaptdl *adaptdl, const struct adaptdl_job *job) {
    return &adaptdl->line[find_line(adaptdl, job->gpus) + job->is_demoted];
}

static void join(struct adaptdl *adaptdl, uint32_t number) {
    struct adaptdl_job *job = &adaptdl->job[number];
    struct adaptdl_line *line = line_of(adaptdl, job);
    job->turn = adaptdl->n_turns++ | (job->is_demoted ? second_queue : 0);
    job->before = line->last;
    job->after = ADAPTDL_NONE;
    *(line->last != ADAPTDL_NONE ? &adaptdl->job[line->last].after : &line->first) = number;
    line->last = number;
}

static void leave(struct adaptdl *adaptdl, uint32_t number) {
    const struct adaptdl_job *job = &adaptdl->job[number];
    struct adaptdl_line *line = line_of(adaptdl, job);
    *(job->before != ADAPTDL_NONE ? &adaptdl->job[job->before].after : &line->first) = job->after;
    *(job->after != ADAPTDL_NONE ? &adaptdl->job[job->after].before : &line->last) = job->before;
}

bool adaptdl_tiresias_arrive(struct gsim_ctx *ctx, struct adaptdl *adaptdl, uint32_t number) {
    uint32_t gpus = adaptdl->job[number].gpus;
    adaptdl->idle_until_ns = 0;
    if (find_line(adaptdl, gpus) == adaptdl->n_lines && !add_lines(ctx, adaptdl, gpus))
        return false;
    join(adaptdl, number);
    return true;
}

void adaptdl_tiresias_complete(struct adaptdl *adaptdl, uint32_t number) {
    adaptdl->idle_until_ns = 0;
    leave(adaptdl, number);
}

/* --- a tick ----------------------------------------------------------------------------------- */

static void demote(struct adaptdl *adaptdl, int64_t now_ns) {
    for (uint32_t i = 0; i < adaptdl->n_holders; i++) {
        struct adaptdl_job *job = &adaptdl->job[adaptdl->holder[i]];
        if (!job->is_chosen)
            continue;
        job->executed_ns += now_ns - job->last_ns;
        job->last_ns = now_ns;
        bool is_over = (gsim_i128)job->executed_ns * job->gpus >= adaptdl->threshold_ns;
        if (job->is_demoted || !is_over)
            continue;
        leave(adaptdl, adaptdl->holder[i]);
        job->is_demoted = true;
        join(adaptdl, adaptdl->holder[i]);
    }
}

static int by_turn(const void *left, const void *right) {
    const struct adaptdl_head *a = left, *b = right;
    return a->turn < b->turn ? -1 : a->turn > b->turn;
}

static struct adaptdl_head head_at(const struct adaptdl *adaptdl, uint32_t number, uint32_t line) {
    return (struct adaptdl_head){adaptdl->job[number].turn, number, line};
}

static uint32_t find_heads(const struct adaptdl *adaptdl) {
    uint32_t n = 0;
    for (uint32_t line = 0; line < adaptdl->n_lines; line++)
        if (adaptdl->line[line].first != ADAPTDL_NONE)
            adaptdl->head[n++] = head_at(adaptdl, adaptdl->line[line].first, line);
    return n;
}

/* Returns how many jobs are chosen that have no GPUs yet. */
static uint32_t choose(struct adaptdl *adaptdl, int64_t now_ns) {
    uint32_t n_left = adaptdl->n_gpus, n_fresh = 0;
    struct gsim_heap heads = {.items = adaptdl->head,
                              .n = find_heads(adaptdl),
                              .size = sizeof *adaptdl->head,
                              .by_rank = by_turn};
    for (uint32_t i = 0; i < adaptdl->n_holders; i++)
        adaptdl->job[adaptdl->holder[i]].is_chosen = false;
    gsim_heap_pile(&heads);
    while (n_left > 0 && heads.n > 0) {
        struct adaptdl_head *head = adaptdl->head;
        struct adaptdl_job *job = &adaptdl->job[head->number];
        if (job->gpus <= n_left) {
            job->is_chosen = true;
            n_left -= job->gpus;
            if (job->n_nodes == 0)
                adaptdl->fresh[n_fresh++] = head->number;
            job->last_ns = now_ns;
        }
        if (job->gpus > n_left || job->after == ADAPTDL_NONE) {
            (void)gsim_heap_take(&heads);
            continue;
        }
        *head = head_at(adaptdl, job->after, head->line);
        gsim_heap_put_back(&heads);
    }
    return n_fresh;
}

/* Jobs that are not chosen lose their GPUs. */
static void take_back(struct adaptdl *adaptdl) {
    for (uint32_t i = 0; i < adaptdl->n_holders; i++) {
        struct adaptdl_job *job = &adaptdl->job[adaptdl->holder[i]];
        job->is_changed = !job->is_chosen && job->n_nodes > 0;
        job->n_nodes = job->is_chosen ? job->n_nodes : 0;
    }
}

static bool give(struct gsim_ctx *ctx, struct adaptdl *adaptdl, uint32_t n_fresh) {
    if (n_fresh == 0)
        return true;
    adaptdl_free_all(ctx, adaptdl);
    for (uint32_t i = 0; i < adaptdl->n_holders; i++) {
        const struct adaptdl_job *job = &adaptdl->job[adaptdl->holder[i]];
        for (uint32_t u = 0; u < job->n_nodes; u++)
            adaptdl->free[job->node[u]]--;
    }
    for (uint32_t i = 0; i < n_fresh; i++) {
        struct adaptdl_job *job = &adaptdl->job[adaptdl->fresh[i]];
        if (!adaptdl_reserve(ctx, job, job->gpus))
            return false;
        adaptdl_spread(ctx, adaptdl, job, job->gpus);
    }
    return true;
}

/* New holders; one that lost its GPUs, and could not be stopped, is one already. */
static void hold(struct adaptdl *adaptdl, uint32_t n_fresh) {
    for (uint32_t i = 0; i < n_fresh; i++)
        if (!adaptdl->job[adaptdl->fresh[i]].is_placed)
            adaptdl_hold(adaptdl, adaptdl->fresh[i]);
}

/* While no job comes or ends, the first tick that demotes a job is the next one to change
 * anything. */
static int64_t next_demotion(const struct adaptdl *adaptdl, int64_t now_ns) {
    int64_t next_ns = INT64_MAX;
    for (uint32_t i = 0; i < adaptdl->n_holders; i++) {
        const struct adaptdl_job *job = &adaptdl->job[adaptdl->holder[i]];
        int64_t left_ns = (adaptdl->threshold_ns - 1) / job->gpus + 1 - job->executed_ns;
        if (job->is_chosen && !job->is_demoted && now_ns + left_ns < next_ns)
            next_ns = now_ns + left_ns;
    }
    return next_ns;
}

bool adaptdl_tiresias(struct gsim_ctx *ctx, struct adaptdl *adaptdl) {
    int64_t now_ns = ctx->view->now_ns;
    demote(adaptdl, now_ns);
    uint32_t n_fresh = choose(adaptdl, now_ns);
    take_back(adaptdl);
    if (!give(ctx, adaptdl, n_fresh))
        return false;
    hold(adaptdl, n_fresh);
    adaptdl->idle_until_ns = next_demotion(adaptdl, now_ns);
    return true;
}
