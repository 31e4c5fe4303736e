/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order in which a sweep's runs begin: a grid of traces and policies with `seeds` runs each, by
 * hand, and run times that are told instead of measured. Position p (from 1) is run p - 1. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "sim/app/sweep/order.h"

enum { TRACES = 3, POLICIES = 2, MOST = 64 };

struct fixture {
    struct gsim_arena *arena;
    struct gsim_cli cli;
    struct gsim_sweep sweep;
    struct gsim_sweep_todo todo;
    struct gsim_sweep_trace trace[MOST];
    struct gsim_sweep_run run[MOST];
    struct gsim_grid_key key[2];
    uint32_t choice[2 * MOST];
    int64_t position[MOST];
    struct gsim_sweep_order *order;
};

/* jobs: of each trace; 0: drawn, for which the grid names one spec and many replications. */
static struct fixture *prepare(void **state, int n_threads, const uint32_t *jobs, uint32_t n_traces,
                               uint32_t seeds) {
    struct fixture *f = *state;
    struct gsim_arena *arena = f->arena;
    *f = (struct fixture){.arena = arena, .cli = {.arena = arena}};
    f->key[0] = (struct gsim_grid_key){.name = "trace", .option = -1, .n = n_traces};
    f->key[1] = (struct gsim_grid_key){.name = "policy", .option = GSIM_OPT_POLICY, .n = POLICIES};
    for (uint32_t t = 0, r = 0; t < n_traces; t++) {
        f->trace[t].n_jobs = jobs[t];
        for (uint32_t k = 0; k < POLICIES * seeds; k++, r++) {
            assert_true(r < MOST);
            f->run[r] = (struct gsim_sweep_run){.grid_run = r, .trace = t};
            f->choice[2 * r] = jobs[t] ? t : 0;
            f->choice[2 * r + 1] = k / seeds;
            f->position[f->todo.n++] = r + 1;
        }
    }
    f->sweep = (struct gsim_sweep){.cli = &f->cli,
                                   .trace = f->trace,
                                   .n_traces = n_traces,
                                   .run = f->run,
                                   .n_runs = f->todo.n,
                                   .n_threads = n_threads};
    f->sweep.grid =
        (struct gsim_grid){.key = f->key, .n_keys = 2, .choice = f->choice, .n_runs = f->todo.n};
    f->todo.sweep = &f->sweep;
    f->todo.position = f->position;
    f->order = gsim_sweep_order_new(&f->todo);
    assert_non_null(f->order);
    return f;
}

static void expect_longest(struct fixture *f, int64_t position) {
    assert_int_equal(gsim_sweep_order_take(f->order, true), position);
}

static void the_first_is_as_in_the_grid(void **state) {
    struct fixture *f = prepare(state, 2, (const uint32_t[]){10, 1000, 100}, TRACES, 1);
    for (int64_t p = 1; p <= TRACES * POLICIES; p++) {
        assert_int_equal(gsim_sweep_order_take(f->order, false), p);
        gsim_sweep_order_note(f->order, p, (double)p);
    }
}

static void the_largest_trace_begins(void **state) {
    struct fixture *f = prepare(state, 2, (const uint32_t[]){10, 1000, 100}, TRACES, 1);
    for (int64_t p = 0; p < TRACES * POLICIES; p++) /* nothing is noted */
        expect_longest(f, (const int64_t[]){3, 4, 5, 6, 1, 2}[p]);
}

/* Policy 1 (positions 4, 6, 2 by size) takes 1.25 ms a job, policy 0 a fifth of that: of 100 and 10
 * jobs, position 6 is to take 125 ms, 5 25 ms, 2 12.5 ms, 1 2.5 ms. */
static void then_what_is_to_take_longest(void **state) {
    struct fixture *f = prepare(state, 2, (const uint32_t[]){10, 1000, 100}, TRACES, 1);
    expect_longest(f, 3);
    expect_longest(f, 4);
    gsim_sweep_order_note(f->order, 3, 0.25);
    gsim_sweep_order_note(f->order, 4, 1.25);
    for (int64_t p = 0; p < 4; p++)
        expect_longest(f, (const int64_t[]){6, 5, 2, 1}[p]);
}

