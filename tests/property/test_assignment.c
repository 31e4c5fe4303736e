/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cheapest places in queues: against all assignments of small tables, against the linear
 * programme of larger ones, and, row by row, against the plain search over all columns, by which
 * equal assignments are decided as by scipy's linear_sum_assignment. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <float.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "policies/lib/assignment.h"
#include "policies/lib/lp.h"
#include "sim/base/random.h"
#include "tests/support/runner.h"

enum { MOST_ROWS = 120, MOST_QUEUES = 8, TYPES = 3, MOST_COLUMNS = MOST_ROWS * MOST_QUEUES };

struct table {
    uint32_t n_rows, n_queues;
    uint32_t type[MOST_QUEUES];
    double takes[MOST_ROWS * TYPES], own[MOST_ROWS];
};

/* The definition of gsim_assignment, cell by cell; a row that cannot be on a type costs 1e18 a
 * place there. */
static double cost_of(const struct table *t, uint32_t row, uint32_t column) {
    double takes = t->takes[row * TYPES + t->type[column % t->n_queues]];
    double nth = column / t->n_queues + 1;
    return takes < 0 ? 1e18 * nth : takes * nth + t->own[row];
}

static uint32_t n_columns(const struct table *t) {
    return t->n_rows * t->n_queues;
}

/* Whole numbers below `range`, by which sums are exact and ties common; `is_odd`: parts of them, by
 * which sums are rounded. Some rows take no time, some cannot be on a type. */
static void draw_table(struct table *t, struct gsim_random *random, uint32_t most_rows,
                       uint32_t most_queues, uint64_t range, bool is_odd) {
    t->n_rows = 1 + (uint32_t)gsim_random_below(random, most_rows);
    t->n_queues = 1 + (uint32_t)gsim_random_below(random, most_queues);
    for (uint32_t q = 0, type = 0; q < t->n_queues; q++) {
        type += type + 1 < TYPES && gsim_random_below(random, 3) == 0;
        t->type[q] = type;
    }
    double part = is_odd ? 7.0 : 1.0;
    for (uint32_t cell = 0; cell < t->n_rows * TYPES; cell++)
        t->takes[cell] = (double)gsim_random_below(random, range) / part;
    for (uint32_t row = 0; row < t->n_rows; row++) {
        t->own[row] = (double)gsim_random_below(random, 100 * range) / part;
        if (gsim_random_below(random, 20) == 0)
            t->takes[row * TYPES + gsim_random_below(random, TYPES)] = -1;
    }
}

static double assigned(const struct table *t, struct gsim_arena *arena, uint32_t *column_of) {
    struct gsim_assignment a = {t->n_rows, t->n_queues, TYPES,    t->type,
                                t->takes,  t->own,      column_of};
    bool is_taken[MOST_COLUMNS] = {false};
    double sum = 0;
    assert_true(gsim_assign(&a, arena));
    for (uint32_t i = 0; i < t->n_rows; i++) {
        assert_true(column_of[i] < n_columns(t) && !is_taken[column_of[i]]);
        is_taken[column_of[i]] = true;
        sum += cost_of(t, i, column_of[i]);
    }
    return sum;
}

/* --- against all assignments, and the linear programme ---------------------------------------- */

/* The cheapest of all ways to go on from a row, with these columns taken. */
static double cheapest(const struct table *t, uint32_t row, uint32_t taken) {
    double best = 1e30;
    if (row == t->n_rows)
        return 0;
    for (uint32_t j = 0; j < n_columns(t); j++) {
        if (taken >> j & 1)
            continue;
        double sum = cost_of(t, row, j) + cheapest(t, row + 1, taken | 1u << j);
        best = sum < best ? sum : best;
    }
    return best;
}

static void test_small_tables(void **state) {
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_random random;
    struct table t;
    uint32_t column_of[MOST_ROWS];
    (void)state;
    assert_non_null(arena);
    gsim_random_seed(&random, 1, 0, "tables");
    for (int i = 0; i < 500 / TEST_FEWER; i++) {
        draw_table(&t, &random, 4, 3, i % 2 ? 8 : 1000, false);
        double best = cheapest(&t, 0, 0);
        double off = assigned(&t, arena, column_of) - best;
        assert_true(best < 1e18 ? off == 0 : off < best * 1e-12); /* of 1e18 the last digits */
    }
    gsim_arena_free(arena);
}

