/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A walk keeps the next job of each row in a heap, so that its cost grows with the number of rows
 * and of jobs that are tried, not with the length of the line. */
#include "policies/lib/waiting.h"

#define ROW_NONE UINT32_MAX
#define KIND_NONE UINT32_MAX

bool gsim_waiting_init(struct gsim_waiting *waiting, struct gsim_arena *arena, uint32_t n_groups) {
    gsim_index_init(&waiting->jobs, arena);
    waiting->unused = waiting->current = ROW_NONE;
    waiting->first_of_group = gsim_arena_array(arena, n_groups, sizeof *waiting->first_of_group);
    for (uint32_t g = 0; waiting->first_of_group && g < n_groups; g++)
        waiting->first_of_group[g] = ROW_NONE;
    return waiting->first_of_group != NULL;
}

/* --- rows ------------------------------------------------------------------------------------- */

static bool reserve(struct gsim_waiting *waiting, struct gsim_arena *arena) {
    if (waiting->n_rows < waiting->capacity)
        return true;
    uint32_t capacity = waiting->capacity ? 2 * waiting->capacity : 16;
    struct gsim_waiting_row *row = gsim_arena_grow_raw(arena, waiting->row, capacity * sizeof *row);
    waiting->row = row ? row : waiting->row;
    uint32_t *active = gsim_arena_grow_raw(arena, waiting->active, capacity * sizeof *active);
    waiting->active = active ? active : waiting->active;
    uint32_t *heap = gsim_arena_grow_raw(arena, waiting->heap, capacity * sizeof *heap);
    waiting->heap = heap ? heap : waiting->heap;
    if (!row || !active || !heap)
        return false;
    waiting->capacity = capacity;
    return true;
}

static uint32_t new_row(struct gsim_waiting *waiting, struct gsim_arena *arena,
                        struct gsim_waiting_row about) {
    uint32_t r = waiting->unused;
    if (about.is_own && r != ROW_NONE)
        waiting->unused = waiting->row[r].next;
    else if (reserve(waiting, arena))
        r = waiting->n_rows++;
    else
        return ROW_NONE;
    about.next = about.is_own ? ROW_NONE : waiting->first_of_group[about.group];
    if (!about.is_own)
        waiting->first_of_group[about.group] = r;
    waiting->row[r] = about;
    return r;
}

/* Whether the job was here before: it has been stopped, or lost what it had done with a node. */
static bool comes_back(struct gsim_waiting *waiting, const struct gsim_ctx *ctx, gsim_slot slot) {
    int64_t submit_ns = ctx->view->jobs.submit_ns[slot];
    if (ctx->view->jobs.state[slot] != GSIM_QUEUED || submit_ns < waiting->last_submit_ns)
        return true;
    waiting->last_submit_ns = submit_ns;
    return false;
}

uint64_t gsim_waiting_wish(const struct gsim_ctx *ctx, gsim_slot slot, enum gsim_rule rule) {
    return gsim_ask_has_wishes_under(ctx->view, rule) ? gsim_ask_wish(ctx, slot) : 0;
}

static bool reserve_kind(struct gsim_waiting *waiting, struct gsim_arena *arena) {
    struct gsim_waiting_kind *kind = gsim_arena_room(arena, waiting->kind, waiting->n_kinds,
                                                     &waiting->kinds_capacity, sizeof *kind);
    waiting->kind = kind ? kind : waiting->kind;
    return kind != NULL;
}

/* UINT32_MAX: no memory. */
static uint32_t kind_of(struct gsim_waiting *waiting, struct gsim_arena *arena, uint32_t gpus,
                        uint64_t wish) {
    for (uint32_t k = 0; k < waiting->n_kinds; k++)
        if (waiting->kind[k].gpus == gpus && waiting->kind[k].wish == wish)
            return k;
    if (!reserve_kind(waiting, arena))
        return KIND_NONE;
    waiting->kind[waiting->n_kinds] = (struct gsim_waiting_kind){gpus, wish};
    return waiting->n_kinds++;
}

