/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces that do not say how long an iteration is, or say it twice; and gangs that get fewer GPUs than
 * they ask for. */
#define _XOPEN_SOURCE 700
#include "tests/support/trace_file.h"

#include "tests/support/runner.h"

/* --- iterations of a duration ----------------------------------------------------------------- */

static int64_t iterations(const struct fixture *f, uint32_t job) {
    return gsim_trace_get(&f->trace, GSIM_COL_ITERATIONS, job);
}

static void test_iterations_follow_from_a_duration(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_text(f, "job_id,submit_s,duration_s,gpu_ms,host_ms,host_gap_ms,sync,"
                                  "host_tail_s\n"
                                  "plain,0,10,100,,,,\n" /* 100 */
                                  "rest,1,10.05,100,,,,\n" /* and half of one that is host time */
                                  "gap,2,10,100,,25,,\n" /* 80 of 125 ms */
                                  "host,3,10,100,200,,,\n" /* the slower of the two: 50 */
                                  "kernel,4,12,100,200,,kernel,\n" /* both: 40 */
                                  "tail,5,12,100,,,,2\n" /* 100 and 2 s */
                                  "short,6,0.04,100,,,,\n" /* one, that is cut short */
                                  "unknown,7,10,,,,,\n"),
                     GSIM_OK);
    const int64_t expected[] = {100, 100, 80, 50, 40, 100, 1, -1};
    for (uint32_t job = 0; job < f->trace.n_jobs; job++)
        assert_int_equal(iterations(f, job), expected[job]);
    assert_int_equal(f->trace.service_ns[1], 10 * S + S / 20);
    assert_int_equal(f->trace.service_ns[6], S / 25);
}

static void test_an_assumed_length_gives_them_as_well(void **state) {
    struct fixture *f = *state;
    static const char text[] = "job_id,submit_s,duration_s\na,0,60\nb,0,3600\n";
    put(f, text, strlen(text));
    const char *const assume[] = {"gpu_ms=500", NULL};
    struct gsim_trace_options options = {.assume = assume};
    assert_int_equal(gsim_trace_read(f->path, NULL, &options, f->arena, &f->trace, &f->log),
                     GSIM_OK);
    assert_int_equal(iterations(f, 0), 120);
    assert_int_equal(iterations(f, 1), 7200);
}

/* Behind its one kernel a job without iterations needs no GPU, as behind its last iteration. */
static void test_the_hosts_tail_leaves_the_gpu_to_others(void **state) {
    struct fixture *f = *state;
    static const char *const policies[] = {"timeslice", "mps"};
    assert_int_equal(read_text(f, "job_id,submit_s,duration_s,host_tail_s\na,0,100,40\nb,0,100,\n"),
                     GSIM_OK);
    for (int i = 0; i < 2; i++) {
        struct test_run run = {.trace = &f->trace, .policy = policies[i], .device = "ideal"};
        struct gsim_result result = test_run(&run, f->arena);
        assert_int_equal(result.jobs.end_ns[1], 160 * S);
        assert_true(result.summary.gpu_useful <= 1);
        assert_true(result.summary.gpu_work > 1.2499);
    }
}

/* A job of which all is its host's tail, or that would have a longer one, needs no GPU at all. */
static void test_a_tail_may_be_all_of_a_job(void **state) {
    struct fixture *f = *state;
    static const char *const texts[] = {
        "job_id,submit_s,duration_s,host_tail_s\na,0,100,100\nb,0,100,\n",
        "job_id,submit_s,duration_s,host_tail_s\na,0,100,150\nb,0,100,\n"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(read_text(f, texts[i]), GSIM_OK);
        struct test_run run = {.trace = &f->trace, .policy = "timeslice", .device = "ideal"};
        struct gsim_result result = test_run(&run, f->arena);
        assert_int_equal(result.jobs.end_ns[0], 100 * S);
        assert_int_equal(result.jobs.end_ns[1], 100 * S);
        assert_true(result.summary.gpu_useful > 0.9999 && result.summary.gpu_useful <= 1);
    }
}

