/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes that fail: every policy finishes every job, nothing is lost but what the results count, and
 * the same seed gives the same failures. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "tests/support/runner.h"

#define S GSIM_NS_PER_S

static const char *const policies[] = {
#define GSIM_POLICY(symbol) #symbol,
#include "policies/list.def"
#undef GSIM_POLICY
};
#define N_POLICIES (sizeof policies / sizeof *policies)

/* Without waiting for GPUs and without costs, a job takes its work and what it lost. */
static void check_times(const struct gsim_result *result, int64_t checkpoint_ns) {
    int64_t lost_ns = 0;
    for (uint32_t job = 0; job < result->jobs.n; job++) {
        int64_t jct_ns = result->jobs.end_ns[job] - result->trace->submit_ns[job];
        int64_t stall_ns = result->jobs.stall_ns ? result->jobs.stall_ns[job] : 0;
        int64_t again_ns =
            jct_ns - result->jobs.wait_ns[job] - stall_ns - result->trace->service_ns[job];
        assert_true(result->jobs.end_ns[job] >= 0 && again_ns >= 0);
        lost_ns += again_ns * gsim_trace_gpus(result->trace, job);
    }
    double lost_s = (double)lost_ns / 1e9;
    assert_true(lost_s > result->summary.lost_s - 1e-3 && lost_s < result->summary.lost_s + 1e-3);
    /* less than an interval a restart, and half of one on average */
    double most_s = (double)checkpoint_ns / 1e9 * (double)result->summary.gpus;
    assert_true(result->summary.lost_s < most_s * (double)result->summary.restarts);
}

/* The first jobs of a trace on nodes that fail every two hours. */
static struct test_run failing(struct gsim_trace *trace, const char *policy, int64_t seed) {
    trace->n_jobs = 40; /* in the order of arrival */
    return (struct test_run){.trace = trace,
                             .policy = policy,
                             .nodes = 6,
                             .gpus_per_node = 4,
                             .seed = seed,
                             .mtbf_ns = 7200 * S,
                             .mttr_ns = 600 * S,
                             .checkpoint_ns = 60 * S};
}

static void check_shares(const struct gsim_summary *summary) {
    const double share[] = {summary->gpu_busy, summary->gpu_down, summary->fragmented,
                            summary->idle_wanted};
    for (size_t i = 0; i < sizeof share / sizeof *share; i++)
        assert_true(share[i] >= 0 && share[i] <= 1 + 1e-12);
    assert_true(summary->gpu_busy + summary->gpu_down <= 1 + 1e-12);
}

/* Gavel's rounds are of all GPUs, and so are the ticks of Pollux' simulator and of Sia's. */
static bool refuses_failures(const char *policy) {
    return strcmp(policy, "gavel") == 0 || strcmp(policy, "adaptdl") == 0 ||
           strcmp(policy, "pollux") == 0 || strcmp(policy, "sia") == 0;
}

static void test_a_policy_that_refuses(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_trace trace = test_read("traces/samples/cluster.csv", arena);
    struct test_run how = failing(&trace, "gavel", 1);
    struct gsim_log *log = gsim_arena_alloc(arena, sizeof *log);
    struct gsim_result result;
    assert_int_equal(test_try(&how, arena, &result, log), GSIM_USAGE);
    assert_non_null(strstr(log->errors[0].text, "without --mtbf"));
    gsim_arena_free(arena);
}

