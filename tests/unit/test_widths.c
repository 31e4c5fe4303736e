/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs that run on another number of GPUs than they ask for, and change it while they run: how long
 * that takes, and what GPU time is counted. Times on the device ideal, worked out by hand. */
#define _XOPEN_SOURCE 700
#include "tests/support/trace_file.h"

#include "tests/support/runner.h"

/* The first job starts on `first` GPUs and is moved to `then` of them at `at_s`, named or not. */
static struct {
    uint32_t first, then;
    int64_t at_s, looks_s; /* looks_s: when it is asked what it has taken, 0: never */
    enum gsim_keep keep;
    bool is_named;
    int64_t quoted_ns, gpu_time_ns;
} script;

static void place_arrived(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    for (uint32_t i = 0; i < ctx->view->changes.n_arrived; i++) {
        gsim_slot slot = ctx->view->changes.arrived[i];
        struct gsim_shape shape = gsim_shape_of(ctx->view, slot, GSIM_RULE_CONSOLIDATE);
        bool is_first = ctx->view->jobs.index[slot] == 0;
        shape.gpus = is_first ? script.first : shape.gpus;
        assert_true(gsim_plan_place(plan, slot, &shape));
        if (is_first && script.at_s > 0)
            gsim_plan_wake(plan, script.at_s * S);
    }
}

static void move_first(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    const struct gsim_unit last[] = {{.gpu = 3}, {.gpu = 2}, {.gpu = 1}, {.gpu = 0}};
    struct gsim_shape shape = gsim_shape_of(ctx->view, 0, GSIM_RULE_CONSOLIDATE);
    shape.gpus = script.then;
    script.quoted_ns =
        gsim_ask(ctx, 0, GSIM_STOP_ITERATION, GSIM_KEEP_HOST, last, script.then).resume_ns;
    if (script.is_named)
        (void)gsim_plan_move_on(plan, 0, last, script.then, GSIM_STOP_SAVE, script.keep);
    else
        (void)gsim_plan_move(plan, 0, &shape);
    if (script.looks_s > 0)
        gsim_plan_wake(plan, script.looks_s * S);
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    int64_t now_ns = ctx->view->now_ns;
    if (script.at_s > 0 && now_ns == script.at_s * S && script.quoted_ns < 0)
        move_first(ctx, plan);
    if (script.looks_s > 0 && now_ns == script.looks_s * S)
        script.gpu_time_ns = gsim_count(ctx, 0).gpu_time_ns;
    place_arrived(ctx, plan);
}

static const struct gsim_policy policy = {.name = "widths", .decide = decide};

static struct test_run run_of(struct fixture *f, const char *text, const char *rates) {
    struct gsim_trace_options options = {.rates = rates};
    put(f, text, strlen(text));
    assert_int_equal(gsim_trace_read(f->path, NULL, &options, f->arena, &f->trace, &f->log),
                     GSIM_OK);
    script.quoted_ns = script.gpu_time_ns = -1;
    return (struct test_run){
        .trace = &f->trace, .custom = &policy, .policy = "fifo", .gpus_per_node = 4};
}

static bool is_near(double value, double expected) {
    return value > expected - 1e-9 && value < expected + 1e-9;
}

/* 12 s of four GPUs, at an eighth of the speed on one: 1.5 s are done by 12 s. The job is away until
 * 17 s, and ends 10.5 s later. It holds one GPU for 12 s and four for 15.5 s; its work took 12 s of one
 * and 10.5 s of four. */
static void test_a_running_job_gets_more_gpus(void **state) {
    script.first = 1, script.then = 4, script.at_s = 12, script.looks_s = 20;
    script.is_named = false;
    struct test_run run =
        run_of(*state, "job_id,submit_s,duration_s,gpus,rescale_s\na,0,12,4,5\n", NULL);
    const char *const sets[] = {"gang.fewer_ppm=500000", NULL};
    run.device_sets = sets;
    struct gsim_result result = test_run(&run, ((struct fixture *)*state)->arena);
    assert_int_equal(result.jobs.end_ns[0], 27 * S + S / 2);
    assert_int_equal(script.quoted_ns, 5 * S);
    assert_int_equal(script.gpu_time_ns, 24 * S);
    assert_true(is_near(result.summary.gpu_busy, 74.0 / 110));
    assert_true(is_near(result.summary.gpu_work, 54.0 / 110));
    assert_true(is_near(result.summary.switch_s, 20));
    assert_int_equal(result.summary.preemptions, 0);
    assert_int_equal(result.summary.migrations, 1);
}