static void test_large_tables(void **state) {
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_lp lp = {.arena = arena};
    struct gsim_random random;
    struct table t;
    uint32_t column_of[MOST_ROWS];
    (void)state;
    assert_non_null(arena);
    gsim_random_seed(&random, 2, 0, "tables");
    for (int i = 0; i < 40 / TEST_FEWER; i++) {
        draw_table(&t, &random, 12, 3, 50, false);
        for (uint32_t cell = 0; cell < t.n_rows * TYPES; cell++) /* 1e18 is too much for it */
            t.takes[cell] = t.takes[cell] < 0 ? 100 : t.takes[cell];
        uint32_t n = n_columns(&t);
        assert_true(gsim_lp_begin(&lp, t.n_rows + n, t.n_rows * n));
        for (uint32_t row = 0; row < t.n_rows + n; row++)
            gsim_lp_row(&lp, row, row < t.n_rows ? GSIM_LP_EQUAL : GSIM_LP_AT_MOST, 1);
        for (uint32_t row = 0; row < t.n_rows; row++)
            for (uint32_t column = 0; column < n; column++) {
                gsim_lp_set(&lp, row, row * n + column, 1);
                gsim_lp_set(&lp, t.n_rows + column, row * n + column, 1);
                lp.gain[row * n + column] = -cost_of(&t, row, column);
            }
        assert_int_equal(gsim_lp_solve(&lp), GSIM_LP_OPTIMAL);
        double off = assigned(&t, arena, column_of) + lp.value;
        assert_true(off > -1e-6 && off < 1e-6);
    }
    gsim_arena_free(arena);
}

/* --- against the plain search ----------------------------------------------------------------- */

#define NO_ROW UINT32_MAX

/* Crouse's algorithm over all columns: lists and prices as policies/lib/assignment.c tells. */
struct search {
    const struct table *t;
    double row_price[MOST_ROWS], price[MOST_COLUMNS], distance[MOST_COLUMNS];
    uint32_t row_of[MOST_COLUMNS], column_of[MOST_ROWS], from[MOST_COLUMNS];
    uint32_t left[MOST_COLUMNS], n_left;
    bool is_reached[MOST_ROWS];
};

static uint32_t nearest(struct search *s, uint32_t row, double *level) {
    uint32_t best = 0;
    double least = DBL_MAX, so_far = *level;
    for (uint32_t i = 0; i < s->n_left; i++) {
        uint32_t column = s->left[i];
        double way = so_far + cost_of(s->t, row, column) - s->row_price[row] - s->price[column];
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

static void begin(struct search *s) {
    s->n_left = n_columns(s->t);
    for (uint32_t i = 0; i < n_columns(s->t); i++) {
        s->left[i] = n_columns(s->t) - 1 - i;
        s->distance[i] = DBL_MAX;
    }
    memset(s->is_reached, 0, sizeof s->is_reached);
}

static void move_prices(struct search *s, uint32_t row, double level) {
    s->row_price[row] += level;
    for (uint32_t r = 0; r < s->t->n_rows; r++)
        if (s->is_reached[r] && r != row)
            s->row_price[r] += level - s->distance[s->column_of[r]];
    for (uint32_t i = s->n_left; i < n_columns(s->t); i++)
        s->price[s->left[i]] -= level - s->distance[s->left[i]];
}

static void assign_row(struct search *s, uint32_t row) {
    uint32_t at = row, column;
    double level = 0;
    begin(s);
    do {
        s->is_reached[at] = true;
        uint32_t i = nearest(s, at, &level);
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

static void hold_to_plain_search(const struct table *t, struct gsim_arena *arena) {
    struct search s = {.t = t};
    uint32_t column_of[MOST_ROWS];
    for (uint32_t column = 0; column < n_columns(t); column++)
        s.row_of[column] = NO_ROW;
    for (uint32_t row = 0; row < t->n_rows; row++)
        assign_row(&s, row);
    (void)assigned(t, arena, column_of);
    for (uint32_t row = 0; row < t->n_rows; row++)
        assert_int_equal(column_of[row], s.column_of[row]);
}

/* Now and then queues are long, of more places than stand together in a chunk. */
static void test_ties(void **state) {
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_random random;
    struct table t;
    const uint64_t ranges[] = {2, 5, 100, 20000};
    (void)state;
    assert_non_null(arena);
    gsim_random_seed(&random, 3, 0, "tables");
    for (uint32_t i = 0; i < 4000 / TEST_FEWER; i++) {
        bool is_long = i / 8 % 20 == 0;
        draw_table(&t, &random, is_long ? MOST_ROWS : 40, is_long ? 4 : MOST_QUEUES, ranges[i % 4],
                   i / 4 % 2 == 1);
        hold_to_plain_search(&t, arena);
    }
    gsim_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_tables),
        cmocka_unit_test(test_large_tables),
        cmocka_unit_test(test_ties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
