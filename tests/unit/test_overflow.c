/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that overflows to the host: kernels that become longer where they are, and AntMan's guests. On
 * the device ideal switching is free, and a bus of 1 GiB/s each way is set where one is needed. */
#define _XOPEN_SOURCE 700
#include "tests/support/trace_file.h"

#include "models/gpu/context.h"
#include "sim/base/rng.h"
#include "tests/support/runner.h"

/* Of every kernel the same part is done before and after, and none begins twice. */
static void test_a_stretched_context_is_where_it_was(void **state) {
    (void)state;
    gsl_rng *rng = gsim_rng_stream(1, 0, "stretched");
    for (int i = 0; i < 2000; i++) {
        int64_t kernels = 1 + (int64_t)gsl_rng_uniform_int(rng, 50);
        int64_t gpu_ns = kernels + (int64_t)gsl_rng_uniform_int(rng, 100000);
        int64_t then_ns = kernels + (int64_t)gsl_rng_uniform_int(rng, 1000000);
        struct gsim_context context = {
            .spec.iterations = 2, .spec.gpu_ns = gpu_ns, .spec.kernels = kernels, .spec.queue = 1024};
        gsim_context_start(&context, 0);
        int64_t done_ns = (int64_t)gsl_rng_uniform_int(rng, (unsigned long)gpu_ns);
        int64_t kernel = (int64_t)gsl_rng_uniform_int(rng, (unsigned long)kernels);
        if (i % 2 == 0) /* between two kernels */
            done_ns = gsim_muldiv_floor(gpu_ns, kernel, kernels);
        gsim_context_run(&context, 0, done_ns, GSIM_RATE_ONE);
        bool is_between = gsim_context_is_between_kernels(&context);
        struct gsim_kernel_span before = gsim_context_kernel(&context, 1, 0);
        gsim_context_stretch(&context, then_ns);
        struct gsim_kernel_span after = gsim_context_kernel(&context, 1, 0);
        assert_int_equal(context.spec.gpu_ns, then_ns);
        assert_true(context.done >= after.start && context.done < after.end);
        if (is_between)
            assert_true(gsim_context_is_between_kernels(&context));
        double part = (double)(gsim_work_to_ns(context.done - after.start)) /
                      (double)gsim_work_to_ns(after.end - after.start);
        double was = (double)(done_ns - gsim_work_to_ns(before.start)) /
                     (double)gsim_work_to_ns(before.end - before.start);
        assert_true(part <= was + 1e-9 && part > was - 1.0 / (double)(then_ns / kernels));
    }
    gsl_rng_free(rng);
}

static struct gsim_result run(struct fixture *f, const char *rows, const char *const *sets) {
    const char *text = gsim_arena_printf(
        f->arena,
        "job_id,submit_s,duration_s,iterations,gpu_ms,host_gap_ms,kernels,host_tail_s,"
        "mem_gib,working_set_gib,class\n%s",
        rows);
    if (read_text(f, text) != GSIM_OK)
        fail_msg("%s", f->log.errors[0].text);
    struct test_run one = {.trace = &f->trace,
                           .policy = "antman",
                           .device = "h200",
                           .hbm_bytes = INT64_C(150) << 30,
                           .sets = sets};
    return test_run(&one, f->arena);
}

/* 1 ms of GPU time, and memory for 200 s. */
#define SURE(name, mem) name ",0,,1,1,,1,200," mem ",,production\n"

/* What it has and does not touch is out first: 60 of 100 GiB, of 50 that have room. */
static void test_what_is_not_touched_costs_nothing(void **state) {
    struct gsim_result all =
        run(*state, SURE("s", "100") "o,0,,20,1000,,1,,100,,opportunistic\n", NULL);
    assert_int_equal(all.jobs.bytes_in[1], 20 * (INT64_C(50) << 30));
    struct gsim_result some =
        run(*state, SURE("s", "100") "o,0,,20,1000,,1,,100,60,opportunistic\n", NULL);
    assert_int_equal(some.jobs.bytes_in[1], 20 * (INT64_C(10) << 30));
    assert_int_equal(some.jobs.bytes_out[1], some.jobs.bytes_in[1]);
    struct gsim_result none =
        run(*state, SURE("s", "100") "o,0,,20,1000,,1,,100,50,opportunistic\n", NULL);
    assert_true(!none.jobs.bytes_in || none.jobs.bytes_in[1] == 0);
    assert_true(all.jobs.end_ns[1] > some.jobs.end_ns[1]);
    assert_true(some.jobs.end_ns[1] > none.jobs.end_ns[1]);
}

/* The first guest has room for all, the second one for 10 GiB of 60 and is not started beside it; the
 * guaranteed job is, and takes 60 from the first guest, which then has 50 of 100. */
static void test_guests_do_not_make_each_other_overflow(void **state) {
    static const char *const sets[] = {"busy=200%", NULL};
    struct gsim_result result = run(*state,
                                    "a,0,,100,100,900,1,,100,,opportunistic\n"
                                    "b,1,,10,100,900,1,,60,,opportunistic\n"
                                    "s,10.95,,1,1,,1,20,100,,production\n",
                                    sets);
    assert_true(result.jobs.start_ns[1] >= result.jobs.end_ns[0]);
    assert_int_equal(result.jobs.start_ns[2], 1095 * S / 100);
    assert_true(result.jobs.bytes_in[0] > 0);
    assert_int_equal(result.jobs.bytes_in[0] % (INT64_C(50) << 30), 0);
    assert_true(result.jobs.bytes_in[0] <= 21 * (INT64_C(50) << 30)); /* while s was there */
    assert_true(result.jobs.bytes_in[1] == 0);
    assert_int_equal(result.summary.preemptions, 0);
}

/* A guaranteed job never waits for guests' memory; without overflow they are suspended. */
static void test_guaranteed_jobs_take_the_room(void **state) {
    static const char rows[] = "o,0,,60,1000,,1,,100,,opportunistic\n"
                               "s,20.5,,1,1,,1,20,100,,production\n";
    static const char *const off[] = {"overflow=off", NULL};
    struct gsim_result on = run(*state, rows, NULL), waits = run(*state, rows, off);
    assert_int_equal(on.summary.preemptions, 0);
    assert_int_equal(on.jobs.start_ns[1], 205 * S / 10);
    assert_int_equal(waits.summary.preemptions, 1);
    assert_true(waits.jobs.start_ns[1] > on.jobs.start_ns[1]); /* it is copied out first */
}

/* A period of 2^62 ns ends once, and the second with the clock. */
static void test_a_period_as_long_as_the_clock(void **state) {
    (void)state;
    struct gsim_context context = {.spec.refill_ns = INT64_MAX / 2 + 1};
    assert_true(gsim_context_refill_ns(&context, 0) == INT64_MAX / 2 + 1);
    assert_true(gsim_context_refill_ns(&context, INT64_MAX / 2 + 1) == GSIM_NEVER);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_period_as_long_as_the_clock),
        cmocka_unit_test(test_a_stretched_context_is_where_it_was),
        TEST(test_what_is_not_touched_costs_nothing),
        TEST(test_guests_do_not_make_each_other_overflow),
        TEST(test_guaranteed_jobs_take_the_room),
    };
    return cmocka_run_group_tests_name("memory that overflows", tests, NULL, NULL);
}
