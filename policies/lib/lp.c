/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tableau (lp_tableau.h) holds, for each basic variable, what one unit of each other variable
 * takes from it; an exchange swaps a column with a row in place. Every row has a slack of its own
 * that makes it an equation: at least 0, or exactly 0. The slacks are the first basis; phase 1
 * maximises minus the sum by which basic variables lie outside their bounds, phase 2 the gain. */
#include "policies/lib/lp.h"

#include <assert.h>
#include <string.h>

#include "policies/lib/lp_tableau.h"

_Static_assert(FLT_EVAL_METHOD == 0, "double is computed as double: x87 would give other bytes");

#define FEASIBLE 1e-9 /* of the largest bound: by how much a variable may miss a bound of its own */
#define WORTHWHILE 1e-9 /* of the largest gain: gain per unit for which a column enters */
#define SOLID 1e-9 /* entries below are no pivots */
#define CERTIFIED 1e-7 /* error of rows and prices in the end */
enum { IDLE_MOST = 40, SCALING_PASSES = 3, REBUILDS = 3, NO_ROW = -1, FLIP = -2 };

struct gsim_lp_work {
    /* n_rows + 1 rows of n_open + 1 columns; the last row is minus the gain, the last column what
     * basic variables are when all others are 0. */
    struct gsim_tableau t;
    uint32_t *open, n_open; /* the columns that are not fixed at 0, which never enter */
    double *beta; /* value of each row's basic variable */
    double *range; /* upper bound of a variable: columns first, then slacks */
    double *score; /* gain of a unit of each column, in this phase */
    double *row_scale, *column_scale;
    uint32_t *basic, *other; /* variable of a row, of a column */
    bool *is_at_upper; /* of a variable that is not basic */
    double tolerance, gain_scale;
    uint32_t n_idle;
};

static double *row_of(const struct gsim_lp *lp, uint32_t row) {
    return gsim_tableau_row(&lp->work->t, row);
}

static double size_of(double value) {
    return value < 0 ? -value : value;
}

/* --- memory ----------------------------------------------------------------------------------- */

static bool grow(struct gsim_lp *lp, void *block, size_t n, size_t size) {
    void **place = block;
    void *grown = gsim_arena_grow_raw(lp->arena, *place, n * size);
    if (grown)
        *place = grown;
    return grown != NULL;
}

static bool grow_rows(struct gsim_lp *lp, uint32_t n) {
    struct gsim_lp_work *w = lp->work;
    return grow(lp, &lp->bound, n, sizeof *lp->bound) &&
           grow(lp, &lp->sense, n, sizeof *lp->sense) &&
           grow(lp, &lp->price, n, sizeof *lp->price) && grow(lp, &w->beta, n, sizeof *w->beta) &&
           grow(lp, &w->row_scale, n, sizeof *w->row_scale) &&
           grow(lp, &w->basic, n, sizeof *w->basic);
}

static bool grow_columns(struct gsim_lp *lp, uint32_t n) {
    struct gsim_lp_work *w = lp->work;
    return grow(lp, &lp->gain, n, sizeof *lp->gain) && grow(lp, &lp->upper, n, sizeof *lp->upper) &&
           grow(lp, &lp->x, n, sizeof *lp->x) && grow(lp, &w->score, n, sizeof *w->score) &&
           grow(lp, &w->column_scale, n, sizeof *w->column_scale) &&
           grow(lp, &w->open, n, sizeof *w->open) && grow(lp, &w->other, n, sizeof *w->other);
}

/* Room doubles, so that programmes that get larger by and by are not copied each time. */
static bool grow_all(struct gsim_lp *lp, uint32_t n_rows, uint32_t n_columns) {
    struct gsim_lp_work *w = lp->work;
    if (n_rows > lp->room_rows || n_columns > lp->room_columns) {
        uint32_t rows = n_rows > lp->room_rows ? 2 * n_rows : lp->room_rows;
        uint32_t columns = n_columns > lp->room_columns ? 2 * n_columns : lp->room_columns;
        size_t all = (size_t)rows + columns;
        if (!grow_rows(lp, rows) || !grow_columns(lp, columns) ||
            !grow(lp, &w->range, all, sizeof *w->range) ||
            !grow(lp, &w->is_at_upper, all, sizeof *w->is_at_upper))
            return false;
        lp->room_rows = rows;
        lp->room_columns = columns;
    }
    uint64_t cells = (uint64_t)n_rows * n_columns + 1;
    if (cells <= lp->room)
        return true;
    cells += cells / 2;
    if (!grow(lp, &lp->entry, cells, sizeof *lp->entry))
        return false;
    lp->room = cells;
    return true;
}

