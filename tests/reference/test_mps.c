/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes beside each other on one GPU (policy mps): what follows by hand. What was measured is a
 * table of gsim validate (h200/spatial). */
#define _XOPEN_SOURCE 700
#include "tests/support/trace_file.h"

#include <math.h>

#include "tests/support/runner.h"

static struct gsim_result run_mps(struct fixture *f, const char *device, const char *text,
                                  const char *const *sets) {
    if (read_text(f, text) != GSIM_OK)
        fail_msg("%s", f->log.errors[0].text);
    struct test_run run = {.trace = &f->trace, .policy = "mps", .device = device, .sets = sets};
    return test_run(&run, f->arena);
}

static double jct_ms(const struct fixture *f, const struct gsim_result *result, int job) {
    return (double)(result->jobs.end_ns[job] - f->trace.submit_ns[job]) / 1e6;
}

static void near(double value, double expected) {
    if (fabs(value - expected) > 1e-5 * expected)
        fail_msg("%.8f, expected %.8f", value, expected);
}

/* --- by hand ---------------------------------------------------------------------------------- */

/* Both fill the device. In the first 2 s they share it; then b, with 1 s done of 3, runs on alone. */
static void two_that_fill_the_device_halve_each_other(void **state) {
    struct fixture *f = *state;
    struct gsim_result result =
        run_mps(f, "ideal", "job_id,submit_s,duration_s,sm_fraction\na,0,1,1\nb,0,3,1\n", NULL);
    near(jct_ms(f, &result, 0), 2000);
    near(jct_ms(f, &result, 1), 4000);
}

/* Each has half of the SMs: a's kernels take twice as long, b's never filled more. */
static void a_cap_is_felt_alone(void **state) {
    struct fixture *f = *state;
    static const char *const half[] = {"cap=50%", NULL};
    struct gsim_result result =
        run_mps(f, "h200", "job_id,submit_s,duration_s,sm_fraction\na,0,1,1\nb,0,1,0.5\n", half);
    near(jct_ms(f, &result, 0), 2000);
    near(jct_ms(f, &result, 1), 1000);
}

/* What asks for a part of a GPU was timed with that part, 39.6 and 92.4 of 132 SMs, of which caps
 * leave 38 and 92. These do not meet, and a third one of 0.5 crowds all SMs by 1.5. */
static void parts_of_a_gpu_are_caps(void **state) {
    struct fixture *f = *state;
    struct gsim_result result = run_mps(
        f, "h200", "job_id,submit_s,duration_s,gpus\na,0,1,0.3\nb,0,2,0.7\nc,4,1,1\nd,4,1,0.5\n",
        NULL);
    near(jct_ms(f, &result, 0), 1000 * 39.6 / 38);
    near(jct_ms(f, &result, 1), 2000 * 92.4 / 92);
    near(jct_ms(f, &result, 2), 1500); /* both at 2/3 until both are done */
    near(jct_ms(f, &result, 3), 1500);
}

/* a's iteration is 1 ms of GPU and 1 ms of gap alone. Beside b, which always runs, its kernel takes
 * 2 ms: 3 ms an iteration, of which b has half the device for 2 ms and all of it for 1 ms. Of b's
 * 2 s of work, 1000 iterations take 3 s with 2 s of it done: both end at 3 s. */
static void gaps_are_left_to_others(void **state) {
    struct fixture *f = *state;
    struct gsim_result result = run_mps(f, "ideal",
                                        "job_id,submit_s,iterations,gpu_ms,host_gap_ms,duration_s\n"
                                        "a,0,1000,1,1,2\nb,0,,,,2\n",
                                        NULL);
    near(jct_ms(f, &result, 0), 3000);
    near(jct_ms(f, &result, 1), 3000);
}

/* b fills the device as a does: until 2 s both run at half of their speed. c has b's place from 3 s
 * on, and fills half of the device: both run at 2/3 of their speed, for 1.5 s, of which a does 1 s.
 * By then a has done 1, 1 and 1 s of its 10. */
static void rates_are_of_the_jobs_that_are_there(void **state) {
    struct fixture *f = *state;
    struct gsim_result result = run_mps(
        f, "h200", "job_id,submit_s,duration_s,sm_fraction\na,0,10,1\nb,0,1,1\nc,3,1,0.5\n", NULL);
    near(jct_ms(f, &result, 1), 2000);
    near(jct_ms(f, &result, 2), 1500);
    near(jct_ms(f, &result, 0), 11500);
}