/* A row that names its kernels and not their time has no gaps that anybody knows of: two such jobs
 * need the GPU for as long as two that name no kernels, and not for the time between kernels alone. */
static void test_kernels_without_a_time_fill_the_iteration(void **state) {
    struct fixture *f = *state;
    int64_t end_ns[2];
    static const char *const texts[] = {
        "job_id,submit_s,duration_s,iterations,kernels\na,0,10,100,50\nb,0,10,100,50\n",
        "job_id,submit_s,duration_s,iterations\na,0,10,100\nb,0,10,100\n"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(read_text(f, texts[i]), GSIM_OK);
        struct test_run run = {.trace = &f->trace, .policy = "timeslice", .device = "h200"};
        struct gsim_result result = test_run(&run, f->arena);
        assert_true(result.summary.gpu_useful <= 1);
        end_ns[i] = result.jobs.end_ns[1];
    }
    assert_int_equal(end_ns[0], end_ns[1]);
    assert_true(end_ns[0] >= 20 * S);
}

/* Where the host waits for each kernel and the row does not say how many there are, their number is
 * a guess that decides how often two jobs take turns: the result names it. */
static void test_guessed_kernels_are_named(void **state) {
    struct fixture *f = *state;
    static const char *const rows[][2] = {{"iterations,host_ms,sync", "100,20,kernel"},
                                          {"iterations,host_ms,sync,kernels", "100,20,kernel,50"},
                                          {"iterations,host_ms,sync", "100,20,"}};
    for (int i = 0; i < 3; i++) {
        const char *text =
            gsim_arena_printf(f->arena, "job_id,submit_s,duration_s,%s\na,0,10,%s\nb,0,10,%s\n",
                              rows[i][0], rows[i][1], rows[i][1]);
        assert_int_equal(read_text(f, text), GSIM_OK);
        struct test_run run = {.trace = &f->trace, .policy = "timeslice", .device = "h200"};
        struct gsim_result result = test_run(&run, f->arena);
        assert_true((strstr(result.summary.assumed, "kernels=host_ms") != NULL) == (i == 0));
    }
}

/* Read, written and read again, nothing changes: also of a job that is shorter than an iteration. */
static void test_what_follows_is_written(void **state) {
    struct fixture *f = *state;
    assert_int_equal(
        read_text(f, "job_id,submit_s,duration_s,gpu_ms\na,0,10.05,100\nb,0,0.04,100\n"), GSIM_OK);
    FILE *out = fopen(f->path, "w");
    assert_non_null(out);
    gsim_trace_write(&f->trace, out);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(read_put(f), GSIM_OK);
    assert_int_equal(iterations(f, 0), 100);
    assert_int_equal(iterations(f, 1), 1);
    assert_int_equal(f->trace.service_ns[0], 10 * S + S / 20);
}

static void test_both_have_to_agree(void **state) {
    struct fixture *f = *state;
#define HEADER "job_id,submit_s,duration_s,iterations,gpu_ms\n"
    assert_int_equal(read_text(f, HEADER "a,0,49.775,100,500\n"), GSIM_OK); /* 0.9955 of it */
    assert_int_equal(read_text(f, HEADER "a,0,55,100,500\n"), GSIM_OK); /* the host's part */
    assert_int_equal(read_text(f, HEADER "a,0,600,100,500\n"), GSIM_OK); /* twelve times */
    assert_int_equal(read_text(f, HEADER "ok,0,50,100,500\na,1,36,100,500\n"), GSIM_BAD_INPUT);
    expect_error(f, "3: job 'a': duration_s is 36 s, but iterations (100) of gpu_ms (500 ms) and "
                    "the host's part come to 50 s; leave out iterations, in the trace or in "
                    "--assume: they follow from duration_s and gpu_ms");
    assert_int_equal(read_text(f, HEADER "a,0,3600,100,500\n"), GSIM_BAD_INPUT);
    expect_error(f, "2: job 'a': duration_s is 3600 s, but iterations (100) of gpu_ms (500 ms) and "
                    "the host's part come to 50 s, less than a twelfth");
    assert_int_equal(read_text(f, HEADER "a,0,36,9e18,500\n"), GSIM_BAD_INPUT);
#undef HEADER
}

