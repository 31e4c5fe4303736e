/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Placement is one parameter of every cluster policy: each rule works with each of them, and the
 * rules place differently where that can be seen. */
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

static const char *const rules[] = {
    "placement=consolidate", "placement=any",      "placement=spread", "placement=fullest",
    "placement=skew",        "placement=affinity", "placement=random",
};
#define N_RULES (sizeof rules / sizeof *rules)

/* An Ousterhout matrix has columns of its own, Gavel's rounds, Kueue and Slurm take the fewest nodes, and
 * Synergy's go by what servers have beside their GPUs; ElasticFlow's jobs change their width; Pollux'
 * simulator takes the emptiest nodes, Sia's whole ones, Muri the first that have room, and Lucid's
 * profiler has GPUs of its own. */
static bool places_by_rule(const char *name) {
    static const char *const own[] = {"adaptdl", "elasticflow", "gang_rr", "gavel",
                                      "kueue",   "lucid",       "muri",    "pollux",
                                      "sia",     "slurm",       "synergy"};
    bool has_own = false;
    if (test_knows(name, "placement"))
        return true;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        has_own |= strcmp(name, own[i]) == 0;
    if (!has_own)
        fail_msg("%s has no placement=", name);
    return false;
}

static struct gsim_summary run(const struct gsim_trace *trace, const char *policy,
                               const char *const *sets, struct gsim_arena *arena) {
    struct test_run how = {
        .trace = trace, .policy = policy, .sets = sets, .nodes = 6, .gpus_per_node = 4};
    return test_run(&how, arena).summary;
}

static void test_every_rule_of_every_policy(void **state) {
    (void)state;
    for (size_t p = 0; p < N_POLICIES; p++)
        for (size_t r = 0; places_by_rule(policies[p]) && r < N_RULES; r++) {
            struct gsim_arena *arena = gsim_arena_new();
            struct gsim_trace trace = test_read("traces/samples/cluster.csv", arena);
            trace.n_jobs = 40; /* in the order of arrival */
            const char *sets[] = {rules[r], NULL};
            struct gsim_summary first = run(&trace, policies[p], sets, arena);
            assert_int_equal(first.unfinished, 0);
            struct gsim_summary again = run(&trace, policies[p], sets, arena);
            assert_true(first.jct_mean_s == again.jct_mean_s && first.events == again.events);
            gsim_arena_free(arena);
        }
}

/* Eight jobs of one GPU on two nodes of eight: consolidated, one node is full; spread, both are half
 * full, and so is all of what is idle. */
static void test_rules_show(void **state) {
    (void)state;
    const struct {
        const char *rule;
        double fragmented;
    } cases[] = {{"placement=consolidate", 0}, {"placement=any", 0}, {"placement=spread", 0.5}};
    static const int64_t zero[8];
    static const uint32_t ids[8];
    static const int64_t service[8] = {1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000};
    struct gsim_trace trace = {.path = "by hand",
                               .format = "test",
                               .n_jobs = 8,
                               .id_text = "job",
                               .id_at = ids,
                               .submit_ns = zero,
                               .service_ns = service};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct gsim_arena *arena = gsim_arena_new();
        const char *sets[] = {cases[c].rule, NULL};
        struct test_run how = {
            .trace = &trace, .policy = "fifo", .sets = sets, .nodes = 2, .gpus_per_node = 8};
        assert_true(test_run(&how, arena).summary.fragmented == cases[c].fragmented);
        gsim_arena_free(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_rule_of_every_policy),
        cmocka_unit_test(test_rules_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
