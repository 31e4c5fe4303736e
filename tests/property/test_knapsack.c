/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The knapsack of choices against all choices of small problems, and against a plain table of
 * capacities for larger ones of one kind and of two. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "policies/lib/knapsack.h"
#include "sim/base/random.h"
#include "tests/support/runner.h"

enum { MOST_ROWS = 40, MOST_CHOICES = 16, ROOM = 64 };

struct problem {
    struct gsim_choice_row row[MOST_ROWS];
    struct gsim_choice choice[MOST_ROWS * MOST_CHOICES];
    struct gsim_knapsack knapsack;
};

static uint32_t below(struct gsim_random *random, uint64_t n) {
    return (uint32_t)gsim_random_below(random, n);
}

/* Small ranges of costs have many solutions that are equally good. */
static void draw(struct problem *p, struct gsim_random *random, uint32_t kinds, uint32_t rows,
                 uint32_t choices, uint32_t capacity) {
    struct gsim_knapsack *k = &p->knapsack;
    uint64_t range = below(random, 2) ? 12 : UINT64_C(1) << 30;
    uint32_t n = 0;
    k->n_kinds = 1 + below(random, kinds);
    k->n_rows = below(random, rows + 1);
    for (uint32_t i = 0; i < k->n_kinds; i++)
        k->capacity[i] = below(random, capacity + 1);
    for (uint32_t r = 0; r < k->n_rows; r++) {
        p->row[r] = (struct gsim_choice_row){n, below(random, choices + 1),
                                             (int64_t)gsim_random_below(random, range)};
        for (uint32_t c = 0; c < p->row[r].n; c++)
            p->choice[n++] =
                (struct gsim_choice){(int64_t)gsim_random_below(random, range),
                                     below(random, k->n_kinds), 1 + below(random, capacity)};
    }
    k->row = p->row;
    k->choice = p->choice;
}

/* The cheapest of all ways to go on from a row. */
static int64_t cheapest(const struct gsim_knapsack *k, uint32_t row, uint32_t *left) {
    if (row == k->n_rows)
        return 0;
    int64_t best = k->row[row].none_cost + cheapest(k, row + 1, left);
    for (uint32_t c = k->row[row].first; c < k->row[row].first + k->row[row].n; c++) {
        const struct gsim_choice *choice = &k->choice[c];
        if (choice->units > left[choice->kind])
            continue;
        left[choice->kind] -= choice->units;
        int64_t cost = choice->cost + cheapest(k, row + 1, left);
        left[choice->kind] += choice->units;
        best = cost < best ? cost : best;
    }
    return best;
}

/* The cheapest by a table of all capacities of two kinds, row by row. */
static int64_t tabled(const struct gsim_knapsack *k) {
    static int64_t least[ROOM][ROOM], before[ROOM][ROOM];
    uint32_t other = k->n_kinds > 1 ? k->capacity[1] : 0;
    memset(least, 0, sizeof least);
    for (uint32_t r = 0; r < k->n_rows; r++) {
        memcpy(before, least, sizeof least);
        for (uint32_t a = 0; a <= k->capacity[0]; a++)
            for (uint32_t b = 0; b <= other; b++) {
                least[a][b] = before[a][b] + k->row[r].none_cost;
                for (uint32_t c = k->row[r].first; c < k->row[r].first + k->row[r].n; c++) {
                    const struct gsim_choice *choice = &k->choice[c];
                    uint32_t units = choice->units, has = choice->kind == 0 ? a : b;
                    if (units > has)
                        continue;
                    int64_t rest = choice->kind == 0 ? before[a - units][b] : before[a][b - units];
                    if (choice->cost + rest < least[a][b])
                        least[a][b] = choice->cost + rest;
                }
            }
    }
    return least[k->capacity[0]][other];
}

/* The choices come to the cost that is told, within the capacities. */
static void check_choices(const struct gsim_knapsack *k) {
    uint32_t used[GSIM_KNAPSACK_KINDS] = {0};
    int64_t cost = 0;
    for (uint32_t r = 0; r < k->n_rows; r++) {
        uint32_t c = k->chosen[r];
        cost += c == GSIM_NO_CHOICE ? k->row[r].none_cost : k->choice[c].cost;
        if (c == GSIM_NO_CHOICE)
            continue;
        assert_true(c >= k->row[r].first && c < k->row[r].first + k->row[r].n);
        used[k->choice[c].kind] += k->choice[c].units;
    }
    for (uint32_t i = 0; i < k->n_kinds; i++)
        assert_true(used[i] <= k->capacity[i]);
    assert_int_equal(cost, k->cost);
}

