/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gang time slicing: an Ousterhout matrix. Columns are GPUs, rows are slices of time; a gang goes
 * into the first row with room for it and keeps its columns, so it always comes back to where it
 * was. Columns that a row leaves idle are used by gangs of later rows (fill). Source: Ousterhout,
 * "Scheduling techniques for concurrent systems", ICDCS 1982. A slice counts from when the gangs of
 * the row run, after their copy-in. Deviations: columns are taken on one node where the gang fits
 * one; a share takes a whole column; CPUs are not counted; rows are never packed again. */
#include "policies/common.h"

enum { ROWS_AT_ONCE = 64 };

struct row {
    gsim_slot *column; /* who has it; GSIM_NO_SLOT: nobody */
    struct gsim_queue gangs;
    uint32_t n_free;
};

struct job {
    struct gsim_link link; /* in its row; first */
    uint32_t row;
    uint32_t first; /* its lowest column */
    uint64_t turn; /* when it was last selected */
};

struct state {
    struct row *rows;
    uint32_t n_rows, n_used; /* used: with gangs in them */
    uint32_t current;
    uint64_t turn; /* counts selections */
    uint64_t *taken; /* by column: the selection that took it last */
    gsim_slot *selected;
    struct gsim_unit *units; /* scratch */
    uint32_t n_selected;
    struct gsim_index on; /* gangs that are placed */
    int64_t slice_ns, began_ns; /* the current row's slice; -1: not yet */
    int64_t turned_ns; /* when the row's turn came */
    struct gsim_preemption preemption;
    bool is_filling, has_changed;
};

static struct job *own(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_job_state(ctx, slot);
}

/* --- the matrix ------------------------------------------------------------------------------- */

static bool add_row(struct state *s, struct gsim_ctx *ctx) {
    if (s->n_rows % ROWS_AT_ONCE == 0) {
        struct row *rows =
            gsim_arena_grow_raw(ctx->arena, s->rows, (s->n_rows + ROWS_AT_ONCE) * sizeof *rows);
        if (!rows)
            return false;
        s->rows = rows;
    }
    struct row *row = &s->rows[s->n_rows];
    row->column = gsim_arena_array(ctx->arena, ctx->view->n_gpus, sizeof *row->column);
    for (uint32_t gpu = 0; row->column && gpu < ctx->view->n_gpus; gpu++)
        row->column[gpu] = GSIM_NO_SLOT;
    row->n_free = ctx->view->n_gpus;
    gsim_queue_init(&row->gangs);
    s->n_rows += row->column != NULL;
    return row->column != NULL;
}

static bool fits(const struct gsim_ctx *ctx, const struct row *row, gsim_slot slot, uint32_t gpu) {
    int64_t bytes = gsim_trace_get(ctx->view->trace, GSIM_COL_MEM_BYTES, ctx->view->job[slot]);
    return row->column[gpu] == GSIM_NO_SLOT &&
           (ctx->devices || bytes <= ctx->view->gpu_hbm_bytes[gpu]); /* devices: it pages */
}

/* The fullest node of the row that has room for the whole gang; n_nodes when there is none. */
static uint32_t best_node(const struct gsim_ctx *ctx, const struct row *row, gsim_slot slot) {
    const struct gsim_view *view = ctx->view;
    uint32_t best = view->n_nodes, least = UINT32_MAX;
    for (uint32_t node = 0; node < view->n_nodes; node++) {
        uint32_t n = 0;
        for (uint32_t gpu = view->node_first_gpu[node]; gpu < view->node_first_gpu[node + 1]; gpu++)
            n += fits(ctx, row, slot, gpu);
        if (n >= view->gpus[slot] && n < least) {
            least = n;
            best = node;
        }
    }
    return best;
}

/* Whether the gang got columns from `from` to `to`. */
static bool take_columns(struct state *s, const struct gsim_ctx *ctx, uint32_t r, gsim_slot slot,
                         uint32_t from, uint32_t to) {
    struct row *row = &s->rows[r];
    uint32_t n = 0, gpus = ctx->view->gpus[slot];
    for (uint32_t gpu = from; gpu < to && n < gpus; gpu++)
        if (fits(ctx, row, slot, gpu))
            s->units[n++] = (struct gsim_unit){gpu, 0};
    if (n < gpus)
        return false;
    for (uint32_t u = 0; u < n; u++)
        row->column[s->units[u].gpu] = slot;
    own(ctx, slot)->row = r;
    own(ctx, slot)->first = s->units[0].gpu;
    row->n_free -= gpus;
    s->n_used += row->gangs.first == GSIM_NO_SLOT;
    gsim_queue_append(&row->gangs, ctx, slot);
    return true;
}

