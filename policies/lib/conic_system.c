/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The linear system of a step. Each column with a bound is eliminated with it; the others have a
 * line for each row and for each free column. Lines are multiplied by the number of rows that they
 * stand for, by which the matrix is symmetric. A solution is refined until its error is rounding:
 * eliminations lose digits where a column or a row has nothing left. */
#include <string.h>

#include "policies/lib/conic_work.h"

static double larger(double a, double b) {
    return a > b ? a : b;
}

/* Signs of errors follow no rule: a branch on them would be foreseen half of the time. */
static double magnitude(double value) {
    return larger(value, -value);
}

/* Of any order the largest is one number: four at a time, none of which waits for the last. */
static double largest(const double *value, uint32_t n) {
    double most[4] = {0}, least[4] = {0};
    uint32_t k = 0;
    for (; k + 4 <= n; k += 4)
        for (uint32_t i = 0; i < 4; i++) {
            most[i] = larger(value[k + i], most[i]);
            least[i] = value[k + i] < least[i] ? value[k + i] : least[i];
        }
    for (; k < n; k++)
        most[0] = larger(magnitude(value[k]), most[0]);
    for (uint32_t i = 0; i < 4; i++)
        most[i] = larger(-least[i], most[i]);
    return larger(larger(most[0], most[1]), larger(most[2], most[3]));
}

static bool has_bound(const struct gsim_conic_work *w, uint32_t column) {
    return w->line_of[column] == UINT32_MAX;
}

void gsim_conic_times_x(const struct gsim_conic *p, const double *x, double *out) {
    const struct gsim_conic_work *w = p->work;
    double *line = out + p->n_columns;
    memset(line, 0, p->n_lines * sizeof *line);
    for (uint32_t c = 0; c < p->n_columns; c++) {
        double all = x[c] * w->column_count[c];
        out[c] = -w->bound_entry[c] * x[c];
        for (uint32_t e = w->start[c]; e < w->start[c + 1]; e++)
            line[w->entry_line[e]] += all * w->entry[e];
    }
    for (uint32_t i = 0; i < p->n_lines; i++)
        line[i] /= w->count[p->n_columns + i];
}

void gsim_conic_times_worth(const struct gsim_conic *p, const double *worth, double *out) {
    const struct gsim_conic_work *w = p->work;
    const double *line = worth + p->n_columns;
    for (uint32_t c = 0; c < p->n_columns; c++) {
        double sum = -w->bound_entry[c] * worth[c];
        for (uint32_t e = w->start[c]; e < w->start[c + 1]; e++)
            sum += w->entry[e] * line[w->entry_line[e]];
        out[c] = sum;
    }
}

/* --- the matrix ------------------------------------------------------------------------------- */

static void reach(struct gsim_conic *p, uint32_t column) {
    struct gsim_conic_work *w = p->work;
    for (uint32_t e = w->start[column]; e < w->start[column + 1]; e++) {
        if (!has_bound(w, column))
            gsim_skyline_reach(&w->matrix, w->line_of[column], w->entry_line[e]);
        for (uint32_t k = w->start[column]; has_bound(w, column) && k < e; k++)
            gsim_skyline_reach(&w->matrix, w->entry_line[e], w->entry_line[k]);
    }
}

bool gsim_conic_shape(struct gsim_conic *p) {
    struct gsim_conic_work *w = p->work;
    w->matrix.arena = p->arena;
    if (!gsim_skyline_begin(&w->matrix, p->n_lines))
        return false;
    for (uint32_t c = 0; c < p->n_columns; c++)
        reach(p, c);
    for (uint32_t k = 0; k < p->n_cones; k++) {
        uint32_t line = w->cone[k].side - p->n_columns;
        gsim_skyline_reach(&w->matrix, line, line + 1);
        gsim_skyline_reach(&w->matrix, line, line + 2);
    }
    return gsim_skyline_shape(&w->matrix);
}

/* Adds what the entry of a number leaves to its line, with each one up to it. */
static void add_products(struct gsim_skyline *matrix, const uint32_t *line, const double *entry,
                         uint32_t number, double scaled) {
    uint32_t own = line[number];
    double *cell = gsim_skyline_line(matrix, own);
    for (uint32_t k = 0; k < number; k++)
        if (line[k] < own)
            cell[line[k]] += scaled * entry[k];
        else
            gsim_skyline_add(matrix, own, line[k], scaled * entry[k]);
    matrix->diagonal[own] += scaled * entry[number];
}

/* What a column with its bound leaves to the rows, and a free column's own line. */
static void add_column(struct gsim_conic *p, uint32_t column) {
    struct gsim_conic_work *w = p->work;
    double g = w->bound_entry[column], by;
    uint32_t from = w->start[column], to = w->start[column + 1];
    if (!has_bound(w, column)) {
        uint32_t own = w->line_of[column];
        gsim_skyline_add(&w->matrix, own, own, -GSIM_CONIC_DELTA);
        for (uint32_t e = from; e < to; e++)
            gsim_skyline_add(&w->matrix, own, w->entry_line[e], w->entry[e]);
        return;
    }
    w->part[column] = g / (w->ratio[column] + GSIM_CONIC_DELTA);
    w->weight[column] = GSIM_CONIC_DELTA + g * w->part[column];
    by = w->column_count[column] / w->weight[column];
    for (uint32_t e = from; e < to; e++)
        add_products(&w->matrix, w->entry_line + from, w->entry + from, e - from, by * w->entry[e]);
}

