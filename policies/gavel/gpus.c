/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <string.h>

#include "policies/gavel/gpus.h"
#include "sim/base/sort.h"

/* Puts the types into the order of their devices' names. */
static enum gsim_status sort_types(struct gsim_ctx *ctx, struct gavel *gavel) {
    const char *name[GSIM_ROUND_TYPES];
    for (uint32_t type = 0; type < gavel->n_types; type++) {
        uint32_t at = type;
        name[type] = gsim_ask_device(ctx, (uint16_t)type);
        if (!name[type])
            name[type] = ""; /* a program that embeds the library need not name devices */
        for (; at > 0 && strcmp(name[gavel->by_name[at - 1]], name[type]) > 0; at--)
            gavel->by_name[at] = gavel->by_name[at - 1];
        gavel->by_name[at] = type;
    }
    return GSIM_OK;
}

static enum gsim_status index_nodes(struct gsim_ctx *ctx, struct gavel *gavel) {
    const struct gsim_view *view = ctx->view;
    for (uint32_t type = 0; type < gavel->n_types; type++)
        gsim_index_init(&gavel->nodes[type], ctx->arena);
    for (uint32_t node = 0; node < view->cluster.n_nodes; node++) {
        uint32_t type = view->cluster.type[view->cluster.node_first_gpu[node]];
        if (!gsim_index_insert(&gavel->nodes[type], node, gavel->n_free[node], node))
            return gsim_no_memory(ctx->log, "opening gavel");
    }
    return GSIM_OK;
}

enum gsim_status gavel_open_gpus(struct gsim_ctx *ctx, struct gavel *gavel) {
    const struct gsim_view *view = ctx->view;
    uint32_t n = view->cluster.n_gpus;
    if (view->pool.is_used)
        return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0, "gavel needs nodes, not a pool of GPUs");
    gavel->n_owners = gsim_arena_array(ctx->arena, n, sizeof *gavel->n_owners);
    gavel->claim = gsim_arena_array(ctx->arena, n, sizeof *gavel->claim);
    gavel->n_free = gsim_arena_array(ctx->arena, view->cluster.n_nodes, sizeof *gavel->n_free);
    gavel->changed = gsim_arena_array(ctx->arena, view->cluster.n_nodes, sizeof *gavel->changed);
    gavel->is_changed = gsim_arena_array(ctx->arena, view->cluster.n_nodes, 1);
    if (!gavel->n_owners || !gavel->claim || !gavel->n_free || !gavel->changed ||
        !gavel->is_changed)
        return gsim_no_memory(ctx->log, "opening gavel");
    for (uint32_t gpu = 0; gpu < n; gpu++) {
        uint32_t type = view->cluster.type[gpu];
        if (type >= GSIM_ROUND_TYPES)
            return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0, "gavel: more than %d types of devices",
                             GSIM_ROUND_TYPES);
        gavel->n_free[view->cluster.node_of_gpu[gpu]]++;
        gavel->n_gpus[type]++;
        gavel->n_types = type + 1 > gavel->n_types ? type + 1 : gavel->n_types;
    }
    enum gsim_status status = index_nodes(ctx, gavel);
    return status == GSIM_OK ? sort_types(ctx, gavel) : status;
}

/* Puts nodes where they belong: those of which numbers have changed. */
static void settle_nodes(const struct gsim_ctx *ctx, struct gavel *gavel) {
    for (uint32_t i = 0; i < gavel->n_changed; i++) {
        uint32_t node = gavel->changed[i];
        uint32_t type = ctx->view->cluster.type[ctx->view->cluster.node_first_gpu[node]];
        gavel->is_changed[node] = false;
        gsim_index_remove(&gavel->nodes[type], node);
        bool is_in = gsim_index_insert(&gavel->nodes[type], node, gavel->n_free[node], node);
        assert(is_in); /* it was a member: there is room */
        (void)is_in;
    }
    gavel->n_changed = 0;
}

/* The node with the fewest free GPUs that suffice, else the one with the most; the first of
 * equals. All GPUs of a node are of one type. */
static uint32_t best_node(const struct gsim_ctx *ctx, struct gavel *gavel, uint32_t type,
                          uint32_t wanted) {
    const struct gsim_index *nodes = &gavel->nodes[type];
    settle_nodes(ctx, gavel);
    uint32_t node = gsim_index_seek(nodes, wanted, 0);
    if (node == GSIM_NO_ID)
        node = gsim_index_seek(nodes, gsim_index_key(nodes, gsim_index_last(nodes)), 0);
    return node;
}

