/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All schedulers of Pollux' simulator have these in common: jobs that come and go, the ticks in
 * which GPUs change hands, and the way of each job to its own. */
#include "policies/adaptdl/state.h"

#include <string.h>

/* --- arrivals and ends ------------------------------------------------------------------------ */

bool adaptdl_came_later(const struct adaptdl *adaptdl, uint32_t number, uint32_t arrived) {
    return adaptdl->job[number].came > adaptdl->job[arrived].came;
}

void adaptdl_insert(const struct adaptdl *adaptdl, uint32_t *list, uint32_t n, uint32_t number) {
    uint32_t at = n;
    for (; at > 0 && adaptdl_came_later(adaptdl, list[at - 1], number); at--)
        list[at] = list[at - 1];
    list[at] = number;
}

void adaptdl_hold(struct adaptdl *adaptdl, uint32_t number) {
    adaptdl_insert(adaptdl, adaptdl->holder, adaptdl->n_holders++, number);
}

void adaptdl_arrive(struct gsim_ctx *ctx, gsim_slot slot) {
    struct adaptdl *adaptdl = ctx->state;
    uint32_t number = ctx->view->jobs.index[slot];
    adaptdl->job[number] = (struct adaptdl_job){.slot = slot,
                                                .is_active = true,
                                                .gpus = ctx->view->jobs.gpus[slot],
                                                .came = gsim_nth(ctx->view, slot),
                                                .last_ns = ctx->view->now_ns};
    if (adaptdl->active)
        adaptdl_insert(adaptdl, adaptdl->active, adaptdl->n_active, number);
    adaptdl->n_active++;
}

/* The job's place among the active ones. */
static uint32_t find_active(const struct adaptdl *adaptdl, uint32_t number) {
    uint32_t low = 0, high = adaptdl->n_active - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (adaptdl_came_later(adaptdl, number, adaptdl->active[middle]))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void adaptdl_complete(struct gsim_ctx *ctx, gsim_slot slot) {
    struct adaptdl *adaptdl = ctx->state;
    uint32_t number = ctx->view->jobs.index[slot], at;
    if (adaptdl->active) {
        at = find_active(adaptdl, number);
        memmove(adaptdl->active + at, adaptdl->active + at + 1,
                (adaptdl->n_active - at - 1) * sizeof *adaptdl->active);
    }
    adaptdl->n_active--;
    adaptdl->job[number].is_active = adaptdl->job[number].is_placed = false;
}

/* --- a tick ----------------------------------------------------------------------------------- */

/* The holders among the active jobs. */
static void find_holders(struct adaptdl *adaptdl) {
    const uint32_t *list = adaptdl->visited ? adaptdl->visited : adaptdl->active;
    uint32_t n = adaptdl->visited ? adaptdl->n_visited : adaptdl->n_active;
    adaptdl->n_holders = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct adaptdl_job *job = &adaptdl->job[list[i]];
        if (job->n_nodes > 0 || job->is_placed || job->is_changed)
            adaptdl->holder[adaptdl->n_holders++] = list[i];
    }
}

static void set_owner(struct adaptdl *adaptdl, const struct adaptdl_job *job, uint32_t owner) {
    for (uint32_t u = 0; u < job->n_nodes; u++)
        adaptdl->owner[job->units[u].gpu] = owner;
}

static void find_gpus(const struct gsim_ctx *ctx, struct adaptdl *adaptdl, uint32_t number) {
    struct adaptdl_job *job = &adaptdl->job[number];
    for (uint32_t u = 0; u < job->n_nodes; u++) {
        uint32_t gpu = ctx->view->cluster.node_first_gpu[job->node[u]];
        while (adaptdl->owner[gpu] != ADAPTDL_NONE)
            gpu++;
        adaptdl->owner[gpu] = number;
        job->units[u] = (struct gsim_unit){.gpu = gpu};
    }
}

