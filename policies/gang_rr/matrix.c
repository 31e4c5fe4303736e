/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/gang_rr/matrix.h"
#include "policies/lib/common.h"
#include "policies/lib/queue.h"

enum { ROWS_AT_ONCE = 64 };

/* --- the matrix ------------------------------------------------------------------------------- */

static bool add_row(struct gsim_matrix *s, struct gsim_ctx *ctx) {
    if (s->n_rows % ROWS_AT_ONCE == 0) {
        struct gsim_matrix_row *rows =
            gsim_arena_grow_raw(ctx->arena, s->rows, (s->n_rows + ROWS_AT_ONCE) * sizeof *rows);
        if (!rows)
            return false;
        s->rows = rows;
    }
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    struct gsim_matrix_row *row = &s->rows[s->n_rows];
    row->column = gsim_arena_array(ctx->arena, cluster->n_gpus, sizeof *row->column);
    row->n_free_on = gsim_arena_array(ctx->arena, cluster->n_nodes, sizeof *row->n_free_on);
    row->nodes_with =
        gsim_arena_array(ctx->arena, cluster->widest_node + 1u, sizeof *row->nodes_with);
    bool ok = row->column && row->n_free_on && row->nodes_with;
    for (uint32_t k = 0; ok && k <= cluster->widest_node; k++)
        ok = gsim_bitset_init(&row->nodes_with[k], ctx->arena, cluster->n_nodes);
    if (!ok ||
        !gsim_index_insert_sized(&s->room, s->n_rows, s->n_rows, 0,
                                 -(int64_t)cluster->widest_node) ||
        !gsim_index_insert(&s->used, s->n_rows, s->n_rows, 0))
        return false;
    gsim_index_remove(&s->used, s->n_rows); /* and has the memory to come back */
    for (uint32_t gpu = 0; gpu < cluster->n_gpus; gpu++)
        row->column[gpu] = GSIM_NO_SLOT;
    for (uint32_t node = 0; node < cluster->n_nodes; node++) {
        row->n_free_on[node] = cluster->node_first_gpu[node + 1] - cluster->node_first_gpu[node];
        gsim_bitset_add(&row->nodes_with[row->n_free_on[node]], node);
    }
    row->n_free = cluster->n_gpus;
    row->most_free = cluster->widest_node;
    gsim_queue_init(&row->gangs);
    s->n_rows++;
    return true;
}

/* One column of the node more is free, or one less. */
static void count_free(struct gsim_matrix_row *row, uint32_t node, int by) {
    uint32_t was = row->n_free_on[node], is = was + (uint32_t)by;
    gsim_bitset_move(&row->nodes_with[was], &row->nodes_with[is], node);
    row->n_free_on[node] = is;
}

/* Once a gang has come to the row or left it. */
static void note_room(struct gsim_matrix *s, const struct gsim_ctx *ctx, uint32_t r) {
    struct gsim_matrix_row *row = &s->rows[r];
    uint32_t most = ctx->view->cluster.widest_node;
    while (most > 0 && gsim_bitset_first(&row->nodes_with[most]) == UINT32_MAX)
        most--;
    if (most == row->most_free)
        return;
    row->most_free = most;
    gsim_index_remove(&s->room, r); /* and has the memory to come back */
    (void)gsim_index_insert_sized(&s->room, r, r, 0, -(int64_t)most);
}

/* GPUs of a node are of one type, and go down together. */
static bool may_use(const struct gsim_ctx *ctx, gsim_slot slot, uint32_t node) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    int64_t bytes =
        gsim_trace_get(ctx->view->trace, GSIM_COL_MEM_BYTES, ctx->view->jobs.index[slot]);
    /* with `devices` the GPU pages */
    return !cluster->node_is_down[node] &&
           (ctx->devices || bytes <= cluster->hbm_bytes[cluster->node_first_gpu[node]]);
}

static bool fits(const struct gsim_ctx *ctx, const struct gsim_matrix_row *row, gsim_slot slot,
                 uint32_t gpu) {
    return row->column[gpu] == GSIM_NO_SLOT &&
           may_use(ctx, slot, ctx->view->cluster.node_of_gpu[gpu]);
}

