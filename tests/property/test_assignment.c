/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cheapest assignment against all assignments of small tables, and against the linear programme
 * of larger ones. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "policies/lib/assignment.h"
#include "policies/lib/lp.h"
#include "sim/base/random.h"
#include "tests/support/runner.h"

enum { MOST = 24 };

struct table {
    uint32_t n_rows, n_columns;
    double cost[MOST][MOST];
};

static double cost_of(const void *arg, uint32_t row, uint32_t column) {
    return ((const struct table *)arg)->cost[row][column];
}

static void draw_table(struct table *t, struct gsim_random *random, uint32_t most, uint64_t range) {
    t->n_rows = 1 + (uint32_t)gsim_random_below(random, most);
    t->n_columns = t->n_rows + (uint32_t)gsim_random_below(random, most - t->n_rows + 1);
    for (uint32_t i = 0; i < t->n_rows; i++)
        for (uint32_t j = 0; j < t->n_columns; j++)
            t->cost[i][j] = (double)gsim_random_below(random, range) - 5;
}

static double assigned(const struct table *t, struct gsim_arena *arena) {
    uint32_t column_of[MOST];
    bool is_taken[MOST] = {false};
    double sum = 0;
    assert_true(gsim_assign(t->n_rows, t->n_columns, cost_of, t, arena, column_of));
    for (uint32_t i = 0; i < t->n_rows; i++) {
        assert_true(column_of[i] < t->n_columns && !is_taken[column_of[i]]);
        is_taken[column_of[i]] = true;
        sum += t->cost[i][column_of[i]];
    }
    return sum;
}

/* The cheapest of all ways to go on from a row, with these columns taken. */
static double cheapest(const struct table *t, uint32_t row, uint32_t taken) {
    double best = 1e18;
    if (row == t->n_rows)
        return 0;
    for (uint32_t j = 0; j < t->n_columns; j++) {
        if (taken >> j & 1)
            continue;
        double sum = t->cost[row][j] + cheapest(t, row + 1, taken | 1u << j);
        best = sum < best ? sum : best;
    }
    return best;
}

static void test_small_tables(void **state) {
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_random random;
    struct table t;
    (void)state;
    assert_non_null(arena);
    gsim_random_seed(&random, 1, 0, "tables");
    for (int i = 0; i < 500 / TEST_FEWER;
         i++) { /* whole numbers: sums are exact, and ties common */
        draw_table(&t, &random, 6, i % 2 ? 8 : 1000);
        assert_true(assigned(&t, arena) - cheapest(&t, 0, 0) == 0);
    }
    gsim_arena_free(arena);
}

static void test_large_tables(void **state) {
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_lp lp = {.arena = arena};
    struct gsim_random random;
    struct table t;
    (void)state;
    assert_non_null(arena);
    gsim_random_seed(&random, 2, 0, "tables");
    for (int i = 0; i < 40 / TEST_FEWER; i++) {
        draw_table(&t, &random, MOST, 50);
        assert_true(gsim_lp_begin(&lp, t.n_rows + t.n_columns, t.n_rows * t.n_columns));
        for (uint32_t row = 0; row < t.n_rows + t.n_columns; row++)
            gsim_lp_row(&lp, row, row < t.n_rows ? GSIM_LP_EQUAL : GSIM_LP_AT_MOST, 1);
        for (uint32_t row = 0; row < t.n_rows; row++)
            for (uint32_t column = 0; column < t.n_columns; column++) {
                gsim_lp_set(&lp, row, row * t.n_columns + column, 1);
                gsim_lp_set(&lp, t.n_rows + column, row * t.n_columns + column, 1);
                lp.gain[row * t.n_columns + column] = -t.cost[row][column];
            }
        assert_int_equal(gsim_lp_solve(&lp), GSIM_LP_OPTIMAL);
        double off = assigned(&t, arena) + lp.value;
        assert_true(off > -1e-6 && off < 1e-6);
    }
    gsim_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_tables),
        cmocka_unit_test(test_large_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
