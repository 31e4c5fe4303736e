/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Linear programmes: made by hand, made to cycle or to take long, and random ones. An optimum is
 * believed for its certificate, which needs no other solver: x meets all rows, the prices leave no
 * column a gain, and each row with a price is full (weak duality: no x is better). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "policies/lib/lp.h"
#include "sim/base/random.h"
#include "tests/support/runner.h"

static int open_lp(void **state) {
    static struct gsim_lp lp;
    lp = (struct gsim_lp){.arena = gsim_arena_new()};
    *state = &lp;
    return lp.arena ? 0 : -1;
}

static int close_lp(void **state) {
    gsim_arena_free(((struct gsim_lp *)*state)->arena);
    return 0;
}

static double size_of(double value) {
    return value < 0 ? -value : value;
}

static void expect_near(double value, double expected) {
    double most = size_of(expected) > 1 ? size_of(expected) : 1;
    if (size_of(value - expected) > 1e-9 * most)
        fail_msg("%.12g is not %.12g", value, expected);
}

/* Rows as texts would be longer: entries row by row, then senses and bounds. */
static void build(struct gsim_lp *lp, uint32_t n_rows, uint32_t n_columns, const double *entry,
                  const enum gsim_lp_sense *sense, const double *bound, const double *gain) {
    assert_true(gsim_lp_begin(lp, n_rows, n_columns));
    for (uint32_t row = 0; row < n_rows; row++) {
        gsim_lp_row(lp, row, sense ? sense[row] : GSIM_LP_AT_MOST, bound[row]);
        for (uint32_t c = 0; c < n_columns; c++)
            gsim_lp_set(lp, row, c, entry[row * n_columns + c]);
    }
    for (uint32_t c = 0; c < n_columns; c++)
        lp->gain[c] = gain[c];
}

/* --- the certificate -------------------------------------------------------------------------- */

struct sums {
    double sum, size; /* of the terms, and of their sizes: what rounding is measured by */
};

static struct sums row_sums(const struct gsim_lp *lp, uint32_t row) {
    struct sums s = {0};
    for (uint32_t c = 0; c < lp->n_columns; c++) {
        double term = lp->entry[row * lp->n_columns + c] * lp->x[c];
        s.sum += term;
        s.size += size_of(term);
    }
    s.size += size_of(lp->bound[row]) + 1;
    return s;
}

static void check_row(const struct gsim_lp *lp, uint32_t row) {
    struct sums s = row_sums(lp, row);
    double over = s.sum - lp->bound[row], most = 1e-7 * s.size, price = lp->price[row];
    bool may_be_over = lp->sense[row] == GSIM_LP_AT_LEAST;
    bool may_be_under = lp->sense[row] == GSIM_LP_AT_MOST;
    assert_true(may_be_over || over <= most);
    assert_true(may_be_under || over >= -most);
    assert_true(!may_be_under || price >= -1e-9); /* more room never hurts */
    assert_true(!may_be_over || price <= 1e-9); /* a stricter demand never helps */
    assert_true(size_of(over) <= most || size_of(price) * size_of(over) <= 1e-6 * s.size);
}

static void check_column(const struct gsim_lp *lp, uint32_t c) {
    double left = lp->gain[c], size = size_of(left) + 1;
    for (uint32_t row = 0; row < lp->n_rows; row++) {
        double term = lp->price[row] * lp->entry[row * lp->n_columns + c];
        left -= term;
        size += size_of(term);
    }
    double x = lp->x[c], upper = lp->upper[c], most = 1e-6 * size;
    assert_true(x >= 0 && x <= upper);
    assert_true(left <= most || x >= upper - 1e-6 * (size_of(upper) + 1));
    assert_true(left >= -most || x <= 1e-6);
}

static void expect_optimal(struct gsim_lp *lp) {
    enum gsim_lp_end end = gsim_lp_solve(lp);
    if (end != GSIM_LP_OPTIMAL)
        fail_msg("%s", gsim_lp_end_text(end));
    for (uint32_t row = 0; row < lp->n_rows; row++)
        check_row(lp, row);
    for (uint32_t c = 0; c < lp->n_columns; c++)
        check_column(lp, c);
}

/* --- programmes made by hand ------------------------------------------------------------------ */

/* Dantzig's example of a factory: 3 x + 5 y, x <= 4, 2 y <= 12, 3 x + 2 y <= 18. */
static void test_a_factory(void **state) {
    struct gsim_lp *lp = *state;
    build(lp, 3, 2, (double[]){1, 0, 0, 2, 3, 2}, NULL, (double[]){4, 12, 18}, (double[]){3, 5});
    expect_optimal(lp);
    expect_near(lp->value, 36);
    expect_near(lp->x[0], 2);
    expect_near(lp->x[1], 6);
    expect_near(lp->price[0], 0);
    expect_near(lp->price[1], 1.5);
    expect_near(lp->price[2], 1);
    lp->upper[1] = 5; /* then x = 8 / 3 */
    expect_optimal(lp);
    expect_near(lp->value, 33);
}