/* The fullest node of the row that has room for the whole gang; n_nodes when there is none. */
static uint32_t best_node(const struct gsim_ctx *ctx, const struct gsim_matrix_row *row,
                          gsim_slot slot) {
    for (uint32_t k = ctx->view->jobs.gpus[slot]; k <= row->most_free; k++)
        for (uint32_t node = gsim_bitset_first(&row->nodes_with[k]); node != UINT32_MAX;
             node = gsim_bitset_next(&row->nodes_with[k], node + 1))
            if (may_use(ctx, slot, node))
                return node;
    return ctx->view->cluster.n_nodes;
}

static void note_entered(struct gsim_matrix_news *news, gsim_slot slot) {
    news->is_much |= news->n_entered == GSIM_MATRIX_NEWS;
    if (!news->is_much)
        news->entered[news->n_entered++] = slot;
}

static void note_left(struct gsim_matrix_news *news, uint32_t column) {
    news->is_much |= news->n_left == GSIM_MATRIX_NEWS;
    if (!news->is_much)
        news->left[news->n_left++] = column;
}

/* Whether the gang got columns from `from` to `to`. */
static bool take_columns(struct gsim_matrix *s, const struct gsim_ctx *ctx, uint32_t r,
                         gsim_slot slot, uint32_t from, uint32_t to) {
    struct gsim_matrix_row *row = &s->rows[r];
    uint32_t n = 0, gpus = ctx->view->jobs.gpus[slot];
    for (uint32_t gpu = from; gpu < to && n < gpus; gpu++)
        if (fits(ctx, row, slot, gpu))
            s->units[n++] = (struct gsim_unit){gpu, 0};
    if (n < gpus)
        return false;
    gsim_queue_remove(&s->outside, ctx, slot);
    for (uint32_t u = 0; u < n; u++) {
        row->column[s->units[u].gpu] = slot;
        count_free(row, ctx->view->cluster.node_of_gpu[s->units[u].gpu], -1);
    }
    note_room(s, ctx, r);
    note_entered(&s->news, slot);
    gsim_matrix_own(ctx, slot)->row = r;
    gsim_matrix_own(ctx, slot)->entered = s->n_entered++;
    gsim_matrix_own(ctx, slot)->first = s->units[0].gpu;
    row->n_free -= gpus;
    gsim_matrix_own(ctx, slot)->is_in = true;
    if (row->gangs.first == GSIM_NO_SLOT)
        (void)gsim_index_insert(&s->used, r, r, 0);
    gsim_queue_append(&row->gangs, ctx, slot);
    return true;
}

static bool fits_row(struct gsim_matrix *s, const struct gsim_ctx *ctx, uint32_t r, gsim_slot slot,
                     bool is_fresh) {
    const struct gsim_view *view = ctx->view;
    if (s->rows[r].n_free < view->jobs.gpus[slot])
        return false;
    uint32_t node = best_node(ctx, &s->rows[r], slot);
    if (node < view->cluster.n_nodes)
        return take_columns(s, ctx, r, slot, view->cluster.node_first_gpu[node],
                            view->cluster.node_first_gpu[node + 1]);
    return (is_fresh || view->jobs.gpus[slot] > view->cluster.widest_node) &&
           take_columns(s, ctx, r, slot, 0, view->cluster.n_gpus);
}

/* The first row from r on that may have room. A gang of several nodes may find room in any row. */
static uint32_t row_for(const struct gsim_matrix *s, const struct gsim_ctx *ctx, gsim_slot slot,
                        uint32_t r) {
    uint32_t gpus = ctx->view->jobs.gpus[slot];
    if (r >= s->n_rows || gpus > ctx->view->cluster.widest_node)
        return r;
    uint32_t found = gsim_index_fitting(&s->room, r, -(int64_t)gpus);
    return found == GSIM_NO_ID ? s->n_rows : found;
}

/* Whether the gang has columns now. If an empty row has no room for it, no other empty row has. */
static bool enter(struct gsim_matrix *s, struct gsim_ctx *ctx, gsim_slot slot) {
    bool has_empty = false;
    for (uint32_t r = row_for(s, ctx, slot, 0); r < s->n_rows; r = row_for(s, ctx, slot, r + 1)) {
        bool is_empty = s->rows[r].n_free == ctx->view->cluster.n_gpus;
        if (fits_row(s, ctx, r, slot, is_empty))
            return true;
        has_empty |= is_empty;
    }
    if (has_empty)
        return false;
    if (!add_row(s, ctx)) {
        gsim_common_no_memory(ctx);
        return false;
    }
    return fits_row(s, ctx, s->n_rows - 1, slot, true);
}