/* --- iterations that are assumed -------------------------------------------------------------- */

static struct gsim_result play(struct fixture *f, const char *text, const char *policy,
                               const char *const *sets) {
    if (read_text(f, text) != GSIM_OK)
        fail_msg("%s", f->log.errors[0].text);
    struct test_run run = {.trace = &f->trace, .policy = policy, .device = "h200", .sets = sets};
    return test_run(&run, f->arena);
}

static bool assumes(const struct gsim_result *result, const char *key) {
    return strstr(result->summary.assumed, key) != NULL;
}

/* Two jobs of 100 GiB on 141 GB. By iterations of 100 * 6.66 ms one gives way to the other for 0.9 s
 * turns; as a single iteration each would run to its end and nothing move. */
#define TOO_MUCH "job_id,submit_s,duration_s,mem_gib\na,0,100,100\nb,0,100,100\n"

static void test_a_job_without_iterations_pages(void **state) {
    struct gsim_result msched = play(*state, TOO_MUCH, "msched", NULL);
    assert_true(msched.summary.turns > 100 && msched.summary.bytes_in > 1000 * GSIM_GIB);
    assert_true(assumes(&msched, "job.iteration_ns_per_gib=6660000 (h200)"));
    struct gsim_result uvm = play(*state, TOO_MUCH, "uvm", NULL);
    assert_true(uvm.summary.bytes_in > 10000 * GSIM_GIB && uvm.summary.jct_mean_s > 1000);
    assert_true(assumes(&uvm, "job.iteration_ns_per_gib="));
}

/* What is said is what is assumed: 150 iterations of 0.666 s, 99.9 s of the 100. */
static void test_the_same_work_with_iterations(void **state) {
    double without = play(*state, TOO_MUCH, "msched", NULL).summary.jct_mean_s;
    double with = play(*state,
                       "job_id,submit_s,duration_s,iterations,mem_gib\n"
                       "a,0,100,150,100\nb,0,100,150,100\n",
                       "msched", NULL)
                      .summary.jct_mean_s;
    assert_true(without == with);
}

/* It never waits, and touches its memory in each iteration all the same: as many turns as one that
 * waits at the end of each. */
static void test_a_job_that_never_waits_has_iterations(void **state) {
#define ROWS(n, sync)                                                                              \
    "job_id,submit_s,iterations,gpu_ms,mem_gib,sync\na,0," n ",100,100," sync "\nb,0," n           \
    ",100,100," sync "\n"
    struct gsim_result waits = play(*state, ROWS("1000", "iteration"), "msched", NULL);
    struct gsim_result none = play(*state, ROWS("1000", "none"), "msched", NULL);
    assert_int_equal(none.summary.turns, waits.summary.turns);
    assert_true(none.summary.bytes_in > 1000 * GSIM_GIB);
    struct gsim_result pages = play(*state, ROWS("100", "none"), "uvm", NULL);
    assert_true(pages.summary.jct_mean_s > 100); /* 200 sweeps of what does not fit */
#undef ROWS
}

