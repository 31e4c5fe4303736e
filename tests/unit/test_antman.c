/* SPDX-License-Identifier: GPL-3.0-or-later */
/* AntMan's rules, each on a case that one can work out: device ideal, where switching is free. */
#define _XOPEN_SOURCE 700
#include "tests/support/trace_file.h"

#include "policies/common_antman.h"
#include "tests/support/runner.h"

static struct gsim_result run(struct fixture *f, const char *rows, uint32_t gpus,
                              const char *const *sets) {
    char text[512];
    (void)snprintf(text, sizeof text,
                   "job_id,submit_s,duration_s,gpus,iterations,kernels,class\n%s", rows);
    if (read_text(f, text) != GSIM_OK)
        fail_msg("%s", f->log.errors[0].text);
    struct test_run one = {
        .trace = &f->trace, .policy = "antman", .sets = sets, .gpus_per_node = gpus};
    return test_run(&one, f->arena);
}

static void expect_end(const struct gsim_result *result, uint32_t job, int64_t end_s) {
    assert_in_range(result->jobs.end_ns[job], end_s * S - S / 100, end_s * S + S / 100);
}

/* Two guests; a gang needs both GPUs at 10 and has them until 30, then the guests go on. */
static void test_a_gang_gets_the_room_of_guests(void **state) {
    struct gsim_result result = run(*state,
                                    "a,0,100,1,,,opportunistic\nb,0,100,1,,,opportunistic\n"
                                    "g,10,20,2,,,batch\n",
                                    2, NULL);
    expect_end(&result, 2, 30);
    expect_end(&result, 0, 120);
    expect_end(&result, 1, 120);
    assert_int_equal(result.summary.preemptions, 2);
}

/* The gang waits for the guaranteed job on one GPU; the guest on the other runs until then. */
static void test_guests_run_on_what_is_reserved(void **state) {
    struct gsim_result result = run(*state,
                                    "a,0,50,1,,,batch\ng,1,20,2,,,batch\n"
                                    "o,2,40,1,,,opportunistic\n",
                                    2, NULL);
    expect_end(&result, 2, 42);
    expect_end(&result, 1, 70);
}

/* One GPU: b waits for a, or starts as its guest after 20 s and takes half of it. */
static void test_who_waits_too_long_becomes_a_guest(void **state) {
    static const char rows[] = "a,0,100,1,,,batch\nb,0,10,1,,,batch\n";
    static const char *const sets[] = {"patience=20s", "busy=200%", NULL};
    struct gsim_result busy = run(*state, rows, 1, sets + 2);
    expect_end(&busy, 1, 110);
    struct gsim_result lax = run(*state, rows, 1, sets);
    expect_end(&lax, 1, 40);
    expect_end(&lax, 0, 110);
    static const char *const idle_only[] = {"patience=20s", NULL}; /* a uses all of it */
    struct gsim_result gated = run(*state, rows, 1, idle_only);
    expect_end(&gated, 1, 110);
}

/* Once a has ended b is nobody's guest: were its launches still capped, its 2000 kernels of 10 ms would
 * take 100 s. */
static void test_a_guest_is_upgraded(void **state) {
    static const char *const sets[] = {"patience=20s", "busy=200%", NULL};
    struct gsim_result result = run(*state, "a,0,40,1,,,batch\nb,0,20,1,2000,1,batch\n", 1, sets);
    expect_end(&result, 1, 60);
}

static void test_the_cap_follows_the_pace(void **state) {
    (void)state;
    struct antman_gpu gpu = {0};
    assert_false(
        gsim_antman_follow(&gpu, 5 * S, 10 * S, 30000)); /* a part of a window says nothing */
    assert_true(gsim_antman_follow(&gpu, 10 * S, 10 * S, 30000)); /* its pace */
    assert_int_equal(gpu.cap, 100); /* thousandths of a kernel a refill */
    for (int i = 0; i < 3; i++) /* it doubles until the pace suffers */
        assert_true(gsim_antman_follow(&gpu, 97 * S / 10, 10 * S, 30000));
    assert_int_equal(gpu.cap, 800);
    assert_true(gsim_antman_follow(&gpu, 96 * S / 10, 10 * S, 30000));
    assert_int_equal(gpu.cap, 400);
    for (int i = 0; i < 2; i++) /* then it grows by half */
        assert_true(gsim_antman_follow(&gpu, 97 * S / 10, 10 * S, 30000));
    assert_int_equal(gpu.cap, 900);
    assert_true(gsim_antman_follow(&gpu, 0, 0, 30000)); /* it had nothing to do */
    assert_int_equal(gpu.cap, 1350);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_a_gang_gets_the_room_of_guests),     TEST(test_guests_run_on_what_is_reserved),
        TEST(test_who_waits_too_long_becomes_a_guest), TEST(test_a_guest_is_upgraded),
        TEST(test_the_cap_follows_the_pace),
    };
    return cmocka_run_group_tests_name("AntMan", tests, NULL, NULL);
}
