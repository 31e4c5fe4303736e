/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/lib/conic.h"

#include <assert.h>
#include <string.h>

#include "policies/lib/conic_work.h"
#include "policies/lib/real.h"

/* The settings of ECOS 2.0.10, its ecos.h. */
#define TOLERANCE 1e-8 /* FEASTOL, ABSTOL, RELTOL */
#define SHORT_OF 0.99 /* GAMMA */
#define LEAST_CENTRING 1e-4 /* SIGMAMIN; the most, SIGMAMAX, is 1 */
#define SHORTEST 1e-6 /* STEPMIN */
#define LONGEST 0.999 /* STEPMAX */
#define WORSE 500 /* SAFEGUARD */
enum { MOST_STEPS = 100, SCALING_PASSES = 3, MOST_SHARPER = 10 }; /* MAXIT, EQUIL_ITERS, own */

/* A point of the path: the embedding's own two numbers, and how far the equations are off. */
struct path {
    double tau, kappa, off_tau, mu, gap;
    double cost, bound; /* c'x, h'z */
    double x_norm, left_norm, worth_norm, cost_norm, bound_norm;
    double row_error, column_error; /* relative to the numbers of the programme */
    double homogeneous_column, homogeneous_row; /* |G'z|, |Gx + s| */
    double sides; /* the degree of all cones */
};

/* A step: of tau and kappa, and how far it may go. */
struct step {
    double tau, kappa, length;
};

static double magnitude(double value) {
    return value < 0 ? -value : value;
}

static double larger(double a, double b) {
    return a > b ? a : b;
}

/* --- memory ----------------------------------------------------------------------------------- */

static bool grow(struct gsim_conic *p, void *block, size_t n, size_t size) {
    void **place = block;
    void *grown = gsim_arena_grow_raw(p->arena, *place, n * size);
    if (grown)
        *place = grown;
    return grown != NULL;
}

static bool grow_doubles(struct gsim_conic *p, double ***list, size_t n_lists, size_t n) {
    for (size_t i = 0; i < n_lists; i++)
        if (!grow(p, list[i], n, sizeof(double)))
            return false;
    return true;
}

static bool grow_columns(struct gsim_conic *p, uint32_t n) {
    struct gsim_conic_work *w = p->work;
    double **list[] = {&p->x,     &w->cost,   &w->column_scale, &w->column_count, &w->bound_entry,
                       &w->off_x, &w->x_step, &w->x_aim,        &w->column_right, &w->weight,
                       &w->part,  &w->x_fix,  &w->x_error,      &w->kept};
    return grow_doubles(p, list, sizeof list / sizeof *list, n) &&
           grow(p, &w->start, (size_t)n + 1, sizeof *w->start) &&
           grow(p, &w->line_of, n, sizeof *w->line_of);
}

static bool grow_sides(struct gsim_conic *p, size_t n) {
    struct gsim_conic_work *w = p->work;
    double **list[] = {&w->count,  &w->bound,      &w->row_scale, &w->left,       &w->worth,
                       &w->ratio,  &w->off,        &w->left_step, &w->worth_step, &w->worth_aim,
                       &w->wanted, &w->side_right, &w->worth_fix, &w->side_error};
    return grow_doubles(p, list, sizeof list / sizeof *list, n) &&
           grow(p, &w->kind, n, sizeof *w->kind);
}

static bool grow_lines(struct gsim_conic *p, uint32_t n) {
    struct gsim_conic_work *w = p->work;
    return grow(p, &w->system, n, sizeof *w->system) &&
           grow(p, &w->is_free, n, sizeof *w->is_free) &&
           grow(p, &w->cone, (size_t)n / 3 + 1, sizeof *w->cone);
}

static bool grow_entries(struct gsim_conic *p, uint32_t n) {
    struct gsim_conic_work *w = p->work;
    return grow(p, &w->entry_line, n, sizeof *w->entry_line) &&
           grow(p, &w->entry, n, sizeof *w->entry) && grow(p, &w->times, n, sizeof *w->times);
}

