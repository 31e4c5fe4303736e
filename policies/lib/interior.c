/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each column x has a reduced cost z, each row with the room w a price y. The steps lead to
 * B x + w = b and B'y - z = gain with x z = y w = mu, times the number that a row or column stands
 * for; mu falls to 0 where there is a gain, and stays where there is none.
 *
 * A step costs one factorisation of diag(w / y) + B diag(x / z) B', by rows, each from its first
 * entry that is not 0. Rows stand in the order of the last column in which they are, so that the
 * rows of one job are neighbours and those of all jobs come last: with single jobs the matrix has
 * a narrow band and a border. Columns in many rows would fill it: they are rows of their own, after
 * all others. */
#include "policies/lib/interior.h"

#include <assert.h>
#include <string.h>

#define SOLVED 1e-9 /* of the value, and of the rows: the error of an optimum */
#define CENTRED 1e-3 /* the part by which a product may be off the mean in the end */
#define ASTRAY 8 /* and that from which on a step goes to the centre, and no nearer to an optimum */
#define SHORT_OF 0.98 /* the part of the way to the next bound that a step goes */
enum { MOST_STEPS = 100, MANY_ROWS = 8 };

/* A column, or the room in a row; and what it is worth. */
struct side {
    double *at, *worth, *step, *worth_step;
    double *count, *wanted, *off; /* the product that a step aims at; by how much the equation is
                                   * off */
    uint32_t n;
};

struct interior {
    struct gsim_lp *lp;
    struct side columns, rows;
    uint32_t *column; /* numbers of the columns and rows that are used */
    uint32_t *row, *place; /* rows in the matrix's order; the reverse */
    uint32_t *start, *place_of; /* the entries of a column, and the places of their rows */
    double *entry, *bound, *gain, *scale;
    bool has_gain;
    double gain_scale, counts;

    uint32_t size; /* of the matrix: the rows, and columns that are in many rows */
    uint32_t *border; /* by column: its place in the matrix; 0: none */
    uint32_t *first;
    uint64_t *line; /* of the matrix, from its first cell on */
    double *cell, *diagonal, *right;
};

static double size_of(double value) {
    return value < 0 ? -value : value;
}

static double larger(double a, double b) {
    return a > b ? a : b;
}

/* --- memory ----------------------------------------------------------------------------------- */

static bool take(struct gsim_lp *lp, void *place, size_t n, size_t size) {
    void **block = place;
    *block = gsim_arena_grow(lp->arena, NULL, 0, (n + 1) * size);
    return *block != NULL;
}

static bool take_side(struct gsim_lp *lp, struct side *side, uint32_t n) {
    double *all;
    if (!take(lp, &all, (size_t)n * 7, sizeof *all))
        return false;
    *side = (struct side){all,
                          all + n,
                          all + (size_t)2 * n,
                          all + (size_t)3 * n,
                          all + (size_t)4 * n,
                          all + (size_t)5 * n,
                          all + (size_t)6 * n,
                          n};
    return true;
}

static void give_back(struct interior *p) {
    void *blocks[] = {p->columns.at, p->rows.at, p->column, p->row,   p->place,   p->start,
                      p->place_of,   p->entry,   p->bound,  p->gain,  p->scale,   p->border,
                      p->first,      p->line,    p->cell,   p->right, p->diagonal};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        gsim_arena_drop(p->lp->arena, blocks[i]);
}

/* --- the programme ---------------------------------------------------------------------------- */

static double cell_of(const struct gsim_lp *lp, uint32_t row, uint32_t column) {
    return lp->entry[(uint64_t)row * lp->n_columns + column];
}

static bool is_open(const struct gsim_lp *lp, uint32_t column) {
    assert(lp->upper[column] == 0 || lp->upper[column] >= GSIM_LP_NO_BOUND);
    return lp->upper[column] > 0;
}

static size_t count_entries(const struct gsim_lp *lp) {
    size_t n = 0, cells = (size_t)lp->n_rows * lp->n_columns;
    for (size_t i = 0; i < cells; i++)
        n += lp->entry[i] != 0;
    return n;
}

