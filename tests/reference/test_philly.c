/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reduced Philly trace, 82 247 jobs. On the cluster as it was, 2 490 GPUs, the peak demand is
 * 1 243: nobody waits, and all policies that give jobs GPUs of their own tie. On 512 they come out in
 * the order that their papers show. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "tests/support/runner.h"

static const char *const policies[] = {
#define GSIM_POLICY(symbol) #symbol,
#include "policies/list.def"
#undef GSIM_POLICY
};
#define N_POLICIES (sizeof policies / sizeof *policies)

/* 321 machines of two GPUs, 231 of eight (experiments/philly/cluster.ini). */
static const struct gsim_node_group machines[] = {
    {.count = 321, .gpus_per_node = 2, .hbm_bytes = GSIM_GIB, .device_name = "ideal"},
    {.count = 231, .gpus_per_node = 8, .hbm_bytes = GSIM_GIB, .device_name = "ideal"},
};

/* The test is skipped where the trace is not there. */
static struct gsim_trace philly(struct gsim_arena *arena) {
    const char *path = test_shared("traces/philly_via_pollux/philly.csv", arena);
    if (!path) {
        gsim_arena_free(arena);
        skip();
    }
    return test_read(path, arena);
}

/* A job waits for the next round, plan or auction. */
static bool plans_ahead(const char *policy) {
    static const char *const names[] = {"adaptdl",   "elasticflow", "gavel",   "pollux",
                                        "shockwave", "sia",         "synergy", "themis"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(policy, names[i]) == 0)
            return true;
    return false;
}

static void test_all_tie(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_trace trace = philly(arena);
    double service_s = 0;
    assert_int_equal(trace.n_jobs, 82247);
    for (uint32_t job = 0; job < trace.n_jobs; job++)
        service_s += (double)trace.service_ns[job] / 1e9 / trace.n_jobs;
    for (size_t p = 0; p < N_POLICIES; p++) {
        const struct gsim_policy *policy = test_policy(policies[p]);
        if (policy->shares_gpus && strcmp(policy->name, "gandiva") != 0)
            continue; /* they share without need */
        if (plans_ahead(policy->name))
            continue;
        struct gsim_arena *own = gsim_arena_new();
        struct test_run how = {
            .trace = &trace, .policy = policies[p], .groups = machines, .n_groups = 2};
        struct gsim_summary s = test_run(&how, own).summary;
        if (s.wait_mean_s != 0 || s.preemptions != 0 || s.approximate)
            fail_msg("%s: %g s of waiting, %lld preemptions", policies[p], s.wait_mean_s,
                     (long long)s.preemptions);
        assert_true(s.jct_mean_s > service_s * (1 - 1e-9) && s.jct_mean_s < service_s * (1 + 1e-9));
        gsim_arena_free(own);
    }
    gsim_arena_free(arena);
}

static void test_order_on_512(void **state) {
    (void)state;
    static const char *const order[] = {"srtf", "srsf", "las", "tiresias", "backfill", "fifo"};
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_trace trace = philly(arena);
    double before_s = 0;
    for (size_t p = 0; p < sizeof order / sizeof *order; p++) {
        struct gsim_arena *own = gsim_arena_new();
        struct test_run how = {
            .trace = &trace, .policy = order[p], .nodes = 64, .gpus_per_node = 8};
        struct gsim_summary s = test_run(&how, own).summary;
        print_message("# %s: mean JCT %.0f s\n", order[p], s.jct_mean_s);
        assert_true(s.jct_mean_s > before_s && !s.approximate);
        before_s = s.jct_mean_s;
        gsim_arena_free(own);
    }
    gsim_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_tie),
        cmocka_unit_test(test_order_on_512),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
