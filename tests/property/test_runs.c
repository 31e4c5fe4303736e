/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What must hold of any run: every listed policy over every sample, and over random small traces.
 * Work, time and capacity are conserved; scaling all times scales the result; looking in between
 * changes nothing. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <glob.h>
#include <string.h>

#include "sim/study/laws.h"
#include "sim/study/small.h"
#include "sim/app/setup/setup.h"
#include "tests/support/runner.h"

static const char *const policies[] = {
#define GSIM_POLICY(symbol) #symbol,
#include "policies/list.def"
#undef GSIM_POLICY
};
#define N_POLICIES (sizeof policies / sizeof *policies)

/* The rules of sim/study/laws.h. */
static void hold_laws(const struct gsim_result *result, bool shares,
                      const struct gsim_holdings *holdings, struct gsim_arena *arena) {
    struct gsim_run_facts facts = {.policy = result->summary.policy,
                                   .n_gpus = (uint32_t)result->summary.gpus,
                                   .is_shared = shares,
                                   .holdings = holdings};
    struct gsim_log *log = gsim_arena_alloc(arena, sizeof *log);
    if (gsim_laws_check(result, &facts, arena, log) != GSIM_OK)
        fail_msg("over %s: %s", result->trace->path, log->errors[0].text);
}

/* What random jobs need: more room than a part of a GPU has; times that pass within short traces;
 * deadlines for which no job is declined. */
static const char *const *sets_of(const char *policy) {
    static const char *const whole[] = {"per_gpu=1", NULL};
    static const char *const impatient[] = {"patience=50ms", "window=100ms", NULL};
    static const char *const all[] = {"mode=all", NULL};
    /* the whole search of each minute takes longer than all that the engine does */
    static const char *const seldom[] = {"generations=2", "interval=24h", NULL};
    static const char *const rarely[] = {"interval=1h", NULL};
    if (strcmp(policy, "pollux") == 0)
        return seldom;
    if (strcmp(policy, "sia") == 0)
        return rarely;
    if (strcmp(policy, "elasticflow") == 0)
        return all;
    return strcmp(policy, "vgpu") == 0 ? whole : strcmp(policy, "antman") == 0 ? impatient : NULL;
}

static void check_set_run(const struct gsim_trace *trace, const char *policy, const char *device,
                          uint32_t nodes, const char *const *sets, struct gsim_arena *arena) {
    struct test_run run = {.trace = trace,
                           .policy = policy,
                           .device = device,
                           .sets = sets,
                           .nodes = nodes,
                           .gpus_per_node = gsim_setup_widest_gang(trace)};
    struct gsim_holdings holdings;
    gsim_holdings_open(&holdings, arena);
    run.observer = &holdings.observer;
    struct gsim_result result = test_run(&run, arena);
    bool shares = test_policy(policy)->shares_gpus || (sets && strstr(sets[0], "memory=")) ||
                  (strcmp(policy, "las") == 0 && run.nodes * run.gpus_per_node == 1);
    assert_int_equal(result.summary.completed, trace->n_jobs);
    hold_laws(&result, shares, &holdings, arena);
}

static void check_run(const struct gsim_trace *trace, const char *policy, const char *device,
                      uint32_t nodes, struct gsim_arena *arena) {
    check_set_run(trace, policy, device, nodes, sets_of(policy), arena);
}

/* Policies that hand a GPU around every few milliseconds take minutes over jobs of days, turn after
 * turn alike. They see such a sample that many times faster; iterations keep their length, and are
 * fewer. */