static uint32_t room_for(uint32_t n, uint32_t room) {
    return n > room ? 2 * n : room;
}

/* Room doubles, so that programmes that get larger by and by are not copied each time. */
static bool make_room(struct gsim_conic *p, uint32_t lines, uint32_t columns, uint32_t entries) {
    struct gsim_conic_work *w = p->work;
    if (lines <= w->room_lines && columns <= w->room_columns && entries <= w->room_entries)
        return true;
    lines = room_for(lines, w->room_lines);
    columns = room_for(columns, w->room_columns);
    entries = room_for(entries, w->room_entries);
    if (!grow_columns(p, columns) || !grow_lines(p, lines) || !grow_entries(p, entries) ||
        !grow_sides(p, (size_t)lines + columns))
        return false;
    w->room_lines = lines;
    w->room_columns = columns;
    w->room_entries = entries;
    return true;
}

/* --- the programme ---------------------------------------------------------------------------- */

bool gsim_conic_begin(struct gsim_conic *p, uint32_t n_rows, uint32_t n_columns, uint32_t n_free,
                      uint32_t n_entries) {
    if (!p->work)
        p->work = gsim_arena_alloc(p->arena, sizeof *p->work);
    if (!p->work || !make_room(p, n_rows + n_free, n_columns + n_free, n_entries))
        return false;
    p->n_columns = n_columns + n_free;
    p->n_lines = p->n_entries = p->n_cones = 0;
    p->work->n_added = 0;
    p->work->start[0] = 0;
    return true;
}

/* The side of a line, or of a column. */
static void add_side(struct gsim_conic *p, uint32_t side, enum gsim_conic_side kind, double bound,
                     double count) {
    struct gsim_conic_work *w = p->work;
    w->kind[side] = kind;
    w->bound[side] = bound;
    w->count[side] = count;
}

uint32_t gsim_conic_row(struct gsim_conic *p, double bound, double count) {
    uint32_t line = p->n_lines++;
    add_side(p, gsim_conic_line_side(p, line), GSIM_CONIC_ROW, bound, count);
    p->work->is_free[line] = false;
    return line;
}

void gsim_conic_close_cone(struct gsim_conic *p) {
    struct gsim_conic_work *w = p->work;
    uint32_t side = gsim_conic_line_side(p, p->n_lines - 3);
    for (uint32_t i = 0; i < 3; i++)
        w->kind[side + i] = GSIM_CONIC_CONE;
    w->cone[p->n_cones++].side = side;
}

static uint32_t add_column(struct gsim_conic *p, double cost, double count, uint32_t line) {
    struct gsim_conic_work *w = p->work;
    uint32_t column = w->n_added++;
    assert(column < p->n_columns);
    w->cost[column] = cost;
    w->column_count[column] = count;
    w->line_of[column] = line;
    w->start[column + 1] = p->n_entries;
    return column;
}

uint32_t gsim_conic_column(struct gsim_conic *p, double cost, double count) {
    uint32_t column = add_column(p, cost, count, UINT32_MAX);
    add_side(p, column, GSIM_CONIC_ROW, 0, count);
    return column;
}

uint32_t gsim_conic_free_column(struct gsim_conic *p, double cost) {
    uint32_t line = p->n_lines++, column = add_column(p, cost, 1, line);
    add_side(p, column, GSIM_CONIC_NONE, 0, 1);
    add_side(p, gsim_conic_line_side(p, line), GSIM_CONIC_NONE, 0, 1);
    p->work->is_free[line] = true;
    return column;
}

void gsim_conic_entry(struct gsim_conic *p, uint32_t row, double value, double times) {
    struct gsim_conic_work *w = p->work;
    uint32_t at = p->n_entries++;
    w->entry_line[at] = row;
    w->entry[at] = value;
    w->times[at] = times;
    w->start[w->n_added] = p->n_entries;
}

