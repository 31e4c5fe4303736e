/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows are assigned one after the other. Row and column have a price each, by which no cost is less
 * than the sum of its two; a path from the new row over columns that are taken to one that is free,
 * shortest in what costs exceed their prices, moves the rows on it. Column and row 0 stand for
 * none. */
#include "policies/lib/assignment.h"

#include <assert.h>
#include <float.h>
#include <string.h>

struct search {
    gsim_cost *cost;
    const void *arg;
    uint32_t n_columns;
    double *row_price, *price; /* of columns */
    double *distance; /* to a column, in this search */
    uint32_t *row_of, *before; /* the row of a column; the column before it on the path */
    bool *is_reached;
};

/* Shortens the ways to columns over the row that was reached last, and returns the nearest column
 * that is not reached. */
static uint32_t nearest(struct search *s, uint32_t from, double *step) {
    uint32_t row = s->row_of[from], best = 0;
    *step = DBL_MAX;
    for (uint32_t column = 1; column <= s->n_columns; column++) {
        if (s->is_reached[column])
            continue;
        double excess = s->cost(s->arg, row - 1, column - 1) - s->row_price[row] - s->price[column];
        if (excess < s->distance[column]) {
            s->distance[column] = excess;
            s->before[column] = from;
        }
        if (s->distance[column] < *step) {
            *step = s->distance[column];
            best = column;
        }
    }
    return best;
}

/* Moves the prices of reached rows and columns by the step, so that the next column costs no more
 * than its two prices. */
static void move_prices(struct search *s, double step) {
    for (uint32_t column = 0; column <= s->n_columns; column++)
        if (s->is_reached[column]) {
            s->row_price[s->row_of[column]] += step;
            s->price[column] -= step;
        } else {
            s->distance[column] -= step;
        }
}

static void assign_row(struct search *s, uint32_t row) {
    uint32_t column = 0;
    double step;
    s->row_of[0] = row;
    for (uint32_t c = 0; c <= s->n_columns; c++) {
        s->distance[c] = DBL_MAX;
        s->is_reached[c] = false;
    }
    do {
        s->is_reached[column] = true;
        column = nearest(s, column, &step);
        assert(column != 0);
        move_prices(s, step);
    } while (s->row_of[column] != 0);
    for (; column != 0; column = s->before[column])
        s->row_of[column] = s->row_of[s->before[column]];
}

bool gsim_assign(uint32_t n_rows, uint32_t n_columns, gsim_cost *cost, const void *arg,
                 struct gsim_arena *arena, uint32_t *column_of) {
    assert(n_rows <= n_columns);
    size_t n = (size_t)n_columns + 1, doubles = 2 * n + n_rows + 1;
    double *numbers = gsim_arena_grow(arena, NULL, 0, doubles * sizeof *numbers);
    uint32_t *lists = gsim_arena_grow(arena, NULL, 0, 2 * n * sizeof *lists);
    bool *is_reached = gsim_arena_grow(arena, NULL, 0, n);
    bool has_memory = numbers && lists && is_reached;
    if (has_memory) {
        struct search s = {.cost = cost,
                           .arg = arg,
                           .n_columns = n_columns,
                           .price = numbers,
                           .distance = numbers + n,
                           .row_price = numbers + 2 * n,
                           .row_of = lists,
                           .before = lists + n,
                           .is_reached = is_reached};
        for (uint32_t row = 1; row <= n_rows; row++)
            assign_row(&s, row);
        for (uint32_t column = 1; column <= n_columns; column++)
            if (s.row_of[column] != 0)
                column_of[s.row_of[column] - 1] = column - 1;
    }
    gsim_arena_drop(arena, numbers);
    gsim_arena_drop(arena, lists);
    gsim_arena_drop(arena, is_reached);
    return has_memory;
}
