/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All schedulers of Pollux' simulator have these in common: jobs that come and go, the ticks in
 * which GPUs change hands, and the way of each job to its own. */
#include "policies/adaptdl/state.h"

/* --- arrivals and ends ------------------------------------------------------------------------ */

/* Whether an active job was submitted after the one that arrives. */
static bool came_later(const struct gsim_ctx *ctx, uint32_t number, gsim_slot arrived) {
    const struct adaptdl *adaptdl = ctx->state;
    return gsim_nth(ctx->view, adaptdl->job[number].slot) > gsim_nth(ctx->view, arrived);
}

void adaptdl_arrive(struct gsim_ctx *ctx, gsim_slot slot) {
    struct adaptdl *adaptdl = ctx->state;
    uint32_t number = ctx->view->jobs.index[slot], at = adaptdl->n_active++;
    adaptdl->job[number] = (struct adaptdl_job){.slot = slot,
                                                .is_active = true,
                                                .gpus = ctx->view->jobs.gpus[slot],
                                                .last_ns = ctx->view->now_ns};
    for (; at > 0 && came_later(ctx, adaptdl->active[at - 1], slot); at--)
        adaptdl->active[at] = adaptdl->active[at - 1];
    adaptdl->active[at] = number;
    adaptdl->queue[0][adaptdl->n_queue[0]++] = number;
}

void adaptdl_complete(struct gsim_ctx *ctx, gsim_slot slot) {
    struct adaptdl *adaptdl = ctx->state;
    uint32_t number = ctx->view->jobs.index[slot], kept = 0;
    adaptdl->job[number].is_active = adaptdl->job[number].is_placed = false;
    for (uint32_t i = 0; i < adaptdl->n_active; i++)
        if (adaptdl->active[i] != number)
            adaptdl->active[kept++] = adaptdl->active[i];
    adaptdl->n_active = kept;
}

/* --- a tick ----------------------------------------------------------------------------------- */

/* Jobs that are given other GPUs give theirs up first, and get the first free ones of their
 * nodes. */
static void move(const struct gsim_ctx *ctx, struct gsim_plan *plan, struct adaptdl *adaptdl) {
    for (uint32_t gpu = 0; gpu < ctx->view->cluster.n_gpus; gpu++)
        adaptdl->owner[gpu] = GSIM_NO_OWNER;
    for (uint32_t i = 0; i < adaptdl->n_active; i++) {
        struct adaptdl_job *job = &adaptdl->job[adaptdl->active[i]];
        for (uint32_t u = 0; u < job->n_nodes && !job->is_changed; u++)
            adaptdl->owner[job->units[u].gpu] = adaptdl->active[i];
        if (job->is_changed && job->is_placed && ctx->view->jobs.state[job->slot] == GSIM_RUNNING &&
            gsim_plan_preempt(plan, job->slot, adaptdl->way.stop, adaptdl->way.keep))
            job->is_placed = false;
    }
    for (uint32_t i = 0; i < adaptdl->n_active; i++) {
        struct adaptdl_job *job = &adaptdl->job[adaptdl->active[i]];
        for (uint32_t u = 0; u < job->n_nodes && job->is_changed; u++) {
            uint32_t gpu = ctx->view->cluster.node_first_gpu[job->node[u]];
            while (adaptdl->owner[gpu] != GSIM_NO_OWNER)
                gpu++;
            adaptdl->owner[gpu] = adaptdl->active[i];
            job->units[u] = (struct gsim_unit){.gpu = gpu};
        }
        job->is_changed = false;
    }
    adaptdl->has_unplaced = true;
}

/* A job that takes longer than a tick to begin keeps its GPUs until it runs. */
bool adaptdl_is_on_its_way(const struct gsim_ctx *ctx, const struct adaptdl_job *job) {
    enum gsim_state state = (enum gsim_state)ctx->view->jobs.state[job->slot];
    return job->is_placed && state != GSIM_RUNNING;
}

static void tick(struct gsim_ctx *ctx, struct gsim_plan *plan, struct adaptdl *adaptdl) {
    for (uint32_t i = 0; i < adaptdl->n_active; i++)
        if (!adaptdl->passes_starters &&
            adaptdl_is_on_its_way(ctx, &adaptdl->job[adaptdl->active[i]]))
            return;
    for (uint32_t node = 0; node < ctx->view->cluster.n_nodes; node++)
        adaptdl->free[node] = adaptdl->node_gpus[node];
    bool is_done = adaptdl->give(ctx, adaptdl);
    if (!is_done && ctx->status == GSIM_OK)
        ctx->status = gsim_no_memory(ctx->log, "scheduling");
    if (!is_done)
        return;
    move(ctx, plan, adaptdl);
}

static void place(struct gsim_ctx *ctx, struct gsim_plan *plan, struct adaptdl *adaptdl) {
    if (!adaptdl->has_unplaced)
        return;
    adaptdl->has_unplaced = false;
    for (uint32_t i = 0; i < adaptdl->n_active; i++) {
        struct adaptdl_job *job = &adaptdl->job[adaptdl->active[i]];
        if (job->is_placed || job->n_nodes == 0)
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
    if (adaptdl->n_active > 0)
        gsim_plan_wake(plan, adaptdl->next_ns);
}

/* --- opening ---------------------------------------------------------------------------------- */

static bool open_tables(struct gsim_ctx *ctx, struct adaptdl *adaptdl) {
    uint32_t n = ctx->view->trace->n_jobs, n_nodes = ctx->view->cluster.n_nodes;
    adaptdl->job = gsim_arena_array(ctx->arena, n, sizeof *adaptdl->job);
    adaptdl->active = gsim_arena_array(ctx->arena, n, sizeof *adaptdl->active);
    adaptdl->queue[0] = gsim_arena_array(ctx->arena, n, sizeof *adaptdl->queue[0]);
    adaptdl->queue[1] = gsim_arena_array(ctx->arena, n, sizeof *adaptdl->queue[1]);
    adaptdl->free = gsim_arena_array(ctx->arena, n_nodes, sizeof *adaptdl->free);
    adaptdl->node_gpus = gsim_arena_array(ctx->arena, n_nodes, sizeof *adaptdl->node_gpus);
    adaptdl->n_gpus = ctx->view->cluster.n_gpus;
    adaptdl->owner = gsim_arena_array(ctx->arena, adaptdl->n_gpus, sizeof *adaptdl->owner);
    if (!adaptdl->job || !adaptdl->active || !adaptdl->queue[0] || !adaptdl->queue[1] ||
        !adaptdl->free || !adaptdl->node_gpus || !adaptdl->owner)
        return false;
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
