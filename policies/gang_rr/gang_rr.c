/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gang time slicing: an Ousterhout matrix. Columns are GPUs, rows are slices of time; a gang goes
 * into the first row with room for it and keeps its columns, so it always comes back to its GPUs.
 * Columns that a row leaves idle are used by gangs of later rows (fill). Source: Ousterhout,
 * "Scheduling techniques for concurrent systems", ICDCS 1982. A slice counts from when the gangs of
 * the row run, after their copy-in; the first gang after a time without any has a new one. A gang
 * that waits for its turn on a node that fails gets other columns; a node that is down gives no
 * columns. Deviations: columns are taken on one node where the gang fits a node; a share takes a
 * whole column; CPUs are not counted; rows are never packed again. */
#include "policies/gang_rr/matrix.h"
#include "policies/lib/common.h"
#include "policies/lib/queue.h"
#include "policies/lib/settings.h"
#include "sim/base/index.h"

struct job {
    struct gsim_matrix_job matrix; /* first */
    uint64_t turn; /* the last selection that contained the gang */
    uint64_t refused; /* the last one after which it could not be placed on its columns */
    int64_t placed_ran_ns; /* how long it had run when it was last placed */
};

struct state {
    struct gsim_matrix matrix; /* first */
    uint32_t current; /* row */
    uint64_t turn; /* counts selections */
    uint64_t *taken; /* by column: the last selection that took it */
    gsim_slot *selected; /* gangs that are to start */
    uint32_t n_selected;
    bool is_fresh; /* gangs were selected anew in this decide */
    uint32_t n_lagging; /* gangs that were placed and not selected when others were last stopped */
    uint32_t *idle, n_idle; /* columns that no gang has taken, while gangs are selected */
    struct gsim_index on; /* gangs that are placed */
    int64_t slice_ns, began_ns; /* begin of the current row's slice; -1: not begun */
    int64_t turned_ns; /* time of the row's turn; -1: no gang has come */
    int64_t placed_ns; /* when the last gang got its GPUs for which the slice waits; -1: none has */
    struct gsim_preemption preemption;
    bool is_filling;
};

static struct job *own(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_job_state(ctx, slot);
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    gsim_matrix_add(ctx->state, ctx, slot);
}

/* Whether the gangs that are selected are those that are placed. */
static bool is_settled(const struct state *s) {
    return s->n_selected == 0 && s->n_lagging == 0 && !s->matrix.news.is_much;
}

/* Whether a gang without a turn has a column of this one: it was on its way there when the row's
 * turn came, and is stopped when it runs. */
static bool is_held_up(struct state *s, const struct gsim_ctx *ctx, gsim_slot slot) {
    uint32_t n = s->n_lagging > 0 ? gsim_matrix_columns(&s->matrix, ctx, slot) : 0;
    for (uint32_t u = 0; u < n; u++)
        for (uint32_t r = 0; r < s->matrix.n_rows; r++) {
            gsim_slot other = s->matrix.rows[r].column[s->matrix.units[u].gpu];
            if (other != GSIM_NO_SLOT && gsim_index_has(&s->on, other) &&
                own(ctx, other)->turn != s->turn)
                return true;
        }
    return false;
}

/* Whether the slice waits for the gang: not for one that has come in this instant, nor where there
 * is no memory for it now. */
static bool is_awaited(struct state *s, const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct job *job = own(ctx, slot);
    return gsim_index_has(&s->on, slot) ||
           (job->turn == s->turn && (job->refused != s->turn || is_held_up(s, ctx, slot)));
}

/* A gang that ends before it has run on the GPUs that it was given has lost them with a node: the
 * slice that waited for it begins now, at the soonest. */