/* One that waits for each of its ten kernels sweeps its memory once an iteration, like others. */
static void test_a_job_that_waits_for_kernels_sweeps_once(void **state) {
#define ROWS(sync)                                                                                 \
    "job_id,submit_s,iterations,gpu_ms,mem_gib,kernels,sync\na,0,100,1000,100,10," sync            \
    "\nb,0,100,1000,100,10," sync "\n"
    struct gsim_result iteration = play(*state, ROWS("iteration"), "uvm", NULL);
    struct gsim_result kernel = play(*state, ROWS("kernel"), "uvm", NULL);
    assert_true((double)kernel.summary.bytes_in < 1.05 * (double)iteration.summary.bytes_in);
    assert_true((double)kernel.summary.bytes_in > 0.95 * (double)iteration.summary.bytes_in);
#undef ROWS
}

/* A training of 1000 s without iterations or kernels has some 45000 of these an hour; the service's
 * requests wait for one, and not for its end. */
static void test_the_urgent_wait_for_a_kernel(void **state) {
    static const char text[] = "job_id,submit_s,duration_s,requests,period_ms,gpu_ms,class\n"
                               "serve,0,,1000,50,10,realtime\ntrain,10,1000,,,,batch\n";
    const char *const policies[] = {"xsched", "reef", "chimera"};
    for (int i = 0; i < 3; i++) {
        struct gsim_result result = play(*state, text, policies[i], NULL);
        assert_true(result.summary.latency_p99_s < 0.011);
        assert_true(assumes(&result, "job.iteration_ns=23350000 (h200)"));
        assert_true(assumes(&result, "job.kernels=993 (h200)"));
    }
}

/* The length of a kernel is known here: a stop waits for its end and nothing is assumed of it. */
static void test_a_known_kernel_is_used(void **state) {
    static const char text[] =
        "job_id,submit_s,duration_s,requests,period_ms,gpu_ms,class,kernel_ms\n"
        "serve,0,,100,500,10,realtime,\ntrain,10,100,,,,batch,400\n";
    struct gsim_result result = play(*state, text, "xsched", NULL);
    assert_true(result.summary.latency_p99_s > 0.3 && result.summary.latency_p99_s < 0.42);
    assert_false(assumes(&result, "job.kernels"));
}

/* Slices of 5 s: a stops at the end of the iteration under way. 10 s are 188 of about 8 * 6.66 ms, of
 * 53191489 ns; the 95th ends at 5.053191455, and b starts when a is out, 0.158750991 s later. */
static void test_a_stop_waits_for_the_iteration(void **state) {
    const char *const sets[] = {"slice=5s", NULL};
    struct gsim_result result =
        play(*state, "job_id,submit_s,duration_s,mem_gib\na,0,10,8\nb,2,3,8\n", "gang-rr", sets);
    assert_int_equal(result.jobs.start_ns[1], INT64_C(5053191455) + 158750991);
    assert_true(assumes(&result, "job.iteration_ns_per_gib="));
}

/* Where iterations decide nothing nobody assumes any. */
static void test_nothing_is_assumed_in_vain(void **state) {
    static const char alone[] = "job_id,submit_s,duration_s,mem_gib\na,0,100,100\nb,200,100,100\n";
    static const char small[] = "job_id,submit_s,duration_s,mem_gib\na,0,100,10\nb,1,100,10\n";
    const char *const unpressed[] = {"fifo", "backfill", "sjf"};
    for (int i = 0; i < 3; i++) {
        struct gsim_result queued = play(*state, TOO_MUCH, unpressed[i], NULL);
        assert_false(assumes(&queued, "job."));
    }
    const char *const shared[] = {"timeslice", "mps", "xsched", "tgs"};
    for (int i = 0; i < 4; i++) {
        struct gsim_result result = play(*state, small, shared[i], NULL);
        assert_false(assumes(&result, "job."));
    }
    const char *const paging[] = {"uvm", "msched", "nvshare"};
    for (int i = 0; i < 3; i++) {
        struct gsim_result result = play(*state, alone, paging[i], NULL);
        assert_false(assumes(&result, "job."));
        assert_true(result.jobs.end_ns[0] < 106 * S); /* the first touch of 100 GiB faults */
    }
}

/* The order in which memory is touched decides when turns begin whose memory is moved ahead, and
 * nothing else. */