/* a and b take a turn each, 0-1 and 1-2. Then Gandiva packs them, which takes a suspension, 1 s where
 * no memory is known; they do not meet, and run at full speed from 3 to 12. Under time slices two take
 * as long as one after the other, and the switches. */
static void gandiva_packs_side_by_side(void **state) {
    struct fixture *f = *state;
    static const char *const space[] = {"share=space", "slice=1s", NULL};
    static const char *const slices[] = {"share=time", "slice=1s", NULL};
    const char *text = "job_id,submit_s,duration_s,sm_fraction\na,0,10,0.4\nb,0,10,0.6\n";
    assert_int_equal(read_text(f, text), GSIM_OK);
    struct test_run run = {.trace = &f->trace, .policy = "gandiva", .device = "h200"};
    run.sets = space;
    struct gsim_result result = test_run(&run, f->arena);
    for (int job = 0; job < 2; job++) /* jobs stop at the ends of iterations */
        assert_true(jct_ms(f, &result, job) >= 12000 && jct_ms(f, &result, job) < 12010);
    run.sets = slices;
    result = test_run(&run, f->arena);
    assert_true(jct_ms(f, &result, 1) > 20000);
}

/* --- memory ----------------------------------------------------------------------------------- */

static void too_little_memory_lets_wait(void **state) {
    struct fixture *f = *state;
    static const char text[] = "job_id,submit_s,duration_s,mem_gib,sm_fraction\n"
                               "a,0,1,100,0.1\nb,0,1,50,0.1\nc,0,1,10,0.1\n";
    struct gsim_result result = run_mps(f, "h200", text, NULL);
    assert_int_equal(result.jobs.start_ns[1], result.jobs.end_ns[0]);
    static const char *const error[] = {"oom=error", NULL};
    struct test_run run = {.trace = &f->trace, .policy = "mps", .device = "h200", .sets = error};
    assert_int_equal(test_try(&run, f->arena, &result, &f->log), GSIM_BAD_INPUT);
    expect_error(f, "3: column 'mem_gib': job 'b' runs out of memory: other jobs leave "
                    "too little on every GPU");
}

static void a_limit_is_for_every_client(void **state) {
    struct fixture *f = *state;
    struct gsim_result result;
    static const char *const limit[] = {"mem_limit=8GiB", NULL};
    assert_int_equal(read_text(f, "job_id,submit_s,duration_s,mem_gib\na,0,1,8\nb,0,1,9\n"),
                     GSIM_OK);
    struct test_run run = {.trace = &f->trace, .policy = "mps", .device = "h200", .sets = limit};
    assert_int_equal(test_try(&run, f->arena, &result, &f->log), GSIM_BAD_INPUT);
    expect_error(f, "3: column 'mem_gib': job 'b' runs out of memory: mps.mem_limit is 8GiB");
}

/* --- requests --------------------------------------------------------------------------------- */

static double mean_latency(const struct gsim_request_log *log) {
    double sum = 0;
    for (int64_t i = 0; i < log->n_served; i++)
        sum += (double)log->latency_ns[i];
    return sum / (double)log->n_served;
}

/* Requests of 1 ms on half of the SMs: a neighbour on the other half is not felt, one that fills
 * the device slows each to 2/3. */
static void requests_feel_who_has_their_sms(void **state) {
    struct fixture *f = *state;
    static const char *const other[] = {"0.5", "1"};
    double mean[2];
    for (int i = 0; i < 2; i++) {
        char text[256];
        (void)snprintf(text, sizeof text,
                       "job_id,submit_s,duration_s,requests,period_ms,gpu_ms,kernels,sm_fraction\n"
                       "r,0,,100,10,1,1,0.5\nb,0,5,,,,,%s\n",
                       other[i]);
        struct gsim_result result = run_mps(f, "ideal", text, NULL);
        assert_int_equal(result.requests[0].n_served, 100);
        mean[i] = mean_latency(&result.requests[0]);
    }
    near(mean[0], 1e6);
    near(mean[1], 1.5e6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(two_that_fill_the_device_halve_each_other),
        TEST(a_cap_is_felt_alone),
        TEST(parts_of_a_gpu_are_caps),
        TEST(gaps_are_left_to_others),
        TEST(rates_are_of_the_jobs_that_are_there),
        TEST(gandiva_packs_side_by_side),
        TEST(too_little_memory_lets_wait),
        TEST(a_limit_is_for_every_client),
        TEST(requests_feel_who_has_their_sms),
    };
    return cmocka_run_group_tests_name("processes beside each other", tests, NULL, NULL);
}
