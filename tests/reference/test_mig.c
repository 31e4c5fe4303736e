/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs that are cut into instances (policy mig, gsim_plan_partition): how fast a job is in one, that
 * neighbours are not felt, when a GPU may be cut, and what it takes. SMs, memory and starts are those
 * of the devices' published profile tables. */
#define _XOPEN_SOURCE 700
#include "tests/support/trace_file.h"

#include <math.h>

#include "models/hardware/profile.h"
#include "tests/support/runner.h"

static struct gsim_result run_mig(struct fixture *f, const char *device, const char *text,
                                  const char *layout) {
    const char *const sets[] = {layout, NULL};
    if (read_text(f, text) != GSIM_OK)
        fail_msg("%s", f->log.errors[0].text);
    struct test_run run = {
        .trace = &f->trace, .policy = "mig", .device = device, .sets = layout ? sets : NULL};
    return test_run(&run, f->arena);
}

static void expect_jct(const struct fixture *f, const struct gsim_result *result, int job,
                       double expected_s) {
    double jct_s = (double)(result->jobs.end_ns[job] - f->trace.submit_ns[job]) / 1e9;
    if (fabs(jct_s - expected_s) > 1e-6 * expected_s)
        fail_msg("job %d takes %.9f s, expected %.9f", job, jct_s, expected_s);
}

/* --- speed ------------------------------------------------------------------------------------ */

/* A100: 14, 28, 42, 56 and 98 of 108 SMs; a job that fills 14 of them alone loses nothing. */
static void a_job_has_the_sms_of_its_instance(void **state) {
    struct fixture *f = *state;
    static const char text[] = "job_id,submit_s,duration_s,mem_gib,sm_fraction\n"
                               "a,0,7,4,1\nb,0,7,9,1\nc,0,7,4,0.125\n";
    struct gsim_result result = run_mig(f, "a100-40", text, "layout=2g.10gb+1g.5gb+1g.5gb");
    expect_jct(f, &result, 0, 7.0 * 108 / 14);
    expect_jct(f, &result, 1, 7.0 * 108 / 28);
    expect_jct(f, &result, 2, 7.0); /* 13.5 SMs */
    result = run_mig(f, "a100-40", "job_id,submit_s,duration_s,mem_gib\na,0,7,39\n", NULL);
    expect_jct(f, &result, 0, 7.0 * 108 / 98); /* 10 SMs are lost to cutting at all */
    result = run_mig(f, "a100-40", "job_id,submit_s,duration_s,mem_gib\na,0,7,39.3\n", NULL);
    expect_jct(f, &result, 0, 7.0); /* no instance holds it: the GPU is not cut */
}

/* Closed and open loop, beside a neighbour that wants all of the memory's bandwidth or nobody. */
static void a_neighbour_changes_nothing(void **state) {
    struct fixture *f = *state;
    static const char header[] = "job_id,submit_s,iterations,gpu_ms,host_gap_ms,host_ms,kernels,"
                                 "sm_fraction,hbm_gbps,requests,period_ms,arrival,mem_gib\n";
    static const char *const jobs[] = {"a,0.0015,1000,2.7,0.3,1.9,20,0.4,2500,,,,60\n",
                                       "a,0,,2.7,,,,0.4,2500,500,9,poisson,60\n"};
    static const char *const others[] = {"", "b,0.1,700,4.1,0.1,0,1,1,3800,,,,60\n"
                                             "c,1.7,700,1.3,0,0,1,1,3900,,,,60\n"};
    for (int kind = 0; kind < 2; kind++) {
        int64_t end_ns[2];
        int64_t latency_ns[2][500] = {0};
        for (int n = 0; n < 2; n++) {
            const char *text = gsim_arena_printf(f->arena, "%s%s%s", header, jobs[kind], others[n]);
            struct gsim_result result = run_mig(f, "h200", text, "layout=3g+3g");
            end_ns[n] = result.jobs.end_ns[0];
            if (kind == 1)
                memcpy(latency_ns[n], result.requests[0].latency_ns, sizeof latency_ns[n]);
        }
        assert_int_equal(end_ns[0], end_ns[1]);
        assert_memory_equal(latency_ns[0], latency_ns[1], sizeof latency_ns[0]);
    }
}

/* --- cutting ---------------------------------------------------------------------------------- */

/* 60 and 60 GiB are two instances of four slices; the third job wants nearly all of the memory, so
 * the GPU drains, and is cut anew, which takes the 4 s of the profile; the fourth comes after it. 5 s
 * of work take 11 s with 60 of 132 SMs, and 5 s with all of them. */
static void a_gpu_drains_before_it_is_cut_again(void **state) {
    struct fixture *f = *state;
    struct gsim_result result = run_mig(
        f, "h200", "job_id,submit_s,duration_s,mem_gib\na,0,5,60\nb,0,5,60\nc,1,5,100\nd,2,5,60\n",
        NULL);
    double three_g = 5.0 * 132 / 60;
    expect_jct(f, &result, 0, three_g);
    expect_jct(f, &result, 1, three_g);
    expect_jct(f, &result, 2, three_g + 4 + 5 - 1);
    expect_jct(f, &result, 3, three_g + 4 + 5 + 4 + three_g - 2);
    assert_int_equal(result.jobs.stall_ns[3], 4 * S);
}