/* --- scaling ---------------------------------------------------------------------------------- */

/* The largest entry of each row and column; cones are scaled as one. */
static void find_largest(struct gsim_conic *p, double *column, double *side) {
    struct gsim_conic_work *w = p->work;
    memset(side, 0, w->n_sides * sizeof *side);
    for (uint32_t c = 0; c < p->n_columns; c++) {
        side[c] = column[c] = w->bound_entry[c];
        for (uint32_t e = w->start[c]; e < w->start[c + 1]; e++) {
            double size = magnitude(w->entry[e]), *row = &side[p->n_columns + w->entry_line[e]];
            column[c] = larger(size, column[c]);
            *row = larger(size, *row);
        }
    }
    for (uint32_t k = 0; k < p->n_cones; k++) {
        double *row = side + w->cone[k].side;
        row[0] = row[1] = row[2] = row[0] + row[1] + row[2];
    }
}

static void take_roots(double *value, uint32_t n) {
    const double least = 1e-6;
    for (uint32_t i = 0; i < n; i++)
        value[i] = value[i] < least ? 1 : gsim_real_root(value[i]);
}

static void scale_once(struct gsim_conic *p) {
    struct gsim_conic_work *w = p->work;
    double *column = w->off_x, *side = w->off;
    find_largest(p, column, side);
    take_roots(column, p->n_columns);
    take_roots(side, w->n_sides);
    for (uint32_t c = 0; c < p->n_columns; c++) {
        w->bound_entry[c] = w->bound_entry[c] / side[c] / column[c];
        for (uint32_t e = w->start[c]; e < w->start[c + 1]; e++)
            w->entry[e] = w->entry[e] / side[p->n_columns + w->entry_line[e]] / column[c];
        w->column_scale[c] *= column[c];
    }
    for (uint32_t i = 0; i < w->n_sides; i++)
        w->row_scale[i] *= side[i];
}

/* Scales rows and columns, and counts what one of equal columns has in all equal rows. */
static void scale(struct gsim_conic *p) {
    struct gsim_conic_work *w = p->work;
    for (uint32_t c = 0; c < p->n_columns; c++) {
        w->bound_entry[c] = w->kind[c] == GSIM_CONIC_NONE ? 0 : 1;
        w->column_scale[c] = 1;
    }
    for (uint32_t i = 0; i < w->n_sides; i++)
        w->row_scale[i] = 1;
    for (int pass = 0; pass < SCALING_PASSES; pass++)
        scale_once(p);
    for (uint32_t c = 0; c < p->n_columns; c++)
        w->cost[c] /= w->column_scale[c];
    for (uint32_t i = 0; i < w->n_sides; i++)
        w->bound[i] /= w->row_scale[i];
    for (uint32_t e = 0; e < p->n_entries; e++)
        w->entry[e] *= w->times[e];
}

/* --- sums, over all for which columns and sides stand ----------------------------------------- */

static double over_columns(const struct gsim_conic *p, const double *a, const double *b) {
    double sum = 0;
    for (uint32_t c = 0; c < p->n_columns; c++)
        sum += p->work->column_count[c] * a[c] * b[c];
    return sum;
}

static double over_sides(const struct gsim_conic *p, const double *a, const double *b) {
    const struct gsim_conic_work *w = p->work;
    double sum = 0;
    for (uint32_t i = 0; i < w->n_sides; i++)
        if (w->kind[i] != GSIM_CONIC_NONE)
            sum += w->count[i] * a[i] * b[i];
    return sum;
}

/* What the sides leave and are worth: one walk for four sums, each of which waits for its last
 * addition. */
struct side_sums {
    double bound, left, worth, gap; /* h'z, s's, z'z, s'z */
};