/* The last side of a cone has the other sign, as in ECOS. */
static double delta_of(const struct gsim_conic_cone *cone, uint32_t side) {
    return side == cone->side + 2 ? -GSIM_CONIC_DELTA : GSIM_CONIC_DELTA;
}

static void add_cone(struct gsim_conic *p, const struct gsim_conic_cone *cone) {
    struct gsim_conic_work *w = p->work;
    uint32_t line = cone->side - p->n_columns;
    double count = w->count[cone->side];
    for (uint32_t i = 0; i < 3; i++) {
        double unit[3] = {0}, column[3];
        unit[i] = 1;
        gsim_conic_by_square(cone, unit, column);
        column[i] += delta_of(cone, cone->side + i);
        for (uint32_t k = i; k < 3; k++)
            gsim_skyline_add(&w->matrix, line + i, line + k, count * column[k]);
    }
}

void gsim_conic_factorise(struct gsim_conic *p) {
    struct gsim_conic_work *w = p->work;
    gsim_skyline_clear(&w->matrix);
    for (uint32_t i = 0; i < p->n_lines; i++) {
        uint32_t side = gsim_conic_line_side(p, i);
        if (w->kind[side] == GSIM_CONIC_ROW)
            w->matrix.diagonal[i] = w->count[side] * (w->ratio[side] + GSIM_CONIC_DELTA);
    }
    for (uint32_t c = 0; c < p->n_columns; c++)
        add_column(p, c);
    for (uint32_t k = 0; k < p->n_cones; k++)
        add_cone(p, &w->cone[k]);
    gsim_skyline_factorise(&w->matrix, w->is_free);
}

/* --- a solution ------------------------------------------------------------------------------- */

static void set_right(struct gsim_conic *p, const double *right_x, const double *right_side) {
    struct gsim_conic_work *w = p->work;
    for (uint32_t i = 0; i < p->n_lines; i++) {
        uint32_t side = gsim_conic_line_side(p, i);
        w->system[i] = w->is_free[i] ? 0 : -w->count[side] * right_side[side];
    }
    for (uint32_t c = 0; c < p->n_columns; c++) {
        if (!has_bound(w, c)) {
            w->system[w->line_of[c]] = right_x[c];
            continue;
        }
        w->column_right[c] = right_x[c] - w->part[c] * right_side[c];
        double value = w->column_count[c] * w->column_right[c] / w->weight[c];
        for (uint32_t e = w->start[c]; e < w->start[c + 1]; e++)
            w->system[w->entry_line[e]] += w->entry[e] * value;
    }
}

/* The right sides of a system, and the place of its solution. */
struct task {
    const double *right_x, *right_side;
    double *x, *worth;
};

/* What the solved system leaves a column with a bound, or makes of a free one. */
static double left_to(const struct gsim_conic_work *w, uint32_t c) {
    if (!has_bound(w, c))
        return -w->system[w->line_of[c]];
    double value = w->column_right[c];
    for (uint32_t e = w->start[c]; e < w->start[c + 1]; e++)
        value -= w->entry[e] * w->system[w->entry_line[e]];
    return value;
}

static void settle_column(const struct gsim_conic_work *w, const struct task *task, uint32_t c,
                          double value, bool is_fix) {
    double x = value, worth = 0, right_side = is_fix ? w->side_error[c] : task->right_side[c];
    if (has_bound(w, c)) {
        x = value / w->weight[c];
        worth = -(w->bound_entry[c] * x + right_side) / (w->ratio[c] + GSIM_CONIC_DELTA);
    }
    if (is_fix) {
        w->x_fix[c] = x;
        w->worth_fix[c] = worth;
    }
    task->x[c] = is_fix ? task->x[c] + x : x;
    task->worth[c] = is_fix ? task->worth[c] + worth : worth;
}

/* By how much a column's equations are off; what it takes from the lines is added to theirs.
 * Returns the largest error so far. */
static double find_column_error(const struct gsim_conic *p, const struct task *task, uint32_t c,
                                double most) {
    const struct gsim_conic_work *w = p->work;
    const double *line = task->worth + p->n_columns;
    double *off = w->side_error + p->n_columns, x = task->x[c], worth = task->worth[c];
    double all = x * w->column_count[c], sum = -w->bound_entry[c] * worth, side = 0;
    for (uint32_t e = w->start[c]; e < w->start[c + 1]; e++) {
        sum += w->entry[e] * line[w->entry_line[e]];
        off[w->entry_line[e]] += all * w->entry[e];
    }
    sum = task->right_x[c] - GSIM_CONIC_DELTA * x - sum;
    if (w->kind[c] == GSIM_CONIC_ROW)
        side =
            task->right_side[c] - -w->bound_entry[c] * x + (w->ratio[c] + GSIM_CONIC_DELTA) * worth;
    w->x_error[c] = sum;
    w->side_error[c] = side;
    return larger(magnitude(side), larger(magnitude(sum), most));
}

