/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/lib/lp_tableau.h"

#include <string.h>

/* A block of a row and of all noted pivots stays in the first cache. */
enum { BLOCK = 256 };

static bool grow(struct gsim_tableau *t, void *block, size_t n, size_t size) {
    void **place = block;
    void *grown = gsim_arena_grow_raw(t->arena, *place, n * size);
    if (grown)
        *place = grown;
    return grown != NULL;
}

/* Room doubles, so that tableaus that get larger by and by are not copied each time. */
static bool make_room(struct gsim_tableau *t, uint32_t n_rows, uint32_t n_columns) {
    size_t rows = 2 * (size_t)n_rows, columns = 2 * (size_t)n_columns;
    uint64_t cells = (uint64_t)n_rows * n_columns;
    if (n_rows > t->room_rows) {
        if (!grow(t, &t->column, rows, sizeof *t->column) ||
            !grow(t, &t->part, GSIM_TABLEAU_NOTED * rows, sizeof *t->part) ||
            !grow(t, &t->n_taken, rows, sizeof *t->n_taken))
            return false;
        t->room_rows = 2 * n_rows;
    }
    if (n_columns > t->room_columns) {
        if (!grow(t, &t->pivot, GSIM_TABLEAU_NOTED * columns, sizeof *t->pivot))
            return false;
        t->room_columns = 2 * n_columns;
    }
    if (cells <= t->room)
        return true;
    cells += cells / 2;
    if (!grow(t, &t->cell, cells, sizeof *t->cell))
        return false;
    t->room = cells;
    return true;
}

bool gsim_tableau_begin(struct gsim_tableau *t, uint32_t n_rows, uint32_t n_columns) {
    if (!make_room(t, n_rows, n_columns))
        return false;
    t->n_rows = n_rows;
    t->n_columns = n_columns;
    gsim_tableau_forget(t);
    return true;
}

void gsim_tableau_forget(struct gsim_tableau *t) {
    t->n_noted = 0;
    memset(t->n_taken, 0, t->n_rows * sizeof *t->n_taken);
}

static double *cells_of(const struct gsim_tableau *t, uint32_t row) {
    return t->cell + (uint64_t)row * t->n_columns;
}

static double *pivot_of(const struct gsim_tableau *t, uint32_t exchange) {
    return t->pivot + (uint64_t)exchange * t->n_columns;
}

static double *part_of(const struct gsim_tableau *t, uint32_t exchange) {
    return t->part + (uint64_t)exchange * t->n_rows;
}

/* --- taking exchanges ------------------------------------------------------------------------- */

/* What a row loses: of each of these pivots a part that is not 0. */
struct losses {
    const double *pivot[GSIM_TABLEAU_NOTED];
    double part[GSIM_TABLEAU_NOTED];
    uint32_t n;
};

static struct losses losses_of(const struct gsim_tableau *t, uint32_t row) {
    struct losses losses = {.n = 0};
    for (uint32_t k = t->n_taken[row]; k < t->n_noted; k++)
        if (part_of(t, k)[row] != 0) {
            losses.part[losses.n] = part_of(t, k)[row];
            losses.pivot[losses.n++] = pivot_of(t, k);
        }
    return losses;
}

static void lose_one(double *restrict cell, const double *restrict pivot, double part, uint32_t n) {
    for (uint32_t c = 0; c < n; c++)
        cell[c] -= part * pivot[c];
}

/* Four of them while a cell is at hand. */
static void lose_four(double *restrict cell, const double *const *pivot, const double *part,
                      uint32_t from, uint32_t n) {
    const double *restrict p0 = pivot[0] + from, *restrict p1 = pivot[1] + from;
    const double *restrict p2 = pivot[2] + from, *restrict p3 = pivot[3] + from;
    const double a = part[0], b = part[1], c = part[2], d = part[3];
    for (uint32_t i = 0; i < n; i++)
        cell[i] = cell[i] - a * p0[i] - b * p1[i] - c * p2[i] - d * p3[i];
}

static void lose(double *cell, const struct losses *losses, uint32_t from, uint32_t n) {
    uint32_t k = 0;
    for (; k + 4 <= losses->n; k += 4)
        lose_four(cell + from, losses->pivot + k, losses->part + k, from, n);
    for (; k < losses->n; k++)
        lose_one(cell + from, losses->pivot[k] + from, losses->part[k], n);
}

double *gsim_tableau_row(struct gsim_tableau *t, uint32_t row) {
    if (t->n_taken[row] < t->n_noted) {
        struct losses losses = losses_of(t, row);
        lose(cells_of(t, row), &losses, 0, t->n_columns);
        t->n_taken[row] = t->n_noted;
    }
    return cells_of(t, row);
}

static void take_all(struct gsim_tableau *t) {
    for (uint32_t from = 0; from < t->n_columns; from += BLOCK) {
        uint32_t left = t->n_columns - from, n = left < BLOCK ? left : BLOCK;
        for (uint32_t row = 0; row < t->n_rows; row++) {
            struct losses losses = losses_of(t, row);
            lose(cells_of(t, row), &losses, from, n);
        }
    }
    gsim_tableau_forget(t);
}

/* --- columns and exchanges -------------------------------------------------------------------- */

void gsim_tableau_ask(struct gsim_tableau *t, uint32_t column) {
    for (uint32_t row = 0; row < t->n_rows; row++)
        t->column[row] = cells_of(t, row)[column];
    for (uint32_t k = 0; k < t->n_noted; k++) {
        double pivot = pivot_of(t, k)[column];
        const double *part = part_of(t, k);
        for (uint32_t row = 0; row < t->n_rows; row++)
            if (k >= t->n_taken[row] && part[row] != 0)
                t->column[row] -= part[row] * pivot;
    }
}

/* The column is another one now, which has taken all exchanges. */
static void replace_column(struct gsim_tableau *t, uint32_t column, double pivot) {
    for (uint32_t row = 0; row < t->n_rows; row++)
        cells_of(t, row)[column] = t->column[row] == 0 ? 0 : 0 - t->column[row] * pivot;
    for (uint32_t k = 0; k <= t->n_noted; k++)
        pivot_of(t, k)[column] = 0;
}

void gsim_tableau_exchange(struct gsim_tableau *t, uint32_t row, uint32_t column) {
    double *cell = gsim_tableau_row(t, row), by = cell[column];
    for (uint32_t c = 0; c < t->n_columns; c++)
        cell[c] /= by;
    memcpy(pivot_of(t, t->n_noted), cell, t->n_columns * sizeof *cell);
    memcpy(part_of(t, t->n_noted), t->column, t->n_rows * sizeof *cell);
    part_of(t, t->n_noted)[row] = 0;
    replace_column(t, column, 1 / by);
    cell[column] = 1 / by;
    if (++t->n_noted == GSIM_TABLEAU_NOTED)
        take_all(t);
}