bool gsim_lp_begin(struct gsim_lp *lp, uint32_t n_rows, uint32_t n_columns) {
    if (!lp->work)
        lp->work = gsim_arena_alloc(lp->arena, sizeof *lp->work);
    if (!lp->work || !grow_all(lp, n_rows, n_columns))
        return false;
    lp->n_rows = n_rows;
    lp->n_columns = n_columns;
    memset(lp->entry, 0, (uint64_t)n_rows * n_columns * sizeof *lp->entry);
    for (uint32_t row = 0; row < n_rows; row++)
        gsim_lp_row(lp, row, GSIM_LP_AT_MOST, 0);
    for (uint32_t c = 0; c < n_columns; c++) {
        lp->gain[c] = 0;
        lp->upper[c] = GSIM_LP_NO_BOUND;
    }
    return true;
}

/* --- scaling ---------------------------------------------------------------------------------- */

/* The power of two at or below a size. */
static double power_of(double size) {
    double power = 1;
    for (; size >= 2; size /= 2)
        power *= 2;
    for (; size < 1; size *= 2)
        power /= 2;
    return power;
}

struct extent {
    double least, most;
};

static void widen(struct extent *extent, double size) {
    assert(size <= DBL_MAX); /* neither infinite nor no number */
    if (size == 0)
        return;
    if (extent->least == 0 || size < extent->least)
        extent->least = size;
    if (size > extent->most)
        extent->most = size;
}

/* The power of two that brings the extent's middle, on a scale of powers, near 1. */
static double evener(const struct extent *extent) {
    double power = 1;
    if (extent->most == 0)
        return 1;
    double ends = power_of(extent->least) * power_of(extent->most); /* the square of the middle */
    for (; ends >= 4; ends /= 4)
        power /= 2;
    for (; ends < 1; ends *= 4)
        power *= 2;
    return power;
}

static void even_rows(struct gsim_lp *lp) {
    struct gsim_lp_work *w = lp->work;
    for (uint32_t row = 0; row < lp->n_rows; row++) {
        struct extent extent = {0};
        const double *entry = lp->entry + (uint64_t)row * lp->n_columns;
        for (uint32_t c = 0; c < lp->n_columns; c++)
            widen(&extent, size_of(entry[c]) * w->column_scale[c]);
        w->row_scale[row] = evener(&extent);
    }
}

static void even_columns(struct gsim_lp *lp) {
    struct gsim_lp_work *w = lp->work;
    for (uint32_t c = 0; c < lp->n_columns; c++) {
        struct extent extent = {0};
        for (uint32_t row = 0; row < lp->n_rows; row++)
            widen(&extent,
                  size_of(lp->entry[(uint64_t)row * lp->n_columns + c]) * w->row_scale[row]);
        w->column_scale[c] = evener(&extent);
    }
}

static void scale(struct gsim_lp *lp) {
    struct gsim_lp_work *w = lp->work;
    for (uint32_t c = 0; c < lp->n_columns; c++)
        w->column_scale[c] = 1;
    for (int pass = 0; pass < SCALING_PASSES; pass++) {
        even_rows(lp);
        even_columns(lp);
    }
    double most = 0;
    for (uint32_t c = 0; c < lp->n_columns; c++) {
        double size = size_of(lp->gain[c]) * w->column_scale[c];
        most = size > most ? size : most;
    }
    w->gain_scale = most > 0 ? 1 / power_of(most) : 1;
}

/* --- the tableau ------------------------------------------------------------------------------ */

/* A row that asks for at least its bound is turned around. */
static double factor_of(const struct gsim_lp *lp, uint32_t row) {
    double factor = lp->work->row_scale[row];
    return lp->sense[row] == GSIM_LP_AT_LEAST ? -factor : factor;
}

