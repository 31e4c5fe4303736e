/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search of shockwave's plans beside a walk over all of them, on small random clusters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/shockwave/plan.h"
#include "sim/base/random.h"

enum { MOST_JOBS = 40, FEW_JOBS = 4, N_PROBLEMS = 4000 };

struct problem {
    struct gsim_future future;
    struct gsim_future_job job[MOST_JOBS];
    double weight[MOST_JOBS];
    struct gsim_arena *arena;
};

static void open_problem(struct problem *p) {
    p->arena = gsim_arena_new();
    assert_non_null(p->arena);
    assert_true(gsim_future_open(&p->future, p->arena, MOST_JOBS));
}

static double between(struct gsim_random *random, double low, double high) {
    return low + (high - low) * (double)gsim_random_below(random, 1000) / 1000;
}

static void draw_jobs(struct problem *p, struct gsim_random *random, uint32_t widest) {
    p->future.round_s = 100;
    p->future.price = between(random, 0, 0.002);
    for (uint32_t i = 0; i < p->future.n; i++) {
        double all = 1 + (double)gsim_random_below(random, 9),
               done = between(random, 0, all * 0.99);
        double epoch_s = between(random, 10, 200);
        p->future.job[i] = &p->job[i];
        p->job[i] =
            (struct gsim_future_job){.gpus = 1 + (uint32_t)gsim_random_below(random, widest),
                                     .done = done,
                                     .all = all,
                                     .epoch_s = epoch_s,
                                     .left_s = (all - done) * epoch_s * between(random, 0.7, 1.3),
                                     .most_left_s = between(random, -100, 2000),
                                     .weight = between(random, 0.5, 3)};
    }
}

static void draw(struct problem *p, struct gsim_random *random, uint32_t widest) {
    p->future.n = 1 + (uint32_t)gsim_random_below(random, FEW_JOBS);
    p->future.n_gpus = widest + (uint32_t)gsim_random_below(random, 3);
    p->future.n_rounds = 1 + (uint32_t)gsim_random_below(random, 4);
    draw_jobs(p, random, widest);
}

/* Whether the rounds fit the GPUs and leave no job more than it may have left. */
static bool is_allowed(const struct gsim_future *f, bool has_bounds) {
    uint64_t used = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        const struct gsim_future_job *job = f->job[i];
        double work_s = job->rounds * f->round_s, all_s = (job->all - job->done) * job->epoch_s;
        double left_s = job->left_s - (work_s < all_s ? work_s : all_s);
        used += (uint64_t)job->rounds * job->gpus;
        if (has_bounds && (left_s > 0 ? left_s : 0) > job->most_left_s)
            return false;
    }
    return used <= (uint64_t)f->n_gpus * f->n_rounds;
}

/* The next choice of rounds; false: that was the last. */
static bool step(struct gsim_future *f) {
    for (uint32_t i = 0; i < f->n; i++) {
        if (f->job[i]->rounds++ < f->n_rounds)
            return true;
        f->job[i]->rounds = 0;
    }
    return false;
}

/* The most that one round of any job adds to a plan. */
static double largest_gain(struct gsim_future *f) {
    double price = f->price, largest = 0;
    f->price = 0;
    for (uint32_t i = 0; i < f->n; i++)
        f->job[i]->rounds = 0;
    double before = gsim_future_value(f);
    for (uint32_t i = 0; i < f->n; i++) {
        f->job[i]->rounds = 1;
        double gain = gsim_future_value(f) - before;
        largest = gain > largest ? gain : largest;
        f->job[i]->rounds = 0;
    }
    f->price = price;
    return largest;
}

static bool find_best(struct gsim_future *f, bool has_bounds, double *best) {
    bool has_any = false;
    for (uint32_t i = 0; i < f->n; i++)
        f->job[i]->rounds = 0;
    do {
        if (!is_allowed(f, has_bounds))
            continue;
        double found = gsim_future_value(f);
        *best = !has_any || found > *best ? found : *best;
        has_any = true;
    } while (step(f));
    return has_any;
}

/* The best; with gangs of unlike sizes, short of it by no more than the gain of one round. */
static void check(struct problem *p, bool has_bounds, bool is_even, uint32_t *n_met) {
    const double rounding = 1e-9;
    double best = 0, slack = rounding;
    bool is_possible = find_best(&p->future, has_bounds, &best);
    slack += is_even ? 0 : largest_gain(&p->future);
    assert_int_equal(gsim_future_plan(&p->future, has_bounds), is_possible);
    if (!is_possible)
        return;
    assert_true(is_allowed(&p->future, has_bounds));
    double found = gsim_future_value(&p->future);
    assert_true(found <= best + rounding);
    assert_true(found >= best - slack);
    *n_met += found >= best - rounding;
}

