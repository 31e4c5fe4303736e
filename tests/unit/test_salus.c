/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Salus' lanes of memory and the orders in them, on cases that one can work out. Jobs that keep
 * nothing between iterations share the lane of the first, which is as large as the GPU allows. */
#define _XOPEN_SOURCE 700
#include "tests/support/trace_file.h"

#include "tests/support/runner.h"

static struct gsim_result run(struct fixture *f, const char *rows, const char *order) {
    char text[640];
    const char *const sets[] = {order, NULL};
    (void)snprintf(
        text, sizeof text,
        "job_id,submit_s,iterations,gpu_ms,kernels,mem_gib,persistent_gib,sm_fraction\n%s", rows);
    if (read_text(f, text) != GSIM_OK)
        fail_msg("%s", f->log.errors[0].text);
    struct test_run one = {.trace = &f->trace, .policy = "salus", .device = "h200", .sets = sets};
    return test_run(&one, f->arena);
}

/* Within 1 ms: the host's 8 us between iterations. */
static void expect_end(const struct gsim_result *result, uint32_t job, double end_s) {
    double ns = end_s * 1e9;
    assert_in_range(result->jobs.end_ns[job], (int64_t)ns - 1000000, (int64_t)ns + 1000000);
}

/* One lane: a has 10 iterations of 1 s, b comes at 2.5 with 4, c at 4.2 with 2. */
static const char one_lane[] = "a,0,10,1000,1,130,0,1\nb,2.5,4,1000,1,130,0,1\n"
                               "c,4.2,2,1000,1,130,0,1\n";

static void check_order(struct fixture *f, const char *order, double a_s, double b_s, double c_s) {
    struct gsim_result result = run(f, one_lane, order);
    expect_end(&result, 0, a_s);
    expect_end(&result, 1, b_s);
    expect_end(&result, 2, c_s);
}

static void test_orders(void **state) {
    check_order(*state, "order=fifo", 10, 14, 16);
    /* b from 3 on, c from 5 on */
    check_order(*state, "order=preempt", 16, 9, 7);
    /* at 3 a has 7 left and b 4; when c comes b has 2.8 left and c 2, so c goes first */
    check_order(*state, "order=srtf", 16, 9, 7);
    /* in turn: b has 3-4, 5-6, 8-9 and 11-12, c 6-7 and 9-10 */
    check_order(*state, "order=pack", 16, 12, 10);
}

/* a opens a lane of the whole GPU, b keeps 5 GiB in it and needs as much as a: with lanes of their
 * first job's size it would wait until 10. Its 2 iterations come first. */
static void test_one_lane_of_the_whole_gpu(void **state) {
    static const char rows[] = "a,0,10,1000,1,80,5,1\nb,0.5,2,1000,1,80,5,1\n";
    static const char *const sets[] = {"order=srtf", "lanes=one", NULL};
    struct gsim_result apart = run(*state, rows, "order=srtf");
    expect_end(&apart, 0, 10);
    expect_end(&apart, 1, 12);
    struct test_run one = {.trace = &((struct fixture *)*state)->trace,
                           .policy = "salus",
                           .device = "h200",
                           .sets = sets};
    struct gsim_result together = test_run(&one, ((struct fixture *)*state)->arena);
    expect_end(&together, 0, 12);
    expect_end(&together, 1, 3);
}

/* Two lanes run at once: halves of the SMs, so nobody is in the other's way. */
static void test_lanes_run_at_once(void **state) {
    struct gsim_result result =
        run(*state, "a,0,10,1000,1,60,0,0.5\nb,0,10,1000,1,60,0,0.5\n", "order=fair");
    expect_end(&result, 0, 10);
    expect_end(&result, 1, 10);
}

/* Lanes of 100 and 30 GiB. c keeps 5 beside what is used in turn, which fits neither: 5 + 100, 5 + 30.
 * d keeps nothing and goes to the smaller, e is too large for that and goes to the larger; when a has
 * left that, c fits beside e, and came before it. */
