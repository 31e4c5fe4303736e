/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A walk keeps the next job of each row in a heap, so that its cost grows with the number of rows
 * and of jobs that are tried, not with the length of the line. */
#include "policies/lib/waiting.h"

#define NO_ROW UINT32_MAX

bool gsim_waiting_init(struct gsim_waiting *rows, struct gsim_arena *arena, uint32_t n_groups) {
    gsim_index_init(&rows->jobs, arena);
    rows->unused = rows->current = NO_ROW;
    rows->first_of_group = gsim_arena_array(arena, n_groups, sizeof *rows->first_of_group);
    for (uint32_t g = 0; rows->first_of_group && g < n_groups; g++)
        rows->first_of_group[g] = NO_ROW;
    return rows->first_of_group != NULL;
}

/* --- rows ------------------------------------------------------------------------------------- */

static bool reserve(struct gsim_waiting *rows, struct gsim_arena *arena) {
    if (rows->n_rows < rows->capacity)
        return true;
    uint32_t capacity = rows->capacity ? 2 * rows->capacity : 16;
    struct gsim_waiting_row *row = gsim_arena_grow_raw(arena, rows->row, capacity * sizeof *row);
    rows->row = row ? row : rows->row;
    uint32_t *active = gsim_arena_grow_raw(arena, rows->active, capacity * sizeof *active);
    rows->active = active ? active : rows->active;
    uint32_t *heap = gsim_arena_grow_raw(arena, rows->heap, capacity * sizeof *heap);
    rows->heap = heap ? heap : rows->heap;
    if (!row || !active || !heap)
        return false;
    rows->capacity = capacity;
    return true;
}

static uint32_t new_row(struct gsim_waiting *rows, struct gsim_arena *arena,
                        struct gsim_waiting_row about) {
    uint32_t r = rows->unused;
    if (about.is_own && r != NO_ROW)
        rows->unused = rows->row[r].next;
    else if (reserve(rows, arena))
        r = rows->n_rows++;
    else
        return NO_ROW;
    about.next = about.is_own ? NO_ROW : rows->first_of_group[about.group];
    if (!about.is_own)
        rows->first_of_group[about.group] = r;
    rows->row[r] = about;
    return r;
}

/* Whether the job was here before: it has been stopped, or lost what it had done with a node. */
static bool comes_back(struct gsim_waiting *rows, const struct gsim_ctx *ctx, gsim_slot slot) {
    int64_t submit_ns = ctx->view->jobs.submit_ns[slot];
    if (ctx->view->jobs.state[slot] != GSIM_QUEUED || submit_ns < rows->last_submit_ns)
        return true;
    rows->last_submit_ns = submit_ns;
    return false;
}

static uint32_t row_for(struct gsim_waiting *rows, const struct gsim_ctx *ctx, gsim_slot slot,
                        uint32_t group) {
    struct gsim_waiting_row about = {.group = group,
                                     .gpus = ctx->view->jobs.gpus[slot],
                                     .is_own = comes_back(rows, ctx, slot)};
    uint32_t r = about.is_own ? NO_ROW : rows->first_of_group[group];
    while (r != NO_ROW && rows->row[r].gpus != about.gpus)
        r = rows->row[r].next;
    return r == NO_ROW ? new_row(rows, ctx->arena, about) : r;
}

bool gsim_waiting_add(struct gsim_waiting *rows, const struct gsim_ctx *ctx, gsim_slot slot,
                      uint32_t group, int64_t least_ns) {
    uint32_t r = row_for(rows, ctx, slot, group);
    if (r == NO_ROW || !gsim_index_insert_sized(&rows->jobs, slot, r, rows->n_arrived++, least_ns))
        return false;
    if (rows->row[r].n++ == 0) {
        rows->row[r].at_active = rows->n_active;
        rows->active[rows->n_active++] = r;
    }
    return true;
}

static void leave_active(struct gsim_waiting *rows, struct gsim_waiting_row *row) {
    uint32_t last = rows->active[--rows->n_active];
    rows->active[row->at_active] = last;
    rows->row[last].at_active = row->at_active;
}

void gsim_waiting_remove(struct gsim_waiting *rows, gsim_slot slot) {
    uint32_t r = (uint32_t)gsim_index_key(&rows->jobs, slot);
    struct gsim_waiting_row *row = &rows->row[r];
    gsim_index_remove(&rows->jobs, slot);
    if (--row->n > 0)
        return;
    leave_active(rows, row);
    if (row->is_own) {
        row->next = rows->unused;
        rows->unused = r;
    }
}

/* --- the heap --------------------------------------------------------------------------------- */

static bool goes_before(const struct gsim_waiting *rows, uint32_t a, uint32_t b) {
    const struct gsim_waiting_row *left = &rows->row[a], *right = &rows->row[b];
    return left->rank != right->rank
               ? left->rank < right->rank
               : gsim_index_tie(&rows->jobs, left->at) < gsim_index_tie(&rows->jobs, right->at);
}