static void test_gangs_of_one_size(void **state) {
    struct problem p = {0};
    struct gsim_random random;
    uint32_t n_met = 0;
    (void)state;
    open_problem(&p);
    gsim_random_seed(&random, 1, 0, "plans");
    for (int i = 0; i < N_PROBLEMS; i++) {
        draw(&p, &random, 1);
        check(&p, i % 2 == 0, true, &n_met);
    }
    assert_true(n_met > N_PROBLEMS / 2);
    gsim_arena_free(p.arena);
}

static void test_gangs_of_unlike_sizes(void **state) {
    struct problem p = {0};
    struct gsim_random random;
    uint32_t n_met = 0;
    (void)state;
    open_problem(&p);
    gsim_random_seed(&random, 2, 0, "plans");
    for (int i = 0; i < N_PROBLEMS; i++) {
        draw(&p, &random, 3);
        check(&p, i % 2 == 0, false, &n_met);
    }
    assert_true(n_met > N_PROBLEMS / 2);
    gsim_arena_free(p.arena);
}

static void weigh(void *of, uint32_t from, uint32_t to) {
    struct problem *p = of;
    for (uint32_t i = from; i < to; i++)
        if (p->job[i].is_bound)
            p->job[i].weight = p->weight[i];
}

/* Bounds of weights give the plan that the weights give. Some are no larger than these, where the
 * order of jobs that gain as much as each other hangs on the last bit. */
static void test_bounds_of_weights(void **state) {
    struct problem p = {.future = {.weigh = weigh, .of = &p}};
    struct gsim_random random;
    (void)state;
    open_problem(&p);
    gsim_random_seed(&random, 3, 0, "plans");
    for (int i = 0; i < N_PROBLEMS; i++) {
        uint32_t rounds[MOST_JOBS];
        draw(&p, &random, 1 + (uint32_t)i % 3);
        bool has_bounds = i % 2 == 0, is_met = gsim_future_plan(&p.future, has_bounds);
        for (uint32_t j = 0; j < p.future.n; j++) {
            rounds[j] = p.job[j].rounds;
            p.weight[j] = p.job[j].weight;
            p.job[j].weight *= gsim_random_below(&random, 2) ? between(&random, 1, 3) : 1;
            p.job[j].is_bound = true;
            gsim_future_measure(&p.future, &p.job[j]);
        }
        assert_int_equal(gsim_future_plan(&p.future, has_bounds), is_met);
        for (uint32_t j = 0; j < p.future.n && is_met; j++)
            assert_int_equal(p.job[j].rounds, rounds[j]);
    }
    gsim_arena_free(p.arena);
}

/* The level, from which on rounds are given at once, is no part of the plan: it is what one gives
 * by which each round finds its place alone. Some jobs are as good as each other, and some so heavy
 * that rounding hides what the others gain. */
static void test_levels(void **state) {
    const double above_all = 1e300;
    struct problem p = {0};
    struct gsim_random random;
    (void)state;
    open_problem(&p);
    gsim_random_seed(&random, 4, 0, "plans");
    for (int i = 0; i < N_PROBLEMS; i++) {
        uint32_t rounds[MOST_JOBS], widest = 1 + (uint32_t)i % 4;
        p.future.n = 1 + (uint32_t)gsim_random_below(&random, MOST_JOBS);
        p.future.n_gpus = widest + (uint32_t)gsim_random_below(&random, 60);
        p.future.n_rounds = 1 + (uint32_t)gsim_random_below(&random, 40);
        draw_jobs(&p, &random, widest);
        for (uint32_t j = 1; j < p.future.n; j++) {
            p.job[j] = p.job[gsim_random_below(&random, 3) ? j : j - 1];
            p.job[j].weight *= gsim_random_below(&random, 8) ? 1 : 1e12;
            p.job[j].epoch_s *= gsim_random_below(&random, 2) ? 1 : 20;
            p.job[j].left_s = (p.job[j].all - p.job[j].done) * p.job[j].epoch_s;
        }
        bool has_bounds = i % 2 == 0;
        p.future.least = above_all;
        bool is_met = gsim_future_plan(&p.future, has_bounds);
        for (uint32_t j = 0; j < p.future.n; j++)
            rounds[j] = p.job[j].rounds;
        /* mostly the level is what some job gains, or that of a first plan */
        double gains = p.job[gsim_random_below(&random, p.future.n)].first_gain / (1 + 1.0 / 64);
        p.future.least = gsim_random_below(&random, 4) ? gains : 0;
        p.future.least = gsim_random_below(&random, 4) ? p.future.least : between(&random, 0, 0.02);
        assert_int_equal(gsim_future_plan(&p.future, has_bounds), is_met);
        for (uint32_t j = 0; j < p.future.n && is_met; j++)
            assert_int_equal(p.job[j].rounds, rounds[j]);
    }
    gsim_arena_free(p.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gangs_of_one_size),
        cmocka_unit_test(test_gangs_of_unlike_sizes),
        cmocka_unit_test(test_bounds_of_weights),
        cmocka_unit_test(test_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
