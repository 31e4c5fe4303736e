/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs leave one after the other; after each only its own GPUs are looked at again. */
#include "policies/lib/vacancy.h"

#include "policies/lib/common.h"
#include "sim/base/sort.h"

enum gsim_status gsim_vacancy_init(struct gsim_vacancy *room, struct gsim_ctx *ctx) {
    room->gpu = gsim_arena_array(ctx->arena, ctx->view->cluster.n_gpus + 1u, sizeof *room->gpu);
    return room->gpu ? GSIM_OK : gsim_no_memory(ctx->log, "opening the queue");
}

/* --- the picture ------------------------------------------------------------------------------ */

static bool reserve(struct gsim_vacancy *room, struct gsim_arena *arena) {
    if (room->n_holders < room->capacity)
        return true;
    uint32_t n = room->capacity ? 2 * room->capacity : 64;
    gsim_slot *holder = gsim_arena_grow_raw(arena, room->holder, n * sizeof *holder);
    room->holder = holder ? holder : room->holder;
    int64_t *key = gsim_arena_grow_raw(arena, room->key, n * sizeof *key);
    room->key = key ? key : room->key;
    uint32_t *sorted = gsim_arena_grow_raw(arena, room->sorted, n * sizeof *sorted);
    room->sorted = sorted ? sorted : room->sorted;
    gsim_slot *swap = gsim_arena_grow_raw(arena, room->swap, n * sizeof *swap);
    room->swap = swap ? swap : room->swap;
    bool has_all = holder && key && sorted && swap;
    room->capacity = has_all ? n : room->capacity;
    return has_all;
}

/* The job comes to its units (1), or leaves them (-1). */
static void count(struct gsim_vacancy *room, const struct gsim_ctx *ctx,
                  const struct gsim_plan *plan, gsim_slot slot, int sign) {
    const struct gsim_unit *units;
    uint32_t n = gsim_plan_units(plan, slot, &units);
    for (uint32_t u = 0; u < n; u++) {
        struct gsim_vacancy_gpu *gpu = &room->gpu[units[u].gpu];
        gpu->n_jobs += (uint32_t)sign;
        gpu->mem_bytes += sign * gsim_job_memory(ctx->view, slot);
        if (units[u].slot > 0)
            gpu->instances ^= 1u << (units[u].slot - 1);
    }
}

static bool list_holders(struct gsim_vacancy *room, const struct gsim_ctx *ctx,
                         const struct gsim_plan *plan, int sign) {
    const struct gsim_view *view = ctx->view;
    const struct gsim_unit *units;
    room->n_holders = 0;
    for (uint32_t i = 0; i < view->jobs.n_active; i++) {
        if (gsim_plan_units(plan, view->jobs.active[i], &units) == 0)
            continue;
        if (!reserve(room, ctx->arena))
            return false;
        room->key[room->n_holders] = sign * (int64_t)gsim_nth(view, view->jobs.active[i]);
        room->holder[room->n_holders++] = view->jobs.active[i];
    }
    return true;
}

static bool sort(struct gsim_vacancy *room) {
    return gsim_sort_order(room->key, room->sorted, room->n_holders);
}

/* Jobs with equal keys leave in the order of the trace, or one by one, the last first. */
static bool look(struct gsim_vacancy *room, struct gsim_ctx *ctx, const struct gsim_plan *plan,
                 const struct gsim_vacancy_search *search) {
    const struct gsim_view *view = ctx->view;
    for (uint32_t g = 0; g < view->cluster.n_gpus; g++)
        room->gpu[g] = (struct gsim_vacancy_gpu){
            .is_down = view->cluster.node_is_down[view->cluster.node_of_gpu[g]]};
    if (!list_holders(room, ctx, plan, search->leaves_last_first ? -1 : 1) || !sort(room))
        return false;
    for (uint32_t i = 0; i < room->n_holders; i++) {
        room->swap[i] = gsim_vacancy_leaver(room, i);
        room->key[i] = search->key(ctx, room->swap[i], search->of);
        count(room, ctx, plan, room->swap[i], 1);
    }
    gsim_slot *by_trace = room->swap;
    room->swap = room->holder;
    room->holder = by_trace;
    return sort(room);
}

/* --- the search ------------------------------------------------------------------------------- */

static bool is_empty(const struct gsim_vacancy_gpu *gpu) {
    return gpu->n_jobs == 0 && !gpu->is_down;
}