/* Most jobs of a round get the GPUs back that they had: no node is looked for in between. */
static void note_free(const struct gsim_ctx *ctx, struct gavel *gavel, uint32_t gpu, bool is_free) {
    uint32_t node = ctx->view->cluster.node_of_gpu[gpu];
    gavel->n_free[node] += is_free ? 1 : 0u - 1;
    if (gavel->is_changed[node])
        return;
    gavel->is_changed[node] = true;
    gavel->changed[gavel->n_changed++] = node;
}

static void own_gpu(const struct gsim_ctx *ctx, struct gavel *gavel, uint32_t gpu) {
    if (gavel->n_owners[gpu]++ == 0)
        note_free(ctx, gavel, gpu, false);
}

static void own_all(const struct gsim_ctx *ctx, struct gavel *gavel, struct gavel_job *job,
                    uint32_t type) {
    job->type = type;
    job->has_gpus = true;
    for (uint32_t u = 0; u < job->gpus; u++)
        own_gpu(ctx, gavel, job->units[u].gpu);
}

/* Whether the GPUs that the job had are free. */
static bool are_free(const struct gsim_ctx *ctx, const struct gavel *gavel,
                     const struct gavel_job *job) {
    for (uint32_t u = 0; u < job->gpus; u++) {
        uint32_t gpu = job->units[u].gpu;
        if (gavel->n_owners[gpu] > 0 ||
            ctx->view->cluster.node_is_down[ctx->view->cluster.node_of_gpu[gpu]])
            return false;
    }
    return true;
}

static void take_gpus(struct gsim_ctx *ctx, struct gavel *gavel, struct gavel_job *job,
                      uint32_t type) {
    const uint32_t *first = ctx->view->cluster.node_first_gpu;
    bool is_back = job->type == type && are_free(ctx, gavel, job);
    if (is_back) {
        own_all(ctx, gavel, job, type);
        return;
    }
    job->type = type;
    job->has_gpus = true;
    for (uint32_t n = 0; n < job->gpus;) {
        uint32_t node = best_node(ctx, gavel, type, job->gpus - n);
        for (uint32_t gpu = first[node]; gpu < first[node + 1] && n < job->gpus; gpu++)
            if (gavel->n_owners[gpu] == 0) {
                own_gpu(ctx, gavel, gpu);
                job->units[n++] = (struct gsim_unit){.gpu = gpu};
            }
    }
}

void gavel_give_gpus(const struct gsim_ctx *ctx, struct gavel *gavel, uint32_t number) {
    struct gavel_job *job = &gavel->job[number];
    for (uint32_t u = 0; job->has_gpus && u < job->gpus; u++) {
        uint32_t gpu = job->units[u].gpu;
        if (--gavel->n_owners[gpu] == 0)
            note_free(ctx, gavel, gpu, true);
    }
    job->has_gpus = false;
}

void gavel_preempt(struct gsim_plan *plan, const struct gavel *gavel, struct gavel_job *job) {
    if (gsim_plan_preempt(plan, job->slot, gavel->way.stop, gavel->way.keep))
        job->is_placed = false;
}

/* --- the round's GPUs ------------------------------------------------------------------------- */

static bool has_equal_gpus(const struct gavel_job *a, const struct gavel_job *b) {
    for (uint32_t u = 0; u < a->gpus; u++)
        if (a->units[u].gpu != b->units[u].gpu)
            return false;
    return true;
}

static bool is_claimed(const struct gavel *gavel, const struct gavel_job *job) {
    for (uint32_t u = 0; u < job->gpus; u++)
        if (gavel->claim[job->units[u].gpu] != 0)
            return true;
    return false;
}

/* The first job of a choice that is on its type, on GPUs that no earlier choice keeps, stays there;
 * so does a second one that is beside it already. */
static void keep_members(struct gavel *gavel, uint32_t choice) {
    const struct gsim_round_entry *entry = gavel_chosen(gavel, choice);
    const struct gavel_job *first = NULL;
    for (int m = 0; m <= gavel_is_pair(entry); m++) {
        struct gavel_job *job = gavel_member(gavel, entry, m);
        bool is_there = job->is_placed && job->has_gpus && job->type == gavel->choice[choice].type;
        if (!is_there || (first ? !has_equal_gpus(first, job) : is_claimed(gavel, job)))
            continue;
        job->stays = true;
        for (uint32_t u = 0; u < job->gpus; u++)
            gavel->claim[job->units[u].gpu] = choice + 1;
        first = first ? first : job;
    }
}

static uint32_t held_at(const struct gavel *gavel, uint32_t i) {
    return (uint32_t)gavel->held[i];
}