static void set_ranges(struct gsim_lp *lp) {
    struct gsim_lp_work *w = lp->work;
    double most = 1;
    for (uint32_t c = 0; c < lp->n_columns; c++) {
        bool is_bounded = lp->upper[c] < GSIM_LP_NO_BOUND;
        w->range[c] = is_bounded ? lp->upper[c] / w->column_scale[c] : GSIM_LP_NO_BOUND;
        if (is_bounded && w->range[c] > most)
            most = w->range[c];
    }
    for (uint32_t row = 0; row < lp->n_rows; row++) {
        double size = size_of(lp->bound[row]) * w->row_scale[row];
        w->range[lp->n_columns + row] = lp->sense[row] == GSIM_LP_EQUAL ? 0 : GSIM_LP_NO_BOUND;
        most = size > most ? size : most;
    }
    w->tolerance = FEASIBLE * most;
}

/* Lists the columns that may become more than 0. */
static void find_open(struct gsim_lp *lp) {
    struct gsim_lp_work *w = lp->work;
    w->n_open = 0;
    for (uint32_t c = 0; c < lp->n_columns; c++)
        if (w->range[c] != 0)
            w->open[w->n_open++] = c;
}

/* Fills the tableau with the slacks as basis. */
static void fill(struct gsim_lp *lp) {
    struct gsim_lp_work *w = lp->work;
    gsim_tableau_forget(&w->t);
    for (uint32_t row = 0; row < lp->n_rows; row++) {
        const double *entry = lp->entry + (uint64_t)row * lp->n_columns;
        double *t = row_of(lp, row), factor = factor_of(lp, row);
        for (uint32_t c = 0; c < w->n_open; c++)
            t[c] = entry[w->open[c]] * w->column_scale[w->open[c]] * factor;
        t[w->n_open] = lp->bound[row] * factor;
        w->basic[row] = lp->n_columns + row;
    }
    double *gain = row_of(lp, lp->n_rows);
    for (uint32_t c = 0; c < w->n_open; c++) {
        gain[c] = -lp->gain[w->open[c]] * w->column_scale[w->open[c]] * w->gain_scale;
        w->other[c] = w->open[c];
    }
    gain[w->n_open] = 0;
}

/* Sets basic variables to what the others leave them. */
static void set_values(struct gsim_lp *lp) {
    struct gsim_lp_work *w = lp->work;
    for (uint32_t row = 0; row < lp->n_rows; row++) {
        const double *t = row_of(lp, row);
        double value = t[w->n_open];
        for (uint32_t c = 0; c < w->n_open; c++)
            if (w->is_at_upper[w->other[c]])
                value -= t[c] * w->range[w->other[c]];
        w->beta[row] = value;
    }
}

/* The column is the last that was asked for. */
static void exchange(struct gsim_lp *lp, uint32_t row, uint32_t column) {
    struct gsim_lp_work *w = lp->work;
    gsim_tableau_exchange(&w->t, row, column);
    uint32_t leaves = w->basic[row];
    w->basic[row] = w->other[column];
    w->other[column] = leaves;
}

/* Exchanges that gain nothing are in place while each row finds its variable; after more of them
 * the exchanges may go in a circle. */
static bool is_idle(const struct gsim_lp *lp) {
    return lp->work->n_idle > IDLE_MOST + lp->n_rows;
}

/* --- which column enters ---------------------------------------------------------------------- */

/* -1: below its bounds, 1: above them, 0: within. */
static int side_of(const struct gsim_lp_work *w, uint32_t row) {
    if (w->beta[row] < -w->tolerance)
        return -1;
    return w->beta[row] > w->range[w->basic[row]] + w->tolerance ? 1 : 0;
}

/* Scores columns by the bounds that are missed. false: none is missed. */
static bool score_feasibility(struct gsim_lp *lp) {
    struct gsim_lp_work *w = lp->work;
    bool is_outside = false;
    for (uint32_t c = 0; c < w->n_open; c++)
        w->score[c] = 0;
    for (uint32_t row = 0; row < lp->n_rows; row++) {
        int side = side_of(w, row);
        if (side == 0)
            continue;
        const double *t = row_of(lp, row);
        for (uint32_t c = 0; c < w->n_open; c++)
            w->score[c] += side < 0 ? -t[c] : t[c];
        is_outside = true;
    }
    return is_outside;
}

