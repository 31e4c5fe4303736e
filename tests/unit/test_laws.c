/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules that hold of any run (sim/study/laws.h) find results that break them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "sim/study/laws.h"
#include "sim/study/small.h"
#include "sim/app/setup/setup.h"
#include "tests/support/runner.h"

struct fixture {
    struct gsim_arena *arena;
    struct gsim_log *log;
    struct gsim_trace trace;
    struct gsim_result result;
    struct gsim_holdings holdings;
    struct gsim_run_facts facts;
};

static int setup(void **state) {
    struct gsim_arena *arena = gsim_arena_new();
    struct fixture *f = gsim_arena_alloc(arena, sizeof *f);
    f->arena = arena;
    f->log = gsim_arena_alloc(arena, sizeof *f->log);
    if (!gsim_small_draw(3, GSIM_NS_PER_S, arena, &f->trace))
        return -1;
    gsim_holdings_open(&f->holdings, arena);
    struct test_run run = {.trace = &f->trace,
                           .policy = "fifo",
                           .nodes = 2,
                           .gpus_per_node = gsim_setup_widest_gang(&f->trace),
                           .observer = &f->holdings.observer};
    f->result = test_run(&run, arena);
    f->facts = (struct gsim_run_facts){
        .policy = "fifo", .n_gpus = (uint32_t)f->result.summary.gpus, .holdings = &f->holdings};
    *state = f;
    return 0;
}

static int teardown(void **state) {
    gsim_arena_free(((struct fixture *)*state)->arena);
    return 0;
}

static void expect(struct fixture *f, const char *pattern) {
    *f->log = (struct gsim_log){0};
    enum gsim_status status = gsim_laws_check(&f->result, &f->facts, f->arena, f->log);
    assert_int_equal(status, pattern ? GSIM_FAILED : GSIM_OK);
    if (pattern && !strstr(f->log->errors[0].text, pattern))
        fail_msg("'%s' is not in '%s'", pattern, f->log->errors[0].text);
}

/* A copy of a column with one cell changed. */
static int64_t *changed(struct fixture *f, const int64_t *column, uint32_t job, int64_t value) {
    int64_t *copy = gsim_arena_array(f->arena, f->trace.n_jobs, sizeof *copy);
    memcpy(copy, column, f->trace.n_jobs * sizeof *copy);
    copy[job] = value;
    return copy;
}

static void test_a_sound_result(void **state) {
    expect(*state, NULL);
}

static void test_a_lost_job(void **state) {
    struct fixture *f = *state;
    f->result.jobs.end_ns = changed(f, f->result.jobs.end_ns, 5, -1);
    expect(f, "lost job 'j5'");
}

static void test_a_job_before_its_time(void **state) {
    struct fixture *f = *state;
    f->result.jobs.start_ns = changed(f, f->result.jobs.start_ns, 5, f->trace.submit_ns[5] - 1);
    expect(f, "job 'j5' started before it was submitted");
}

static void test_times_that_do_not_add_up(void **state) {
    struct fixture *f = *state;
    f->result.jobs.wait_ns = changed(f, f->result.jobs.wait_ns, 5, f->result.jobs.wait_ns[5] + 1);
    expect(f, "job 'j5' took");
    f->facts.is_shared = true; /* more than its time is no better */
    expect(f, "job 'j5' took");
    f->holdings.is_resized = true; /* on more GPUs its work takes less time */
    expect(f, NULL);
}

static void test_work_from_nowhere(void **state) {
    struct fixture *f = *state;
    f->result.summary.gpu_work = f->result.summary.gpu_busy + 0.01;
    expect(f, "GPUs were held for");
}

/* A job that starts with the first of a full cluster. */
static void test_more_gpus_than_there_are(void **state) {
    struct fixture *f = *state;
    f->facts.n_gpus = 3;
    expect(f, "jobs held more than the 3 GPUs");
}

static void test_a_crowded_gpu(void **state) {
    struct fixture *f = *state;
    struct gsim_unit unit = {.gpu = 1};
    struct gsim_change on = {.now_ns = GSIM_NS_PER_S,
                             .job = 1,
                             .from = GSIM_QUEUED,
                             .to = GSIM_RUNNING,
                             .is_on = true,
                             .gpus = f->trace.gpus[1],
                             .share_ppm = (uint32_t)GSIM_PPM,
                             .units = &unit,
                             .n_units = 1};
    f->holdings.observer.change(&f->holdings, &on);
    expect(f, NULL);
    on.job = 2;
    on.gpus = f->trace.gpus[2];
    f->holdings.observer.change(&f->holdings, &on);
    expect(f, "more than all of GPU 1 at 1.000000000 s");
}

static void test_runs_that_differ(void **state) {
    struct fixture *f = *state;
    struct gsim_result again = f->result;
    assert_int_equal(gsim_laws_equal(&f->result, &again, f->log), GSIM_OK);
    again.jobs.end_ns = changed(f, again.jobs.end_ns, 5, again.jobs.end_ns[5] + 1);
    assert_int_equal(gsim_laws_equal(&f->result, &again, f->log), GSIM_FAILED);
    assert_non_null(strstr(f->log->errors[0].text, "not deterministic: job 'j5'"));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_a_sound_result),        TEST(test_a_lost_job),
        TEST(test_a_job_before_its_time), TEST(test_times_that_do_not_add_up),
        TEST(test_work_from_nowhere),     TEST(test_more_gpus_than_there_are),
        TEST(test_a_crowded_gpu),         TEST(test_runs_that_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