/* The cheapest diet of 2 x + 3 y with x + y >= 4 and x + 3 y = 6: x = 3, y = 1. */
static void test_demands_and_equations(void **state) {
    struct gsim_lp *lp = *state;
    build(lp, 2, 2, (double[]){1, 1, 1, 3}, (enum gsim_lp_sense[]){GSIM_LP_AT_LEAST, GSIM_LP_EQUAL},
          (double[]){4, 6}, (double[]){-2, -3});
    expect_optimal(lp);
    expect_near(lp->value, -9);
    expect_near(lp->x[0], 3);
    expect_near(lp->x[1], 1);
    expect_near(lp->price[0], -1.5);
    expect_near(lp->price[1], -0.5);
}

static void test_ends_without_an_optimum(void **state) {
    struct gsim_lp *lp = *state;
    build(lp, 2, 2, (double[]){1, 1, 1, 1},
          (enum gsim_lp_sense[]){GSIM_LP_AT_MOST, GSIM_LP_AT_LEAST}, (double[]){1, 2},
          (double[]){1, 1});
    assert_int_equal(gsim_lp_solve(lp), GSIM_LP_INFEASIBLE);
    lp->bound[1] = 1; /* and now only just */
    expect_optimal(lp);
    expect_near(lp->value, 1);
    build(lp, 1, 2, (double[]){1, -1}, NULL, (double[]){1}, (double[]){0, 1});
    assert_int_equal(gsim_lp_solve(lp), GSIM_LP_UNBOUNDED);
    lp->upper[1] = 7;
    expect_optimal(lp);
    expect_near(lp->value, 7);
    build(lp, 1, 1, (double[]){0}, (enum gsim_lp_sense[]){GSIM_LP_EQUAL}, (double[]){3},
          (double[]){1});
    assert_int_equal(gsim_lp_solve(lp), GSIM_LP_INFEASIBLE);
    assert_true(gsim_lp_begin(lp, 0, 1));
    lp->gain[0] = -1;
    expect_optimal(lp);
    expect_near(lp->value, 0);
    lp->gain[0] = 1;
    assert_int_equal(gsim_lp_solve(lp), GSIM_LP_UNBOUNDED);
}

/* Beale's programme, which cycles under the largest gain with the first of equal rows: 1/20. */
static void test_beale(void **state) {
    struct gsim_lp *lp = *state;
    build(lp, 3, 4, (double[]){0.25, -60, -0.04, 9, 0.5, -90, -0.02, 3, 0, 0, 1, 0}, NULL,
          (double[]){0, 0, 1}, (double[]){0.75, -150, 0.02, -6});
    expect_optimal(lp);
    expect_near(lp->value, 0.05);
}

/* Klee and Minty's cubes: sum 2^(n-j) x_j, 2 sum_{i<j} 2^(j-i) x_i + x_j <= 5^j, are worth 5^n. */
static void test_klee_minty(void **state) {
    struct gsim_lp *lp = *state;
    double five = 1;
    for (uint32_t n = 1; n <= 14; n++) {
        assert_true(gsim_lp_begin(lp, n, n));
        double bound = 1;
        for (uint32_t j = 0; j < n; j++) {
            bound *= 5;
            gsim_lp_row(lp, j, GSIM_LP_AT_MOST, bound);
            lp->gain[j] = (double)(1u << (n - 1 - j));
            gsim_lp_set(lp, j, j, 1);
            for (uint32_t i = 0; i < j; i++)
                gsim_lp_set(lp, j, i, (double)(1u << (j - i + 1)));
        }
        five *= 5;
        expect_optimal(lp);
        expect_near(lp->value, five);
    }
}

/* Every vertex of the assignment polytope is degenerate: n - 1 of its basic variables are 0. The
 * gain i * j is largest on the diagonal. */
static void test_an_assignment(void **state) {
    struct gsim_lp *lp = *state;
    enum { N = 12 };
    assert_true(gsim_lp_begin(lp, 2 * N, N * N));
    double sum = 0;
    for (uint32_t i = 0; i < N; i++) {
        gsim_lp_row(lp, i, GSIM_LP_EQUAL, 1);
        gsim_lp_row(lp, N + i, GSIM_LP_EQUAL, 1);
        sum += i * i;
        for (uint32_t j = 0; j < N; j++) {
            gsim_lp_set(lp, i, i * N + j, 1);
            gsim_lp_set(lp, N + j, i * N + j, 1);
            lp->gain[i * N + j] = i * j;
        }
    }
    expect_optimal(lp);
    expect_near(lp->value, sum);
    for (uint32_t i = 0; i < N; i++)
        expect_near(lp->x[i * N + i], 1);
}