static uint32_t row_for(struct gsim_waiting *waiting, const struct gsim_ctx *ctx, gsim_slot slot,
                        uint32_t group, uint64_t wish) {
    uint32_t gpus = ctx->view->jobs.gpus[slot];
    struct gsim_waiting_row about = {.group = group,
                                     .kind = kind_of(waiting, ctx->arena, gpus, wish),
                                     .is_own = comes_back(waiting, ctx, slot)};
    uint32_t r = about.is_own ? ROW_NONE : waiting->first_of_group[group];
    if (about.kind == KIND_NONE)
        return ROW_NONE;
    while (r != ROW_NONE && waiting->row[r].kind != about.kind)
        r = waiting->row[r].next;
    return r == ROW_NONE ? new_row(waiting, ctx->arena, about) : r;
}

bool gsim_waiting_add(struct gsim_waiting *waiting, const struct gsim_ctx *ctx, gsim_slot slot,
                      uint32_t group, uint64_t wish, int64_t size) {
    uint32_t r = row_for(waiting, ctx, slot, group, wish);
    if (r == ROW_NONE ||
        !gsim_index_insert_sized(&waiting->jobs, slot, r, waiting->n_arrived++, size))
        return false;
    if (waiting->row[r].n++ == 0) {
        waiting->row[r].first = slot;
        waiting->row[r].at_active = waiting->n_active;
        waiting->active[waiting->n_active++] = r;
    }
    return true;
}

static void leave_active(struct gsim_waiting *waiting, struct gsim_waiting_row *row) {
    uint32_t last = waiting->active[--waiting->n_active];
    waiting->active[row->at_active] = last;
    waiting->row[last].at_active = row->at_active;
}

uint32_t gsim_waiting_kind_of(const struct gsim_waiting *waiting, gsim_slot slot) {
    return waiting->row[gsim_index_key(&waiting->jobs, slot)].kind;
}

void gsim_waiting_remove(struct gsim_waiting *waiting, gsim_slot slot) {
    uint32_t r = (uint32_t)gsim_index_key(&waiting->jobs, slot);
    struct gsim_waiting_row *row = &waiting->row[r];
    if (slot == row->first)
        row->first = gsim_index_next(&waiting->jobs, slot);
    gsim_index_remove(&waiting->jobs, slot);
    if (--row->n > 0)
        return;
    leave_active(waiting, row);
    if (row->is_own) {
        row->next = waiting->unused;
        waiting->unused = r;
    }
}

gsim_slot gsim_waiting_first(const struct gsim_waiting *waiting) {
    gsim_slot first = GSIM_NO_SLOT;
    for (uint32_t i = 0; i < waiting->n_active; i++) {
        gsim_slot slot = waiting->row[waiting->active[i]].first;
        if (first == GSIM_NO_SLOT ||
            gsim_index_tie(&waiting->jobs, slot) < gsim_index_tie(&waiting->jobs, first))
            first = slot;
    }
    return first;
}

/* --- the heap --------------------------------------------------------------------------------- */

static bool goes_before(const struct gsim_waiting *waiting, uint32_t a, uint32_t b) {
    const struct gsim_waiting_row *left = &waiting->row[a], *right = &waiting->row[b];
    return left->rank != right->rank ? left->rank < right->rank
                                     : gsim_index_tie(&waiting->jobs, left->at) <
                                           gsim_index_tie(&waiting->jobs, right->at);
}

static void push(struct gsim_waiting *waiting, uint32_t r) {
    uint32_t i = waiting->n_heap++;
    for (; i > 0 && goes_before(waiting, r, waiting->heap[(i - 1) / 2]); i = (i - 1) / 2)
        waiting->heap[i] = waiting->heap[(i - 1) / 2];
    waiting->heap[i] = r;
}

static uint32_t pop(struct gsim_waiting *waiting) {
    uint32_t first = waiting->heap[0], last = waiting->heap[--waiting->n_heap], i = 0, child;
    for (; (child = 2 * i + 1) < waiting->n_heap; i = child) {
        if (child + 1 < waiting->n_heap &&
            goes_before(waiting, waiting->heap[child + 1], waiting->heap[child]))
            child++;
        if (!goes_before(waiting, waiting->heap[child], last))
            break;
        waiting->heap[i] = waiting->heap[child];
    }
    waiting->heap[i] = last;
    return first;
}

/* --- the walk --------------------------------------------------------------------------------- */

