/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finish-time fairness and what stays idle, worked out by hand beside the numbers. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/runner.h"
#include "tests/support/trace_file.h"

static void near(double value, double expected) {
    assert_true(value > expected - 1e-12 && value < expected + 1e-12);
}

static struct gsim_summary run(struct fixture *f, const char *policy, uint32_t nodes, uint32_t gpus,
                               const char *rows) {
    char text[512];
    (void)snprintf(text, sizeof text, "job_id,submit_s,duration_s,gpus\n%s", rows);
    assert_int_equal(read_text(f, text), GSIM_OK);
    struct test_run how = {
        .trace = &f->trace, .policy = policy, .nodes = nodes, .gpus_per_node = gpus};
    return test_run(&how, f->arena).summary;
}

static void test_rho(void **state) {
    /* Two GPUs. a has both until 10, b one until 20. While a is there, so is b: n = 2, a share is one
     * GPU, and a alone on it takes 20 s: rho = 10 / 20. b sees two jobs for 10 s and one for 10 s,
     * n = 1.5, a share of 4/3 GPUs holds it whole: rho = 20 / 10. */
    struct gsim_summary s = run(*state, "fifo", 1, 2, "a,0,10,2\nb,0,10,1\n");
    near(s.rho_mean, 1.25);
    near(s.rho_max, 2);
}

static void test_rho_alone(void **state) {
    /* Nobody else is there: n = 1, whatever the gap between the jobs. */
    struct gsim_summary s = run(*state, "fifo", 1, 2, "a,0,10,2\nb,50,7,1\n");
    near(s.rho_mean, 1);
    near(s.rho_max, 1);
}

static void test_fragmented(void **state) {
    /* a: both GPUs of a node until 10; then b has one of them until 20. Of 40 GPU seconds 10 are idle
     * on a node in use, and nobody waits for them. */
    struct gsim_summary s = run(*state, "fifo", 1, 2, "a,0,10,2\nb,0,10,1\n");
    near(s.fragmented, 0.25);
    near(s.idle_wanted, 0);
    /* On nodes of one GPU nothing is a fragment. */
    s = run(*state, "fifo", 2, 1, "a,0,10,2\nb,0,10,1\n");
    near(s.fragmented, 0);
}

static void test_idle_wanted(void **state) {
    /* Until 10 a GPU is idle: b asks for two, and c, which asks for one, stands behind it. Then b has
     * both until 20, then c one until 30: 10 of 60 GPU seconds. */
    struct gsim_summary s = run(*state, "fifo", 1, 2, "a,0,10,1\nb,0,10,2\nc,0,10,1\n");
    near(s.idle_wanted, 10.0 / 60);
    /* backfill gives it to c: all is used until 10, and b is the last. */
    s = run(*state, "backfill", 1, 2, "a,0,10,1\nb,0,10,2\nc,0,10,1\n");
    near(s.idle_wanted, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_rho),
        TEST(test_rho_alone),
        TEST(test_fragmented),
        TEST(test_idle_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