uint32_t gsim_matrix_columns(struct gsim_matrix *matrix, const struct gsim_ctx *ctx,
                             gsim_slot slot) {
    const struct gsim_matrix_row *row = &matrix->rows[gsim_matrix_own(ctx, slot)->row];
    uint32_t n = 0;
    for (uint32_t gpu = gsim_matrix_own(ctx, slot)->first; n < ctx->view->jobs.gpus[slot]; gpu++)
        if (row->column[gpu] == slot)
            matrix->units[n++] = (struct gsim_unit){gpu, 0};
    return n;
}

static void leave(struct gsim_matrix *s, const struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_matrix_row *row = &s->rows[gsim_matrix_own(ctx, slot)->row];
    uint32_t n = gsim_matrix_columns(s, ctx, slot);
    for (uint32_t u = 0; u < n; u++) {
        row->column[s->units[u].gpu] = GSIM_NO_SLOT;
        count_free(row, ctx->view->cluster.node_of_gpu[s->units[u].gpu], 1);
        note_left(&s->news, s->units[u].gpu);
    }
    note_room(s, ctx, gsim_matrix_own(ctx, slot)->row);
    row->n_free += n;
    gsim_queue_remove(&row->gangs, ctx, slot);
    if (row->gangs.first == GSIM_NO_SLOT)
        gsim_index_remove(&s->used, gsim_matrix_own(ctx, slot)->row);
    s->has_changed = true;
    gsim_matrix_own(ctx, slot)->is_in = false;
}

void gsim_matrix_add(struct gsim_matrix *matrix, const struct gsim_ctx *ctx, gsim_slot slot) {
    gsim_matrix_own(ctx, slot)->is_in = false;
    gsim_queue_append(&matrix->outside, ctx, slot);
    matrix->has_changed = true;
}

void gsim_matrix_remove(struct gsim_matrix *matrix, const struct gsim_ctx *ctx, gsim_slot slot) {
    if (gsim_matrix_own(ctx, slot)->is_in)
        leave(matrix, ctx, slot);
    else
        gsim_queue_remove(&matrix->outside, ctx, slot);
}

/* --- nodes that fail -------------------------------------------------------------------------- */

static bool is_on_failed(struct gsim_matrix *s, const struct gsim_ctx *ctx, gsim_slot slot) {
    uint32_t n = gsim_matrix_columns(s, ctx, slot);
    for (uint32_t u = 0; u < n; u++)
        if (ctx->view->cluster.node_is_down[ctx->view->cluster.node_of_gpu[s->units[u].gpu]])
            return true;
    return false;
}

static void leave_failed(struct gsim_matrix *s, const struct gsim_ctx *ctx) {
    for (uint32_t r = 0; r < s->n_rows; r++)
        for (gsim_slot slot = s->rows[r].gangs.first, after; slot != GSIM_NO_SLOT; slot = after) {
            after = gsim_queue_after(ctx, slot);
            if (!gsim_common_waits(ctx->view, slot) || !is_on_failed(s, ctx, slot))
                continue;
            leave(s, ctx, slot);
            gsim_queue_append(&s->outside, ctx, slot);
        }
}

void gsim_matrix_settle(struct gsim_matrix *matrix, struct gsim_ctx *ctx) {
    const struct gsim_view *view = ctx->view;
    matrix->news.is_much |= view->cluster.n_failures != matrix->n_failures ||
                            view->cluster.n_repairs != matrix->n_repairs;
    if (view->cluster.n_failures != matrix->n_failures)
        leave_failed(matrix, ctx);
    bool may_enter = matrix->has_changed || view->cluster.n_repairs != matrix->n_repairs;
    gsim_slot slot = matrix->outside.first;
    for (gsim_slot after; may_enter && slot != GSIM_NO_SLOT; slot = after) {
        after = gsim_queue_after(ctx, slot);
        matrix->has_changed |= enter(matrix, ctx, slot);
    }
    matrix->n_failures = view->cluster.n_failures;
    matrix->n_repairs = view->cluster.n_repairs;
}

enum gsim_status gsim_matrix_init(struct gsim_matrix *matrix, struct gsim_ctx *ctx) {
    gsim_queue_init(&matrix->outside);
    gsim_index_init(&matrix->room, ctx->arena);
    gsim_index_init(&matrix->used, ctx->arena);
    matrix->units = gsim_arena_array(ctx->arena, ctx->view->cluster.n_gpus, sizeof *matrix->units);
    return matrix->units ? GSIM_OK : gsim_no_memory(ctx->log, "opening a matrix");
}