static void note_lost(struct state *s, struct gsim_ctx *ctx, gsim_slot slot) {
    const struct job *job = own(ctx, slot);
    bool is_of_row = job->matrix.is_in && job->matrix.row == s->current;
    if (s->began_ns < 0 && is_of_row && is_awaited(s, ctx, slot) &&
        gsim_ran_ns(ctx->view, slot) == job->placed_ran_ns)
        s->placed_ns = ctx->view->now_ns;
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *s = ctx->state;
    note_lost(s, ctx, slot);
    if (own(ctx, slot)->turn != s->turn || !gsim_index_has(&s->on, slot))
        s->matrix.news.is_much = true; /* it has gone without its turn */
    gsim_matrix_remove(&s->matrix, ctx, slot);
    gsim_index_remove(&s->on, slot);
    own(ctx, slot)->turn = 0;
}

/* --- the gangs that have a turn --------------------------------------------------------------- */

/* Selects the gang unless a gang selected before has one of its columns. */
static void select_gang(struct state *s, const struct gsim_ctx *ctx, gsim_slot slot) {
    if (own(ctx, slot)->turn == s->turn || s->taken[own(ctx, slot)->matrix.first] == s->turn)
        return;
    uint32_t n = gsim_matrix_columns(&s->matrix, ctx, slot);
    for (uint32_t u = 0; u < n; u++)
        if (s->taken[s->matrix.units[u].gpu] == s->turn)
            return;
    for (uint32_t u = 0; u < n; u++)
        s->taken[s->matrix.units[u].gpu] = s->turn;
    own(ctx, slot)->turn = s->turn;
    s->selected[s->n_selected++] = slot;
}

static void select_row(struct state *s, const struct gsim_ctx *ctx,
                       const struct gsim_matrix_row *row) {
    for (gsim_slot slot = row->gangs.first; slot != GSIM_NO_SLOT;
         slot = gsim_queue_after(ctx, slot))
        select_gang(s, ctx, slot);
}

/* Keeps the columns of the list that no gang has taken. */
static void look_at_idle(struct state *s) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_idle; i++)
        if (s->taken[s->idle[i]] != s->turn)
            s->idle[n++] = s->idle[i];
    s->n_idle = n;
}

/* The order of a row, for the gangs that were selected from `first` on. */
static void order_selected(struct state *s, const struct gsim_ctx *ctx, uint32_t first) {
    for (uint32_t i = first + 1; i < s->n_selected; i++) {
        gsim_slot slot = s->selected[i];
        uint32_t at = i;
        for (; at > first &&
               own(ctx, s->selected[at - 1])->matrix.entered > own(ctx, slot)->matrix.entered;
             at--)
            s->selected[at] = s->selected[at - 1];
        s->selected[at] = slot;
    }
}

/* Selects gangs of a later row, in the order of the row. Each needs its lowest column idle, and is
 * found by that where fewer are idle than the row has in use. */
static void fill_from(struct state *s, const struct gsim_ctx *ctx,
                      const struct gsim_matrix_row *row) {
    uint32_t first = s->n_selected;
    bool is_sparse = ctx->view->cluster.n_gpus - row->n_free < s->n_idle;
    if (is_sparse)
        select_row(s, ctx, row);
    for (uint32_t i = 0; i < s->n_idle && !is_sparse; i++) {
        gsim_slot slot = row->column[s->idle[i]];
        if (slot != GSIM_NO_SLOT && own(ctx, slot)->matrix.first == s->idle[i])
            select_gang(s, ctx, slot);
    }
    order_selected(s, ctx, first);
    if (s->n_selected > first)
        look_at_idle(s);
}

/* Selects the gangs of the current row; then, in idle columns, gangs that the last selection has
 * placed (unless the row is new); then gangs of later rows. One that was on its way when the row's
 * turn came, and was not selected then, keeps no columns: it is to stop as soon as it runs. */