static struct side_sums sum_sides(const struct gsim_conic *p) {
    const struct gsim_conic_work *w = p->work;
    struct side_sums sums = {0};
    for (uint32_t i = 0; i < w->n_sides; i++) {
        if (w->kind[i] == GSIM_CONIC_NONE)
            continue;
        double count = w->count[i], left = w->left[i], worth = w->worth[i];
        sums.bound += count * w->bound[i] * worth;
        sums.left += count * left * left;
        sums.worth += count * worth * worth;
        sums.gap += count * left * worth;
    }
    return sums;
}

static double column_norm(const struct gsim_conic *p, const double *a) {
    return gsim_real_root(over_columns(p, a, a));
}

static double side_norm(const struct gsim_conic *p, const double *a) {
    return gsim_real_root(over_sides(p, a, a));
}

static double count_sides(const struct gsim_conic *p) {
    const struct gsim_conic_work *w = p->work;
    double sum = 0;
    for (uint32_t i = 0; i < w->n_sides; i++)
        if (w->kind[i] == GSIM_CONIC_ROW)
            sum += w->count[i];
    for (uint32_t k = 0; k < p->n_cones; k++)
        sum += w->count[w->cone[k].side];
    return sum;
}

/* --- the first point -------------------------------------------------------------------------- */

/* Adds as much as brings all sides into their cones, and 1 more. */
static void bring_within(const struct gsim_conic *p, double *value) {
    const struct gsim_conic_work *w = p->work;
    double missing = -SHORT_OF;
    for (uint32_t i = 0; i < w->n_sides; i++)
        if (w->kind[i] == GSIM_CONIC_ROW && value[i] <= 0)
            missing = larger(-value[i], missing);
    for (uint32_t k = 0; k < p->n_cones; k++) {
        const double *v = value + w->cone[k].side;
        double room = v[0] - gsim_real_root(v[1] * v[1] + v[2] * v[2]);
        if (room <= 0)
            missing = larger(-room, missing);
    }
    for (uint32_t i = 0; i < w->n_sides; i++)
        if (w->kind[i] == GSIM_CONIC_ROW)
            value[i] += 1 + missing;
    for (uint32_t k = 0; k < p->n_cones; k++)
        value[w->cone[k].side] += 1 + missing;
}

static void negate(double *to, const double *from, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        to[i] = -from[i];
}

/* The x and the prices that miss least. */
static void begin_path(struct gsim_conic *p, struct path *path) {
    struct gsim_conic_work *w = p->work;
    *path = (struct path){.tau = 1, .kappa = 1, .sides = count_sides(p)};
    path->cost_norm = larger(1, column_norm(p, w->cost));
    path->bound_norm = larger(1, side_norm(p, w->bound));
    (void)gsim_conic_scale(p, true);
    gsim_conic_factorise(p);
    memset(w->off_x, 0, p->n_columns * sizeof *w->off_x);
    gsim_conic_solve_system(p, w->off_x, w->bound, p->x, w->worth);
    negate(w->left, w->worth, w->n_sides);
    bring_within(p, w->left);
    negate(w->off_x, w->cost, p->n_columns);
    memset(w->side_right, 0, w->n_sides * sizeof *w->side_right);
    gsim_conic_solve_system(p, w->off_x, w->side_right, w->x_step, w->worth);
    bring_within(p, w->worth);
}

/* --- where the path is ------------------------------------------------------------------------ */