/* Of runs alike (three of a trace under a policy) one tells about the others: the second policy's are
 * longer, so that they go before the rest of the first one's. */
static void runs_alike_tell_of_each_other(void **state) {
    struct fixture *f = prepare(state, 2, (const uint32_t[]){10}, 1, 3);
    expect_longest(f, 1);
    gsim_sweep_order_note(f->order, 1, 0.5);
    expect_longest(f, 4);
    gsim_sweep_order_note(f->order, 4, 0.75);
    for (int64_t p = 0; p < 4; p++)
        expect_longest(f, (const int64_t[]){5, 6, 2, 3}[p]);
}

/* Ten drawn traces, policy 1 slow: its runs would all begin first. With 2 threads, 3 traces may have
 * begun and not ended. */
static void few_drawn_traces_are_open(void **state) {
    enum { DRAWN = 10 };
    struct fixture *f = prepare(state, 2, (const uint32_t[DRAWN]){0}, DRAWN, 1);
    int begun[DRAWN] = {0}, n_open = 0;
    for (int i = 0; i < DRAWN * POLICIES; i++) {
        int64_t position = gsim_sweep_order_take(f->order, true);
        int trace = (int)(position - 1) / POLICIES;
        n_open += begun[trace] == 0;
        assert_true(n_open <= 3);
        n_open -= ++begun[trace] == POLICIES;
        gsim_sweep_order_note(f->order, position, position % 2 ? 0.1 : 10);
    }
    for (int t = 0; t < DRAWN; t++)
        assert_int_equal(begun[t], POLICIES);
}

/* Policy 0 takes 1 ms for 10 jobs and policy 1 takes 4: 1 000 jobs are to take 100 and 400 ms, 100 jobs 10
 * and 40. By the number of runs a third would be over; by what they take it is 5 of 555 ms. */
static void what_is_left_is_as_long_as_its_like(void **state) {
    struct fixture *f = prepare(state, 2, (const uint32_t[]){10, 1000, 100}, TRACES, 1);
    bool is_least;
    assert_true(gsim_sweep_order_left(f->order, &is_least) < 0);
    for (int64_t p = 1; p <= 2; p++)
        assert_int_equal(gsim_sweep_order_take(f->order, false), p);
    gsim_sweep_order_note(f->order, 1, 0.001);
    double share = gsim_sweep_order_left(f->order, &is_least);
    assert_true(is_least); /* nothing is known of policy 1 */
    assert_true(share > 109.9 && share < 110.1);
    gsim_sweep_order_note(f->order, 2, 0.004);
    share = gsim_sweep_order_left(f->order, &is_least);
    assert_false(is_least);
    assert_true(share > 109.9 && share < 110.1); /* 550 / 5 */
    for (int64_t p = 3; p <= 6; p++) /* what has begun is left until it ends, and one fails */
        assert_int_equal(gsim_sweep_order_take(f->order, false), p);
    gsim_sweep_order_note(f->order, 4, -1);
    share = gsim_sweep_order_left(f->order, &is_least);
    assert_true(share > 29.9 && share < 30.1); /* 150 / 5 */
}

static int set_up(void **state) {
    struct gsim_arena *arena = gsim_arena_new();
    struct fixture *f = gsim_arena_alloc(arena, sizeof *f);
    f->arena = arena;
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    gsim_sweep_order_end(f->order);
    gsim_arena_free(f->arena);
    return 0;
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(the_first_is_as_in_the_grid),  CASE(the_largest_trace_begins),
        CASE(then_what_is_to_take_longest), CASE(runs_alike_tell_of_each_other),
        CASE(few_drawn_traces_are_open),    CASE(what_is_left_is_as_long_as_its_like),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