static void test_the_order_of_touches_is_assumed_where_it_matters(void **state) {
    const char *const off[] = {"early_start=off", NULL};
    struct gsim_result moved = play(*state, TOO_MUCH, "msched", NULL);
    assert_true(assumes(&moved, "job.first_touch_ppm=0"));
    struct gsim_result waits = play(*state, TOO_MUCH, "msched", off);
    assert_false(assumes(&waits, "job.first_touch_ppm"));
    struct gsim_result faults = play(*state, TOO_MUCH, "uvm", NULL);
    assert_false(assumes(&faults, "job.first_touch_ppm"));
}

/* --- fewer GPUs than asked for ---------------------------------------------------------------- */

static bool keeps_rate;

/* Whoever comes gets one GPU. */
static void decide_one_gpu(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    for (uint32_t i = 0; i < ctx->view->changes.n_arrived; i++) {
        gsim_slot slot = ctx->view->changes.arrived[i];
        struct gsim_shape shape = gsim_shape_of(ctx->view, slot, GSIM_RULE_CONSOLIDATE);
        shape.gpus = 1;
        shape.keeps_rate = keeps_rate;
        assert_true(gsim_plan_place(plan, slot, &shape));
    }
}

static struct gsim_result narrow(struct fixture *f, bool keeps) {
    static const struct gsim_policy policy = {.name = "narrow", .decide = decide_one_gpu};
    keeps_rate = keeps;
    assert_int_equal(read_text(f, "job_id,submit_s,duration_s,gpus\na,0,12,4\n"), GSIM_OK);
    struct test_run run = {.trace = &f->trace,
                           .custom = &policy,
                           .policy = "fifo",
                           .device = "h200",
                           .gpus_per_node = 4};
    return test_run(&run, f->arena);
}

/* 12 s of four GPUs are 48 s of one; a quarter of the cluster is held, and all of that is of use. */
static void test_fewer_gpus_are_slower(void **state) {
    struct gsim_result result = narrow(*state, false);
    assert_int_equal(result.jobs.end_ns[0], 48 * S);
    assert_true(result.summary.gpu_busy == 0.25 && result.summary.gpu_useful == 0.25);
    assert_true(assumes(&result, "gang.fewer_ppm=1000000 (h200)"));
}

static void test_a_shape_may_keep_the_rate(void **state) {
    struct gsim_result result = narrow(*state, true);
    assert_int_equal(result.jobs.end_ns[0], 12 * S);
    assert_true(result.summary.gpu_busy == 0.25 && result.summary.gpu_useful == 0.25);
    assert_string_equal(result.summary.assumed, "durations=as on h200 (the trace names no device)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_iterations_follow_from_a_duration),
        TEST(test_an_assumed_length_gives_them_as_well),
        TEST(test_what_follows_is_written),
        TEST(test_the_hosts_tail_leaves_the_gpu_to_others),
        TEST(test_a_tail_may_be_all_of_a_job),
        TEST(test_kernels_without_a_time_fill_the_iteration),
        TEST(test_guessed_kernels_are_named),
        TEST(test_both_have_to_agree),
        TEST(test_a_job_without_iterations_pages),
        TEST(test_the_same_work_with_iterations),
        TEST(test_a_job_that_never_waits_has_iterations),
        TEST(test_a_job_that_waits_for_kernels_sweeps_once),
        TEST(test_the_urgent_wait_for_a_kernel),
        TEST(test_a_known_kernel_is_used),
        TEST(test_a_stop_waits_for_the_iteration),
        TEST(test_nothing_is_assumed_in_vain),
        TEST(test_the_order_of_touches_is_assumed_where_it_matters),
        TEST(test_fewer_gpus_are_slower),
        TEST(test_a_shape_may_keep_the_rate),
    };
    return cmocka_run_group_tests_name("lengths that a trace does not give", tests, NULL, NULL);
}
