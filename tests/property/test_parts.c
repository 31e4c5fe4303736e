/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of a cluster with policies of their own: each job of each part starts and ends as in a run
 * of that part and its jobs alone, to the nanosecond, under every policy. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "sim/study/small.h"
#include "tests/support/runner.h"

enum { SEEDS = TEST_FEWER > 1 ? 4 : 9, PARTS = 3, GROUPS = 4 };
/* In some runs nodes fail, and jobs only have to end: those of one instant fall back in an
 * order that depends on the jobs of other parts. */
#define MTBF_NS (INT64_C(60) * GSIM_NS_PER_S)
#define MTTR_NS (INT64_C(10) * GSIM_NS_PER_S)
#define HBM (INT64_C(141) << 30)
#define S GSIM_NS_PER_S

static const char *const names[] = {"a", "b", "c"};
static const char *const policies[] = {
#define GSIM_POLICY(symbol) #symbol,
#include "policies/list.def"
#undef GSIM_POLICY
};
#define N_POLICIES (sizeof policies / sizeof *policies)

/* Two nodes of partition a, three of b in two groups, one of c. */
static const struct gsim_node_group plain[GROUPS] = {
    {.count = 2, .gpus_per_node = 4, .hbm_bytes = HBM, .partitions = "a"},
    {.count = 2, .gpus_per_node = 4, .hbm_bytes = HBM, .partitions = "b"},
    {.count = 1, .gpus_per_node = 4, .hbm_bytes = HBM, .partitions = "b"},
    {.count = 1, .gpus_per_node = 8, .hbm_bytes = HBM, .partitions = "c"},
};
static const int first_of[PARTS + 1] = {0, 1, 3, 4};

static struct gsim_params *no_params(const struct gsim_policy *policy, struct gsim_arena *arena) {
    struct gsim_params *params = gsim_arena_alloc(arena, sizeof *params);
    struct gsim_log log = {0};
    assert_int_equal(gsim_params_init(params, policy->name, policy->params, arena, &log), GSIM_OK);
    return params;
}

static int part_of(uint32_t job) {
    return (int)(job * 7 % 5 % PARTS);
}

static void name_partitions(struct gsim_trace *trace, struct gsim_arena *arena) {
    int64_t *partition = gsim_arena_array(arena, trace->n_jobs, sizeof *partition);
    for (uint32_t job = 0; job < trace->n_jobs; job++)
        partition[job] = part_of(job);
    trace->column[GSIM_COL_PARTITION] = partition;
    trace->names[GSIM_COL_PARTITION] = (struct gsim_names){PARTS, (const char **)names};
}

/* The first three jobs, one of each part, come first and together: a GPU that is cut at the first
 * arrival of a run counts as cut before it. */
static void begin_together(const struct gsim_trace *drawn, struct gsim_arena *arena,
                           struct gsim_trace *out) {
    bool *is_out = gsim_arena_array(arena, drawn->n_jobs, sizeof *is_out);
    int64_t *submit_ns = gsim_arena_array(arena, drawn->n_jobs, sizeof *submit_ns);
    struct gsim_trace sooner = *drawn;
    memcpy(submit_ns, drawn->submit_ns, drawn->n_jobs * sizeof *submit_ns);
    for (int job = 0; job < PARTS; job++)
        submit_ns[job] = 0;
    sooner.submit_ns = submit_ns;
    assert_true(gsim_small_subset(&sooner, is_out, arena, out));
}

/* The jobs of one part; where[nth] is a job's place in the whole trace. */
static struct gsim_trace jobs_of(const struct gsim_trace *all, int part, uint32_t *where,
                                 struct gsim_arena *arena) {
    struct gsim_trace own;
    bool *is_out = gsim_arena_array(arena, all->n_jobs, sizeof *is_out);
    uint32_t n = 0;
    for (uint32_t job = 0; job < all->n_jobs; job++) {
        is_out[job] = part_of(job) != part;
        if (!is_out[job])
            where[n++] = job;
    }
    assert_true(gsim_small_subset(all, is_out, arena, &own));
    own.column[GSIM_COL_PARTITION] = NULL;
    return own;
}