/* Half of 12 s is done when the job keeps two of its four GPUs; the other job has the two that it
 * leaves from that instant on. */
static void test_it_keeps_some_of_its_own(void **state) {
    script.first = 4, script.then = 2, script.at_s = 6, script.looks_s = 0;
    script.is_named = true, script.keep = GSIM_KEEP_STORAGE;
    struct test_run run =
        run_of(*state, "job_id,submit_s,duration_s,gpus,rescale_s\na,0,12,4,5\nb,6,4,2,\n", NULL);
    struct gsim_result result = test_run(&run, ((struct fixture *)*state)->arena);
    assert_int_equal(result.jobs.end_ns[0], 23 * S);
    assert_int_equal(result.jobs.end_ns[1], 10 * S);
    assert_true(is_near(result.summary.gpu_busy, (6 * 4 + 17 * 2 + 4 * 2) / 92.0));
    assert_true(is_near(result.summary.gpu_work, (6 * 4 + 12 * 2 + 4 * 2) / 92.0));
}

/* Without the column, another width costs what the way of keeping does: nothing on this device. */
static void test_a_move_costs_what_it_keeps(void **state) {
    script.first = 4, script.then = 2, script.at_s = 6, script.looks_s = 0;
    script.is_named = false;
    struct test_run run = run_of(*state, "job_id,submit_s,duration_s,gpus\na,0,12,4\n", NULL);
    struct gsim_result result = test_run(&run, ((struct fixture *)*state)->arena);
    assert_int_equal(result.jobs.end_ns[0], 18 * S);
    assert_int_equal(script.quoted_ns, 0);
}

static void test_memory_does_not_stay_behind(void **state) {
    struct fixture *f = *state;
    struct gsim_result result;
    script.first = 4, script.then = 2, script.at_s = 6, script.looks_s = 0;
    script.is_named = true, script.keep = GSIM_KEEP_RESIDENT;
    struct test_run run = run_of(f, "job_id,submit_s,duration_s,gpus\na,0,12,4\n", NULL);
    assert_int_equal(test_try(&run, f->arena, &result, &f->log), GSIM_FAILED);
    assert_non_null(strstr(f->log.errors[0].text, "a move takes the memory along"));
}

static const char *rates(struct fixture *f, const char *rows) {
    static const char head[] = "device,model,gpus,iterations_per_s\n";
    const char *path = gsim_arena_printf(f->arena, "%s/rates", f->folder);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fprintf(file, "%s%s", head, rows) > 0);
    assert_int_equal(fclose(file), 0);
    return path;
}

/* 100 iterations at 2 a second on four GPUs, at 1 a second on one: 100 s of one GPU, not 50 s of
 * four. */
static void test_gpu_time_is_of_the_gpus_held(void **state) {
    struct fixture *f = *state;
    const char *table = rates(f, "ideal,m,1,1\nideal,m,4,2\n");
    script.first = 1, script.at_s = 0, script.looks_s = 0;
    struct test_run run = run_of(f, "job_id,submit_s,gpus,model,iterations\na,0,4,m,100\n", table);
    struct gsim_result result = test_run(&run, f->arena);
    assert_int_equal(unlink(table), 0);
    assert_int_equal(result.jobs.end_ns[0], 100 * S);
    assert_true(is_near(result.summary.gpu_busy, 0.25));
    assert_true(is_near(result.summary.gpu_work, 0.25));
    assert_true(is_near(result.summary.gpu_useful, 0.25));
}

static void test_a_width_that_the_table_excludes(void **state) {
    struct fixture *f = *state;
    struct gsim_result result;
    const char *table = rates(f, "ideal,m,1,1\nideal,m,2,0\nideal,m,4,2\n");
    script.first = 4, script.then = 2, script.at_s = 6, script.looks_s = 0;
    script.is_named = false;
    struct test_run run = run_of(f, "job_id,submit_s,gpus,model,iterations\na,0,4,m,100\n", table);
    assert_int_equal(test_try(&run, f->arena, &result, &f->log), GSIM_FAILED);
    assert_int_equal(unlink(table), 0);
    assert_non_null(strstr(f->log.errors[0].text, "by the table of speeds"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_a_running_job_gets_more_gpus), TEST(test_it_keeps_some_of_its_own),
        TEST(test_a_move_costs_what_it_keeps),   TEST(test_memory_does_not_stay_behind),
        TEST(test_gpu_time_is_of_the_gpus_held), TEST(test_a_width_that_the_table_excludes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