static bool keep_one(struct gsim_vacancy *room, const struct gsim_ctx *ctx,
                     const struct gsim_vacancy_search *search, uint32_t gpu) {
    struct gsim_vacancy_gpu *here = &room->gpu[gpu];
    if (here->is_down || !search->holds(ctx, here, gpu, search->slot))
        return false;
    here->is_kept = true;
    here->n_jobs++;
    here->mem_bytes += gsim_job_memory(ctx->view, search->slot);
    here->instances = UINT32_MAX; /* which instance it will have is not known */
    return true;
}

/* Empty GPUs of a node that the job does not take. */
static uint32_t left_of(const struct gsim_vacancy *room, const struct gsim_ctx *ctx,
                        uint32_t node) {
    const uint32_t *first = ctx->view->cluster.node_first_gpu;
    uint32_t n = 0;
    for (uint32_t g = first[node]; g < first[node + 1]; g++)
        n += is_empty(&room->gpu[g]);
    return n - room->gpu[first[node]].n_taken;
}

/* Keeps the empty GPUs of a node, of which the job takes n; how many more are kept than before. */
static uint32_t keep_node(struct gsim_vacancy *room, const struct gsim_ctx *ctx, uint32_t node,
                          uint32_t n) {
    const uint32_t *first = ctx->view->cluster.node_first_gpu;
    uint32_t kept = 0;
    for (uint32_t g = first[node]; g < first[node + 1]; g++) {
        kept += is_empty(&room->gpu[g]) && !room->gpu[g].is_kept;
        room->gpu[g].is_kept = is_empty(&room->gpu[g]);
    }
    room->gpu[first[node]].n_taken += n;
    return kept;
}

/* Keeps a part for which the first node with room will do; how many more GPUs are kept. */
static uint32_t keep_first(struct gsim_vacancy *room, const struct gsim_ctx *ctx, uint32_t part) {
    for (uint32_t node = 0; node < ctx->view->cluster.n_nodes; node++)
        if (left_of(room, ctx, node) >= part)
            return keep_node(room, ctx, node, part);
    return UINT32_MAX;
}

/* Keeps n parts of one width, each on the fullest node with room, as a placement takes them: else
 * a part of a narrow node might be kept on a wide one, which later parts need. Adds up how many
 * GPUs are kept. */
static bool keep_alike(struct gsim_vacancy *room, const struct gsim_ctx *ctx, uint32_t n,
                       uint32_t width, uint32_t *kept) {
    for (uint32_t k = width; k <= ctx->view->cluster.widest_node && n > 0; k++)
        for (uint32_t node = 0; node < ctx->view->cluster.n_nodes && n > 0; node++) {
            if (left_of(room, ctx, node) != k)
                continue;
            uint32_t here = k / width < n ? k / width : n;
            *kept += keep_node(room, ctx, node, here * width);
            n -= here;
        }
    return n == 0;
}

static void forget_nodes(struct gsim_vacancy *room, const struct gsim_ctx *ctx) {
    for (uint32_t g = 0; g < ctx->view->cluster.n_gpus; g++) {
        room->gpu[g].n_taken = 0;
        room->gpu[g].is_kept = false;
    }
}

/* Width and number of the widest nodes that are narrower than that; 0: there is none. */
static uint32_t narrower(const struct gsim_ctx *ctx, uint32_t than, uint32_t *n) {
    const uint32_t *first = ctx->view->cluster.node_first_gpu;
    uint32_t widest = 0;
    for (uint32_t node = 0; node < ctx->view->cluster.n_nodes; node++) {
        uint32_t width = first[node + 1] - first[node];
        if (width >= than || width < widest)
            continue;
        *n = width == widest ? *n + 1 : 1;
        widest = width;
    }
    return widest;
}

/* Keeps the nodes that the job would fill if all were idle, the widest first, and one for the
 * rest; how many GPUs are kept, 0: too few. */
static uint32_t keep_parts(struct gsim_vacancy *room, const struct gsim_ctx *ctx, uint32_t needed) {
    uint32_t kept = 0, rest = needed, n_alike = 0, width = UINT32_MAX;
    while (needed > ctx->view->cluster.widest_node && rest > 0 &&
           (width = narrower(ctx, width, &n_alike)) > 0) {
        uint32_t n = rest / width < n_alike ? rest / width : n_alike;
        if (!keep_alike(room, ctx, n, width, &kept))
            return 0;
        rest -= n * width;
    }
    uint32_t part = rest > 0 ? keep_first(room, ctx, rest) : 0;
    return part == UINT32_MAX ? 0 : kept + part;
}