static bool is_any_changed(const struct adaptdl *adaptdl) {
    for (uint32_t i = 0; i < adaptdl->n_holders; i++)
        if (adaptdl->job[adaptdl->holder[i]].is_changed)
            return true;
    return false;
}

/* Jobs that are given other GPUs give theirs up first, and get the first free ones of their
 * nodes. */
static void move(const struct gsim_ctx *ctx, struct gsim_plan *plan, struct adaptdl *adaptdl) {
    if (!is_any_changed(adaptdl))
        return;
    for (uint32_t i = 0; i < adaptdl->n_holders; i++) {
        struct adaptdl_job *job = &adaptdl->job[adaptdl->holder[i]];
        if (!job->is_changed)
            set_owner(adaptdl, job, adaptdl->holder[i]);
        else if (job->is_placed && ctx->view->jobs.state[job->slot] == GSIM_RUNNING &&
                 gsim_plan_preempt(plan, job->slot, adaptdl->way.stop, adaptdl->way.keep))
            job->is_placed = false;
    }
    for (uint32_t i = 0; i < adaptdl->n_holders; i++) {
        struct adaptdl_job *job = &adaptdl->job[adaptdl->holder[i]];
        if (job->is_changed)
            find_gpus(ctx, adaptdl, adaptdl->holder[i]);
        job->is_changed = false;
    }
    for (uint32_t i = 0; i < adaptdl->n_holders; i++)
        set_owner(adaptdl, &adaptdl->job[adaptdl->holder[i]], ADAPTDL_NONE);
    adaptdl->has_unplaced = true;
}

/* A job that takes longer than a tick to begin keeps its GPUs until it runs. */
bool adaptdl_is_on_its_way(const struct gsim_ctx *ctx, const struct adaptdl_job *job) {
    enum gsim_state state = (enum gsim_state)ctx->view->jobs.state[job->slot];
    return job->is_placed && state != GSIM_RUNNING;
}

/* Jobs that are done hold nothing. */
static void drop_holders(struct adaptdl *adaptdl) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < adaptdl->n_holders; i++) {
        const struct adaptdl_job *job = &adaptdl->job[adaptdl->holder[i]];
        if (job->is_active && (job->n_nodes > 0 || job->is_placed))
            adaptdl->holder[kept++] = adaptdl->holder[i];
    }
    adaptdl->n_holders = kept;
}

void adaptdl_free_all(const struct gsim_ctx *ctx, struct adaptdl *adaptdl) {
    memcpy(adaptdl->free, adaptdl->node_gpus, ctx->view->cluster.n_nodes * sizeof *adaptdl->free);
}

static void tick(struct gsim_ctx *ctx, struct gsim_plan *plan, struct adaptdl *adaptdl) {
    if (ctx->view->now_ns < adaptdl->idle_until_ns)
        return;
    drop_holders(adaptdl);
    for (uint32_t i = 0; i < adaptdl->n_holders && !adaptdl->passes_starters; i++)
        if (adaptdl_is_on_its_way(ctx, &adaptdl->job[adaptdl->holder[i]]))
            return;
    bool is_done = adaptdl->give(ctx, adaptdl);
    if (!is_done && ctx->status == GSIM_OK)
        ctx->status = gsim_no_memory(ctx->log, "scheduling");
    if (!is_done)
        return;
    if (adaptdl->active)
        find_holders(adaptdl);
    move(ctx, plan, adaptdl);
}

static void place(struct gsim_ctx *ctx, struct gsim_plan *plan, struct adaptdl *adaptdl) {
    if (!adaptdl->has_unplaced)
        return;
    adaptdl->has_unplaced = false;
    for (uint32_t i = 0; i < adaptdl->n_holders; i++) {
        struct adaptdl_job *job = &adaptdl->job[adaptdl->holder[i]];
        if (!job->is_active || job->is_placed || job->n_nodes == 0)
            continue;
        job->is_placed = gsim_state_waits((enum gsim_state)ctx->view->jobs.state[job->slot]) &&
                         gsim_plan_place_on(plan, job->slot, job->units, job->n_nodes);
        adaptdl->has_unplaced |= !job->is_placed;
    }
}