static bool fits_row(struct state *s, const struct gsim_ctx *ctx, uint32_t r, gsim_slot slot,
                     bool is_fresh) {
    const struct gsim_view *view = ctx->view;
    if (s->rows[r].n_free < view->gpus[slot])
        return false;
    uint32_t node = best_node(ctx, &s->rows[r], slot);
    if (node < view->n_nodes)
        return take_columns(s, ctx, r, slot, view->node_first_gpu[node],
                            view->node_first_gpu[node + 1]);
    return (is_fresh || view->gpus[slot] > view->widest_node) &&
           take_columns(s, ctx, r, slot, 0, view->n_gpus);
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *s = ctx->state;
    s->has_changed = true;
    for (uint32_t r = 0; r < s->n_rows; r++)
        if (fits_row(s, ctx, r, slot, s->rows[r].n_free == ctx->view->n_gpus))
            return;
    if (!add_row(s, ctx))
        gsim_common_no_memory(ctx);
    else
        (void)fits_row(s, ctx, s->n_rows - 1, slot, true);
}

/* The gang's columns, into s->units. */
static uint32_t columns_of(struct state *s, const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct row *row = &s->rows[own(ctx, slot)->row];
    uint32_t n = 0;
    for (uint32_t gpu = own(ctx, slot)->first; n < ctx->view->gpus[slot]; gpu++)
        if (row->column[gpu] == slot)
            s->units[n++] = (struct gsim_unit){gpu, 0};
    return n;
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *s = ctx->state;
    struct row *row = &s->rows[own(ctx, slot)->row];
    uint32_t n = columns_of(s, ctx, slot);
    for (uint32_t u = 0; u < n; u++)
        row->column[s->units[u].gpu] = GSIM_NO_SLOT;
    row->n_free += n;
    gsim_queue_remove(&row->gangs, ctx, slot);
    s->n_used -= row->gangs.first == GSIM_NO_SLOT;
    gsim_index_remove(&s->on, slot);
    own(ctx, slot)->turn = 0;
    s->has_changed = true;
}

/* --- whose turn it is ------------------------------------------------------------------------- */

/* Selects the gang unless one selected before has a column of it. */
static void select_gang(struct state *s, const struct gsim_ctx *ctx, gsim_slot slot) {
    if (own(ctx, slot)->turn == s->turn || s->taken[own(ctx, slot)->first] == s->turn)
        return;
    uint32_t n = columns_of(s, ctx, slot);
    for (uint32_t u = 0; u < n; u++)
        if (s->taken[s->units[u].gpu] == s->turn)
            return;
    for (uint32_t u = 0; u < n; u++)
        s->taken[s->units[u].gpu] = s->turn;
    own(ctx, slot)->turn = s->turn;
    s->selected[s->n_selected++] = slot;
}

/* The gangs of the current row, then, in what they leave idle, those that run already (unless the
 * row is new), then those of the rows after it. */
static void select_gangs(struct state *s, const struct gsim_ctx *ctx, bool is_new) {
    s->turn++;
    s->n_selected = 0;
    for (uint32_t i = 0; i < s->n_rows; i++) {
        const struct row *row = &s->rows[(s->current + i) % s->n_rows];
        for (gsim_slot slot = row->gangs.first; slot != GSIM_NO_SLOT;
             slot = gsim_queue_after(ctx, slot))
            select_gang(s, ctx, slot);
        if (!s->is_filling)
            break;
        gsim_slot slot = i > 0 || is_new ? GSIM_NO_SLOT : gsim_index_first(&s->on);
        for (; slot != GSIM_NO_SLOT; slot = gsim_index_next(&s->on, slot))
            select_gang(s, ctx, slot);
    }
    s->has_changed = false;
}

static void next_row(struct state *s, const struct gsim_ctx *ctx) {
    do
        s->current = (s->current + 1) % s->n_rows;
    while (s->rows[s->current].gangs.first == GSIM_NO_SLOT);
    s->began_ns = -1;
    s->turned_ns = ctx->view->now_ns;
    select_gangs(s, ctx, true);
}