static void test_the_smallest_safe_lane(void **state) {
    struct gsim_result result = run(*state,
                                    "a,0,10,1000,1,100,0,0.5\nb,0,10,1000,1,30,0,0.5\n"
                                    "c,0,1,1000,1,30,5,0.5\nd,0,10,1000,1,30,0,0.5\n"
                                    "e,0,10,1000,1,40,0,0.5\n",
                                    "order=fifo");
    expect_end(&result, 0, 10);
    expect_end(&result, 1, 10);
    expect_end(&result, 3, 20);
    expect_end(&result, 2, 12); /* e's iteration was first: the lane does not wait for who comes */
    expect_end(&result, 4, 21);
}

/* Equal jobs, one of which has twice the memory: it gets half the time. */
static void test_fair_is_by_memory_and_time(void **state) {
    struct gsim_result result =
        run(*state, "a,0,20,1000,1,120,0,1\nb,0,20,1000,1,60,0,1\n", "order=fair");
    expect_end(&result, 1, 30); /* b's 20 and a's 10 */
    expect_end(&result, 0, 40);
}

/* b comes to the lane of a, which has 80 GiB to its 50; e comes to a lane of its own at 4.5, when d has
 * left that, and nothing begins anew in theirs: b has 150 to 160 of a at 5, and goes on. */
static void test_fair_counts_on_as_other_lanes_begin(void **state) {
    struct gsim_result result =
        run(*state,
            "a,0,9,1000,1,80,0,0.25\nd,0,4,1000,1,40,0,0.25\nb,0,4,1000,1,50,0,0.25\n"
            "e,4.5,1,1000,1,40,0,0.25\n",
            "order=fair");
    expect_end(&result, 2, 6);
    expect_end(&result, 3, 5.5);
    expect_end(&result, 0, 13);
}

/* Of jobs with as much left the first goes on: it has less from its first iteration on. Nor do jobs
 * with more than 2^31 ms left take turns. */
static void test_least_left_of_equal_jobs(void **state) {
    struct gsim_result result =
        run(*state, "a,0,4,1000,1,130,0,1\nb,0,4,1000,1,130,0,1\n", "order=srtf");
    expect_end(&result, 0, 4);
    expect_end(&result, 1, 8);
    result = run(*state, "a,0,30,86400000,1,130,0,1\nb,0,25,86400000,1,130,0,1\n", "order=srtf");
    expect_end(&result, 0, 55 * 86400.0);
    expect_end(&result, 1, 25 * 86400.0);
}

/* Whole iterations: the host of a launches slowly, and b does not get in between. */
static void test_iterations_are_not_interleaved(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_text(f, "job_id,submit_s,iterations,gpu_ms,host_ms,kernels,mem_gib,"
                                  "persistent_gib\na,0,2,500,1000,10,130,0\n"
                                  "b,0,2,1000,0,10,130,0\n"),
                     GSIM_OK);
    const char *const sets[] = {"order=pack", NULL};
    struct test_run one = {.trace = &f->trace, .policy = "salus", .device = "h200", .sets = sets};
    struct gsim_result result = test_run(&one, f->arena);
    /* a's last kernel is launched at 0.9 and ends at 0.95; b until 1.95; by then a's next ten are
     * launched: until 2.45; b until 3.45. Side by side 3 s of work would be done at 3 */
    expect_end(&result, 1, 3.45);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_orders),
        TEST(test_lanes_run_at_once),
        TEST(test_one_lane_of_the_whole_gpu),
        TEST(test_the_smallest_safe_lane),
        TEST(test_fair_is_by_memory_and_time),
        TEST(test_fair_counts_on_as_other_lanes_begin),
        TEST(test_least_left_of_equal_jobs),
        TEST(test_iterations_are_not_interleaved),
    };
    return cmocka_run_group_tests_name("Salus", tests, NULL, NULL);
}
