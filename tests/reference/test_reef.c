/* SPDX-License-Identifier: GPL-3.0-or-later */
/* REEF against the order in which preemption.csv (remeasured by GPreempt on an MI100) has the ways to
 * let latency-critical inferences through: by how much their latency grows. The table does not say
 * what was run; here best-effort inferences are six times as long as critical ones, and sizes are
 * printed, not held. */
#define _XOPEN_SOURCE 700
#include "tests/support/trace_file.h"

#include "tests/support/runner.h"

struct mix {
    double kernel_ms, block_ms; /* of the best-effort job */
    int kernels; /* of one of its inferences */
    int is_idempotent;
};
static const struct mix usual = {0.5, 0.25, 12, 1};

/* Inferences of 1 ms every 25 ms on average, beside one best-effort inference after the other. */
static struct gsim_result run(struct fixture *f, const struct mix *mix, const char *policy,
                              const char *const *sets) {
    char text[512];
    (void)snprintf(text, sizeof text,
                   "job_id,submit_s,iterations,gpu_ms,kernel_ms,kernels,requests,period_ms,arrival,"
                   "class,idempotent\n"
                   "urgent,0,,0.1,,10,4000,25,uniform:0.5:1.5,realtime,\n"
                   "other,0,%d,%g,%g,%d,,,,batch,%d\n",
                   (int)(90000 / (mix->kernel_ms * mix->kernels)), mix->kernel_ms * mix->kernels,
                   mix->block_ms, mix->kernels, mix->is_idempotent);
    if (read_text(f, text) != GSIM_OK)
        fail_msg("%s", f->log.errors[0].text);
    struct test_run one = {.trace = &f->trace, .policy = policy, .device = "h200", .sets = sets};
    return test_run(&one, f->arena);
}

/* Beyond the 1 ms and the launch. */
static double increase_percent(const struct gsim_result *result) {
    return 100 * (1e3 * result->summary.latency_mean_s / 1.008 - 1);
}

static double other_s(const struct gsim_result *result) {
    return (double)result->jobs.end_ns[1] / 1e9;
}

static void test_latency_is_in_the_published_order(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *policy, *set[3];
        double published_percent;
    } order[] = {{"reef", {NULL}, 13.2},
                 {"chimera", {"preempt=block", NULL}, 43.5},
                 {"xsched", {"level=1", "threshold=12", NULL}, 297.9}}; /* a whole inference */
    double before = 0;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        struct gsim_result result = run(f, &usual, order[i].policy, order[i].set);
        double percent = increase_percent(&result);
        print_message("# %-10s %6.1f %% slower, published %6.1f %%\n", order[i].policy, percent,
                      order[i].published_percent);
        assert_true(percent > before);
        before = percent;
    }
}

static void test_what_is_reset_runs_again(void **state) {
    struct fixture *f = *state;
    static const char *const drain[] = {"preempt=drain", NULL};
    struct gsim_result killed = run(f, &usual, "reef", NULL);
    struct gsim_result drained = run(f, &usual, "chimera", drain);
    /* each request kills half a kernel on average, 0.25 ms, while the other job lasts */
    double requests = other_s(&killed) / 0.025;
    double lost_s = other_s(&killed) - other_s(&drained);
    print_message("# lost %.2f ms a request\n", 1e3 * lost_s / requests);
    assert_true(lost_s > 0.15e-3 * requests && lost_s < 0.35e-3 * requests);
    const struct mix fine = {0.05, 0.05, 120, 1}; /* the same work: shorter kernels lose less */
    struct gsim_result short_ones = run(f, &fine, "reef", NULL);
    assert_true(other_s(&short_ones) < other_s(&killed));
}

static void test_the_queue_of_the_device_trades_latency_for_throughput(void **state) {
    struct fixture *f = *state;
    static const char *const sizes[][2] = {
        {"in_flight=1", NULL}, {"in_flight=2", NULL}, {"in_flight=8", NULL}};
    double latency_s[3], work_s[3];
    for (int i = 0; i < 3; i++) {
        struct gsim_result result = run(f, &usual, "reef", sizes[i]);
        latency_s[i] = result.summary.latency_mean_s;
        work_s[i] = other_s(&result);
    }
    assert_true(latency_s[0] < latency_s[1] && latency_s[1] < latency_s[2]);
    assert_true(work_s[0] > work_s[1]); /* its host waits for every kernel */
}

static void test_what_is_not_idempotent_runs_out(void **state) {
    struct fixture *f = *state;
    static const char *const drain[] = {"preempt=drain", NULL};
    struct gsim_result killed = run(f, &usual, "reef", NULL);
    const struct mix lasting = {0.5, 0.25, 12, 0};
    struct gsim_result result = run(f, &lasting, "reef", NULL);
    struct gsim_result drained = run(f, &usual, "chimera", drain);
    assert_int_equal(result.jobs.end_ns[1], drained.jobs.end_ns[1]);
    assert_true(result.summary.latency_mean_s > killed.summary.latency_mean_s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_latency_is_in_the_published_order),
        TEST(test_what_is_reset_runs_again),
        TEST(test_the_queue_of_the_device_trades_latency_for_throughput),
        TEST(test_what_is_not_idempotent_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
