/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests that wait behind each other: nothing else gets the GPU between two of them. Held against
 * M/G/1 with vacations, and against schedules that can be counted. */
#define _XOPEN_SOURCE 700
#include "tests/support/trace_file.h"

#include <math.h>

#include "models/hardware/profile.h"
#include "tests/support/runner.h"

#define COLUMNS                                                                                    \
    "job_id,submit_s,iterations,gpu_ms,kernels,requests,period_ms,arrival,class,mem_gib,sync\n"

static struct gsim_result run(struct fixture *f, const char *rows, struct test_run how) {
    char text[512];
    (void)snprintf(text, sizeof text, COLUMNS "%s", rows);
    if (read_text(f, text) != GSIM_OK)
        fail_msg("%s", f->log.errors[0].text);
    how.trace = &f->trace;
    return test_run(&how, f->arena);
}

static int64_t key_ns(struct fixture *f, const char *device, enum gsim_key key) {
    struct gsim_profile *profile = gsim_arena_alloc(f->arena, sizeof *profile);
    assert_int_equal(gsim_profile_load(device, f->arena, profile, &f->log), GSIM_OK);
    return profile->value[key];
}

/* Poisson requests of D = 0.1 ms. While none is there the other job's kernels run, one after the other:
 * vacations of V = 0.5 ms. A request is launched launch.host_gap_ns after it
 * arrives, which shifts all arrivals alike. Mean time in system (Takagi, Queueing Analysis 1, 2.2):
 * gap + D + rate D^2 / (2 (1 - load)) + V / 2. */
static void vacations(struct fixture *f, double load) {
    enum { SEEDS = 10, REQUESTS = 20000 / TEST_FEWER };
    const double d = 0.1e-3, rate = load / d;
    const double v = 0.5e-3;
    double exact = (double)key_ns(f, "h200", GSIM_KEY_LAUNCH_GAP_NS) / 1e9 + d +
                   rate * d * d / (2 * (1 - load)) + v / 2;
    char rows[256];
    (void)snprintf(rows, sizeof rows,
                   "rt,0,,0.1,1,%d,%.9g,poisson,realtime,,\nbe,0,1000,500,1000,,,,batch,,none\n",
                   REQUESTS, 1e3 / rate);
    double sum = 0, squares = 0;
    for (int64_t seed = 1; seed <= SEEDS; seed++) {
        struct test_run how = {.policy = "xsched", .device = "h200", .seed = seed};
        double mean = run(f, rows, how).summary.latency_mean_s;
        sum += mean;
        squares += mean * mean;
    }
    double mean = sum / SEEDS, error = sqrt((squares - sum * mean) / (SEEDS - 1) / SEEDS);
    print_message("# load %.2f: %.2f us simulated, %.2f us exact, standard error %.2f us\n", load,
                  1e6 * mean, 1e6 * exact, 1e6 * error);
    assert_true(error <= 0.005 * sqrt(TEST_FEWER) * mean);
    assert_true(fabs(mean - exact) < 3 * error);
}

static void test_vacations(void **state) {
    vacations(*state, 0.1);
    vacations(*state, 0.2);
    vacations(*state, 0.6);
}

/* Ten requests arrive within the first kernel of 50 ms: they follow it in one go, and not one kernel of
 * the other each. Level 1 lets what is in flight run out, so one kernel as well (threshold 1). */
static void test_a_queue_waits_for_one_kernel(void **state) {
    struct fixture *f = *state;
    static const char *const levels[][3] = {{"level=2"}, {"level=1", "threshold=1"}};
    for (int i = 0; i < 2; i++) {
        struct test_run how = {.policy = "xsched", .device = "v100", .sets = levels[i]};
        struct gsim_result result =
            run(f, "rt,0,,0.1,1,10,1,periodic,realtime,,\nbe,0,1,1000,20,,,,batch,,none\n", how);
        assert_int_equal(result.jobs.end_ns[0], 50000000 + 10 * 100000);
    }
}

/* Equals take turns by the quantum, not by the request: the other job has the first 2 ms, and the ten
 * that wait then are done 1 ms later, within one quantum of their own. */
static void test_a_queue_has_its_quantum(void **state) {
    static const char *const sets[] = {"quantum=2ms", NULL};
    struct test_run how = {.policy = "timeslice", .sets = sets};
    struct gsim_result result =
        run(*state, "rt,0,,0.1,1,10,0.05,periodic,,,\nbe,0,1,1000,1,,,,,,\n", how);
    assert_int_equal(result.jobs.end_ns[0], 3000000);
}

/* 20 requests of 50 ms with 6 GB arrive in 20 ms beside a job with 12 GB on 16 GB: its memory is
 * pushed out once, and the work of one second is done in little more (MSched's migrations at
 * 52 GB/s and more take 0.12 s for 6 GB). */
static void test_memory_moves_once_for_a_queue(void **state) {
    static const char *const sets[] = {"order=priority", NULL};
    struct test_run how = {.policy = "msched", .device = "rtx5080", .sets = sets};
    struct gsim_result result = run(
        *state,
        "rt,1,,0.05,1000,20,1,periodic,realtime,5.588,\nbe,0,300,100,1000,,,,batch,11.176,\n", how);
    assert_true(result.jobs.end_ns[0] < 2120000000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_vacations),
        TEST(test_a_queue_waits_for_one_kernel),
        TEST(test_a_queue_has_its_quantum),
        TEST(test_memory_moves_once_for_a_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