static void hurry(struct gsim_trace *trace, int64_t times, struct gsim_arena *arena) {
    int64_t *submit_ns = gsim_arena_array(arena, trace->n_jobs, sizeof *submit_ns);
    int64_t *service_ns = gsim_arena_array(arena, trace->n_jobs, sizeof *service_ns);
    int64_t *iterations = gsim_arena_array(arena, trace->n_jobs, sizeof *iterations);
    for (uint32_t job = 0; job < trace->n_jobs; job++) {
        int64_t n = gsim_trace_get(trace, GSIM_COL_ITERATIONS, job), fewer = (n + times) / times;
        iterations[job] = n > 0 ? fewer : n;
        submit_ns[job] = trace->submit_ns[job] / times;
        service_ns[job] =
            n > 0 ? trace->service_ns[job] / n * fewer : trace->service_ns[job] / times;
    }
    trace->submit_ns = submit_ns;
    trace->service_ns = service_ns;
    if (trace->column[GSIM_COL_ITERATIONS])
        trace->column[GSIM_COL_ITERATIONS] = iterations;
}

/* Policies that move memory want to know how much a job has. */
static void give_memory(struct gsim_trace *trace, struct gsim_arena *arena) {
    if (trace->column[GSIM_COL_MEM_BYTES])
        return;
    int64_t *mem_bytes = gsim_arena_array(arena, trace->n_jobs, sizeof *mem_bytes);
    for (uint32_t job = 0; job < trace->n_jobs; job++)
        mem_bytes[job] = GSIM_GIB;
    trace->column[GSIM_COL_MEM_BYTES] = mem_bytes;
}

static void test_every_policy_over_every_sample(void **state) {
    (void)state;
    glob_t files;
    assert_int_equal(glob("traces/samples/*.csv", 0, NULL, &files), 0);
    for (size_t f = 0; f < files.gl_pathc; f++)
        for (size_t p = 0; p < N_POLICIES; p++)
            for (uint32_t nodes = 1; nodes <= 2; nodes++) {
                if (TEST_FEWER_DRAWN > 1 && nodes != 1 + (f + p) % 2)
                    continue;
                /* a slow build: a third of the samples, another third for the next policy */
                if (!TEST_HOLDS_LONG_RUNS && (f + p) % 3 != 0)
                    continue;
                struct gsim_arena *arena = gsim_arena_new();
                struct gsim_trace trace = test_read(files.gl_pathv[f], arena);
                /* where each turn pages, a turn is as much work as ten others */
                bool pages = test_policy(policies[p])->oversubscribes;
                /* the search of pollux over 250 waiting jobs takes longer than all other runs, and
                 * over 60 it takes a fifth of them with sanitizers */
                uint32_t most = TEST_HOLDS_LONG_RUNS ? 60 : 24;
                if (TEST_FEWER_DRAWN > 1 && strcmp(policies[p], "pollux") == 0 &&
                    trace.n_jobs > most)
                    trace.n_jobs = most;
                if (test_policy(policies[p])->shares_gpus)
                    hurry(&trace, pages || TEST_FEWER_DRAWN > 1 ? 1000 : 100, arena);
                if (test_policy(policies[p])->oversubscribes)
                    give_memory(&trace, arena);
                check_run(&trace, policies[p], nodes == 1 ? "h200" : "ideal", nodes, arena);
                gsim_arena_free(arena);
            }
    globfree(&files);
}

/* --- random small traces: many ties, zero services, gangs, memory, classes, priorities -------- */

enum { SMALL = GSIM_SMALL_JOBS, SEEDS = 600 / TEST_FEWER_DRAWN };

static struct gsim_trace small_trace(uint64_t seed, int64_t scale, struct gsim_arena *arena) {
    struct gsim_trace trace;
    assert_true(gsim_small_draw(seed, scale, arena, &trace));
    return trace;
}

static void test_random_traces(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        for (size_t p = 0; p < N_POLICIES; p++) {
            struct gsim_arena *arena = gsim_arena_new();
            int64_t scale = GSIM_NS_PER_S / (test_policy(policies[p])->shares_gpus ? 20 : 1);
            struct gsim_trace trace = small_trace(seed, scale, arena);
            check_run(&trace, policies[p], seed % 2 ? "h200" : "ideal", (uint32_t)(1 + seed % 3),
                      arena);
            gsim_arena_free(arena);
        }
}