static void test_every_policy(void **state) {
    (void)state;
    for (size_t p = 0; p < N_POLICIES; p++)
        for (int64_t seed = 1;
             seed <= (TEST_FEWER_REPEATED > 1 ? 1 : 5) && !refuses_failures(policies[p]); seed++) {
            struct gsim_arena *arena = gsim_arena_new();
            struct gsim_trace trace = test_read("traces/samples/cluster.csv", arena);
            struct test_run how = failing(&trace, policies[p], seed);
            struct gsim_result result = test_run(&how, arena);
            assert_int_equal(result.summary.unfinished, 0);
            assert_true(result.summary.node_failures > 0);
            assert_true(result.summary.gpu_down > 0);
            check_shares(&result.summary);
            bool is_resized = test_policy(policies[p])->chooses_widths; /* wider jobs are faster */
            if (!test_policy(policies[p])->shares_gpus && !is_resized)
                check_times(&result, how.checkpoint_ns);
            struct gsim_result again = test_run(&how, arena);
            assert_true(again.summary.jct_mean_s == result.summary.jct_mean_s);
            assert_true(again.summary.lost_s == result.summary.lost_s);
            gsim_arena_free(arena);
        }
}

/* Jobs of up to 40 GiB page on GPUs of 16, in each iteration and while they are paused: what they had
 * there goes with their node, and none finds it again. They take up to a hundred times longer than alone,
 * so they have a twentieth of their work, and still meet failures. A slow build tries every third policy.
 * Of the failures that three seeds draw, those of the first take ten times as long as those of the others. */
static void test_managed_memory(void **state) {
    (void)state;
    static const char *const sets[] = {"memory=uvm", NULL};
    for (size_t p = 0; p<N_POLICIES; p += TEST_FEWER> 1 ? 3 : 1)
        for (int64_t seed = TEST_FEWER_REPEATED > 1 ? 2 : 1;
             seed <= (TEST_FEWER_REPEATED > 1 ? 2 : 3) && test_knows(policies[p], "memory") &&
             !refuses_failures(policies[p]);
             seed++) {
            struct gsim_arena *arena = gsim_arena_new();
            struct gsim_trace trace = test_read("traces/samples/cluster.csv", arena);
            int64_t *mem_bytes = gsim_arena_array(arena, trace.n_jobs, sizeof *mem_bytes);
            int64_t *service_ns = gsim_arena_array(arena, trace.n_jobs, sizeof *service_ns);
            for (uint32_t job = 0; job < trace.n_jobs; job++) {
                mem_bytes[job] = (1 + job % 40) * GSIM_GIB;
                service_ns[job] = trace.service_ns[job] / 20;
            }
            trace.column[GSIM_COL_MEM_BYTES] = mem_bytes;
            trace.service_ns = service_ns;
            struct test_run how = failing(&trace, policies[p], seed);
            how.device = "p100";
            how.sets = sets;
            struct gsim_result result = test_run(&how, arena);
            assert_int_equal(result.summary.unfinished, 0);
            assert_true(result.summary.restarts > 0);
            assert_true(test_run(&how, arena).summary.jct_mean_s == result.summary.jct_mean_s);
            gsim_arena_free(arena);
        }
}

/* One node, one job of 100 s, which nobody disturbs but failures. */
static struct gsim_result alone(int64_t seed, int64_t checkpoint_ns, struct gsim_arena *arena) {
    static const int64_t submit = 0, service = 100 * S;
    static const uint32_t id = 0;
    static struct gsim_trace trace;
    trace = (struct gsim_trace){.path = "by hand",
                                .format = "test",
                                .n_jobs = 1,
                                .id_text = "job",
                                .id_at = &id,
                                .submit_ns = &submit,
                                .service_ns = &service};
    struct test_run how = {.trace = &trace,
                           .policy = "fifo",
                           .seed = seed,
                           .mtbf_ns = 100 * S,
                           .mttr_ns = 50 * S,
                           .checkpoint_ns = checkpoint_ns};
    return test_run(&how, arena);
}

/* Fifty iterations of a kernel of 1 s and a pause of 20 s, with a checkpoint after every 7 s of them: two
 * of three lie in the pause. The job is alone on its GPU and comes back at once, so it has it for the
 * 1050 s that it takes undisturbed and for what it lost, which is less than 7 s a failure. A pause that
 * counts as done with its kernel was skipped after a failure, up to 20 s of it. */