/* The solution by column, and its error. Entries are read once from far memory: a few columns at a
 * time, step by step, so that divisions do not wait for those of the column before. is_fix: the
 * system was that of the errors, and what it says is added. Lines come first. */
static double settle_columns(struct gsim_conic *p, const struct task *task, bool is_fix) {
    enum { FEW = 32 };
    struct gsim_conic_work *w = p->work;
    double most = 0, value[FEW];
    memset(w->side_error + p->n_columns, 0, p->n_lines * sizeof *w->side_error);
    for (uint32_t from = 0, to; from < p->n_columns; from = to) {
        to = p->n_columns - from > FEW ? from + FEW : p->n_columns;
        for (uint32_t c = from; c < to; c++)
            value[c - from] = left_to(w, c);
        for (uint32_t c = from; c < to; c++)
            settle_column(w, task, c, value[c - from], is_fix);
        for (uint32_t c = from; c < to; c++)
            most = find_column_error(p, task, c, most);
    }
    return most;
}

static void settle_lines(struct gsim_conic *p, const struct task *task, bool is_fix) {
    struct gsim_conic_work *w = p->work;
    for (uint32_t i = 0; i < p->n_lines; i++) {
        uint32_t side = gsim_conic_line_side(p, i);
        double worth = w->is_free[i] ? 0 : w->system[i];
        if (is_fix)
            w->worth_fix[side] = worth;
        task->worth[side] = is_fix ? task->worth[side] + worth : worth;
    }
}

static void add_cone_errors(struct gsim_conic *p, const double *worth) {
    struct gsim_conic_work *w = p->work;
    for (uint32_t k = 0; k < p->n_cones; k++) {
        const struct gsim_conic_cone *cone = &w->cone[k];
        double taken[3];
        gsim_conic_by_square(cone, worth + cone->side, taken);
        for (uint32_t i = 0; i < 3; i++)
            w->side_error[cone->side + i] +=
                taken[i] + delta_of(cone, cone->side + i) * worth[cone->side + i];
    }
}

/* By how much the equations of the lines are off, of which columns have taken their parts. */
static void find_line_errors(struct gsim_conic *p, const struct task *task) {
    struct gsim_conic_work *w = p->work;
    for (uint32_t i = p->n_columns; i < w->n_sides; i++) {
        double taken =
            w->kind[i] == GSIM_CONIC_ROW ? (w->ratio[i] + GSIM_CONIC_DELTA) * task->worth[i] : 0;
        double has = w->side_error[i] / w->count[i];
        w->side_error[i] = w->kind[i] == GSIM_CONIC_NONE ? 0 : task->right_side[i] - has + taken;
    }
    add_cone_errors(p, task->worth);
}

/* Solves for the right sides or, is_fix, for what the solution is off. Returns the largest error
 * of the solution. */
static double solve_once(struct gsim_conic *p, const struct task *task, bool is_fix) {
    struct gsim_conic_work *w = p->work;
    if (is_fix)
        set_right(p, w->x_error, w->side_error);
    else
        set_right(p, task->right_x, task->right_side);
    gsim_skyline_solve(&w->matrix, w->system);
    settle_lines(p, task, is_fix);
    double most = settle_columns(p, task, is_fix);
    find_line_errors(p, task);
    return larger(most, largest(w->side_error + p->n_columns, p->n_lines));
}

static void take_back(double *from, const double *step, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        from[i] -= step[i];
}

/* The refinement of ECOS: at most 9 times, until the error is 1e-14 of the right side, or no longer
 * falls by a factor of 6. A coarser one (1e-12) saves a fifth of the time, but moves single shares
 * by 1e-7, and with them which of two jobs comes first where they are nearly equal. */
void gsim_conic_solve_system(struct gsim_conic *p, const double *right_x, const double *right_side,
                             double *x, double *worth) {
    const double accuracy = 1e-14, fall = 6;
    enum { MOST_REFINEMENTS = 9 };
    struct gsim_conic_work *w = p->work;
    double size = largest(right_x, p->n_columns), sides = largest(right_side, w->n_sides);
    double enough = (1 + (sides > size ? sides : size)) * accuracy, before = 0;
    const struct task task = {right_x, right_side, x, worth};
    double error = solve_once(p, &task, false);
    for (int i = 0; i < MOST_REFINEMENTS && !(error < enough); i++) {
        if (i > 0 && before < fall * error)
            break;
        before = error;
        error = solve_once(p, &task, true);
        if (error > before) {
            take_back(x, w->x_fix, p->n_columns);
            take_back(worth, w->worth_fix, w->n_sides);
            break;
        }
    }
}