/* The same over GPUs of 16 GB, which jobs of up to 100 page in. */
static void test_managed_memory(void **state) {
    (void)state;
    static const char *const managed[][2] = {
        {"memory=uvm", NULL}, {"memory=lru", NULL}, {"memory=proactive", NULL}};
    for (uint64_t seed = 1; seed <= SEEDS / 40; seed++)
        for (size_t p = 0; p < N_POLICIES; p++) {
            if (!test_knows(policies[p], "memory"))
                continue;
            struct gsim_arena *arena = gsim_arena_new();
            struct gsim_trace trace = small_trace(seed, GSIM_NS_PER_S / 20, arena);
            check_set_run(&trace, policies[p], "p100", (uint32_t)(1 + seed % 3),
                          managed[(seed + p) % 3], arena);
            gsim_arena_free(arena);
        }
}

/* --- hosts ---------------------------------------------------------------------------------------- */

/* Preempted jobs, some of whom their hosts have room for. Whatever happens, also when nodes fail, no host
 * holds more than it has (the core asserts that, and that all is given back), work and time are
 * conserved, and a host that has room for all is like one without a limit. */
static void test_hosts_hold_what_they_can(void **state) {
    (void)state;
    static const char *const stops[][2] = {
        {"preempt=suspend", NULL}, {"preempt=checkpoint", NULL}, {"mechanism=copy", NULL}};
    static const char *const stopping[] = {"las",     "srtf",    "tiresias",
                                           "gandiva", "suspend", "adaptive"};
    int64_t n_stored = 0, n_held = 0;
    for (uint64_t seed = 1; seed <= SEEDS / 20; seed++)
        for (size_t p = 0; p < sizeof stopping / sizeof *stopping; p++) {
            struct gsim_arena *arena = gsim_arena_new();
            struct gsim_trace trace = small_trace(seed, 20 * GSIM_NS_PER_S, arena);
            bool has_preempt = test_knows(stopping[p], "preempt");
            bool has_mechanism = test_knows(stopping[p], "mechanism");
            struct gsim_node_group group = {.count = (uint32_t)(1 + seed % 3),
                                            .gpus_per_node = 7,
                                            .hbm_bytes = 141 * GSIM_GIB,
                                            .host_bytes =
                                                (int64_t)(20 + seed * 97 % 400) * GSIM_GIB};
            struct test_run run = {.trace = &trace,
                                   .policy = stopping[p],
                                   .device = "h200",
                                   .sets = has_preempt     ? stops[seed % 2]
                                           : has_mechanism ? stops[2]
                                                           : NULL,
                                   .groups = &group,
                                   .n_groups = 1,
                                   .mtbf_ns = seed % 3 ? 0 : 2000 * GSIM_NS_PER_S,
                                   .mttr_ns = 50 * GSIM_NS_PER_S};
            struct gsim_result result = test_run(&run, arena);
            assert_int_equal(result.summary.completed, SMALL);
            assert_true(result.summary.host_peak_bytes <= group.host_bytes);
            if (run.mtbf_ns == 0)
                hold_laws(&result, strcmp(stopping[p], "gandiva") == 0, NULL, arena);
            n_stored += result.summary.bytes_stored > 0;
            n_held += result.summary.host_peak_bytes > 0;
            group.host_bytes = 1 << 20;
            group.host_bytes *= GSIM_GIB;
            struct gsim_result roomy = test_run(&run, arena);
            group.host_bytes = 0;
            struct gsim_result unlimited = test_run(&run, arena);
            assert_int_equal(roomy.summary.bytes_stored, 0);
            assert_int_equal(roomy.summary.host_waits, 0);
            assert_memory_equal(roomy.jobs.end_ns, unlimited.jobs.end_ns, SMALL * sizeof(int64_t));
            assert_int_equal(roomy.summary.host_peak_bytes, unlimited.summary.host_peak_bytes);
            assert_true(roomy.summary.host_peak_bytes == 0 ||
                        strstr(unlimited.summary.assumed, "host memory=unlimited"));
            assert_null(strstr(roomy.summary.assumed, "host memory"));
            gsim_arena_free(arena);
        }
    assert_true(n_stored > 0 && n_held > 0);
}