static void find_errors(struct gsim_conic *p, struct path *path) {
    struct gsim_conic_work *w = p->work;
    gsim_conic_times_worth(p, w->worth, w->off_x);
    path->homogeneous_column = column_norm(p, w->off_x);
    for (uint32_t c = 0; c < p->n_columns; c++)
        w->off_x[c] = -w->off_x[c] - w->cost[c] * path->tau;
    gsim_conic_times_x(p, p->x, w->off);
    for (uint32_t i = 0; i < w->n_sides; i++)
        w->off[i] = w->kind[i] == GSIM_CONIC_NONE ? 0 : w->off[i] + w->left[i];
    path->homogeneous_row = side_norm(p, w->off);
    for (uint32_t i = 0; i < w->n_sides; i++)
        w->off[i] -= w->bound[i] * path->tau;
    path->cost = over_columns(p, w->cost, p->x);
    struct side_sums sums = sum_sides(p);
    path->bound = sums.bound;
    path->off_tau = path->kappa + path->cost + path->bound;
    path->x_norm = column_norm(p, p->x);
    path->left_norm = gsim_real_root(sums.left);
    path->worth_norm = gsim_real_root(sums.worth);
    path->gap = sums.gap;
    path->mu = (path->gap + path->kappa * path->tau) / (path->sides + 1);
    path->row_error = side_norm(p, w->off) /
                      larger(path->bound_norm + path->x_norm + path->left_norm, 1) / path->tau;
    path->column_error =
        column_norm(p, w->off_x) / larger(path->cost_norm + path->worth_norm, 1) / path->tau;
}

static bool is_close(const struct path *path) {
    double value = path->cost / path->tau, dual = -path->bound / path->tau;
    double of = value < 0 ? -value : dual > 0 ? dual : 0;
    return path->gap < TOLERANCE || (of > 0 && path->gap / of < TOLERANCE);
}

/* GSIM_LP_STUCK: the path goes on. */
static enum gsim_lp_end judge(const struct path *path) {
    double worth = larger(path->worth_norm, 1), x = larger(path->x_norm, 1);
    if ((path->cost < 0 || path->bound <= TOLERANCE) && path->row_error < TOLERANCE &&
        path->column_error < TOLERANCE && is_close(path))
        return GSIM_LP_OPTIMAL;
    if (path->cost / x < -TOLERANCE &&
        path->homogeneous_row / larger(path->x_norm + path->left_norm, 1) < TOLERANCE)
        return GSIM_LP_UNBOUNDED;
    if (path->bound / worth < -TOLERANCE && path->homogeneous_column / worth < TOLERANCE)
        return GSIM_LP_INFEASIBLE;
    return GSIM_LP_STUCK;
}

/* --- a step ----------------------------------------------------------------------------------- */

static double room_of_line(double value, double step, double most) {
    return step < 0 && -value / step < most ? -value / step : most;
}

/* How far all sides, tau and kappa let a step go. Of cones, the scaled steps count. */
static double find_length(const struct gsim_conic *p, const struct path *path,
                          const struct step *step) {
    const struct gsim_conic_work *w = p->work;
    double length = LONGEST;
    for (uint32_t i = 0; i < w->n_sides; i++) {
        if (w->kind[i] != GSIM_CONIC_ROW)
            continue;
        length = room_of_line(w->left[i], w->left_step[i], length);
        length = room_of_line(w->worth[i], w->worth_step[i], length);
    }
    length = room_of_line(path->tau, step->tau, length);
    length = room_of_line(path->kappa, step->kappa, length);
    for (uint32_t k = 0; k < p->n_cones; k++) {
        const struct gsim_conic_cone *cone = &w->cone[k];
        length = gsim_conic_cone_room(cone->lambda, cone->scaled_left, length);
        length = gsim_conic_cone_room(cone->lambda, cone->scaled_worth, length);
    }
    return larger(length, SHORTEST);
}

/* c'x + h'z */
static double worth_of(const struct gsim_conic *p, const double *x, const double *worth) {
    return over_columns(p, p->work->cost, x) + over_sides(p, p->work->bound, worth);
}

static void add(double *to, const double *step, uint32_t n, double part) {
    for (uint32_t i = 0; i < n; i++)
        to[i] += part * step[i];
}