static void select_gangs(struct state *s, const struct gsim_ctx *ctx, bool is_new) {
    uint64_t last = s->turn++;
    s->n_selected = 0;
    select_row(s, ctx, &s->matrix.rows[s->current]);
    gsim_slot slot = is_new || !s->is_filling ? GSIM_NO_SLOT : gsim_index_first(&s->on);
    for (; slot != GSIM_NO_SLOT; slot = gsim_index_next(&s->on, slot))
        if (own(ctx, slot)->turn == last)
            select_gang(s, ctx, slot);
    s->n_idle = s->is_filling ? ctx->view->cluster.n_gpus : 0;
    for (uint32_t gpu = 0; gpu < s->n_idle; gpu++)
        s->idle[gpu] = gpu;
    look_at_idle(s);
    for (uint32_t r = gsim_matrix_row_after(&s->matrix, s->current);
         r != s->current && s->n_idle > 0; r = gsim_matrix_row_after(&s->matrix, r))
        fill_from(s, ctx, &s->matrix.rows[r]);
    s->matrix.has_changed = false;
    s->matrix.news.n_entered = s->matrix.news.n_left = 0;
    s->matrix.news.is_much = false;
    s->is_fresh = true;
}

/* --- few changes among gangs that all have their turn ----------------------------------------- */

static bool has_idle_columns(struct state *s, const struct gsim_ctx *ctx, gsim_slot slot) {
    uint32_t n = gsim_matrix_columns(&s->matrix, ctx, slot);
    for (uint32_t u = 0; u < n; u++)
        if (s->taken[s->matrix.units[u].gpu] == s->turn)
            return false;
    return true;
}

/* Selects the new gangs of the current row. false: one of them displaces a gang of another row. */
static bool select_entered(struct state *s, const struct gsim_ctx *ctx) {
    const struct gsim_matrix_news *news = &s->matrix.news;
    for (uint32_t i = 0; i < news->n_left; i++)
        s->taken[news->left[i]] = s->turn - 1;
    for (uint32_t i = 0; i < news->n_entered; i++)
        if (own(ctx, news->entered[i])->matrix.row == s->current &&
            !has_idle_columns(s, ctx, news->entered[i]))
            return false;
    for (uint32_t i = 0; i < news->n_entered; i++)
        if (own(ctx, news->entered[i])->matrix.row == s->current)
            select_gang(s, ctx, news->entered[i]);
    return true;
}

/* Whether a gang of a later row may be selected: a column that was left is idle still, or a gang
 * that has got columns has them idle. */
static bool has_room(struct state *s, const struct gsim_ctx *ctx) {
    const struct gsim_matrix_news *news = &s->matrix.news;
    for (uint32_t i = 0; i < news->n_left; i++)
        if (s->taken[news->left[i]] != s->turn)
            return true;
    for (uint32_t i = 0; i < news->n_entered; i++)
        if (has_idle_columns(s, ctx, news->entered[i]))
            return true;
    return false;
}

/* Selects gangs of a later row that have got columns, or that had one of those that were left: all
 * others have a column that a selected gang has. */
static void fill_left(struct state *s, const struct gsim_ctx *ctx, uint32_t r) {
    const struct gsim_matrix_news *news = &s->matrix.news;
    uint32_t first = s->n_selected;
    for (uint32_t i = 0; i < news->n_left; i++)
        if (s->matrix.rows[r].column[news->left[i]] != GSIM_NO_SLOT)
            select_gang(s, ctx, s->matrix.rows[r].column[news->left[i]]);
    for (uint32_t i = 0; i < news->n_entered; i++)
        if (own(ctx, news->entered[i])->matrix.row == r)
            select_gang(s, ctx, news->entered[i]);
    order_selected(s, ctx, first);
}

/* What select_gangs would select, where the gangs that run keep their columns. */
static bool select_changed(struct state *s, const struct gsim_ctx *ctx) {
    if (!is_settled(s) || !select_entered(s, ctx))
        return false;
    bool is_filling = s->is_filling && has_room(s, ctx);
    for (uint32_t r = gsim_matrix_row_after(&s->matrix, s->current); r != s->current && is_filling;
         r = gsim_matrix_row_after(&s->matrix, r)) {
        uint32_t n = s->n_selected;
        fill_left(s, ctx, r);
        is_filling = s->n_selected == n || has_room(s, ctx);
    }
    s->matrix.has_changed = false;
    s->matrix.news.n_entered = s->matrix.news.n_left = 0;
    return true;
}