static bool make_room(struct interior *p) {
    struct gsim_lp *lp = p->lp;
    size_t rows = lp->n_rows, columns = lp->n_columns, n = count_entries(lp);
    return take_side(lp, &p->columns, lp->n_columns) && take_side(lp, &p->rows, lp->n_rows) &&
           take(lp, &p->column, columns, sizeof *p->column) &&
           take(lp, &p->row, rows, sizeof *p->row) && take(lp, &p->place, rows, sizeof *p->place) &&
           take(lp, &p->start, columns + 1, sizeof *p->start) &&
           take(lp, &p->place_of, n, sizeof *p->place_of) &&
           take(lp, &p->entry, n, sizeof *p->entry) &&
           take(lp, &p->bound, rows, sizeof *p->bound) &&
           take(lp, &p->gain, columns, sizeof *p->gain) &&
           take(lp, &p->scale, rows, sizeof *p->scale) &&
           take(lp, &p->border, columns, sizeof *p->border) &&
           take(lp, &p->first, rows + columns, sizeof *p->first) &&
           take(lp, &p->line, rows + columns, sizeof *p->line) &&
           take(lp, &p->diagonal, rows + columns, sizeof *p->diagonal) &&
           take(lp, &p->right, rows + columns, sizeof *p->right);
}

/* A factor that brings the row's largest entry near 1; 0: the row is empty. One that asks for at
 * least its bound is turned around. */
static double scale_of(const struct gsim_lp *lp, uint32_t row) {
    double most = 0, scale = 1;
    for (uint32_t c = 0; c < lp->n_columns; c++) {
        double size = is_open(lp, c) ? size_of(cell_of(lp, row, c)) : 0;
        most = size > most ? size : most;
    }
    if (most == 0)
        return 0;
    for (; most * scale >= 2; scale /= 2)
        ;
    for (; most * scale < 1; scale *= 2)
        ;
    assert(lp->sense[row] != GSIM_LP_EQUAL);
    return lp->sense[row] == GSIM_LP_AT_LEAST ? -scale : scale;
}

/* Whether the column is in many rows: it then gets a place of its own in the matrix. */
static bool is_wide(const struct interior *p, uint32_t c) {
    return p->start[c + 1] - p->start[c] > MANY_ROWS;
}

static void read_columns(struct interior *p, const double *column_count) {
    const struct gsim_lp *lp = p->lp;
    uint32_t n = 0, entries = 0;
    double most = 0;
    for (uint32_t c = 0; c < lp->n_columns; c++) {
        if (!is_open(lp, c))
            continue;
        p->start[n] = entries;
        for (uint32_t row = 0; row < lp->n_rows; row++) {
            double value = cell_of(lp, row, c) * p->scale[row];
            if (value == 0)
                continue;
            p->place_of[entries] = row;
            p->entry[entries++] = value;
        }
        p->gain[n] = lp->gain[c];
        p->columns.count[n] = column_count ? column_count[c] : 1;
        most = size_of(lp->gain[c]) > most ? size_of(lp->gain[c]) : most;
        p->column[n++] = c;
    }
    p->start[n] = entries;
    p->columns.n = n;
    p->has_gain = most > 0;
    p->gain_scale = most > 0 ? 1 / most : 1;
    for (uint32_t c = 0; c < n; c++)
        p->gain[c] *= p->gain_scale;
}

/* Rows get their places by the last column, of those that are in few rows, in which they are. */
static void order_rows(struct interior *p, const double *row_count) {
    const struct gsim_lp *lp = p->lp;
    uint32_t *last = p->first, n = 0;
    for (uint32_t row = 0; row < lp->n_rows; row++)
        last[row] = p->columns.n;
    for (uint32_t c = 0; c < p->columns.n; c++)
        for (uint32_t i = p->start[c]; !is_wide(p, c) && i < p->start[c + 1]; i++)
            last[p->place_of[i]] = c;
    for (uint32_t c = 0; c < p->columns.n; c++)
        for (uint32_t i = p->start[c]; !is_wide(p, c) && i < p->start[c + 1]; i++)
            if (last[p->place_of[i]] == c)
                p->row[n++] = p->place_of[i];
    for (uint32_t row = 0; row < lp->n_rows; row++)
        if (last[row] == p->columns.n && p->scale[row] != 0)
            p->row[n++] = row;
    p->rows.n = n;
    for (uint32_t i = 0; i < n; i++) {
        p->place[p->row[i]] = i;
        p->bound[i] = lp->bound[p->row[i]] * p->scale[p->row[i]];
        p->rows.count[i] = row_count ? row_count[p->row[i]] : 1;
    }
    for (uint32_t i = 0; i < p->start[p->columns.n]; i++)
        p->place_of[i] = p->place[p->place_of[i]];
}

/* --- the matrix ------------------------------------------------------------------------------- */

static void reach(struct interior *p, uint32_t from, uint32_t to) {
    uint32_t low = from < to ? from : to, high = from < to ? to : from;
    if (low < p->first[high])
        p->first[high] = low;
}