/* The step to products of 0. */
static void predict(struct gsim_conic *p, const struct path *path, double denominator,
                    struct step *step) {
    struct gsim_conic_work *w = p->work;
    for (uint32_t i = 0; i < w->n_sides; i++)
        w->side_right[i] = w->kind[i] == GSIM_CONIC_NONE ? 0 : w->left[i] - w->off[i];
    gsim_conic_solve_system(p, w->off_x, w->side_right, w->x_step, w->worth_step);
    step->tau = (path->off_tau - path->kappa + worth_of(p, w->x_step, w->worth_step)) / denominator;
    add(w->worth_step, w->worth_aim, w->n_sides, step->tau);
    step->kappa = -path->kappa - path->kappa / path->tau * step->tau;
    for (uint32_t i = 0; i < w->n_sides; i++)
        w->left_step[i] = -w->ratio[i] * w->worth_step[i] - w->left[i];
    for (uint32_t k = 0; k < p->n_cones; k++) {
        struct gsim_conic_cone *cone = &w->cone[k];
        gsim_conic_by_scaling(cone, w->worth_step + cone->side, cone->scaled_worth);
        for (uint32_t i = 0; i < 3; i++)
            cone->scaled_left[i] = -cone->scaled_worth[i] - cone->lambda[i];
    }
    step->length = find_length(p, path, step);
}

/* What the products are to lose, divided by the prices: all but centre * mu, and what the
 * predictor's step adds to them. */
static void aim(struct gsim_conic *p, double target) {
    struct gsim_conic_work *w = p->work;
    for (uint32_t i = 0; i < w->n_sides; i++)
        if (w->kind[i] == GSIM_CONIC_ROW)
            w->wanted[i] = w->left[i] + (w->left_step[i] * w->worth_step[i] - target) / w->worth[i];
    for (uint32_t k = 0; k < p->n_cones; k++) {
        struct gsim_conic_cone *cone = &w->cone[k];
        double square[3], added[3];
        gsim_conic_product(cone->lambda, cone->lambda, square);
        gsim_conic_product(cone->scaled_left, cone->scaled_worth, added);
        for (uint32_t i = 0; i < 3; i++)
            square[i] += added[i] - (i == 0 ? target : 0);
        gsim_conic_quotient(cone->lambda, square, cone->scaled_left);
        gsim_conic_by_scaling(cone, cone->scaled_left, w->wanted + cone->side);
    }
}

/* The step that also centres; kappa_off: what kappa * tau is to lose. */
static void correct(struct gsim_conic *p, const struct path *path, double denominator,
                    double centre, double kappa_off, struct step *step) {
    struct gsim_conic_work *w = p->work;
    for (uint32_t c = 0; c < p->n_columns; c++)
        w->off_x[c] *= 1 - centre;
    for (uint32_t i = 0; i < w->n_sides; i++)
        w->side_right[i] =
            w->kind[i] == GSIM_CONIC_NONE ? 0 : w->wanted[i] - (1 - centre) * w->off[i];
    gsim_conic_solve_system(p, w->off_x, w->side_right, w->x_step, w->worth_step);
    step->tau = ((1 - centre) * path->off_tau - kappa_off / path->tau +
                 worth_of(p, w->x_step, w->worth_step)) /
                denominator;
    add(w->x_step, w->x_aim, p->n_columns, step->tau);
    add(w->worth_step, w->worth_aim, w->n_sides, step->tau);
    step->kappa = -(kappa_off + path->kappa * step->tau) / path->tau;
    for (uint32_t i = 0; i < w->n_sides; i++)
        w->left_step[i] = -(w->wanted[i] + w->ratio[i] * w->worth_step[i]);
    for (uint32_t k = 0; k < p->n_cones; k++) {
        struct gsim_conic_cone *cone = &w->cone[k];
        gsim_conic_by_scaling(cone, w->worth_step + cone->side, cone->scaled_worth);
        for (uint32_t i = 0; i < 3; i++)
            cone->scaled_left[i] = -(cone->scaled_left[i] + cone->scaled_worth[i]);
        gsim_conic_by_scaling(cone, cone->scaled_left, w->left_step + cone->side);
    }
    step->length = SHORT_OF * find_length(p, path, step);
}