static void next_row(struct state *s, const struct gsim_ctx *ctx) {
    s->current = gsim_matrix_row_after(&s->matrix, s->current);
    s->began_ns = s->placed_ns = -1;
    s->turned_ns = ctx->view->now_ns;
    select_gangs(s, ctx, true);
}

static bool is_to_stop(const struct state *s, const struct gsim_ctx *ctx, gsim_slot slot) {
    return own(ctx, slot)->turn != s->turn && ctx->view->jobs.state[slot] == GSIM_RUNNING;
}

/* Between selections, a gang that is to stop is one that has just come to run. */
static bool has_to_stop(const struct state *s, const struct gsim_ctx *ctx) {
    for (uint32_t i = 0; i < ctx->view->changes.n_settled; i++)
        if (is_to_stop(s, ctx, ctx->view->changes.settled[i]) &&
            gsim_index_has(&s->on, ctx->view->changes.settled[i]))
            return true;
    return s->is_fresh;
}

/* Stops gangs that are not selected, as soon as they run. */
static void stop_others(struct state *s, struct gsim_ctx *ctx, struct gsim_plan *plan) {
    s->n_lagging = 0;
    for (gsim_slot slot = gsim_index_first(&s->on), after; slot != GSIM_NO_SLOT; slot = after) {
        after = gsim_index_next(&s->on, slot);
        s->n_lagging += own(ctx, slot)->turn != s->turn;
        if (!is_to_stop(s, ctx, slot))
            continue;
        s->n_lagging--;
        (void)gsim_plan_preempt(plan, slot, s->preemption.stop, s->preemption.keep);
        gsim_index_remove(&s->on, slot);
    }
}

/* Whether the gang is on its columns, or has no turn any more. */
static bool is_served(struct state *s, struct gsim_ctx *ctx, struct gsim_plan *plan,
                      gsim_slot slot) {
    if (own(ctx, slot)->turn != s->turn || gsim_index_has(&s->on, slot))
        return true;
    if (!gsim_common_waits(ctx->view, slot))
        return false;
    if (!gsim_plan_place_whole(plan, slot, s->matrix.units,
                               gsim_matrix_columns(&s->matrix, ctx, slot))) {
        own(ctx, slot)->refused = s->turn;
        return false;
    }
    gsim_common_insert(ctx, &s->on, slot, 0);
    own(ctx, slot)->placed_ran_ns = gsim_ran_ns(ctx->view, slot);
    /* the slice waits for gangs that were there at the turn; newcomers do not prolong it */
    if (own(ctx, slot)->matrix.row == s->current &&
        ctx->view->jobs.submit_ns[slot] <= s->turned_ns) {
        s->began_ns = -1;
        s->placed_ns = ctx->view->now_ns;
    }
    return true;
}

/* Starts selected gangs as soon as they can be placed; those that cannot stay in the list. */
static void start_selected(struct state *s, struct gsim_ctx *ctx, struct gsim_plan *plan) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_selected; i++)
        if (!is_served(s, ctx, plan, s->selected[i]))
            s->selected[n++] = s->selected[i];
    s->n_selected = n;
}

/* The begin of the slice: the time when the last gang of the row came to run, or of the turn where
 * all ran before it in columns that other rows left idle. -1: a gang is still on its way. A gang
 * that is placed in a decide may run at once, and be gone by the next one, while others run on. */
static int64_t beginning_ns(struct state *s, const struct gsim_ctx *ctx) {
    int64_t latest = s->placed_ns;
    for (gsim_slot slot = s->matrix.rows[s->current].gangs.first; slot != GSIM_NO_SLOT;
         slot = gsim_queue_after(ctx, slot)) {
        if (!is_awaited(s, ctx, slot))
            continue;
        if (ctx->view->jobs.state[slot] != GSIM_RUNNING)
            return -1;
        if (ctx->view->jobs.changed_ns[slot] > latest)
            latest = ctx->view->jobs.changed_ns[slot];
    }
    if (latest < 0)
        latest = ctx->view->now_ns;
    return latest > s->turned_ns ? latest : s->turned_ns;
}