/* Where the lines of the matrix begin. */
static bool shape(struct interior *p) {
    uint64_t cells = 0;
    p->size = p->rows.n;
    for (uint32_t c = 0; c < p->columns.n; c++)
        p->border[c] = is_wide(p, c) ? p->size++ : 0;
    for (uint32_t i = 0; i < p->size; i++)
        p->first[i] = i;
    for (uint32_t c = 0; c < p->columns.n; c++)
        for (uint32_t i = p->start[c]; i < p->start[c + 1]; i++) {
            if (p->border[c])
                reach(p, p->place_of[i], p->border[c]);
            for (uint32_t k = p->start[c]; !p->border[c] && k < i; k++)
                reach(p, p->place_of[i], p->place_of[k]);
        }
    for (uint32_t i = 0; i < p->size; i++) {
        p->line[i] = cells;
        cells += i - p->first[i];
    }
    return take(p->lp, &p->cell, cells, sizeof *p->cell);
}

static double *at(const struct interior *p, uint32_t row, uint32_t column) {
    uint32_t low = row < column ? row : column, high = row < column ? column : row;
    return &p->cell[p->line[high] + low - p->first[high]];
}

static void fill(struct interior *p) {
    const struct side *x = &p->columns, *w = &p->rows;
    memset(p->cell, 0,
           (p->line[p->size - 1] + p->size - 1 - p->first[p->size - 1]) * sizeof *p->cell);
    for (uint32_t i = 0; i < w->n; i++)
        p->diagonal[i] = w->at[i] / w->worth[i];
    for (uint32_t c = 0; c < x->n; c++) {
        double by = x->at[c] / x->worth[c];
        if (p->border[c])
            p->diagonal[p->border[c]] = -1 / by;
        for (uint32_t i = p->start[c]; i < p->start[c + 1]; i++) {
            uint32_t row = p->place_of[i];
            if (p->border[c]) {
                *at(p, p->border[c], row) = p->entry[i];
                continue;
            }
            p->diagonal[row] += by * p->entry[i] * p->entry[i];
            for (uint32_t k = p->start[c]; k < i; k++)
                *at(p, row, p->place_of[k]) += by * p->entry[i] * p->entry[k];
        }
    }
}

/* The product of two lines up to a place, from where both have entries. */
static double product(const struct interior *p, uint32_t row, uint32_t above) {
    uint32_t from = p->first[row] > p->first[above] ? p->first[row] : p->first[above];
    if (from >= above)
        return 0;
    const double *a = &p->cell[p->line[row] + from - p->first[row]];
    const double *b = &p->cell[p->line[above] + from - p->first[above]];
    double sum = 0;
    for (uint32_t k = 0; k < above - from; k++)
        sum += a[k] * b[k];
    return sum;
}

/* L D L' in place: D is positive in the rows, negative in the border. */
static bool factorise(struct interior *p) {
    for (uint32_t i = 0; i < p->size; i++) {
        double *line = p->cell + p->line[i];
        uint32_t first = p->first[i];
        for (uint32_t j = first; j < i; j++)
            line[j - first] -= product(p, i, j);
        for (uint32_t j = first; j < i; j++) {
            double scaled = line[j - first] / p->diagonal[j];
            p->diagonal[i] -= scaled * line[j - first];
            line[j - first] = scaled;
        }
        bool is_row = i < p->rows.n;
        if (!(is_row ? p->diagonal[i] > 0 : p->diagonal[i] < 0))
            return false;
    }
    return true;
}

static void substitute(struct interior *p) {
    for (uint32_t i = 0; i < p->size; i++) {
        const double *line = p->cell + p->line[i];
        for (uint32_t j = p->first[i]; j < i; j++)
            p->right[i] -= line[j - p->first[i]] * p->right[j];
    }
    for (uint32_t i = 0; i < p->size; i++)
        p->right[i] /= p->diagonal[i];
    for (uint32_t i = p->size; i-- > 0;) {
        const double *line = p->cell + p->line[i];
        for (uint32_t j = p->first[i]; j < i; j++)
            p->right[j] -= line[j - p->first[i]] * p->right[i];
    }
}

/* --- a step ----------------------------------------------------------------------------------- */

