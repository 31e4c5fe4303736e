/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows are assigned one after the other. Row and column have a price each, by which no cost is less
 * than the sum of its two; a path from the new row over columns that are taken to one that is free,
 * shortest in what costs exceed their prices, moves the rows on it. Prices move once a row, and
 * columns that are not reached yet stand in a list, the last first, in which the last one takes the
 * place of one that is reached: so equal paths are decided as Crouse has it. */
#include "policies/lib/assignment.h"

#include <assert.h>
#include <float.h>
#include <string.h>

#define NO_ROW UINT32_MAX

struct search {
    gsim_cost *cost;
    const void *arg;
    uint32_t n_rows, n_columns;
    double *row_price, *price; /* of columns */
    double *distance; /* to a column, in this search */
    uint32_t *row_of, *column_of; /* NO_ROW: the column is free */
    uint32_t *from; /* the row from which a column was reached */
    uint32_t *left, n_left; /* columns that are not reached */
    bool *is_reached; /* rows */
};

/* Shortens the ways to columns over the row that was reached last, and returns the place in the
 * list of the nearest column. */
static uint32_t nearest(struct search *s, uint32_t row, double *level) {
    uint32_t best = 0;
    double least = DBL_MAX, so_far = *level;
    for (uint32_t i = 0; i < s->n_left; i++) {
        uint32_t column = s->left[i];
        double way = so_far + s->cost(s->arg, row, column) - s->row_price[row] - s->price[column];
        if (way < s->distance[column]) {
            s->distance[column] = way;
            s->from[column] = row;
        }
        bool is_free = s->row_of[column] == NO_ROW;
        if (s->distance[column] < least || (is_free && s->distance[column] <= least)) {
            least = s->distance[column];
            best = i;
        }
    }
    *level = least;
    return best;
}

/* Reached columns cost less by as much as they are nearer than the free one; so their rows cost
 * more. */
static void move_prices(struct search *s, uint32_t row, double level) {
    s->row_price[row] += level;
    for (uint32_t r = 0; r < s->n_rows; r++)
        if (s->is_reached[r] && r != row)
            s->row_price[r] += level - s->distance[s->column_of[r]];
    for (uint32_t i = s->n_left; i < s->n_columns; i++)
        s->price[s->left[i]] -= level - s->distance[s->left[i]];
}

static void begin(struct search *s) {
    s->n_left = s->n_columns;
    for (uint32_t i = 0; i < s->n_columns; i++) {
        s->left[i] = s->n_columns - 1 - i;
        s->distance[i] = DBL_MAX;
    }
    memset(s->is_reached, 0, s->n_rows);
}

static void assign_row(struct search *s, uint32_t row) {
    uint32_t at = row, column;
    double level = 0;
    begin(s);
    do {
        s->is_reached[at] = true;
        uint32_t i = nearest(s, at, &level);
        assert(s->n_left > 0);
        column = s->left[i];
        s->left[i] = s->left[--s->n_left];
        s->left[s->n_left] = column;
        at = s->row_of[column];
    } while (at != NO_ROW);
    move_prices(s, row, level);
    do {
        at = s->from[column];
        s->row_of[column] = at;
        uint32_t before = s->column_of[at];
        s->column_of[at] = column;
        column = before;
    } while (at != row);
}

bool gsim_assign(uint32_t n_rows, uint32_t n_columns, gsim_cost *cost, const void *arg,
                 struct gsim_arena *arena, uint32_t *column_of) {
    assert(n_rows <= n_columns);
    size_t n = (size_t)n_columns + 1, doubles = 2 * n + n_rows + 1;
    double *numbers = gsim_arena_grow(arena, NULL, 0, doubles * sizeof *numbers);
    uint32_t *lists = gsim_arena_grow(arena, NULL, 0, 3 * n * sizeof *lists);
    bool *is_reached = gsim_arena_grow(arena, NULL, 0, n);
    bool has_memory = numbers && lists && is_reached;
    if (has_memory) {
        struct search s = {.cost = cost,
                           .arg = arg,
                           .n_rows = n_rows,
                           .n_columns = n_columns,
                           .price = numbers,
                           .distance = numbers + n,
                           .row_price = numbers + 2 * n,
                           .row_of = lists,
                           .from = lists + n,
                           .left = lists + 2 * n,
                           .column_of = column_of,
                           .is_reached = is_reached};
        for (uint32_t column = 0; column < n_columns; column++)
            s.row_of[column] = NO_ROW;
        for (uint32_t row = 0; row < n_rows; row++)
            assign_row(&s, row);
    }
    gsim_arena_drop(arena, numbers);
    gsim_arena_drop(arena, lists);
    gsim_arena_drop(arena, is_reached);
    return has_memory;
}