static void go(struct gsim_conic *p, struct path *path, const struct step *step) {
    struct gsim_conic_work *w = p->work;
    add(p->x, w->x_step, p->n_columns, step->length);
    for (uint32_t i = 0; i < w->n_sides; i++) {
        if (w->kind[i] == GSIM_CONIC_NONE)
            continue;
        w->worth[i] += step->length * w->worth_step[i];
        w->left[i] += step->length * w->left_step[i];
    }
    path->tau += step->length * step->tau;
    path->kappa += step->length * step->kappa;
}

/* false: the numbers are too far apart for another step. */
static bool take_step(struct gsim_conic *p, struct path *path) {
    struct gsim_conic_work *w = p->work;
    struct step step;
    if (!gsim_conic_scale(p, false))
        return false;
    gsim_conic_factorise(p);
    negate(w->x_step, w->cost, p->n_columns);
    gsim_conic_solve_system(p, w->x_step, w->bound, w->x_aim, w->worth_aim);
    double denominator = path->kappa / path->tau - worth_of(p, w->x_aim, w->worth_aim);
    predict(p, path, denominator, &step);
    double centre = 1 - step.length;
    centre = larger(centre * centre * centre, LEAST_CENTRING);
    aim(p, centre * path->mu);
    double kappa_off = path->kappa * path->tau + step.kappa * step.tau - centre * path->mu;
    correct(p, path, denominator, centre, kappa_off, &step);
    go(p, path, &step);
    return true;
}

/* --- the whole path --------------------------------------------------------------------------- */

static enum gsim_lp_end walk(struct gsim_conic *p, struct path *path) {
    double before = 0;
    begin_path(p, path);
    for (p->n_steps = 0; p->n_steps <= MOST_STEPS; p->n_steps++) {
        find_errors(p, path);
        bool is_astray = path->gap < 0 || (p->n_steps > 0 && path->row_error > WORSE * before);
        enum gsim_lp_end end = is_astray ? GSIM_LP_STUCK : judge(path);
        if (is_astray || end != GSIM_LP_STUCK)
            return end;
        before = path->row_error;
        if (!take_step(p, path))
            return GSIM_LP_STUCK;
    }
    return GSIM_LP_STUCK;
}

static void keep(struct gsim_conic *p, const struct path *path) {
    for (uint32_t c = 0; c < p->n_columns; c++)
        p->work->kept[c] = p->x[c] / (p->work->column_scale[c] * path->tau);
    p->value = path->cost / path->tau;
}

/* The error of the value, of rows and of prices. */
static double error_of(const struct path *path) {
    double gap = path->gap / larger(1, magnitude(path->cost));
    return larger(gap, larger(path->row_error, path->column_error));
}

/* Goes on until steps no longer help, and keeps the best point. */
static void sharpen(struct gsim_conic *p, struct path *path) {
    const double fall = 0.5;
    double least = error_of(path);
    for (int i = 0; i < MOST_SHARPER && take_step(p, path); i++) {
        find_errors(p, path);
        if (path->gap < 0 || !(error_of(path) < fall * least))
            return;
        least = error_of(path);
        keep(p, path);
    }
}

enum gsim_lp_end gsim_conic_solve(struct gsim_conic *p) {
    struct gsim_conic_work *w = p->work;
    struct path path;
    assert(w->n_added == p->n_columns);
    w->n_sides = p->n_columns + p->n_lines;
    scale(p);
    if (!gsim_conic_shape(p))
        return GSIM_LP_NO_MEMORY;
    enum gsim_lp_end end = walk(p, &path);
    if (end != GSIM_LP_OPTIMAL)
        return end;
    keep(p, &path);
    if (p->is_sharp)
        sharpen(p, &path);
    memcpy(p->x, w->kept, p->n_columns * sizeof *p->x);
    return end;
}