static void push(struct gsim_waiting *rows, uint32_t r) {
    uint32_t i = rows->n_heap++;
    for (; i > 0 && goes_before(rows, r, rows->heap[(i - 1) / 2]); i = (i - 1) / 2)
        rows->heap[i] = rows->heap[(i - 1) / 2];
    rows->heap[i] = r;
}

static uint32_t pop(struct gsim_waiting *rows) {
    uint32_t first = rows->heap[0], last = rows->heap[--rows->n_heap], i = 0, child;
    for (; (child = 2 * i + 1) < rows->n_heap; i = child) {
        if (child + 1 < rows->n_heap && goes_before(rows, rows->heap[child + 1], rows->heap[child]))
            child++;
        if (!goes_before(rows, rows->heap[child], last))
            break;
        rows->heap[i] = rows->heap[child];
    }
    rows->heap[i] = last;
    return first;
}

/* --- the walk --------------------------------------------------------------------------------- */

static int64_t rank_of(const struct gsim_waiting *rows, gsim_slot slot) {
    return rows->rule.rank ? rows->rule.rank(rows->ctx, slot) : 0;
}

/* The first job of the row, from this one on, that is not passed over. */
static gsim_slot first_from(const struct gsim_waiting *rows, uint32_t r, gsim_slot from) {
    int64_t longest_ns = rows->rule.longest_ns(rows->rule.of, &rows->row[r]);
    if (from == GSIM_NO_ID || gsim_index_key(&rows->jobs, from) != r || longest_ns < 0)
        return GSIM_NO_SLOT;
    gsim_slot slot = gsim_index_fitting(&rows->jobs, from, longest_ns);
    return slot != GSIM_NO_ID && gsim_index_key(&rows->jobs, slot) == r ? slot : GSIM_NO_SLOT;
}

static void enter(struct gsim_waiting *rows, uint32_t r, gsim_slot from) {
    struct gsim_waiting_row *row = &rows->row[r];
    row->at = first_from(rows, r, from);
    if (row->at == GSIM_NO_SLOT)
        return;
    row->rank = rank_of(rows, row->at);
    push(rows, r);
}

void gsim_waiting_walk(struct gsim_waiting *rows, struct gsim_ctx *ctx,
                       const struct gsim_waiting_rule *rule) {
    rows->ctx = ctx;
    rows->rule = *rule;
    rows->n_heap = 0;
    rows->current = NO_ROW;
    for (uint32_t i = 0; i < rows->n_active; i++)
        enter(rows, rows->active[i], gsim_index_seek(&rows->jobs, rows->active[i], 0));
}

static void go_on(struct gsim_waiting *rows) {
    uint32_t r = rows->current;
    rows->current = NO_ROW;
    if (r != NO_ROW && rows->row[r].n > 0 && rows->row[r].at != GSIM_NO_SLOT)
        enter(rows, r, rows->row[r].at);
}

gsim_slot gsim_waiting_next(struct gsim_waiting *rows) {
    go_on(rows);
    while (rows->n_heap > 0) {
        uint32_t r = pop(rows);
        struct gsim_waiting_row *row = &rows->row[r];
        gsim_slot slot = row->at;
        if (first_from(rows, r, slot) != slot) { /* by now the job is passed over */
            enter(rows, r, slot);
            continue;
        }
        rows->current = r;
        rows->last_rank = row->rank;
        rows->last_arrival = gsim_index_tie(&rows->jobs, slot);
        uint32_t after = gsim_index_next(&rows->jobs, slot);
        row->at = after == GSIM_NO_ID ? GSIM_NO_SLOT : after;
        return slot;
    }
    return GSIM_NO_SLOT;
}

bool gsim_waiting_is_last(struct gsim_waiting *rows) {
    go_on(rows);
    return rows->n_heap == 0;
}

struct behind {
    const struct gsim_waiting *rows;
    uint32_t row;
};

static bool is_behind_last(const void *of, uint32_t slot) {
    const struct behind *behind = of;
    const struct gsim_waiting *rows = behind->rows;
    int64_t row = gsim_index_key(&rows->jobs, slot);
    if (row != behind->row)
        return row > behind->row;
    int64_t rank = rank_of(rows, slot);
    return rank != rows->last_rank ? rank > rows->last_rank
                                   : gsim_index_tie(&rows->jobs, slot) > rows->last_arrival;
}

void gsim_waiting_anew(struct gsim_waiting *rows) {
    rows->n_heap = 0;
    rows->current = NO_ROW;
    for (uint32_t i = 0; i < rows->n_active; i++) {
        struct behind behind = {rows, rows->active[i]};
        enter(rows, behind.row, gsim_index_first_where(&rows->jobs, is_behind_last, &behind));
    }
}