static void test_against_all_choices(void **state) {
    (void)state;
    static struct problem p;
    struct gsim_random random;
    gsim_random_begin(&random, 7);
    p = (struct problem){.knapsack = {.arena = gsim_arena_new()}};
    for (uint32_t i = 0; i < 3000 / TEST_FEWER; i++) {
        uint32_t left[GSIM_KNAPSACK_KINDS];
        draw(&p, &random, GSIM_KNAPSACK_KINDS, 6, 5, 9);
        assert_true(gsim_knapsack(&p.knapsack) && p.knapsack.is_proven);
        check_choices(&p.knapsack);
        memcpy(left, p.knapsack.capacity, sizeof left);
        assert_int_equal(p.knapsack.cost, cheapest(&p.knapsack, 0, left));
    }
    gsim_arena_free(p.knapsack.arena);
}

static void test_against_a_table(void **state) {
    (void)state;
    static struct problem p;
    struct gsim_random random;
    gsim_random_begin(&random, 8);
    p = (struct problem){.knapsack = {.arena = gsim_arena_new()}};
    for (uint32_t i = 0; i < 300 / TEST_FEWER; i++) {
        draw(&p, &random, 2, MOST_ROWS, MOST_CHOICES, ROOM - 1);
        assert_true(gsim_knapsack(&p.knapsack) && p.knapsack.is_proven);
        check_choices(&p.knapsack);
        assert_int_equal(p.knapsack.cost, tabled(&p.knapsack));
    }
    gsim_arena_free(p.knapsack.arena);
}

/* Rows with one choice, of which those that gain least are left out of the search: with a second
 * choice, which is dearer than none and so is no row's, all of them are searched, and the solutions
 * are equal, also where several are equally cheap. */
static void test_rivals_are_left_out(void **state) {
    (void)state;
    static struct problem p;
    static uint32_t alone[MOST_ROWS];
    struct gsim_random random;
    gsim_random_begin(&random, 9);
    p = (struct problem){.knapsack = {.arena = gsim_arena_new()}};
    for (uint32_t i = 0; i < 2000 / TEST_FEWER; i++) {
        draw(&p, &random, 3, MOST_ROWS, 0, 20);
        for (uint32_t r = 0; r < p.knapsack.n_rows; r++) {
            uint32_t kind = below(&random, p.knapsack.n_kinds), units = 1 + below(&random, 4);
            p.row[r] = (struct gsim_choice_row){2 * r, 1, 8};
            p.choice[2 * r] = (struct gsim_choice){(int64_t)below(&random, 8), kind, units};
            p.choice[2 * r + 1] = (struct gsim_choice){9, kind, units};
        }
        assert_true(gsim_knapsack(&p.knapsack));
        check_choices(&p.knapsack);
        memcpy(alone, p.knapsack.chosen, p.knapsack.n_rows * sizeof *alone);
        for (uint32_t r = 0; r < p.knapsack.n_rows; r++)
            p.row[r].n = 2;
        assert_true(gsim_knapsack(&p.knapsack));
        for (uint32_t r = 0; r < p.knapsack.n_rows; r++)
            assert_int_equal(p.knapsack.chosen[r], alone[r]);
    }
    gsim_arena_free(p.knapsack.arena);
}

static void test_what_can_be_counted(void **state) {
    (void)state;
    uint32_t capacity[GSIM_KNAPSACK_KINDS + 1] = {1023, 1023, 1023, 1023, 1023, 1023, 1};
    assert_true(gsim_knapsack_can(capacity, 6));
    assert_false(gsim_knapsack_can(capacity, 7)); /* more kinds than six */
    capacity[0] = capacity[1] = UINT32_MAX;
    assert_true(gsim_knapsack_can(capacity, 2));
    assert_false(gsim_knapsack_can(capacity, 3)); /* 32 + 32 + 10 bits */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_all_choices),
        cmocka_unit_test(test_against_a_table),
        cmocka_unit_test(test_rivals_are_left_out),
        cmocka_unit_test(test_what_can_be_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