/* Policies without an absolute time among their parameters: twice the times, twice the ends. */
static void test_time_scale(void **state) {
    (void)state;
    static const char *const scalable[] = {"exclusive", "fifo", "backfill", "easy-backfill",
                                           "sjf",       "srtf", "srsf"};
    for (uint64_t seed = 1; seed <= 50 / TEST_FEWER; seed++)
        for (size_t p = 0; p < sizeof scalable / sizeof *scalable; p++) {
            struct gsim_arena *arena = gsim_arena_new();
            struct gsim_trace one = small_trace(seed, 1000003, arena);
            struct gsim_trace two = small_trace(seed, 2000006, arena);
            struct test_run run = {.policy = scalable[p], .nodes = 2, .gpus_per_node = 6};
            run.trace = &one;
            struct gsim_result a = test_run(&run, arena);
            run.trace = &two;
            struct gsim_result b = test_run(&run, arena);
            for (uint32_t job = 0; job < SMALL; job++)
                assert_int_equal(b.jobs.end_ns[job], 2 * a.jobs.end_ns[job]);
            gsim_arena_free(arena);
        }
}

/* --- looking in between ----------------------------------------------------------------------- */

static const struct gsim_policy *looked_at;

static void decide_and_look(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    looked_at->decide(ctx, plan);
    for (uint32_t i = 0; i < ctx->view->jobs.n_active; i++)
        assert_true(gsim_attained_ns(ctx->view, ctx->view->jobs.active[i]) >= 0);
    if (ctx->view->jobs.n_active > ctx->view->changes.n_completed)
        gsim_plan_wake(plan, ctx->view->now_ns + 31415926);
}

/* A policy that is woken every 31 ms for nothing, and asks what everybody has done, gets the same
 * result: advance(a + b) equals advance(a), advance(b), also where memory is paged. las sets timers of
 * its own, so it is left out. */
static void test_looking_changes_nothing(void **state) {
    (void)state;
    static const char *const timerless[] = {"fifo", "backfill", "sjf", "srtf", "srsf", "timeslice"};
    for (uint64_t seed = 1; seed <= 20 / TEST_FEWER_REPEATED; seed++)
        for (size_t p = 0; p < sizeof timerless / sizeof *timerless; p++) {
            struct gsim_arena *arena = gsim_arena_new();
            struct gsim_trace trace = small_trace(seed, GSIM_NS_PER_S / 10, arena);
            static const char *const paging[] = {"memory=uvm", NULL};
            bool is_paging = seed % 2;
            struct test_run run = {.trace = &trace,
                                   .policy = timerless[p],
                                   .device = is_paging ? "p100" : "h200",
                                   .gpus_per_node = 6,
                                   .sets = is_paging ? paging : NULL};
            struct gsim_result plain = test_run(&run, arena);
            looked_at = test_policy(timerless[p]);
            struct gsim_policy looking = *looked_at;
            looking.decide = decide_and_look;
            run.custom = &looking;
            struct gsim_result looked = test_run(&run, arena);
            assert_true(looked.summary.events > plain.summary.events);
            assert_memory_equal(plain.jobs.end_ns, looked.jobs.end_ns, SMALL * sizeof(int64_t));
            gsim_arena_free(arena);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_policy_over_every_sample),
        cmocka_unit_test(test_random_traces),
        cmocka_unit_test(test_managed_memory),
        cmocka_unit_test(test_hosts_hold_what_they_can),
        cmocka_unit_test(test_time_scale),
        cmocka_unit_test(test_looking_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