/* No gang is left: the next one to come is served as the first one was, with a slice of its own. */
static void begin_anew(struct state *s) {
    s->current = 0;
    s->began_ns = s->turned_ns = s->placed_ns = -1;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *s = ctx->state;
    int64_t now = ctx->view->now_ns;
    bool has_failed = ctx->view->cluster.n_failures != s->matrix.n_failures;
    /* gangs that the slice waits for may leave the row with their columns */
    if (has_failed && s->began_ns < 0 && s->matrix.used.n > 0 && beginning_ns(s, ctx) < 0)
        s->placed_ns = now;
    gsim_matrix_settle(&s->matrix, ctx);
    if (s->matrix.used.n == 0) {
        begin_anew(s);
        return;
    }
    if (s->turned_ns < 0)
        s->turned_ns = now;
    if (s->began_ns < 0)
        s->began_ns = beginning_ns(s, ctx);
    bool is_over = s->began_ns >= 0 && s->matrix.used.n > 1 && now - s->began_ns >= s->slice_ns;
    if (is_over || s->matrix.rows[s->current].gangs.first == GSIM_NO_SLOT)
        next_row(s, ctx);
    else if (s->matrix.has_changed && !select_changed(s, ctx))
        select_gangs(s, ctx, false);
    if (has_to_stop(s, ctx))
        stop_others(s, ctx, plan);
    start_selected(s, ctx, plan);
    s->is_fresh = false;
    if (s->matrix.used.n > 1)
        gsim_plan_wake(plan, (s->began_ns >= 0 ? s->began_ns : now) + s->slice_ns);
}

static enum gsim_status open_gang_rr(struct gsim_ctx *ctx) {
    struct state *s = ctx->state;
    uint32_t n = ctx->view->cluster.n_gpus;
    s->slice_ns = gsim_param(ctx->params, "slice");
    s->is_filling = gsim_param(ctx->params, "fill") != 0;
    enum gsim_status status = gsim_settings_open_memory(ctx);
    s->preemption = gsim_settings_preemption(ctx, GSIM_KEEP_HOST);
    begin_anew(s);
    gsim_index_init(&s->on, ctx->arena);
    s->taken = gsim_arena_array(ctx->arena, n, sizeof *s->taken);
    s->selected = gsim_arena_array(ctx->arena, n, sizeof *s->selected);
    s->idle = gsim_arena_array(ctx->arena, n, sizeof *s->idle);
    if (!s->taken || !s->selected || !s->idle)
        return gsim_no_memory(ctx->log, "opening gang-rr");
    return status == GSIM_OK ? gsim_matrix_init(&s->matrix, ctx) : status;
}

static const struct gsim_param_def params[] = {
    GSIM_PREEMPT_PARAM_AS("suspend, since jobs come back every round"),
    GSIM_MEMORY_PARAM,
    {.name = "slice",
     .type = GSIM_PARAM_TIME,
     .fallback = "60s",
     .min = 1,
     .max = GSIM_TIME_MAX,
     .help = "time of a row, counted from when its gangs run"},
    {.name = "fill",
     .type = GSIM_PARAM_BOOL,
     .fallback = "on",
     .help = "gangs of later rows use the GPUs that a row leaves idle"},
    {0}};

const struct gsim_policy gsim_policy_gang_rr = {
    .name = "gang-rr",
    .summary = "plain gang time slicing: the rows of an Ousterhout matrix take turns",
    .paper = "Ousterhout, Scheduling techniques for concurrent systems, ICDCS 1982",
    .deviations = "a share takes a whole GPU; CPUs are not counted; rows are never packed again",
    .names_gpus = true,
    .params = params,
    .state_size = sizeof(struct state),
    .job_size = sizeof(struct job),
    .open = open_gang_rr,
    .on_arrival = on_arrival,
    .on_completion = on_completion,
    .decide = decide,
};
