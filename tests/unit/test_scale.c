/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces whose submissions are stretched or shrunk. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/trace_file.h"
#include "traces/scale.h"

/* Work: 100 + 2 x 50 + 100 = 300 GPU s in 40 s. */
#define THREE                                                                                      \
    "job_id,submit_s,duration_s,gpus,deadline_s\na,10,100,1,\nb,30,50,2,90\nc,50,100,1,60\n"

static struct gsim_trace read_as(struct fixture *f, const char *text) {
    assert_int_equal(read_text(f, text), GSIM_OK);
    return f->trace;
}

static void test_gaps_are_multiplied_from_the_first_submission(void **state) {
    struct fixture *f = *state;
    struct gsim_trace trace = read_as(f, THREE), scaled;
    assert_int_equal(gsim_trace_scale(&trace, 1, 4, f->arena, &scaled, &f->log), GSIM_OK);
    assert_int_equal(scaled.submit_ns[0], 10000000000);
    assert_int_equal(scaled.submit_ns[1], 15000000000);
    assert_int_equal(scaled.submit_ns[2], 20000000000);
    const int64_t *deadline_ns = scaled.column[GSIM_COL_DEADLINE_NS];
    assert_int_equal(deadline_ns[0], -1);
    assert_int_equal(deadline_ns[1], 75000000000); /* 60 s after the submission, as before */
    assert_int_equal(deadline_ns[2], 30000000000);
    assert_ptr_equal(scaled.service_ns, trace.service_ns);
    assert_string_equal(scaled.assumed[0], "submit_s: times between submissions x 0.250000");
    assert_null(scaled.assumed[1]);
}

static void test_a_factor_of_one_assumes_nothing(void **state) {
    struct fixture *f = *state;
    struct gsim_trace trace = read_as(f, THREE), scaled;
    assert_int_equal(gsim_trace_scale(&trace, 3, 3, f->arena, &scaled, &f->log), GSIM_OK);
    assert_ptr_equal(scaled.submit_ns, trace.submit_ns);
    assert_true(!scaled.assumed || !scaled.assumed[0]);
}

/* 300 GPU s are half of what 6 GPUs do in 100 s. */
static void test_a_load_sets_the_span(void **state) {
    struct fixture *f = *state;
    struct gsim_trace trace = read_as(f, THREE), scaled;
    assert_int_equal(gsim_trace_scale_to_load(&trace, 500000, 6, f->arena, &scaled, &f->log),
                     GSIM_OK);
    assert_int_equal(scaled.submit_ns[0], 10000000000);
    assert_int_equal(scaled.submit_ns[1], 60000000000);
    assert_int_equal(scaled.submit_ns[2], 110000000000);
}

static void test_a_batch_has_no_load(void **state) {
    struct fixture *f = *state;
    struct gsim_trace scaled;
    struct gsim_trace trace = read_as(f, "job_id,submit_s,duration_s\na,5,1\nb,5,1\n");
    assert_int_equal(gsim_trace_scale_to_load(&trace, 500000, 6, f->arena, &scaled, &f->log),
                     GSIM_BAD_INPUT);
    assert_non_null(strstr(f->log.errors[0].text, "all jobs are submitted at one instant"));
}

static void test_a_span_past_the_clock_is_refused(void **state) {
    struct fixture *f = *state;
    struct gsim_trace trace = read_as(f, THREE), scaled;
    assert_int_equal(gsim_trace_scale(&trace, INT64_MAX / 2, 1, f->arena, &scaled, &f->log),
                     GSIM_BAD_INPUT);
    assert_non_null(strstr(f->log.errors[0].text, "146 years"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_gaps_are_multiplied_from_the_first_submission),
        TEST(test_a_factor_of_one_assumes_nothing),
        TEST(test_a_load_sets_the_span),
        TEST(test_a_batch_has_no_load),
        TEST(test_a_span_past_the_clock_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