static void score_gain(struct gsim_lp *lp) {
    const double *gain = row_of(lp, lp->n_rows);
    for (uint32_t c = 0; c < lp->work->n_open; c++)
        lp->work->score[c] = -gain[c];
}

/* -1: no column gains. */
static int64_t choose_column(const struct gsim_lp *lp) {
    const struct gsim_lp_work *w = lp->work;
    bool is_first = is_idle(lp);
    int64_t chosen = -1;
    double most = WORTHWHILE;
    for (uint32_t c = 0; c < w->n_open; c++) {
        uint32_t variable = w->other[c];
        double gain = w->is_at_upper[variable] ? -w->score[c] : w->score[c];
        if (gain <= WORTHWHILE || w->range[variable] == 0)
            continue;
        bool is_lower = chosen < 0 || variable < w->other[chosen];
        if (is_first ? is_lower : gain > most || (gain == most && is_lower)) {
            chosen = c;
            most = gain;
        }
    }
    return chosen;
}

/* --- how far it goes -------------------------------------------------------------------------- */

struct step {
    double length;
    int64_t row; /* of the variable that leaves; FLIP: the column goes to its other bound */
    bool to_upper; /* the variable that leaves ends at its upper bound */
};

/* How far a row lets the column go when each unit takes `slope` from the row's variable. false: any
 * distance. A variable outside its bounds stops at the bound that it missed. */
static bool limit(const struct gsim_lp_work *w, uint32_t row, double slope, double slack,
                  struct step *out) {
    double range = w->range[w->basic[row]], value = w->beta[row];
    int side = side_of(w, row);
    out->row = row;
    if (slope > 0) {
        out->to_upper = side > 0;
        out->length = (value - (side > 0 ? range : 0) + slack) / slope;
        return side >= 0;
    }
    out->to_upper = side == 0;
    out->length = ((side < 0 ? 0 : range) - value + slack) / -slope;
    return side < 0 || (side == 0 && range < GSIM_LP_NO_BOUND);
}

/* The farthest step by which no variable misses a bound by more than the tolerance. */
static double farthest(const struct gsim_lp *lp, double range, double direction, double slack) {
    struct step step;
    double least = range;
    for (uint32_t row = 0; row < lp->n_rows; row++) {
        double slope = lp->work->t.column[row] * direction;
        if (size_of(slope) > SOLID && limit(lp->work, row, slope, slack, &step) &&
            step.length < least)
            least = step.length;
    }
    return least;
}

/* Of the rows that limit the step, the one with the largest pivot; in a run of idle steps, the
 * variable with the smallest number. */
static struct step choose_row(const struct gsim_lp *lp, double range, double direction) {
    const struct gsim_lp_work *w = lp->work;
    bool is_first = is_idle(lp);
    double most = 0, reach = farthest(lp, range, direction, is_first ? 0 : w->tolerance);
    struct step chosen = {.length = range, .row = range < GSIM_LP_NO_BOUND ? FLIP : NO_ROW}, step;
    for (uint32_t row = 0; row < lp->n_rows; row++) {
        double slope = w->t.column[row] * direction;
        if (size_of(slope) <= SOLID || !limit(w, row, slope, 0, &step) || step.length > reach)
            continue;
        bool is_better = chosen.row < 0 ||
                         (is_first ? w->basic[row] < w->basic[chosen.row] : size_of(slope) > most);
        if (!is_better)
            continue;
        most = size_of(slope);
        chosen = step;
    }
    if (chosen.row >= 0 && chosen.length < 0)
        chosen.length = 0;
    if (chosen.row >= 0 && range < chosen.length)
        chosen = (struct step){.length = range, .row = FLIP};
    return chosen;
}

static void take_step(struct gsim_lp *lp, uint32_t column, double direction,
                      const struct step *step) {
    struct gsim_lp_work *w = lp->work;
    uint32_t variable = w->other[column];
    double from = w->is_at_upper[variable] ? w->range[variable] : 0;
    for (uint32_t row = 0; row < lp->n_rows; row++)
        w->beta[row] -= w->t.column[row] * direction * step->length;
    if (step->row == FLIP) {
        w->is_at_upper[variable] = !w->is_at_upper[variable];
        return;
    }
    uint32_t row = (uint32_t)step->row;
    w->is_at_upper[variable] = false;
    w->is_at_upper[w->basic[row]] = step->to_upper;
    w->beta[row] = from + direction * step->length;
    exchange(lp, row, column);
    lp->n_exchanges++;
}