static void test_pauses_are_paid(void **state) {
    static const int64_t submit = 0, service = 1050 * S;
    static const int64_t iterations = 50, gpu = 1 * S, gap = 20 * S;
    static const uint32_t id = 0;
    (void)state;
    for (int64_t seed = 1; seed <= 20; seed++) {
        struct gsim_arena *arena = gsim_arena_new();
        struct gsim_trace trace = {.path = "by hand",
                                   .format = "test",
                                   .n_jobs = 1,
                                   .id_text = "job",
                                   .id_at = &id,
                                   .submit_ns = &submit,
                                   .service_ns = &service,
                                   .column[GSIM_COL_ITERATIONS] = &iterations,
                                   .column[GSIM_COL_GPU_NS] = &gpu,
                                   .column[GSIM_COL_HOST_GAP_NS] = &gap};
        struct test_run how = {.trace = &trace,
                               .policy = "timeslice",
                               .seed = seed,
                               .mtbf_ns = 100 * S,
                               .mttr_ns = S,
                               .checkpoint_ns = 7 * S};
        struct gsim_result result = test_run(&how, arena);
        int64_t there_ns = result.jobs.end_ns[0] - result.jobs.wait_ns[0];
        double lost_s = (double)(there_ns - service) / 1e9;
        assert_true(result.summary.restarts > 0);
        assert_true(lost_s > result.summary.lost_s - 1e-6 && lost_s < result.summary.lost_s + 1e-6);
        assert_true(lost_s < 7 * (double)result.summary.restarts);
        gsim_arena_free(arena);
    }
}

/* What moving memory took is not undone by a failure: the longer two jobs page, the more it is. */
static void test_what_moved_stays_counted(void **state) {
    static const int64_t submit[] = {0, 0}, service[] = {3000 * S, 3000 * S};
    static const int64_t mem_bytes[] = {10 * GSIM_GIB, 10 * GSIM_GIB};
    static const uint32_t ids[] = {0, 0}, order[] = {0, 1};
    static struct gsim_trace trace;
    struct gsim_summary before = {0};
    (void)state;
    for (int64_t hours = 1; hours <= 8; hours++) {
        struct gsim_arena *arena = gsim_arena_new();
        struct gsim_result result;
        struct gsim_log log = {0};
        struct test_run how = failing(&trace, "uvm", 3);
        trace = (struct gsim_trace){.path = "by hand",
                                    .format = "test",
                                    .n_jobs = 2,
                                    .id_text = "",
                                    .id_at = ids,
                                    .order = order,
                                    .submit_ns = submit,
                                    .service_ns = service};
        trace.column[GSIM_COL_MEM_BYTES] = mem_bytes;
        how.device = "p100";
        how.nodes = how.gpus_per_node = 1;
        how.mtbf_ns = 7200 * S;
        how.mttr_ns = 60 * S;
        how.checkpoint_ns = 0;
        how.until_ns = hours * 3600 * S;
        (void)test_try(&how, arena, &result, &log); /* it is cut short */
        assert_int_equal(log.n_errors, 0);
        assert_true(result.summary.bytes_in >= before.bytes_in);
        assert_true(result.summary.faults >= before.faults);
        assert_true(result.summary.stall_s >= before.stall_s);
        before = result.summary;
        gsim_arena_free(arena);
    }
    assert_true(before.restarts > 2 && before.bytes_in > 0);
}