/* The first job fits no instance and has the GPU whole until 7 s. Then the GPU is cut for the first
 * time, which takes as long as any cut in the middle of a run. */
static void a_gpu_that_was_whole_is_cut(void **state) {
    struct fixture *f = *state;
    struct gsim_result result =
        run_mig(f, "a100-40", "job_id,submit_s,duration_s,mem_gib\na,0,7,39.3\nb,1,7,15\n", NULL);
    expect_jct(f, &result, 0, 7);
    expect_jct(f, &result, 1, 7 + 4 + 7.0 * 108 / 42 - 1); /* 3g.20gb */
    assert_non_null(strstr(result.summary.assumed, "instances_ns="));
}

static enum gsim_status try_mig(struct fixture *f, const char *device, const char *layout) {
    struct gsim_result result;
    const char *const sets[] = {layout, NULL};
    f->log = (struct gsim_log){0};
    struct test_run run = {.trace = &f->trace, .policy = "mig", .device = device, .sets = sets};
    return test_try(&run, f->arena, &result, &f->log);
}

static void expect_said(const struct fixture *f, const char *what) {
    if (!strstr(f->log.errors[0].text, what))
        assert_string_equal(f->log.errors[0].text, what);
}

static void what_cannot_be_is_said(void **state) {
    struct fixture *f = *state;
    assert_int_equal(
        read_text(f, "job_id,submit_s,duration_s,mem_gib,gpus\na,0,1,10,1\nb,0,1,60,1\n"), GSIM_OK);
    assert_int_equal(try_mig(f, "h200", "layout=4g+4g"), GSIM_USAGE);
    expect_said(f, "'4g+4g' does not fit");
    assert_int_equal(try_mig(f, "h200", "layout=5g"), GSIM_USAGE);
    expect_said(f, "no MIG profile is called '5g'");
    assert_int_equal(try_mig(f, "h200", "layout=2g+2g"), GSIM_BAD_INPUT);
    expect_said(f, "3: job 'b' fits no instance of mig.layout=2g+2g");
    assert_int_equal(try_mig(f, "h200", "layout=3g+2g"), GSIM_OK);
    assert_int_equal(read_text(f, "job_id,submit_s,duration_s\na,0,1\n"), GSIM_OK);
    assert_int_equal(try_mig(f, "v100", "layout=3g"), GSIM_USAGE);
    expect_said(f, "cannot be cut into instances");
}

/* --- the verb --------------------------------------------------------------------------------- */

/* Cuts GPU 0, thinks better of it, has the first job whole; then does what it must not. */
static void decide_rudely(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    const struct gsim_view *view = ctx->view;
    struct gsim_unit whole = {0}, instance = {.slot = 2}, none = {.slot = 3};
    for (uint32_t i = 0; i < view->changes.n_arrived; i++) {
        gsim_slot slot = view->changes.arrived[i];
        if (view->jobs.index[slot] > 0) {
            assert_false(gsim_plan_partition(plan, 0, "3g+3g"));
            return;
        }
        uint32_t mark = gsim_plan_mark(plan);
        assert_true(gsim_plan_partition(plan, 0, "3g+3g"));
        assert_false(gsim_plan_place_on(plan, slot, &whole, 1));
        assert_false(gsim_plan_place_on(plan, slot, &none, 1));
        assert_true(gsim_plan_place_on(plan, slot, &instance, 1));
        assert_int_equal(view->cluster.clients[0], 1);
        gsim_plan_rollback(plan, mark);
        assert_int_equal(view->cluster.clients[0], 0);
        assert_true(gsim_gpu_is_idle(view, 0));
        assert_false(gsim_plan_place_on(plan, slot, &instance, 1));
        assert_true(gsim_plan_place_on(plan, slot, &whole, 1));
    }
}

static void a_gpu_with_a_job_is_not_cut(void **state) {
    struct fixture *f = *state;
    static const struct gsim_policy rude = {.name = "rude", .decide = decide_rudely};
    struct gsim_result result;
    assert_int_equal(read_text(f, "job_id,submit_s,duration_s,mem_gib\na,0,2,1\nb,1,1,1\n"),
                     GSIM_OK);
    struct test_run run = {.trace = &f->trace, .policy = "rude", .custom = &rude, .device = "h200"};
    assert_int_equal(test_try(&run, f->arena, &result, &f->log), GSIM_FAILED);
    expect_said(f, "the GPU must be idle to be cut into instances");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_job_has_the_sms_of_its_instance),
        TEST(a_neighbour_changes_nothing),
        TEST(a_gpu_drains_before_it_is_cut_again),
        TEST(a_gpu_that_was_whole_is_cut),
        TEST(what_cannot_be_is_said),
        TEST(a_gpu_with_a_job_is_not_cut),
    };
    return cmocka_run_group_tests_name("instances of GPUs", tests, NULL, NULL);
}