static int64_t rank_of(const struct gsim_waiting *waiting, gsim_slot slot) {
    return waiting->rule.rank ? waiting->rule.rank(waiting->ctx, slot) : 0;
}

/* The first job of the row, from this one on, that is not passed over. */
static gsim_slot first_from(const struct gsim_waiting *waiting, uint32_t r, gsim_slot from) {
    int64_t most = waiting->rule.most(waiting->rule.of, &waiting->row[r]);
    if (from == GSIM_NO_ID || gsim_index_key(&waiting->jobs, from) != r || most < 0)
        return GSIM_NO_SLOT;
    gsim_slot slot = gsim_index_fitting(&waiting->jobs, from, most);
    return slot != GSIM_NO_ID && gsim_index_key(&waiting->jobs, slot) == r ? slot : GSIM_NO_SLOT;
}

static void enter(struct gsim_waiting *waiting, uint32_t r, gsim_slot from) {
    struct gsim_waiting_row *row = &waiting->row[r];
    row->at = first_from(waiting, r, from);
    if (row->at == GSIM_NO_SLOT)
        return;
    row->rank = rank_of(waiting, row->at);
    push(waiting, r);
}

void gsim_waiting_walk(struct gsim_waiting *waiting, struct gsim_ctx *ctx,
                       const struct gsim_waiting_rule *rule) {
    waiting->ctx = ctx;
    waiting->rule = *rule;
    waiting->n_heap = 0;
    waiting->current = ROW_NONE;
    for (uint32_t i = 0; i < waiting->n_active; i++)
        enter(waiting, waiting->active[i], waiting->row[waiting->active[i]].first);
}

static void go_on(struct gsim_waiting *waiting) {
    uint32_t r = waiting->current;
    waiting->current = ROW_NONE;
    if (r != ROW_NONE && waiting->row[r].n > 0 && waiting->row[r].at != GSIM_NO_SLOT)
        enter(waiting, r, waiting->row[r].at);
}

gsim_slot gsim_waiting_next(struct gsim_waiting *waiting) {
    go_on(waiting);
    while (waiting->n_heap > 0) {
        uint32_t r = pop(waiting);
        struct gsim_waiting_row *row = &waiting->row[r];
        gsim_slot slot = row->at;
        if (first_from(waiting, r, slot) != slot) { /* by now the job is passed over */
            enter(waiting, r, slot);
            continue;
        }
        waiting->current = r;
        waiting->last_rank = row->rank;
        waiting->last_arrival = gsim_index_tie(&waiting->jobs, slot);
        uint32_t after = gsim_index_next(&waiting->jobs, slot);
        row->at = after == GSIM_NO_ID ? GSIM_NO_SLOT : after;
        return slot;
    }
    return GSIM_NO_SLOT;
}

bool gsim_waiting_is_last(struct gsim_waiting *waiting) {
    go_on(waiting);
    return waiting->n_heap == 0;
}

struct behind {
    const struct gsim_waiting *waiting;
    uint32_t row;
};

static bool is_behind_last(const void *of, uint32_t slot) {
    const struct behind *behind = of;
    const struct gsim_waiting *waiting = behind->waiting;
    int64_t row = gsim_index_key(&waiting->jobs, slot);
    if (row != behind->row)
        return row > behind->row;
    int64_t rank = rank_of(waiting, slot);
    return rank != waiting->last_rank
               ? rank > waiting->last_rank
               : gsim_index_tie(&waiting->jobs, slot) > waiting->last_arrival;
}

/* In most rows all jobs are behind it, which the first of them tells. */
static gsim_slot first_behind_last(const struct gsim_waiting *waiting, uint32_t r) {
    struct behind behind = {waiting, r};
    gsim_slot first = waiting->row[r].first;
    return is_behind_last(&behind, first)
               ? first
               : gsim_index_first_where(&waiting->jobs, is_behind_last, &behind);
}

void gsim_waiting_anew(struct gsim_waiting *waiting) {
    waiting->n_heap = 0;
    waiting->current = ROW_NONE;
    for (uint32_t i = 0; i < waiting->n_active; i++) {
        uint32_t r = waiting->active[i];
        if (waiting->rule.most(waiting->rule.of, &waiting->row[r]) >= 0)
            enter(waiting, r, first_behind_last(waiting, r));
    }
}