/* Rows and columns in other units: the value is the factory's. */
static void test_units_do_not_matter(void **state) {
    struct gsim_lp *lp = *state;
    static const double units[] = {1e-6, 1e7, 3e4};
    double entry[] = {1, 0, 0, 2, 3, 2}, bound[] = {4, 12, 18};
    for (int row = 0; row < 3; row++) {
        bound[row] *= units[row];
        entry[2 * row] *= units[row] * 1e5;
        entry[2 * row + 1] *= units[row] * 1e-4;
    }
    build(lp, 3, 2, entry, NULL, bound, (double[]){3e5, 5e-4});
    expect_optimal(lp);
    expect_near(lp->value, 36);
    expect_near(lp->x[0] * 1e5, 2);
}

/* --- random programmes ------------------------------------------------------------------------ */

static double draw(struct gsim_random *random, int64_t least, int64_t most) {
    return (double)(least + (int64_t)gsim_random_below(random, (uint64_t)(most - least + 1)));
}

/* A programme that some x meets, with bounds on every column: it has an optimum. Small whole numbers
 * make ties and degenerate vertices common. */
static void build_random(struct gsim_lp *lp, struct gsim_random *random, uint32_t most) {
    uint32_t n_rows = (uint32_t)draw(random, 1, most), n = (uint32_t)draw(random, 1, 2 * most);
    double point[128], scale = draw(random, 0, 3) == 0 ? 1e-3 : 1;
    assert_true(gsim_lp_begin(lp, n_rows, n));
    for (uint32_t c = 0; c < n; c++) {
        point[c] = draw(random, 0, 4);
        lp->upper[c] = point[c] + draw(random, 0, 3);
        lp->gain[c] = draw(random, -9, 9) * scale;
    }
    for (uint32_t row = 0; row < n_rows; row++) {
        double at = 0;
        for (uint32_t c = 0; c < n; c++) {
            double entry = draw(random, 0, 2) == 0 ? draw(random, -7, 9) : 0;
            gsim_lp_set(lp, row, c, entry);
            at += entry * point[c];
        }
        enum gsim_lp_sense sense = (enum gsim_lp_sense)gsim_random_below(random, 3);
        double room = draw(random, 0, 5);
        gsim_lp_row(lp, row, sense,
                    sense == GSIM_LP_EQUAL ? at : at + (sense == GSIM_LP_AT_MOST ? room : -room));
    }
}

static void test_random_programmes(void **state) {
    struct gsim_lp *lp = *state;
    struct gsim_random random;
    gsim_random_seed(&random, 1, 0, "programmes");
    for (int i = 0; i < 3000 / TEST_FEWER; i++) {
        build_random(lp, &random, i % 100 == 0 ? 60 : 12);
        expect_optimal(lp);
    }
}

/* A row and its opposite, a unit apart, that no x meets, among rows that some x meets. */
static void test_random_programmes_that_nothing_meets(void **state) {
    struct gsim_lp *lp = *state;
    struct gsim_random random;
    gsim_random_seed(&random, 2, 0, "programmes");
    for (int i = 0; i < 1000 / TEST_FEWER; i++) {
        do
            build_random(lp, &random, 12);
        while (lp->n_rows < 2);
        uint32_t last = lp->n_rows - 1;
        memcpy(lp->entry + last * lp->n_columns, lp->entry, lp->n_columns * sizeof *lp->entry);
        lp->sense[0] = GSIM_LP_AT_MOST;
        gsim_lp_row(lp, last, GSIM_LP_AT_LEAST, lp->bound[0] + 1);
        assert_int_equal(gsim_lp_solve(lp), GSIM_LP_INFEASIBLE);
    }
}

/* The bytes of all answers: this number is one in every build, by gcc and clang, at any
 * optimisation. */
static void test_bytes(void **state) {
    struct gsim_lp *lp = *state;
    struct gsim_random random;
    uint64_t sum = 14695981039346656037u;
    gsim_random_seed(&random, 3, 0, "programmes");
    for (int i = 0; i < 200; i++) {
        build_random(lp, &random, 12);
        for (uint32_t c = 0; c < lp->n_columns; c++) { /* so that sums are rounded */
            for (uint32_t row = 0; row < lp->n_rows; row++)
                lp->entry[row * lp->n_columns + c] /= 3 + c;
            lp->upper[c] *= 3 + c;
        }
        expect_optimal(lp);
        const unsigned char *bytes = (const unsigned char *)lp->x;
        for (size_t b = 0; b < lp->n_columns * sizeof *lp->x; b++)
            sum = (sum ^ bytes[b]) * 1099511628211u;
    }
    assert_int_equal(sum, 0x8e7cc5b2612c5ab0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_lp, close_lp)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_a_factory),
        TEST(test_demands_and_equations),
        TEST(test_ends_without_an_optimum),
        TEST(test_beale),
        TEST(test_klee_minty),
        TEST(test_an_assignment),
        TEST(test_units_do_not_matter),
        TEST(test_random_programmes),
        TEST(test_random_programmes_that_nothing_meets),
        TEST(test_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