/* By how much the equations are off; returns the largest. */
static double find_errors(struct interior *p) {
    struct side *x = &p->columns, *w = &p->rows;
    double worst = 0;
    for (uint32_t i = 0; i < w->n; i++)
        w->off[i] = p->bound[i] - w->at[i];
    for (uint32_t c = 0; c < x->n; c++) {
        x->off[c] = p->gain[c] + x->worth[c];
        for (uint32_t i = p->start[c]; i < p->start[c + 1]; i++) {
            w->off[p->place_of[i]] -= p->entry[i] * x->at[c];
            x->off[c] -= p->entry[i] * w->worth[p->place_of[i]];
        }
        worst = size_of(x->off[c]) > worst ? size_of(x->off[c]) : worst;
    }
    for (uint32_t i = 0; i < w->n; i++)
        worst = size_of(w->off[i]) > worst ? size_of(w->off[i]) : worst;
    return worst;
}

static double products(const struct side *side) {
    double sum = 0;
    for (uint32_t i = 0; i < side->n; i++)
        sum += side->at[i] * side->worth[i];
    return sum;
}

/* The change of products that leads to mu; the corrector takes off what the predictor's step adds
 * to them. */
static void aim(struct side *side, double mu, bool corrects) {
    for (uint32_t i = 0; i < side->n; i++)
        side->wanted[i] = side->count[i] * mu - side->at[i] * side->worth[i] -
                          (corrects ? side->step[i] * side->worth_step[i] : 0);
}

/* The steps of all numbers that meet the equations, and change the products as wanted. */
static void find_step(struct interior *p) {
    struct side *x = &p->columns, *w = &p->rows;
    for (uint32_t i = 0; i < w->n; i++)
        p->right[i] = w->wanted[i] / w->worth[i] - w->off[i];
    for (uint32_t c = 0; c < x->n; c++) {
        if (p->border[c])
            p->right[p->border[c]] = x->off[c] + x->wanted[c] / x->at[c];
        double value = (x->wanted[c] + x->at[c] * x->off[c]) / x->worth[c];
        for (uint32_t i = p->start[c]; !p->border[c] && i < p->start[c + 1]; i++)
            p->right[p->place_of[i]] += p->entry[i] * value;
    }
    substitute(p);
    for (uint32_t i = 0; i < w->n; i++) {
        w->worth_step[i] = p->right[i];
        w->step[i] = (w->wanted[i] - w->at[i] * w->worth_step[i]) / w->worth[i];
    }
    for (uint32_t c = 0; c < x->n; c++) {
        x->worth_step[c] = -x->off[c];
        for (uint32_t i = p->start[c]; i < p->start[c + 1]; i++)
            x->worth_step[c] += p->entry[i] * p->right[p->place_of[i]];
        x->step[c] = (x->wanted[c] - x->at[c] * x->worth_step[c]) / x->worth[c];
    }
}

/* The part of a step, at most 1, after which a number would be 0. */
static double room_for(const double *at, const double *step, uint32_t n) {
    double part = 1;
    for (uint32_t i = 0; i < n; i++)
        if (at[i] + part * step[i] < 0)
            part = -at[i] / step[i];
    return part;
}

/* The parts of the step for columns and rooms, and for what they are worth. */
struct parts {
    double at, worth;
};

static struct parts find_parts(const struct interior *p) {
    const struct side *x = &p->columns, *w = &p->rows;
    double at[2] = {room_for(x->at, x->step, x->n), room_for(w->at, w->step, w->n)};
    double worth[2] = {room_for(x->worth, x->worth_step, x->n),
                       room_for(w->worth, w->worth_step, w->n)};
    return (struct parts){at[0] < at[1] ? at[0] : at[1], worth[0] < worth[1] ? worth[0] : worth[1]};
}

static double products_after(const struct side *side, struct parts parts) {
    double sum = 0;
    for (uint32_t i = 0; i < side->n; i++)
        sum += (side->at[i] + parts.at * side->step[i]) *
               (side->worth[i] + parts.worth * side->worth_step[i]);
    return sum;
}

static void go(struct side *side, struct parts parts) {
    for (uint32_t i = 0; i < side->n; i++) {
        side->at[i] += parts.at * side->step[i];
        side->worth[i] += parts.worth * side->worth_step[i];
    }
}

/* Predicts how far mu falls without a corrector; the emptier the way, the lower the next aim. */
static void step_to_optimum(struct interior *p, double mu) {
    aim(&p->columns, 0, false);
    aim(&p->rows, 0, false);
    find_step(p);
    struct parts parts = find_parts(p);
    double ahead = products_after(&p->columns, parts) + products_after(&p->rows, parts);
    double ratio = ahead / p->counts / mu;
    aim(&p->columns, ratio * ratio * ratio * mu, true);
    aim(&p->rows, ratio * ratio * ratio * mu, true);
    find_step(p);
    parts = find_parts(p);
    parts.at *= SHORT_OF;
    parts.worth *= SHORT_OF;
    go(&p->columns, parts);
    go(&p->rows, parts);
}