static void let_go(struct gsim_ctx *ctx, struct gsim_plan *plan, struct gavel *gavel) {
    for (uint32_t i = 0; i < gavel->n_held; i++) {
        struct gavel_job *job = &gavel->job[held_at(gavel, i)];
        if (job->stays)
            continue;
        if (job->is_placed && ctx->view->jobs.state[job->slot] == GSIM_RUNNING)
            gavel_preempt(plan, gavel, job);
        gavel_give_gpus(ctx, gavel, held_at(gavel, i));
    }
}

/* Lists a job that has GPUs, or is placed, if it is not in a list yet. Returns how many are in it
 * then. */
static uint32_t note_held(struct gavel *gavel, uint32_t number, int64_t *list, uint32_t n) {
    struct gavel_job *job = &gavel->job[number];
    if (job->is_held || (!job->is_placed && !job->has_gpus))
        return n;
    job->is_held = true;
    list[n] = (int64_t)job->came << 32 | number;
    return n + 1;
}

/* The jobs that the next round may let go, in the order in which they came: those that are listed,
 * and those of the round. */
static void list_held(struct gsim_ctx *ctx, struct gavel *gavel) {
    uint32_t n = gavel->n_held, kept = 0, n_new = 0;
    int64_t *more = gavel->settled;
    for (uint32_t i = 0; i < n; i++)
        gavel->job[held_at(gavel, i)].is_held = false;
    for (uint32_t i = 0; i < n; i++)
        if (gavel->job[held_at(gavel, i)].came == (uint64_t)gavel->held[i] >> 32) /* not again */
            kept = note_held(gavel, held_at(gavel, i), gavel->held, kept);
    for (uint32_t c = 0; c < gavel->n_choices; c++)
        for (int m = 0; m <= gavel_is_pair(gavel_chosen(gavel, c)); m++)
            n_new = note_held(gavel, gavel_chosen(gavel, c)->member[m], more, n_new);
    if (n_new > 1 && !gsim_sort_i64(more, n_new))
        ctx->status = gsim_no_memory(ctx->log, "scheduling");
    gavel->n_held = kept + n_new;
    for (uint32_t at = gavel->n_held; n_new > 0;)
        gavel->held[--at] = kept > 0 && gavel->held[kept - 1] > more[n_new - 1]
                                ? gavel->held[--kept]
                                : more[--n_new];
}

static void give_to_members(struct gsim_ctx *ctx, struct gavel *gavel, uint32_t choice) {
    const struct gsim_round_entry *entry = gavel_chosen(gavel, choice);
    const struct gavel_job *first = NULL;
    for (int m = 0; m <= gavel_is_pair(entry); m++)
        if (gavel_member(gavel, entry, m)->stays)
            first = gavel_member(gavel, entry, m);
    for (int m = 0; m <= gavel_is_pair(entry); m++) {
        struct gavel_job *job = gavel_member(gavel, entry, m);
        if (job->is_placed)
            continue;
        if (!first) {
            take_gpus(ctx, gavel, job, gavel->choice[choice].type);
            first = job;
            continue;
        }
        memcpy(job->units, first->units, job->gpus * sizeof *job->units);
        own_all(ctx, gavel, job, gavel->choice[choice].type);
    }
}

void gavel_assign(struct gsim_ctx *ctx, struct gsim_plan *plan, struct gavel *gavel) {
    memset(gavel->claim, 0, ctx->view->cluster.n_gpus * sizeof *gavel->claim);
    for (uint32_t i = 0; i < gavel->n_held; i++)
        gavel->job[held_at(gavel, i)].stays = false;
    for (uint32_t c = 0; c < gavel->n_choices; c++)
        keep_members(gavel, c);
    let_go(ctx, plan, gavel);
    for (uint32_t c = 0; c < gavel->n_choices; c++)
        give_to_members(ctx, gavel, c);
    list_held(ctx, gavel);
}

void gavel_arrange(struct gsim_ctx *ctx, struct gsim_plan *plan, struct gavel *gavel) {
    static const struct gsim_lane lane = {.discipline = GSIM_DISCIPLINE_PAIR};
    static const struct gsim_arrangement pairs = {.lanes = &lane, .n_lanes = 1};
    uint32_t n = ctx->view->cluster.n_gpus;
    struct gsim_unit *units = gsim_arena_array(ctx->arena, n, sizeof *units);
    if (!units) {
        ctx->status = gsim_no_memory(ctx->log, "scheduling");
        return;
    }
    for (uint32_t gpu = 0; gpu < n; gpu++)
        units[gpu].gpu = gpu;
    gavel->is_arranged = gsim_plan_arrange(plan, units, n, &pairs);
}