/* As many nodes as placement=consolidate gives the job. */
static bool keep_few_nodes(struct gsim_vacancy *room, const struct gsim_ctx *ctx, uint32_t needed) {
    forget_nodes(room, ctx);
    uint32_t kept = keep_parts(room, ctx, needed);
    room->n_spare = kept > 0 ? kept - needed : 0;
    if (kept == 0)
        forget_nodes(room, ctx);
    return kept > 0;
}

static bool keep_whole(struct gsim_vacancy *room, const struct gsim_ctx *ctx,
                       const struct gsim_vacancy_search *search) {
    uint32_t needed = ctx->view->jobs.gpus[search->slot];
    if (room->n_empty < needed)
        return false;
    if (search->wants_few_nodes)
        return keep_few_nodes(room, ctx, needed);
    room->n_spare = room->n_empty - needed;
    for (uint32_t g = 0; g < ctx->view->cluster.n_gpus; g++)
        room->gpu[g].is_kept = is_empty(&room->gpu[g]);
    return true;
}

static bool keep_any(struct gsim_vacancy *room, const struct gsim_ctx *ctx,
                     const struct gsim_vacancy_search *search) {
    bool is_found = false;
    room->n_empty = 0;
    for (uint32_t g = 0; g < ctx->view->cluster.n_gpus; g++)
        room->n_empty += is_empty(&room->gpu[g]);
    if (search->wants_whole)
        return keep_whole(room, ctx, search);
    for (uint32_t g = 0; g < ctx->view->cluster.n_gpus && !is_found; g++)
        is_found = keep_one(room, ctx, search, g);
    return is_found;
}

/* The job leaves; whether the one that waits has room then. */
static bool leave(struct gsim_vacancy *room, const struct gsim_ctx *ctx,
                  const struct gsim_plan *plan, const struct gsim_vacancy_search *search,
                  gsim_slot slot) {
    const struct gsim_unit *units;
    uint32_t n = gsim_plan_units(plan, slot, &units);
    count(room, ctx, plan, slot, -1);
    for (uint32_t u = 0; u < n; u++)
        room->n_empty += is_empty(&room->gpu[units[u].gpu]);
    if (search->wants_whole)
        return keep_whole(room, ctx, search);
    for (uint32_t u = 0; u < n; u++)
        if (keep_one(room, ctx, search, units[u].gpu))
            return true;
    return false;
}

int64_t gsim_vacancy_find(struct gsim_vacancy *room, struct gsim_ctx *ctx,
                          const struct gsim_plan *plan, const struct gsim_vacancy_search *search) {
    if (!look(room, ctx, plan, search)) {
        gsim_common_no_memory(ctx);
        return -1;
    }
    if (keep_any(room, ctx, search))
        return 0;
    uint32_t n = 0;
    bool is_found = false;
    for (; n < room->n_holders && gsim_vacancy_key(room, n) < GSIM_NEVER; n++) {
        bool leave_together = search->wants_whole && !search->leaves_last_first;
        if (is_found &&
            (!leave_together || gsim_vacancy_key(room, n) != gsim_vacancy_key(room, n - 1)))
            break;
        is_found = leave(room, ctx, plan, search, gsim_vacancy_leaver(room, n));
    }
    return is_found ? (int64_t)n : -1;
}

gsim_slot gsim_vacancy_leaver(const struct gsim_vacancy *room, uint32_t i) {
    return room->holder[room->sorted[i]];
}

int64_t gsim_vacancy_key(const struct gsim_vacancy *room, uint32_t i) {
    return room->key[room->sorted[i]];
}

uint32_t gsim_vacancy_kept(const struct gsim_vacancy *room, const struct gsim_plan *plan,
                           gsim_slot slot) {
    const struct gsim_unit *units;
    uint32_t n = gsim_plan_units(plan, slot, &units), n_kept = 0;
    for (uint32_t u = 0; u < n; u++)
        n_kept += room->gpu[units[u].gpu].is_kept;
    return n_kept;
}

void gsim_vacancy_spare(struct gsim_vacancy *room, const struct gsim_plan *plan, gsim_slot slot) {
    const struct gsim_unit *units;
    uint32_t n = gsim_plan_units(plan, slot, &units);
    for (uint32_t u = 0; u < n; u++) {
        room->n_spare -= room->gpu[units[u].gpu].is_kept;
        room->gpu[units[u].gpu].is_kept = false;
    }
}