static void compare(const struct gsim_result *all, const struct gsim_trace *trace,
                    const char *policy, int part, struct gsim_arena *arena) {
    uint32_t *where = gsim_arena_array(arena, trace->n_jobs, sizeof *where);
    struct gsim_trace own = jobs_of(trace, part, where, arena);
    struct gsim_node_group groups[GROUPS];
    uint32_t n = 0;
    for (int g = first_of[part]; g < first_of[part + 1]; g++) {
        groups[n] = plain[g];
        groups[n++].partitions = NULL;
    }
    struct test_run alone = {
        .trace = &own, .policy = policy, .device = "h200", .groups = groups, .n_groups = n};
    struct gsim_result result = test_run(&alone, arena);
    for (uint32_t nth = 0; nth < own.n_jobs; nth++)
        if (result.jobs.start_ns[nth] != all->jobs.start_ns[where[nth]] ||
            result.jobs.end_ns[nth] != all->jobs.end_ns[where[nth]])
            fail_msg("%s, part %s, job %u: %lld to %lld alone, %lld to %lld beside others", policy,
                     names[part], where[nth], (long long)result.jobs.start_ns[nth],
                     (long long)result.jobs.end_ns[nth], (long long)all->jobs.start_ns[where[nth]],
                     (long long)all->jobs.end_ns[where[nth]]);
}

/* Whether the policy takes the trace at all: some want columns that a drawn trace lacks. */
static bool can_run(const struct gsim_trace *trace, const char *policy, int64_t mtbf_ns,
                    struct gsim_arena *arena) {
    struct gsim_trace own = *trace;
    struct gsim_log log = {0};
    struct gsim_result result;
    own.column[GSIM_COL_PARTITION] = NULL;
    struct test_run alone = {.trace = &own,
                             .policy = policy,
                             .device = "h200",
                             .nodes = 3,
                             .gpus_per_node = 8,
                             .mtbf_ns = mtbf_ns,
                             .mttr_ns = MTTR_NS};
    return test_try(&alone, arena, &result, &log) == GSIM_OK;
}

/* One of three parts under each policy; the others under two more. */
static int check_policy(size_t which, uint64_t seed) {
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_trace trace = {0}, drawn = {0};
    struct gsim_part part[2] = {{.name = "b", .partitions = "b"}, {.name = "c", .partitions = "c"}};
    struct gsim_node_group groups[GROUPS];
    const char *used[PARTS] = {"las", policies[which], "timeslice"};
    bool is_first = seed % 2 == 1; /* the run's policy is the one that varies */
    int64_t mtbf_ns = seed % 4 == 0 ? MTBF_NS : 0;
    if (is_first) {
        used[0] = policies[which];
        used[1] = "easy_backfill";
    }
    assert_true(gsim_small_draw(seed, S, arena, &drawn));
    assert_true(gsim_small_describe(&drawn, seed, false, arena));
    begin_together(&drawn, arena, &trace);
    name_partitions(&trace, arena);
    if (!can_run(&trace, policies[which], mtbf_ns, arena)) {
        gsim_arena_free(arena);
        return 0;
    }
    memcpy(groups, plain, sizeof groups);
    for (int p = 0; p < 2; p++) {
        part[p].policy = test_policy(used[p + 1]);
        part[p].params = no_params(part[p].policy, arena);
        for (int g = first_of[p + 1]; g < first_of[p + 2]; g++)
            groups[g].part = &part[p];
    }
    struct test_run all = {.trace = &trace,
                           .policy = used[0],
                           .device = "h200",
                           .groups = groups,
                           .n_groups = GROUPS,
                           .mtbf_ns = mtbf_ns,
                           .mttr_ns = MTTR_NS};
    struct gsim_result result;
    struct gsim_log log = {0};
    enum gsim_status status = test_try(&all, arena, &result, &log);
    if (mtbf_ns && status != GSIM_OK && strstr(log.errors[0].text, "nodes that fail")) {
        gsim_arena_free(arena); /* gavel, at the first failure */
        return 0;
    }
    if (status != GSIM_OK)
        fail_msg("%s: %s", policies[which], log.errors[0].text);
    assert_int_equal(result.summary.completed, trace.n_jobs);
    for (int p = 0; p < PARTS && !mtbf_ns; p++)
        compare(&result, &trace, used[p], p, arena);
    gsim_arena_free(arena);
    return mtbf_ns == 0;
}

