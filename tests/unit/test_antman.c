/* SPDX-License-Identifier: GPL-3.0-or-later */
/* AntMan's rules, each on a case that one can work out: device ideal, where switching is free. */
#define _XOPEN_SOURCE 700
#include "tests/support/trace_file.h"

#include "policies/antman/guests.h"
#include "tests/support/runner.h"

static struct gsim_result run_on(struct fixture *f, const char *rows, uint32_t gpus,
                                 const char *const *sets, const char *const *device_sets) {
    char text[512];
    (void)snprintf(text, sizeof text,
                   "job_id,submit_s,duration_s,gpus,iterations,kernels,class\n%s", rows);
    if (read_text(f, text) != GSIM_OK)
        fail_msg("%s", f->log.errors[0].text);
    struct test_run one = {.trace = &f->trace,
                           .policy = "antman",
                           .sets = sets,
                           .device_sets = device_sets,
                           .gpus_per_node = gpus};
    return test_run(&one, f->arena);
}

static struct gsim_result run(struct fixture *f, const char *rows, uint32_t gpus,
                              const char *const *sets) {
    return run_on(f, rows, gpus, sets, NULL);
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

/* One GPU: b waits for a, or starts as its guest after 20 s and takes half of it: it is a single kernel,
 * which no cap can hold back. */
static void test_who_waits_too_long_becomes_a_guest(void **state) {
    static const char rows[] = "a,0,100,1,,,batch\nb,0,10,1,1,1,batch\n";
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

/* Both GPUs are idle at 95, when a and b end, though they were busy in the last whole window, 80 to 90. */
static void test_an_opportunistic_gang_takes_idle_gpus(void **state) {
    static const char *const sets[] = {"window=10s", NULL};
    struct gsim_result result = run(*state,
                                    "a,0,95,1,,,batch\nb,0,95,1,,,batch\n"
                                    "g,1,20,2,,,opportunistic\n",
                                    2, sets);
    expect_end(&result, 2, 115);
}

/* Guests need a second, from 10 to 11, to leave two of the four GPUs that the first gang waits for; another
 * gang, which comes meanwhile, leaves it the two that are idle. */
static void test_gangs_take_no_gpu_that_is_kept(void **state) {
    static const char *const sets[] = {"preempt=restart", "queue=backfill", NULL};
    static const char *const device_sets[] = {"restart.stop_ns=1s", NULL};
    static const char *const class[] = {"opportunistic", "batch"};
    for (size_t i = 0; i < 2; i++) {
        char rows[256];
        (void)snprintf(rows, sizeof rows,
                       "a,0,100,1,,,opportunistic\nb,0,100,1,,,opportunistic\n"
                       "g,10,10,4,,,batch\ni,10.5,50,2,,,%s\n",
                       class[i]);
        struct gsim_result result = run_on(*state, rows, 4, sets, device_sets);
        expect_end(&result, 2, 21);
        expect_end(&result, 3, 71);
    }
}

static void test_the_share_follows_the_pace(void **state) {
    (void)state;
    struct antman_gpu gpu = {0};
    assert_false(
        gsim_antman_follow(&gpu, 5 * S, 10 * S, 30000)); /* a part of a window says nothing */
    assert_true(gsim_antman_follow(&gpu, 10 * S, 10 * S, 30000)); /* its pace */
    assert_int_equal(gpu.share, 1); /* per cent of the time */
    for (int i = 0; i < 3; i++) /* half as much again, rounded up: 2, 3, 5 */
        assert_true(gsim_antman_follow(&gpu, 97 * S / 10, 10 * S, 30000));
    assert_int_equal(gpu.share, 5);
    assert_true(gsim_antman_follow(&gpu, 96 * S / 10, 10 * S, 30000));
    assert_int_equal(gpu.share, 2);
    assert_true(gsim_antman_follow(&gpu, 0, 0, 30000)); /* it had nothing to do */
    assert_int_equal(gpu.share, 3);
    gpu.share = 90;
    assert_true(gsim_antman_follow(&gpu, 10 * S, 10 * S, 30000));
    assert_int_equal(gpu.share, 100);
    assert_false(gsim_antman_follow(&gpu, 10 * S, 10 * S, 30000));
}

/* Gives the only job a fifth of the time, 50 ms at a time where its kernels allow that. */
static void decide_fifth(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct gsim_unit gpu = {0};
    for (uint32_t i = 0; i < ctx->view->changes.n_arrived; i++) {
        struct gsim_lane lane = {.discipline = GSIM_DISCIPLINE_RR};
        struct gsim_entry entry = {.job = ctx->view->changes.arrived[i],
                                   .launch_refill_ns = S / 20,
                                   .launch_share_ppm = GSIM_PPM / 5};
        struct gsim_arrangement how = {
            .lanes = &lane, .n_lanes = 1, .entries = &entry, .n_entries = 1};
        assert_true(gsim_plan_arrange(plan, &gpu, 1, &how));
        assert_true(gsim_plan_place_on(plan, entry.job, &gpu, 1));
    }
}

static void expect_fifth(struct fixture *f, const char *row, int64_t end_ns) {
    static const struct gsim_policy fifth = {
        .name = "fifth", .shares_gpus = true, .decide = decide_fifth};
    assert_int_equal(read_text(f, gsim_arena_printf(f->arena,
                                                    "job_id,submit_s,iterations,gpu_ms,"
                                                    "kernels\n%s",
                                                    row)),
                     GSIM_OK);
    struct test_run one = {.trace = &f->trace, .policy = "fifth", .custom = &fifth};
    struct gsim_result result = test_run(&one, f->arena);
    assert_int_equal(result.jobs.end_ns[0], end_ns);
}

/* 2 s of kernels of 1 ms: 10 of them every 50 ms, the last ones 199 periods later. Of 100 ms: one every
 * 500 ms. Of 3 ms: 4 every 60 ms, since 10 ms are not a whole number of them; 167 times, the last 3.
 * Periods begin with the cap: 13 ms later, all is 13 ms later. */
static void test_a_share_of_the_time(void **state) {
    expect_fifth(*state, "a,0,200,10,10\n", 199 * (S / 20) + S / 100);
    expect_fifth(*state, "a,0.013,200,10,10\n", S / 1000 * 13 + 199 * (S / 20) + S / 100);
    expect_fifth(*state, "a,0,20,100,1\n", 19 * (S / 2) + S / 10);
    expect_fifth(*state, "a,0,667,3,1\n", 166 * (S / 1000 * 60) + 3 * (S / 1000 * 3));
}

/* Where switching costs nothing, the end of a turn is the beginning of the next: these cycles were not
 * looked for, and an overloaded cluster took 10^8 turns. Two jobs take turns of 1 ms for an hour. */
static void test_free_turns_are_skipped(void **state) {
    struct gsim_result result =
        run(*state, "a,0,1800,1,,,opportunistic\nb,0,1800,1,,,opportunistic\n", 1, NULL);
    expect_end(&result, 1, 3600);
    assert_true(result.summary.skipped > 0.9);
    assert_int_equal(result.summary.turns, 3600000);
}

/* A guest of one kernel has begun it, so that its cap holds nothing back: from 20 s on both take turns
 * until b has had its 400 s at 820, which is 0.57 of the 1400 s of the GPU. No cycle was found beside a
 * cap of which the period is as long as the kernel. */
static void test_turns_beside_a_cap_are_skipped(void **state) {
    static const char *const sets[] = {"patience=20s", "busy=200%", NULL};
    struct gsim_result result =
        run(*state, "a,0,1000,1,1,1,batch\nb,0,400,1,1,1,batch\n", 1, sets);
    expect_end(&result, 1, 820);
    expect_end(&result, 0, 1400);
    assert_true(result.summary.skipped > 0.5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_a_gang_gets_the_room_of_guests),
        TEST(test_guests_run_on_what_is_reserved),
        TEST(test_who_waits_too_long_becomes_a_guest),
        TEST(test_a_guest_is_upgraded),
        TEST(test_an_opportunistic_gang_takes_idle_gpus),
        TEST(test_gangs_take_no_gpu_that_is_kept),
        TEST(test_the_share_follows_the_pace),
        TEST(test_a_share_of_the_time),
        TEST(test_free_turns_are_skipped),
        TEST(test_turns_beside_a_cap_are_skipped),
    };
    return cmocka_run_group_tests_name("AntMan", tests, NULL, NULL);
}