void adaptdl_decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct adaptdl *adaptdl = ctx->state;
    if (ctx->view->cluster.n_failures > 0) {
        ctx->status = gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                                "%s has no rule for nodes that fail; run it without --mtbf",
                                ctx->policy->name);
        return;
    }
    int64_t now_ns = ctx->view->now_ns, interval_ns = adaptdl->interval_ns;
    if (adaptdl->next_ns < now_ns)
        adaptdl->next_ns = (now_ns + interval_ns - 1) / interval_ns * interval_ns;
    if (adaptdl->next_ns == now_ns) {
        tick(ctx, plan, adaptdl);
        adaptdl->next_ns = now_ns + interval_ns;
    }
    place(ctx, plan, adaptdl);
    bool has_ticks = adaptdl->idle_until_ns < INT64_MAX || adaptdl->has_unplaced;
    if (adaptdl->n_active > 0 && has_ticks)
        gsim_plan_wake(plan, adaptdl->next_ns);
}

/* --- opening ---------------------------------------------------------------------------------- */

static bool open_tables(struct gsim_ctx *ctx, struct adaptdl *adaptdl) {
    uint32_t n = ctx->view->trace->n_jobs, n_nodes = ctx->view->cluster.n_nodes;
    adaptdl->job = gsim_arena_array(ctx->arena, n, sizeof *adaptdl->job);
    adaptdl->holder = gsim_arena_array(ctx->arena, n, sizeof *adaptdl->holder);
    if (adaptdl->has_lines)
        adaptdl->fresh = gsim_arena_array(ctx->arena, n, sizeof *adaptdl->fresh);
    else
        adaptdl->active = gsim_arena_array(ctx->arena, n, sizeof *adaptdl->active);
    adaptdl->free = gsim_arena_array(ctx->arena, n_nodes, sizeof *adaptdl->free);
    adaptdl->node_gpus = gsim_arena_array(ctx->arena, n_nodes, sizeof *adaptdl->node_gpus);
    adaptdl->n_gpus = ctx->view->cluster.n_gpus;
    adaptdl->owner = gsim_arena_array(ctx->arena, adaptdl->n_gpus, sizeof *adaptdl->owner);
    if (!adaptdl->job || (!adaptdl->active && !adaptdl->fresh) || !adaptdl->holder ||
        !adaptdl->free || !adaptdl->node_gpus || !adaptdl->owner)
        return false;
    memset(adaptdl->owner, 0xff, adaptdl->n_gpus * sizeof *adaptdl->owner); /* ADAPTDL_NONE */
    for (uint32_t gpu = 0; gpu < adaptdl->n_gpus; gpu++)
        adaptdl->node_gpus[ctx->view->cluster.node_of_gpu[gpu]]++;
    return true;
}

void adaptdl_note_table(struct gsim_ctx *ctx) {
    if (!ctx->view->trace->goodput)
        ctx->deviation = "no table (--goodput) says how jobs learn: each runs by its own columns, "
                         "on the GPUs that it asks for";
}

enum gsim_status adaptdl_open(struct gsim_ctx *ctx, struct adaptdl *adaptdl) {
    if (ctx->view->pool.is_used)
        return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0, "%s: a pool has no nodes",
                         ctx->policy->name);
    adaptdl->is_reference =
        ctx->reference == GSIM_REFERENCE_POLLUX || ctx->reference == GSIM_REFERENCE_SIA;
    adaptdl->interval_ns = gsim_param(ctx->params, "interval");
    adaptdl->next_ns = adaptdl->is_reference ? adaptdl->interval_ns : 0;
    adaptdl->way = gsim_settings_preemption(ctx, GSIM_KEEP_STORAGE);
    return open_tables(ctx, adaptdl) ? GSIM_OK : gsim_no_memory(ctx->log, "opening the tables");
}