static void step_to_centre(struct interior *p, double mu) {
    aim(&p->columns, mu, false);
    aim(&p->rows, mu, false);
    find_step(p);
    struct parts parts = find_parts(p);
    double part = parts.at < parts.worth ? parts.at : parts.worth;
    part *= part < 1 ? SHORT_OF : 1;
    parts = (struct parts){part, part};
    go(&p->columns, parts);
    go(&p->rows, parts);
}

/* --- the way ---------------------------------------------------------------------------------- */

/* The largest part by which a product is off the mean. */
static double unevenness(const struct side *side, double mu) {
    double worst = 0;
    for (uint32_t i = 0; i < side->n; i++) {
        double off = size_of(side->at[i] * side->worth[i] / (side->count[i] * mu) - 1);
        worst = off > worst ? off : worst;
    }
    return worst;
}

static double largest(const double *value, uint32_t n) {
    double most = 1;
    for (uint32_t i = 0; i < n; i++)
        most = size_of(value[i]) > most ? size_of(value[i]) : most;
    return most;
}

/* Whether mu is as low as it has to be: with a gain, the value that is missing is. */
static bool is_low(const struct interior *p, double mu) {
    double value = 0;
    for (uint32_t c = 0; c < p->columns.n; c++)
        value += p->gain[c] * p->columns.at[c];
    return !p->has_gain || mu * p->counts <= SOLVED * (1 + size_of(value));
}

static enum gsim_lp_end walk(struct interior *p) {
    for (uint32_t i = 0; i < p->columns.n; i++)
        p->columns.at[i] = p->columns.worth[i] = 1;
    for (uint32_t i = 0; i < p->rows.n; i++)
        p->rows.at[i] = p->rows.worth[i] = 1;
    double met = SOLVED * largest(p->bound, p->rows.n);
    for (int step = 0; step < MOST_STEPS; step++) {
        double error = find_errors(p);
        double mu = (products(&p->columns) + products(&p->rows)) / p->counts;
        double uneven = larger(unevenness(&p->columns, mu), unevenness(&p->rows, mu));
        bool has_fallen = is_low(p, mu);
        if (error <= met && has_fallen && uneven <= CENTRED)
            return GSIM_LP_OPTIMAL;
        fill(p);
        if (!factorise(p))
            return GSIM_LP_STUCK;
        if (has_fallen || uneven > ASTRAY)
            step_to_centre(p, mu);
        else
            step_to_optimum(p, mu);
    }
    return GSIM_LP_STUCK;
}

static void answer(const struct interior *p) {
    struct gsim_lp *lp = p->lp;
    memset(lp->x, 0, lp->n_columns * sizeof *lp->x);
    memset(lp->price, 0, lp->n_rows * sizeof *lp->price);
    lp->value = 0;
    for (uint32_t c = 0; c < p->columns.n; c++) {
        lp->x[p->column[c]] = p->columns.at[c];
        lp->value += lp->gain[p->column[c]] * p->columns.at[c];
    }
    for (uint32_t i = 0; i < p->rows.n; i++)
        lp->price[p->row[i]] = p->rows.worth[i] * p->scale[p->row[i]] / p->gain_scale;
}

static double sum_of(const double *value, uint32_t n) {
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += value[i];
    return sum;
}

enum gsim_lp_end gsim_lp_centre(struct gsim_lp *lp, const double *row_count,
                                const double *column_count) {
    struct interior p = {.lp = lp};
    enum gsim_lp_end end = GSIM_LP_NO_MEMORY;
    if (make_room(&p)) {
        for (uint32_t row = 0; row < lp->n_rows; row++)
            p.scale[row] = scale_of(lp, row);
        read_columns(&p, column_count);
        order_rows(&p, row_count);
        p.counts = sum_of(p.columns.count, p.columns.n) + sum_of(p.rows.count, p.rows.n);
        bool is_empty = p.columns.n == 0 || p.rows.n == 0;
        end = is_empty ? GSIM_LP_STUCK : GSIM_LP_NO_MEMORY;
        if (!is_empty && shape(&p))
            end = walk(&p);
        if (end == GSIM_LP_OPTIMAL)
            answer(&p);
    }
    give_back(&p);
    return end;
}
