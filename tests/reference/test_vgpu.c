/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shares that vGPU schedulers give (policy vgpu): exact on a device where switching costs nothing,
 * where turns are 1 ms; and what switches take of a turn where it does, and turns are the documented
 * 2 ms up to 8 vGPUs a GPU, and 1 ms beyond. */
#define _XOPEN_SOURCE 700
#include "tests/support/trace_file.h"

#include "tests/support/runner.h"

#define MS INT64_C(1000000)

static struct gsim_result run_vgpu(struct fixture *f, const char *device, const char *text,
                                   const char *scheduler, const char *per_gpu) {
    const char *const sets[] = {scheduler, per_gpu, NULL};
    if (read_text(f, text) != GSIM_OK)
        fail_msg("%s", f->log.errors[0].text);
    struct test_run run = {.trace = &f->trace, .policy = "vgpu", .device = device, .sets = sets};
    return test_run(&run, f->arena);
}

static int64_t jct_ns(const struct fixture *f, const struct gsim_result *result, int job) {
    return result->jobs.end_ns[job] - f->trace.submit_ns[job];
}

/* A job of 1 s takes 1000 turns. Alone it has every turn; beside another one every second, so
 * that the last of them ends after 999 * 2 + 1 ms, and 1 ms later for the one that came second. */
static void those_on_a_gpu_share_it_equally(void **state) {
    struct fixture *f = *state;
    static const char one[] = "job_id,submit_s,duration_s\na,0,1\n";
    static const char two[] = "job_id,submit_s,duration_s\na,0,1\nb,0,1\n";
    static const char *const schedulers[] = {"scheduler=best-effort", "scheduler=equal-share"};
    for (int i = 0; i < 2; i++) {
        struct gsim_result result = run_vgpu(f, "ideal", one, schedulers[i], "per_gpu=4");
        assert_int_equal(jct_ns(f, &result, 0), 1000 * MS);
        result = run_vgpu(f, "ideal", two, schedulers[i], "per_gpu=4");
        assert_int_equal(jct_ns(f, &result, 0), 1999 * MS);
        assert_int_equal(jct_ns(f, &result, 1), 2000 * MS);
    }
}

/* Four could be there: every fourth turn, whoever else is there. 999 * 4 + 1 ms, and 1 ms later. */
static void a_fixed_share_never_changes(void **state) {
    struct fixture *f = *state;
    static const char *const traces[] = {
        "job_id,submit_s,duration_s\na,0,1\n", "job_id,submit_s,duration_s\na,0,1\nb,0,1\n",
        "job_id,submit_s,duration_s\na,0,1\nb,0,1\nc,0,1\nd,0,1\n"};
    for (int i = 0; i < 3; i++) {
        struct gsim_result result =
            run_vgpu(f, "ideal", traces[i], "scheduler=fixed-share", "per_gpu=4");
        assert_int_equal(jct_ns(f, &result, 0), 3997 * MS);
        if (i > 0)
            assert_int_equal(jct_ns(f, &result, 1), 3998 * MS);
    }
}

/* lazy has nothing to run but a kernel of 1 ms now and then. By best effort a has nearly all; by equal
 * share every second turn, although the other one passes unused. */
static void only_best_effort_hands_turns_on(void **state) {
    struct fixture *f = *state;
    static const char text[] = "job_id,submit_s,iterations,gpu_ms,host_gap_ms,duration_s\n"
                               "a,0,,,,1\nlazy,0,40,1,99,4\n";
    struct gsim_result result = run_vgpu(f, "ideal", text, "scheduler=best-effort", "per_gpu=2");
    assert_true(jct_ns(f, &result, 0) <= 1011 * MS); /* 1 s holds 11 kernels of the other one */
    result = run_vgpu(f, "ideal", text, "scheduler=equal-share", "per_gpu=2");
    assert_int_equal(jct_ns(f, &result, 0), 1999 * MS);
}

/* On an H200 the switch from a context that would run on takes 165 us of the next one's turn. Two
 * always have work: of each 4 ms, a has 1.835 ms. The first turn needs no switch. 1000 ms are 2 ms and
 * 543 turns of 1.835 ms and 1.595 ms of a last one: 544 * 4 ms later, and the switch. */
static void a_switch_is_part_of_the_turn(void **state) {
    struct fixture *f = *state;
    static const char text[] = "job_id,submit_s,duration_s\na,0,1\nb,0,9\n";
    struct gsim_result result = run_vgpu(f, "h200", text, "scheduler=equal-share", "per_gpu=4");
    assert_int_equal(jct_ns(f, &result, 0), 544 * 4 * MS + 165000 + 1595000);
    result = run_vgpu(f, "h200", text, "scheduler=fixed-share", "per_gpu=2");
    assert_int_equal(jct_ns(f, &result, 0), 544 * 4 * MS + 165000 + 1595000);
    /* turns of 1 ms: 1000 = 1 + 1196 * 0.835 + 0.34 */
    result = run_vgpu(f, "h200", text, "scheduler=equal-share", "per_gpu=9");
    assert_int_equal(jct_ns(f, &result, 0), 1197 * 2 * MS + 165000 + 340000);
}

/* Two hours of turns of 2 ms, and one in which b is alone: no turns end there. */
static void long_runs_are_skipped_over(void **state) {
    struct fixture *f = *state;
    static const char text[] = "job_id,submit_s,duration_s\na,0,3600\nb,0,7200\n";
    struct gsim_result result = run_vgpu(f, "h200", text, "scheduler=equal-share", "per_gpu=4");
    assert_true(result.summary.skipped > 0.65);
    assert_false(result.summary.approximate);
}

static void what_a_vgpu_cannot_hold_is_refused(void **state) {
    struct fixture *f = *state;
    const char *const sets[] = {"per_gpu=4", NULL}, *const short_slice[] = {"slice=1ms", NULL};
    struct gsim_result result;
    assert_int_equal(read_text(f, "job_id,submit_s,duration_s,mem_gib\na,0,1,30\nb,0,1,40\n"),
                     GSIM_OK);
    struct test_run run = {.trace = &f->trace, .policy = "vgpu", .device = "h200", .sets = sets};
    assert_int_equal(test_try(&run, f->arena, &result, &f->log), GSIM_BAD_INPUT);
    expect_error(f, "3: column 'mem_gib': job 'b' needs more memory than a vGPU has");
    run.sets = short_slice;
    f->log = (struct gsim_log){0};
    assert_int_equal(read_text(f, "job_id,submit_s,duration_s\na,0,1\n"), GSIM_OK);
    assert_int_equal(test_try(&run, f->arena, &result, &f->log), GSIM_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(those_on_a_gpu_share_it_equally), TEST(a_fixed_share_never_changes),
        TEST(only_best_effort_hands_turns_on), TEST(a_switch_is_part_of_the_turn),
        TEST(long_runs_are_skipped_over),      TEST(what_a_vgpu_cannot_hold_is_refused),
    };
    return cmocka_run_group_tests_name("vGPU schedulers", tests, NULL, NULL);
}