static void test_every_policy(void **state) {
    (void)state;
    int n_ran = 0;
    for (size_t which = 0; which < N_POLICIES; which++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
            n_ran += check_policy(which, seed);
    print_message("# %d runs of three parts, each as alone\n", n_ran);
    assert_true(n_ran > 2 * (int)N_POLICIES);
}

/* --- where jobs go ---------------------------------------------------------------------------- */

static const int64_t submit[] = {0, 0, 0, 0}, service[] = {S, S, S, S};
static const uint32_t gpus[] = {1, 1, 1, 1};

static enum gsim_status try_parts(const struct gsim_node_group *groups, uint32_t n,
                                  const int64_t *partition, const int64_t *class,
                                  struct gsim_log *log, struct gsim_result *result,
                                  struct gsim_arena *arena) {
    struct gsim_trace trace = test_trace(4, submit, service, gpus, arena);
    static const char *const given[] = {"a", "b", "a,b"};
    if (partition) {
        trace.column[GSIM_COL_PARTITION] = partition;
        trace.names[GSIM_COL_PARTITION] = (struct gsim_names){3, (const char **)given};
    }
    trace.column[GSIM_COL_CLASS] = class;
    struct test_run run = {.trace = &trace, .policy = "fifo", .groups = groups, .n_groups = n};
    return test_try(&run, arena, result, log);
}

/* Two classes have nodes of their own; jobs without a class go to the run's nodes. */
static void test_classes(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_log log = {0};
    struct gsim_result result;
    struct gsim_part part = {
        .name = "urgent", .policy = test_policy("mps"), .classes = 1u << GSIM_CLASS_REALTIME};
    part.params = no_params(part.policy, arena);
    const struct gsim_node_group groups[] = {
        {.count = 1, .gpus_per_node = 1, .hbm_bytes = HBM},
        {.count = 1, .gpus_per_node = 1, .hbm_bytes = HBM, .part = &part}};
    const int64_t class[] = {GSIM_CLASS_REALTIME, -1, GSIM_CLASS_REALTIME, GSIM_CLASS_BATCH};
    assert_int_equal(try_parts(groups, 2, NULL, class, &log, &result, arena), GSIM_OK);
    assert_string_equal(result.summary.policy, "fifo+mps");
    assert_int_equal(result.jobs.start_ns[0], 0);
    assert_int_equal(result.jobs.start_ns[2], 0); /* beside it */
    assert_int_equal(result.jobs.start_ns[1], 0);
    assert_int_equal(result.jobs.start_ns[3], S); /* after it */
    gsim_arena_free(arena);
}

static void assert_refused(const struct gsim_node_group *groups, uint32_t n,
                           const int64_t *partition, const char *why) {
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_log log = {0};
    struct gsim_result result;
    assert_int_not_equal(try_parts(groups, n, partition, NULL, &log, &result, arena), GSIM_OK);
    if (!strstr(log.errors[0].text, why))
        fail_msg("'%s' lacks '%s'", log.errors[0].text, why);
    gsim_arena_free(arena);
}

static void test_refusals(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_part a = {.name = "a", .policy = test_policy("mps"), .partitions = "a"};
    struct gsim_part b = {.name = "b", .policy = test_policy("gang-rr"), .partitions = "b"};
    a.params = no_params(a.policy, arena);
    b.params = no_params(b.policy, arena);
    struct gsim_node_group groups[] = {
        {.count = 1, .gpus_per_node = 1, .hbm_bytes = HBM, .partitions = "a", .part = &a},
        {.count = 1, .gpus_per_node = 1, .hbm_bytes = HBM, .partitions = "b", .part = &b},
        {.count = 1, .gpus_per_node = 1, .hbm_bytes = HBM, .partitions = "a", .part = &a}};
    static const int64_t both[] = {0, 1, 2, 0}, none[] = {0, 1, -1, 0}, fine[] = {0, 1, 0, 1};
    assert_refused(groups, 2, both, "would go to nodes 'a' under mps and to nodes 'b' under gang");
    assert_refused(groups, 2, none, "goes to no node");
    assert_refused(groups, 3, fine, "not beside each other");
    groups[2] = (struct gsim_node_group){
        .count = 1, .gpus_per_node = 1, .hbm_bytes = HBM, .partitions = "c", .part = &b};
    b.partitions = "b,c";
    assert_refused(groups, 3, fine, "may use 1 of the 2 GPUs of its nodes");
    gsim_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_policy),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