/* Stops who is not selected, as soon as it runs; starts who is, as soon as it can be. */
static void act(struct state *s, struct gsim_ctx *ctx, struct gsim_plan *plan) {
    gsim_slot slot, after;
    for (slot = gsim_index_first(&s->on); slot != GSIM_NO_SLOT; slot = after) {
        after = gsim_index_next(&s->on, slot);
        if (own(ctx, slot)->turn == s->turn || ctx->view->state[slot] != GSIM_RUNNING)
            continue;
        (void)gsim_plan_preempt(plan, slot, s->preemption.stop, s->preemption.keep);
        gsim_index_remove(&s->on, slot);
    }
    for (uint32_t i = 0; i < s->n_selected; i++) {
        slot = s->selected[i];
        if (own(ctx, slot)->turn != s->turn || gsim_index_has(&s->on, slot) ||
            !gsim_common_waits(ctx->view, slot))
            continue;
        if (!gsim_plan_place_on(plan, slot, s->units, columns_of(s, ctx, slot)))
            continue;
        gsim_common_insert(ctx, &s->on, slot, 0);
        /* the slice waits for who was there at the turn; newcomers do not prolong it */
        if (own(ctx, slot)->row == s->current && ctx->view->submit_ns[slot] <= s->turned_ns)
            s->began_ns = -1;
    }
}

/* When the slice began: when the last gang of the row came to run. -1: one is still on its way.
 * What is placed in this decide may run at once. */
static int64_t beginning_ns(const struct state *s, const struct gsim_ctx *ctx) {
    int64_t latest = -1;
    for (gsim_slot slot = s->rows[s->current].gangs.first; slot != GSIM_NO_SLOT;
         slot = gsim_queue_after(ctx, slot)) {
        if (gsim_common_waits(ctx->view, slot) && !gsim_index_has(&s->on, slot))
            continue; /* no memory for it now */
        if (ctx->view->state[slot] != GSIM_RUNNING)
            return -1;
        if (ctx->view->changed_ns[slot] > latest)
            latest = ctx->view->changed_ns[slot];
    }
    return latest >= 0 ? latest : ctx->view->now_ns;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *s = ctx->state;
    int64_t now = ctx->view->now_ns;
    if (s->n_used == 0)
        return;
    if (s->began_ns < 0)
        s->began_ns = beginning_ns(s, ctx);
    bool is_over = s->began_ns >= 0 && s->n_used > 1 && now - s->began_ns >= s->slice_ns;
    if (is_over || s->rows[s->current].gangs.first == GSIM_NO_SLOT)
        next_row(s, ctx);
    else if (s->has_changed)
        select_gangs(s, ctx, false);
    act(s, ctx, plan);
    if (s->n_used > 1)
        gsim_plan_wake(plan, (s->began_ns >= 0 ? s->began_ns : now) + s->slice_ns);
}

static enum gsim_status open_gang_rr(struct gsim_ctx *ctx) {
    struct state *s = ctx->state;
    uint32_t n = ctx->view->n_gpus;
    s->slice_ns = gsim_param(ctx->params, "slice");
    s->is_filling = gsim_param(ctx->params, "fill") != 0;
    enum gsim_status status = gsim_common_open_memory(ctx);
    s->preemption = gsim_common_preemption(ctx, GSIM_KEEP_HOST);
    s->began_ns = -1;
    gsim_index_init(&s->on, ctx->arena);
    s->taken = gsim_arena_array(ctx->arena, n, sizeof *s->taken);
    s->selected = gsim_arena_array(ctx->arena, n, sizeof *s->selected);
    s->units = gsim_arena_array(ctx->arena, n, sizeof *s->units);
    return s->taken && s->selected && s->units ? status
                                               : gsim_no_memory(ctx->log, "opening gang-rr");
}

static const struct gsim_param_def params[] = {
    GSIM_PREEMPT_PARAM_AS("suspend, since jobs come back every round"),
    GSIM_MEMORY_PARAM,
    {.name = "slice",
     .type = GSIM_PARAM_TIME,
     .fallback = "60s",
     .min = 1,
     .max = GSIM_TIME_MAX,
     .help = "a row's time, counted from when its gangs run"},
    {.name = "fill",
     .type = GSIM_PARAM_BOOL,
     .fallback = "on",
     .help = "use what a row leaves idle"},
    {0}};

const struct gsim_policy gsim_policy_gang_rr = {
    .name = "gang-rr",
    .summary = "plain gang time slicing: the rows of an Ousterhout matrix take turns",
    .paper = "Ousterhout, Scheduling techniques for concurrent systems, ICDCS 1982",
    .deviations = "a share takes a whole GPU; CPUs are not counted; rows are never packed again",
    .params = params,
    .state_size = sizeof(struct state),
    .job_size = sizeof(struct job),
    .open = open_gang_rr,
    .on_arrival = on_arrival,
    .on_completion = on_completion,
    .decide = decide,
};
