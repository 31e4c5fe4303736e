/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job's class, its service less the time, which stays while it runs, and its place in the trace
 * are one number of 128 bits: 32 of class, 64 of service, 32 of arrival. */
#include "policies/lib/due.h"

#include "policies/lib/common.h"
#include "policies/lib/service.h"

/* Services may be less than the time. */
static const uint64_t middle = UINT64_C(1) << 63;

void gsim_due_init(struct gsim_due *due, struct gsim_ctx *ctx,
                   int64_t (*rank)(const struct gsim_ctx *ctx, gsim_slot slot),
                   int64_t (*least_service_ns)(const struct gsim_ctx *ctx, gsim_slot slot,
                                               int64_t urgency, uint32_t gpus)) {
    *due = (struct gsim_due){.rank = rank, .least_service_ns = least_service_ns};
    gsim_index_init(&due->jobs, ctx->arena);
    gsim_index_init(&due->classes, ctx->arena);
}

/* --- classes ---------------------------------------------------------------------------------- */

/* A class that stands in `classes` by this number has room for its jobs. false: no memory. */
static bool open_class(struct gsim_due *due, struct gsim_ctx *ctx, uint32_t number) {
    struct gsim_due_class *class =
        gsim_arena_room(ctx->arena, due->class, number, &due->class_capacity, sizeof *class);
    due->class = class ? class : due->class;
    uint32_t *filled =
        gsim_arena_room(ctx->arena, due->filled, number, &due->filled_capacity, sizeof *filled);
    due->filled = filled ? filled : due->filled;
    if (class)
        class[number] = (struct gsim_due_class){.last = GSIM_NO_ID};
    return class && filled;
}

/* The class of that urgency and width, made if there is none; GSIM_NO_ID: no memory. */
static uint32_t class_for(struct gsim_due *due, struct gsim_ctx *ctx, int64_t urgency,
                          uint32_t gpus) {
    struct gsim_index *classes = &due->classes;
    uint32_t at = gsim_index_seek(classes, urgency, gpus), own = classes->n;
    if (at != GSIM_NO_ID && gsim_index_key(classes, at) == urgency &&
        gsim_index_tie(classes, at) == gpus)
        return at;
    return open_class(due, ctx, own) && gsim_index_insert(classes, own, urgency, gpus) ? own
                                                                                       : GSIM_NO_ID;
}

static void set_last(struct gsim_due *due, uint32_t number, gsim_slot last) {
    struct gsim_due_class *class = &due->class[number];
    if (class->last == GSIM_NO_ID) {
        class->place = due->n_filled;
        due->filled[due->n_filled++] = number;
    } else if (last == GSIM_NO_ID) {
        uint32_t moved = due->filled[--due->n_filled];
        due->filled[class->place] = moved;
        due->class[moved].place = class->place;
    }
    class->last = last;
}

/* --- jobs that are due ------------------------------------------------------------------------ */

bool gsim_due_add(struct gsim_due *due, struct gsim_ctx *ctx, gsim_slot slot, int64_t urgency) {
    uint32_t class = class_for(due, ctx, urgency, ctx->view->jobs.gpus[slot]);
    uint64_t ahead = (uint64_t)(gsim_service_ns(ctx, slot) - ctx->view->now_ns) + middle;
    uint64_t key = (uint64_t) class << 32 | ahead >> 32;
    uint64_t tie = (ahead & UINT32_MAX) << 32 | gsim_nth(ctx->view, slot);
    gsim_due_forget(due);
    if (class == GSIM_NO_ID || !gsim_index_insert(&due->jobs, slot, (int64_t)key, tie))
        return false;
    gsim_slot last = due->class[class].last;
    if (last == GSIM_NO_ID || gsim_index_next(&due->jobs, last) == slot)
        set_last(due, class, slot);
    return true;
}

void gsim_due_remove(struct gsim_due *due, gsim_slot slot) {
    if (!gsim_index_has(&due->jobs, slot))
        return;
    uint32_t class = gsim_due_class_of(due, slot);
    gsim_slot before = gsim_index_prev(&due->jobs, slot);
    if (due->class[class].last == slot)
        set_last(due, class,
                 before != GSIM_NO_ID && gsim_due_class_of(due, before) == class ? before
                                                                                 : GSIM_NO_ID);
    gsim_index_remove(&due->jobs, slot);
    gsim_due_forget(due);
}

void gsim_due_forget(struct gsim_due *due) {
    due->has_asked = due->has_found = false;
}

/* --- questions -------------------------------------------------------------------------------- */

int64_t gsim_due_last_rank(const struct gsim_due *due, const struct gsim_ctx *ctx) {
    int64_t last = INT64_MIN;
    for (uint32_t i = 0; i < due->n_filled; i++) {
        int64_t rank = due->rank(ctx, due->class[due->filled[i]].last);
        last = rank > last ? rank : last;
    }
    return last;
}

/* What the least service is in `jobs`; more than any job has, if none yields. */
static uint64_t least_of_class(const struct gsim_due *due, const struct gsim_ctx *ctx,
                               uint32_t class, gsim_slot asker) {
    int64_t least_ns = due->least_service_ns
                           ? due->least_service_ns(ctx, asker, gsim_index_key(&due->classes, class),
                                                   (uint32_t)gsim_index_tie(&due->classes, class))
                           : 0;
    if (least_ns <= 0)
        return 0;
    return least_ns == GSIM_NEVER ? UINT64_MAX : (uint64_t)(least_ns - ctx->view->now_ns) + middle;
}

bool gsim_due_ask(struct gsim_due *due, const struct gsim_ctx *ctx, gsim_slot asker) {
    if (due->has_asked && due->asker == asker)
        return due->has_any;
    due->asker = asker;
    due->has_asked = true;
    due->has_any = due->has_found = false;
    for (uint32_t i = 0; i < due->n_filled; i++) {
        struct gsim_due_class *class = &due->class[due->filled[i]];
        class->least = least_of_class(due, ctx, due->filled[i], asker);
        due->has_any |= gsim_due_may_yield(due, class->last);
    }
    return due->has_any;
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

static bool find_in_class(struct gsim_due *due, struct gsim_ctx *ctx, uint32_t class) {
    for (gsim_slot slot = due->class[class].last;
         slot != GSIM_NO_ID && gsim_due_class_of(due, slot) == class &&
         gsim_due_may_yield(due, slot);
         slot = gsim_index_prev(&due->jobs, slot))
        if (!note(due, ctx, slot))
            return false;
    return true;
}

bool gsim_due_find(struct gsim_due *due, struct gsim_ctx *ctx, gsim_slot asker) {
    bool has_room = true;
    (void)gsim_due_ask(due, ctx, asker);
    if (due->has_found)
        return true;
    due->n_found = 0;
    due->is_piled = false;
    for (uint32_t i = 0; i < due->n_filled && has_room; i++)
        has_room = find_in_class(due, ctx, due->filled[i]);
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
