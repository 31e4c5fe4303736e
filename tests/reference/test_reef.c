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

/* --- padding, by hand ------------------------------------------------------------------------- */

/* A request of three kernels of 100 ms at 1 s, on so much of the SMs; and one long best-effort
 * iteration of kernels of so many ms that fill them all. */
static struct gsim_result pad(struct fixture *f, const char *real_time_fills, int kernel_ms,
                              int block_ms, bool is_on) {
    static const char *const sets[][2] = {{"padding=off", NULL}, {"padding=on", NULL}};
    char text[512], block[16] = "";
    if (block_ms > 0)
        (void)snprintf(block, sizeof block, "%d", block_ms);
    (void)snprintf(text, sizeof text,
                   "job_id,submit_s,iterations,gpu_ms,kernel_ms,kernels,requests,period_ms,class,"
                   "idempotent,sm_fraction\n"
                   "urgent,0,,100,,3,1,1000,realtime,,%s\nother,0,1,3000,%s,%d,,,batch,1,1\n",
                   real_time_fills, block, 3000 / kernel_ms);
    if (read_text(f, text) != GSIM_OK)
        fail_msg("%s", f->log.errors[0].text);
    struct test_run one = {
        .trace = &f->trace, .policy = "reef", .device = "ideal", .sets = sets[is_on]};
    struct gsim_result result = test_run(&one, f->arena);
    assert_int_equal(result.requests[0].latency_ns[0], 300000000); /* whatever runs beside it */
    return result;
}

/* By how much sooner the other one ends, which otherwise waits for the request; the kernel that the
 * request kills is the same. */
static void test_padding_by_hand(void **state) {
    static const struct {
        const char *fills;
        int kernel_ms, block_ms;
        int64_t sooner_ms;
    } cases[] = {
        /* a wave of 100 ms in a quarter of the SMs does a quarter of a kernel, three times */
        {"0.75", 100, 0, 75},
        {"0.5", 100, 0, 150},
        /* kernels of 20 ms take 40 ms in half of them, and one is padded into each */
        {"0.5", 20, 0, 60},
        /* one wave of 60 ms fits: it does 30 ms of its kernel, then what is left of it in 60 ms */
        {"0.5", 60, 0, 90},
        /* kernels of 125 ms are longer, unless their blocks are short: 4 waves of 25 ms do 50 ms, and
         * again; then 25 ms are left of the kernel, which take 50 ms */
        {"0.5", 125, 0, 0},
        {"0.5", 125, 25, 125},
        {"1", 20, 0, 0}, /* nothing is left over */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gsim_result off =
            pad(*state, cases[i].fills, cases[i].kernel_ms, cases[i].block_ms, false);
        struct gsim_result on =
            pad(*state, cases[i].fills, cases[i].kernel_ms, cases[i].block_ms, true);
        if (off.jobs.end_ns[1] - on.jobs.end_ns[1] != cases[i].sooner_ms * 1000000)
            fail_msg("case %zu: %lld ns sooner", i,
                     (long long)(off.jobs.end_ns[1] - on.jobs.end_ns[1]));
    }
}

static struct gsim_result run_text(struct fixture *f, const char *text, const char *const *sets) {
    if (read_text(f, text) != GSIM_OK)
        fail_msg("%s", f->log.errors[0].text);
    struct test_run one = {.trace = &f->trace, .policy = "reef", .device = "h200", .sets = sets};
    return test_run(&one, f->arena);
}

/* The first one's kernels of 150 ms are too long for real-time ones of 100 ms, the second one's are
 * not; only that one is padded. */
static void test_the_first_that_fits_pads(void **state) {
    static const char *const off[] = {"padding=off", NULL};
    static const char text[] =
        "job_id,submit_s,iterations,gpu_ms,kernels,requests,period_ms,class,idempotent,"
        "sm_fraction\nurgent,0,,100,10,3,2000,realtime,,0.5\nlong,0,1,3000,20,,,batch,1,1\n"
        "short,0,1,3000,40,,,batch,1,1\n";
    struct gsim_result without = run_text(*state, text, off), with = run_text(*state, text, NULL);
    int64_t sooner_ns = without.jobs.end_ns[2] - with.jobs.end_ns[2];
    assert_true(sooner_ns > S / 2);
    assert_int_equal(with.requests[0].latency_ns[2], without.requests[0].latency_ns[2]);
}

/* Half of the SMs each. Kernels that load little meet memory that is as idle as alone; at 1 TB/s each, loads
 * take 2 % longer together; 3.5 TB/s each are more than an H200's memory gives, which is 3.98 TB/s. */
static void test_padding_costs_bandwidth_only(void **state) {
    static const char *const off[] = {"padding=off", NULL};
    static const char *const draws[] = {"100", "1000", "3500"};
    int64_t longer_ns[3];
    for (int i = 0; i < 3; i++) {
        char text[512];
        (void)snprintf(
            text, sizeof text,
            "job_id,submit_s,iterations,gpu_ms,kernels,requests,period_ms,class,"
            "idempotent,sm_fraction,hbm_gbps\n"
            "urgent,0,,10,100,1,1000,realtime,,0.5,%s\nother,0,1,3000,600,,,batch,1,0.5,%s\n",
            draws[i], draws[i]);
        struct gsim_result without = run_text(*state, text, off);
        struct gsim_result with = run_text(*state, text, NULL);
        longer_ns[i] = with.requests[0].latency_ns[0] - without.requests[0].latency_ns[0];
        assert_true(with.jobs.end_ns[1] < without.jobs.end_ns[1]);
    }
    assert_int_equal(longer_ns[0], 0);
    assert_true(longer_ns[1] > 0 && longer_ns[1] < S / 40); /* of 1 s */
    assert_true(longer_ns[2] > S / 10);
}

/* Requests of 10 ms of two real-time jobs, the second one 4 ms later: whole, one after the other. */
static void test_requests_run_to_their_end(void **state) {
    struct gsim_result result = run_text(*state,
                                         "job_id,submit_s,gpu_ms,kernels,requests,period_ms,class\n"
                                         "a,0,1,10,1,1000,realtime\nb,0.004,1,10,1,1000,realtime\n",
                                         NULL);
    int64_t launch_ns = result.requests[0].latency_ns[0] - S / 100;
    assert_in_range(launch_ns, 0, S / 10000);
    assert_in_range(result.requests[1].latency_ns[0], S / 1000 * 16, S / 1000 * 16 + S / 10000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_latency_is_in_the_published_order),
        TEST(test_what_is_reset_runs_again),
        TEST(test_the_queue_of_the_device_trades_latency_for_throughput),
        TEST(test_what_is_not_idempotent_runs_out),
        TEST(test_padding_by_hand),
        TEST(test_the_first_that_fits_pads),
        TEST(test_padding_costs_bandwidth_only),
        TEST(test_requests_run_to_their_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