/* --- both phases ------------------------------------------------------------------------------ */

/* GSIM_LP_STUCK: there is more to do. */
static enum gsim_lp_end improve(struct gsim_lp *lp) {
    struct gsim_lp_work *w = lp->work;
    bool is_outside = score_feasibility(lp);
    if (!is_outside)
        score_gain(lp);
    int64_t column = choose_column(lp);
    if (column < 0)
        return is_outside ? GSIM_LP_INFEASIBLE : GSIM_LP_OPTIMAL;
    uint32_t enters = w->other[column];
    double direction = w->is_at_upper[enters] ? -1 : 1;
    gsim_tableau_ask(&w->t, (uint32_t)column);
    struct step step = choose_row(lp, w->range[enters], direction);
    if (step.row == NO_ROW)
        return is_outside ? GSIM_LP_STUCK : GSIM_LP_UNBOUNDED;
    w->n_idle = step.length > w->tolerance ? 0 : w->n_idle + 1;
    take_step(lp, (uint32_t)column, direction, &step);
    return GSIM_LP_STUCK;
}

static enum gsim_lp_end run(struct gsim_lp *lp) {
    enum gsim_lp_end end = GSIM_LP_STUCK;
    uint64_t most = 1000 + 50 * ((uint64_t)lp->n_rows + lp->n_columns);
    lp->work->n_idle = 0;
    for (uint64_t i = 0; i < most && end == GSIM_LP_STUCK; i++)
        end = improve(lp);
    return end;
}

/* --- the answer ------------------------------------------------------------------------------- */

static void put_value(struct gsim_lp *lp, uint32_t variable, double value) {
    struct gsim_lp_work *w = lp->work;
    if (variable >= lp->n_columns)
        return;
    double at_most = value > w->range[variable] ? w->range[variable] : value;
    lp->x[variable] = at_most < 0 ? 0 : at_most * w->column_scale[variable];
}

static void read_answer(struct gsim_lp *lp) {
    struct gsim_lp_work *w = lp->work;
    const double *gain = row_of(lp, lp->n_rows);
    for (uint32_t c = 0; c < lp->n_columns; c++)
        lp->x[c] = 0;
    for (uint32_t row = 0; row < lp->n_rows; row++) {
        put_value(lp, w->basic[row], w->beta[row]);
        lp->price[row] = 0;
    }
    for (uint32_t c = 0; c < w->n_open; c++) {
        uint32_t variable = w->other[c], row = variable - lp->n_columns;
        put_value(lp, variable, w->is_at_upper[variable] ? w->range[variable] : 0);
        if (variable >= lp->n_columns)
            lp->price[row] = gain[c] * factor_of(lp, row) / w->gain_scale;
    }
    lp->value = 0;
    for (uint32_t c = 0; c < lp->n_columns; c++)
        lp->value += lp->gain[c] * lp->x[c];
}

/* Whether x meets the row, in units of the scaled row. */
static bool meets_row(const struct gsim_lp *lp, uint32_t row) {
    const double *entry = lp->entry + (uint64_t)row * lp->n_columns;
    double over = -lp->bound[row], scale_of_row = lp->work->row_scale[row];
    for (uint32_t c = 0; c < lp->n_columns; c++)
        over += entry[c] * lp->x[c];
    over *= scale_of_row;
    double most = lp->work->tolerance / FEASIBLE * CERTIFIED;
    bool is_low = over <= most, is_high = over >= -most;
    return (is_low || lp->sense[row] == GSIM_LP_AT_LEAST) &&
           (is_high || lp->sense[row] == GSIM_LP_AT_MOST);
}