/* A run of n jobs of one GPU that ends after 3000 s, on nodes that are mostly down; its shares hold. */
static struct gsim_summary cut_short(const int64_t *submit_ns, const int64_t *service_ns,
                                     uint32_t n, uint32_t nodes, int64_t mtbf_ns, int64_t seed) {
    static const uint32_t ids[] = {0, 0, 0}, order[] = {0, 1, 2};
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_trace trace = {.path = "by hand",
                               .format = "test",
                               .id_text = "",
                               .id_at = ids,
                               .order = order,
                               .submit_ns = submit_ns,
                               .service_ns = service_ns};
    struct test_run how = failing(&trace, "fifo", seed);
    trace.n_jobs = n;
    how.nodes = nodes;
    how.mtbf_ns = mtbf_ns;
    how.mttr_ns = 20 * S;
    how.until_ns = 3000 * S;
    struct gsim_result result;
    struct gsim_log log = {0};
    (void)test_try(&how, arena, &result, &log); /* it is cut short */
    assert_int_equal(log.n_errors, 0);
    check_shares(&result.summary);
    struct gsim_summary summary = result.summary;
    gsim_arena_free(arena);
    return summary;
}

/* Two jobs of 1 s, and one that comes when all is over for them; the run ends before it does, on a
 * cluster that is mostly down. Shares are of the time until the last end, so they stay below 1. */
static void test_shares_of_a_run_that_is_cut(void **state) {
    static const int64_t submit[] = {5 * S, 5 * S, 4000 * S}, service[] = {S, S, S};
    (void)state;
    for (int64_t seed = 1; seed <= 50; seed++) {
        struct gsim_summary cut = cut_short(submit, service, 3, 6, 4 * S, seed);
        assert_int_equal(cut.completed, 2);
        assert_true(cut.gpu_down <= 1);
    }
}

/* The node is down when most of the runs are cut: a job that has held it since the other's end waits
 * then, and the GPU time that it held is part of the run. */
static void test_shares_where_a_job_waits_at_the_cut(void **state) {
    static const int64_t submit[] = {0, 0}, service[] = {S, 100000 * S};
    (void)state;
    for (int64_t seed = 1; seed <= 20; seed++)
        assert_int_equal(cut_short(submit, service, 2, 1, 10 * S, seed).unfinished, 1);
}

/* Failures are the same with checkpoints and without, as far as both run. A job that begins anew
 * needs 100 s without a failure; with checkpoints of 10 s it never loses more than that. */
static void test_checkpoints(void **state) {
    (void)state;
    double mean_anew_s = 0, mean_kept_s = 0, lost_s = 0, restarts = 0;
    for (int64_t seed = 1; seed <= 400; seed++) {
        struct gsim_arena *arena = gsim_arena_new();
        struct gsim_result anew = alone(seed, 0, arena), kept = alone(seed, 10 * S, arena);
        assert_true(kept.jobs.end_ns[0] <= anew.jobs.end_ns[0]);
        assert_true(kept.summary.lost_s <= 10.0 * (double)kept.summary.restarts);
        mean_anew_s += anew.summary.jct_mean_s / 400;
        mean_kept_s += kept.summary.jct_mean_s / 400;
        lost_s += kept.summary.lost_s;
        restarts += (double)kept.summary.restarts;
        gsim_arena_free(arena);
    }
    /* Work of w without checkpoints, failures at rate 1/m and repairs of r on average take
     * (m + r)(e^(w/m) - 1) = 150 (e - 1) = 257.7 s (Ross, Introduction to Probability Models, on
     * waiting for a gap of w); with checkpoints every c, w/c times (m + r)(e^(c/m) - 1) = 157.8 s. 400
     * runs have a standard error below 14 s and 7 s: three of them. */
    assert_true(mean_anew_s > 257.7 - 42 && mean_anew_s < 257.7 + 42);
    assert_true(mean_kept_s > 157.8 - 21 && mean_kept_s < 157.8 + 21);
    assert_true(lost_s / restarts > 4 && lost_s / restarts < 6); /* about half an interval */
}

/* A job of half an hour each quarter of an hour on 2 x 4 GPUs, of which 4 may be down: there is always room.
 * Under gang-rr jobs got columns of the node that was down, and waited for its repair. */
