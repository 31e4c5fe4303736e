/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job's class, its service less the time, which stays while it runs, and its place in the trace
 * are one number of 128 bits: 32 of class, 64 of service, 32 of arrival. */
#include "policies/lib/due.h"

#include "policies/lib/common.h"
#include "policies/lib/service.h"

void gsim_due_init(struct gsim_due *due, struct gsim_ctx *ctx,
                   int64_t (*rank)(const struct gsim_ctx *ctx, gsim_slot slot)) {
    *due = (struct gsim_due){.rank = rank};
    gsim_index_init(&due->jobs, ctx->arena);
    gsim_index_init(&due->classes, ctx->arena);
}

/* --- classes ---------------------------------------------------------------------------------- */

/* GSIM_NO_ID: no memory. */
static uint32_t class_for(struct gsim_due *due, int64_t urgency, uint32_t gpus) {
    struct gsim_index *classes = &due->classes;
    uint32_t at = gsim_index_seek(classes, urgency, gpus), own = classes->n;
    if (at != GSIM_NO_ID && gsim_index_key(classes, at) == urgency &&
        gsim_index_tie(classes, at) == gpus)
        return at;
    return gsim_index_insert(classes, own, urgency, gpus) ? own : GSIM_NO_ID;
}

static uint32_t class_of(const struct gsim_due *due, gsim_slot slot) {
    return (uint32_t)((uint64_t)gsim_index_key(&due->jobs, slot) >> 32);
}

/* The job of the class before that of this one with the most service; GSIM_NO_ID: none. */
static gsim_slot last_of_class_before(const struct gsim_due *due, gsim_slot slot) {
    int64_t begin = (int64_t)((uint64_t)class_of(due, slot) << 32);
    return gsim_index_prev(&due->jobs, gsim_index_seek(&due->jobs, begin, 0));
}

/* --- jobs that are due ------------------------------------------------------------------------ */

bool gsim_due_add(struct gsim_due *due, struct gsim_ctx *ctx, gsim_slot slot, int64_t urgency) {
    const uint64_t middle = UINT64_C(1) << 63; /* services may be less than the time */
    uint64_t class = class_for(due, urgency, ctx->view->jobs.gpus[slot]);
    uint64_t ahead = (uint64_t)(gsim_service_ns(ctx, slot) - ctx->view->now_ns) + middle;
    uint64_t key = class << 32 | ahead >> 32;
    uint64_t tie = (ahead & UINT32_MAX) << 32 | gsim_nth(ctx->view, slot);
    due->has_found = false;
    return class != GSIM_NO_ID && gsim_index_insert(&due->jobs, slot, (int64_t)key, tie);
}

void gsim_due_remove(struct gsim_due *due, gsim_slot slot) {
    gsim_index_remove(&due->jobs, slot);
    due->has_found = false;
}

void gsim_due_forget(struct gsim_due *due) {
    due->has_found = false;
}

/* --- questions -------------------------------------------------------------------------------- */

int64_t gsim_due_last_rank(const struct gsim_due *due, const struct gsim_ctx *ctx) {
    int64_t last = INT64_MIN;
    for (gsim_slot slot = gsim_index_last(&due->jobs); slot != GSIM_NO_ID;
         slot = last_of_class_before(due, slot)) {
        int64_t rank = due->rank(ctx, slot);
        last = rank > last ? rank : last;
    }
    return last;
}

static bool note(struct gsim_due *due, struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_due_job *grown =
        gsim_arena_room(ctx->arena, due->found, due->n_found, &due->capacity, sizeof *grown);
    if (!grown)
        return false;
    due->found = grown;
    due->found[due->n_found++] = (struct gsim_due_job){.slot = slot};
    return true;
}

static bool find_in_class(struct gsim_due *due, struct gsim_ctx *ctx, gsim_slot last) {
    uint32_t class = class_of(due, last);
    for (gsim_slot slot = last; slot != GSIM_NO_ID && class_of(due, slot) == class &&
                                due->rank(ctx, slot) >= due->least_rank;
         slot = gsim_index_prev(&due->jobs, slot))
        if (!note(due, ctx, slot))
            return false;
    return true;
}

bool gsim_due_find(struct gsim_due *due, struct gsim_ctx *ctx, int64_t least_rank) {
    bool has_room = true;
    if (due->has_found && due->least_rank == least_rank)
        return true;
    due->least_rank = least_rank;
    due->n_found = 0;
    due->is_piled = false;
    for (gsim_slot slot = gsim_index_last(&due->jobs); slot != GSIM_NO_ID && has_room;
         slot = last_of_class_before(due, slot))
        has_room = find_in_class(due, ctx, slot);
    due->has_found = has_room;
    return has_room;
}

static int by_slice(const void *left, const void *right) {
    const struct gsim_due_job *a = left, *b = right;
    if (a->began_ns != b->began_ns)
        return a->began_ns < b->began_ns ? -1 : 1;
    return a->arrival < b->arrival ? -1 : 1;
}

static void pile(struct gsim_due *due, const struct gsim_ctx *ctx,
                 const struct gsim_index *running) {
    for (uint32_t i = 0; i < due->n_found; i++) {
        due->found[i].began_ns = gsim_index_key(running, due->found[i].slot);
        due->found[i].arrival = gsim_nth(ctx->view, due->found[i].slot);
    }
    due->heap = (struct gsim_heap){due->found, due->n_found, sizeof *due->found, by_slice};
    gsim_heap_pile(&due->heap);
    due->is_piled = true;
}

/* What the heap hands out stands behind it, the first job last. */
gsim_slot gsim_due_nth(struct gsim_due *due, const struct gsim_ctx *ctx,
                       const struct gsim_index *running, uint32_t nth) {
    if (!due->is_piled)
        pile(due, ctx, running);
    while (due->n_found - due->heap.n <= nth)
        (void)gsim_heap_take(&due->heap);
    return due->found[due->n_found - 1 - nth].slot;
}