/* Whether the prices leave a column no gain in a direction that is open to it. */
static bool meets_price(const struct gsim_lp *lp, uint32_t column) {
    const struct gsim_lp_work *w = lp->work;
    double left = lp->gain[column];
    for (uint32_t row = 0; row < lp->n_rows; row++)
        left -= lp->price[row] * lp->entry[(uint64_t)row * lp->n_columns + column];
    left *= w->column_scale[column] * w->gain_scale;
    double x = lp->x[column] / w->column_scale[column], range = w->range[column];
    bool may_rise = range - x > w->tolerance, may_fall = x > w->tolerance;
    return !(may_rise && left > CERTIFIED) && !(may_fall && left < -CERTIFIED);
}

static bool is_certified(const struct gsim_lp *lp) {
    for (uint32_t row = 0; row < lp->n_rows; row++)
        if (!meets_row(lp, row))
            return false;
    for (uint32_t c = 0; c < lp->n_columns; c++)
        if (!meets_price(lp, c))
            return false;
    return true;
}

/* --- a tableau without the rounding of its exchanges ------------------------------------------ */

/* The largest pivot of a column among the rows with a slack that is to leave. */
static int64_t row_to_leave(const struct gsim_lp *lp, uint32_t column, const bool *is_basic) {
    int64_t chosen = -1;
    double most = SOLID;
    gsim_tableau_ask(&lp->work->t, column);
    for (uint32_t row = 0; row < lp->n_rows; row++) {
        double size = size_of(lp->work->t.column[row]);
        if (!is_basic[lp->work->basic[row]] && size > most) {
            most = size;
            chosen = row;
        }
    }
    return chosen;
}

static bool rebuild(struct gsim_lp *lp) {
    struct gsim_lp_work *w = lp->work;
    size_t n = (size_t)lp->n_rows + lp->n_columns;
    bool *is_basic = gsim_arena_grow(lp->arena, NULL, 0, n);
    if (!is_basic)
        return false;
    for (uint32_t row = 0; row < lp->n_rows; row++)
        is_basic[w->basic[row]] = true;
    fill(lp);
    for (uint32_t c = 0; c < w->n_open; c++) {
        int64_t row = is_basic[w->open[c]] ? row_to_leave(lp, c, is_basic) : -1;
        if (row >= 0)
            exchange(lp, (uint32_t)row, c);
    }
    /* a basis that is singular in these numbers keeps slacks, at their lower bound */
    for (uint32_t row = 0; row < lp->n_rows; row++)
        w->is_at_upper[w->basic[row]] = false;
    gsim_arena_drop(lp->arena, is_basic);
    set_values(lp);
    return true;
}

/* Whether an end is believed. A tableau after exchanges has rounding in it: that nothing is
 * feasible, or that there is no largest gain, is believed of a fresh one. */
static bool is_sure(const struct gsim_lp *lp, enum gsim_lp_end end, bool is_fresh) {
    return end == GSIM_LP_OPTIMAL ? is_certified(lp) : end != GSIM_LP_STUCK && is_fresh;
}

enum gsim_lp_end gsim_lp_solve(struct gsim_lp *lp) {
    memset(lp->work->is_at_upper, 0, (size_t)lp->n_rows + lp->n_columns);
    lp->n_exchanges = 0;
    scale(lp);
    set_ranges(lp);
    find_open(lp);
    lp->work->t.arena = lp->arena;
    if (!gsim_tableau_begin(&lp->work->t, lp->n_rows + 1, lp->work->n_open + 1))
        return GSIM_LP_NO_MEMORY;
    fill(lp);
    set_values(lp);
    for (int i = 0; i < REBUILDS; i++) {
        uint32_t n_before = lp->n_exchanges;
        enum gsim_lp_end end = run(lp);
        if (end == GSIM_LP_OPTIMAL)
            read_answer(lp);
        if (is_sure(lp, end, lp->n_exchanges == n_before))
            return end;
        if (!rebuild(lp))
            return GSIM_LP_NO_MEMORY;
    }
    return GSIM_LP_STUCK;
}

const char *gsim_lp_end_text(enum gsim_lp_end end) {
    static const char *const texts[] = {
        [GSIM_LP_OPTIMAL] = "an optimum was found",
        [GSIM_LP_INFEASIBLE] = "no point meets all rows",
        [GSIM_LP_UNBOUNDED] = "the gain has no largest value",
        [GSIM_LP_STUCK] = "the numbers are too far apart to find the optimum",
        [GSIM_LP_NO_MEMORY] = "the memory for the programme is missing",
    };
    return texts[end];
}