static void test_gang_rr_leaves_failed_nodes(void **state) {
    (void)state;
    enum { N = 600 };
    static int64_t submit[N], service[N];
    static uint32_t id[N];
    for (int i = 0; i < N; i++) {
        submit[i] = 900 * S * i;
        service[i] = 1800 * S;
    }
    struct gsim_trace trace = {.path = "by hand",
                               .format = "test",
                               .n_jobs = N,
                               .id_text = "job",
                               .id_at = id,
                               .submit_ns = submit,
                               .service_ns = service};
    double mean_s[2];
    for (int p = 0; p < 2; p++) {
        struct gsim_arena *arena = gsim_arena_new();
        struct test_run how = {.trace = &trace,
                               .policy = p ? "gang-rr" : "fifo",
                               .nodes = 2,
                               .gpus_per_node = 4,
                               .seed = 1,
                               .mtbf_ns = 4 * 86400 * S,
                               .mttr_ns = 4 * 86400 * S};
        struct gsim_result result = test_run(&how, arena);
        assert_true(result.summary.node_failures > 0);
        mean_s[p] = result.summary.jct_mean_s;
        gsim_arena_free(arena);
    }
    assert_true(mean_s[0] == mean_s[1]);
}

/* Failures and repairs could go on for ever. */
static void test_nobody_is_placed(void **state) {
    (void)state;
    static const struct gsim_policy idler = {.name = "idler", .summary = "places nobody"};
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_log log = {0};
    struct gsim_result result;
    struct gsim_trace trace = test_read("traces/samples/cluster.csv", arena);
    struct test_run how = failing(&trace, "idler", 1);
    how.custom = &idler;
    assert_int_equal(test_try(&how, arena, &result, &log), GSIM_FAILED);
    assert_non_null(strstr(log.errors[0].text, "leaves 40 jobs waiting for ever"));
    gsim_arena_free(arena);
}

/* A job of 63 mean times between failures ends in one attempt of e^63: a run that waits for that
 * never ends. With checkpoints it does, and where the run is cut off it may begin as often as it
 * likes. */
static void test_jobs_that_failures_never_let_finish(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_log log = {0};
    struct gsim_result result;
    struct gsim_trace trace = test_read("traces/samples/cluster.csv", arena);
    struct test_run how = failing(&trace, "fifo", 1);
    int64_t longest_ns = 0;
    for (uint32_t job = 0; job < trace.n_jobs; job++)
        longest_ns = trace.service_ns[job] > longest_ns ? trace.service_ns[job] : longest_ns;
    how.mtbf_ns = longest_ns / 63;
    how.mttr_ns = S;
    how.checkpoint_ns = 0;
    assert_int_equal(test_try(&how, arena, &result, &log), GSIM_BAD_INPUT);
    assert_non_null(strstr(log.errors[0].text, "will not finish"));
    assert_non_null(strstr(log.errors[0].text, "give --checkpoint"));
    how.checkpoint_ns = how.mtbf_ns;
    assert_int_equal(test_run(&how, arena).summary.completed, trace.n_jobs);
    how.checkpoint_ns = 0;
    how.until_ns = trace.submit_ns[gsim_trace_arrival(&trace, trace.n_jobs - 1)];
    assert_true(test_run(&how, arena).summary.restarts > 100);
    gsim_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_policy),
        cmocka_unit_test(test_a_policy_that_refuses),
        cmocka_unit_test(test_managed_memory),
        cmocka_unit_test(test_checkpoints),
        cmocka_unit_test(test_pauses_are_paid),
        cmocka_unit_test(test_what_moved_stays_counted),
        cmocka_unit_test(test_shares_of_a_run_that_is_cut),
        cmocka_unit_test(test_shares_where_a_job_waits_at_the_cut),
        cmocka_unit_test(test_gang_rr_leaves_failed_nodes),
        cmocka_unit_test(test_nobody_is_placed),
        cmocka_unit_test(test_jobs_that_failures_never_let_finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
