/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lanes of one GPU that differ: each halts, ranks and charges its jobs by its own rule, whatever
 * the lane beside it does. Device ideal, where switching is free. */
#define _XOPEN_SOURCE 700
#include "tests/support/trace_file.h"

#include <string.h>

#include "tests/support/runner.h"

enum { MS = 1000000 };

/* Lane 0 goes by priority, under incremental checkpoints; lane 1 has time slices, and no job. */
static const struct gsim_lane lanes[] = {
    {.discipline = GSIM_DISCIPLINE_PRIORITY, .urgent.stop = GSIM_STOP_INCREMENTAL},
    {.discipline = GSIM_DISCIPLINE_RR}};

static bool arrange(struct gsim_plan *plan, const struct gsim_entry *entries, uint32_t n) {
    struct gsim_unit gpu = {0};
    struct gsim_arrangement how = {
        .lanes = lanes, .n_lanes = 2, .entries = entries, .n_entries = n};
    return gsim_plan_arrange(plan, &gpu, 1, &how);
}

static bool place(struct gsim_plan *plan, gsim_slot job) {
    struct gsim_unit gpu = {0};
    return gsim_plan_place_on(plan, job, &gpu, 1);
}

/* All jobs into lane 0; the one that came last goes first. */
static void decide_last_first(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    const struct gsim_view *view = ctx->view;
    struct gsim_entry entries[4];
    uint32_t n = 0;
    for (uint32_t i = 0; i < view->jobs.n_active; i++)
        entries[n++] =
            (struct gsim_entry){.job = view->jobs.active[i],
                                .priority = (int32_t)view->jobs.index[view->jobs.active[i]]};
    if (view->changes.n_arrived > 0)
        assert_true(arrange(plan, entries, n));
    for (uint32_t i = 0; i < view->changes.n_arrived; i++)
        assert_true(place(plan, view->changes.arrived[i]));
}

/* The job that came first becomes the most urgent one when the second comes. */
static void decide_first_first(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    const struct gsim_view *view = ctx->view;
    struct gsim_entry entries[4];
    uint32_t n = 0;
    for (uint32_t i = 0; i < view->jobs.n_active; i++) {
        bool is_first = view->jobs.index[view->jobs.active[i]] == 0;
        entries[n++] = (struct gsim_entry){.job = view->jobs.active[i],
                                           .priority = is_first && view->jobs.n_active > 1 ? 2 : 1};
    }
    if (view->changes.n_arrived > 0)
        assert_true(arrange(plan, entries, n));
    for (uint32_t i = 0; i < view->changes.n_arrived; i++)
        assert_true(place(plan, view->changes.arrived[i]));
}

static struct gsim_result run(struct fixture *f, const char *rows,
                              void (*decide)(struct gsim_ctx *ctx, struct gsim_plan *plan),
                              const char *const *device_sets) {
    struct gsim_policy policy = {.name = "lanes", .shares_gpus = true, .decide = decide};
    char text[512];
    (void)snprintf(text, sizeof text, "job_id,submit_s,iterations,gpu_ms,kernels,class\n%s", rows);
    if (read_text(f, text) != GSIM_OK)
        fail_msg("%s", f->log.errors[0].text);
    struct test_run one = {
        .trace = &f->trace, .policy = "lanes", .custom = &policy, .device_sets = device_sets};
    return test_run(&one, f->arena);
}

/* 1 s of kernels under checkpoints that cost a tenth. */
static void test_a_job_pays_for_the_rule_of_its_own_lane(void **state) {
    static const char *const tenth[] = {"preempt.incremental_ppm=100000", NULL};
    struct gsim_result result = run(*state, "a,0,100,10,10,batch\n", decide_last_first, tenth);
    assert_int_equal(result.jobs.end_ns[0], 1100 * (int64_t)MS);
}

/* Both have 1 s to do. Where the second goes first it ends at 1.5 s; where the first becomes the
 * more urgent one, that ends at 1 s, and the second at 2 s: by turns neither would end so soon. */
static void test_a_rank_counts_in_a_lane_by_priority(void **state) {
    static const char rows[] = "a,0,100,10,10,batch\nb,0.5,100,10,10,batch\n";
    struct gsim_result last = run(*state, rows, decide_last_first, NULL);
    assert_int_equal(last.jobs.end_ns[1], 1500 * (int64_t)MS);
    assert_int_equal(last.jobs.end_ns[0], 2000 * (int64_t)MS);
    struct gsim_result first = run(*state, rows, decide_first_first, NULL);
    assert_int_equal(first.jobs.end_ns[0], 1000 * (int64_t)MS);
    assert_int_equal(first.jobs.end_ns[1], 2000 * (int64_t)MS);
}

/* The job runs in lane 0, which has a tenth of the SMs; when the second comes it is named in lane
 * 1, which has all of them. */
static void decide_move(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    static const struct gsim_lane narrow_and_wide[] = {
        {.discipline = GSIM_DISCIPLINE_RR, .cap_ppm = GSIM_PPM / 10},
        {.discipline = GSIM_DISCIPLINE_RR, .cap_ppm = GSIM_PPM}};
    const struct gsim_view *view = ctx->view;
    struct gsim_unit gpu = {0};
    struct gsim_entry entries[4];
    uint32_t n = 0;
    for (uint32_t i = 0; i < view->jobs.n_active; i++) {
        bool is_first = view->jobs.index[view->jobs.active[i]] == 0;
        entries[n++] = (struct gsim_entry){.job = view->jobs.active[i],
                                           .lane = is_first && view->jobs.n_active > 1};
    }
    struct gsim_arrangement how = {
        .lanes = narrow_and_wide, .n_lanes = 2, .entries = entries, .n_entries = n};
    if (view->changes.n_arrived > 0)
        assert_true(gsim_plan_arrange(plan, &gpu, 1, &how));
    for (uint32_t i = 0; i < view->changes.n_arrived; i++)
        assert_true(place(plan, view->changes.arrived[i]));
}

/* 1 s of work at a tenth of the rate until 0.5 s: 0.95 s are left. The second has 10 ms of work on
 * a tenth of the SMs beside one that fills all of them: there are 1.1 SMs' worth of blocks for each
 * SM, so it gets an eleventh of them and the first one ten, for the 0.11 s that this takes. Rates
 * are rounded down, by less than 100 ns in all. */
static void test_a_running_job_goes_into_another_lane(void **state) {
    static const char rows[] = "a,0,100,10,10,batch\nb,0.5,1,10,10,batch\n";
    struct gsim_result result = run(*state, rows, decide_move, NULL);
    assert_in_range(result.jobs.end_ns[1], 610 * MS, 610 * MS + 100);
    assert_in_range(result.jobs.end_ns[0], 1460 * (int64_t)MS, 1460 * (int64_t)MS + 100);
}

/* The first job has the GPU in turns; when the second comes, lanes beside each other are asked for. */
static void decide_split(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    static const struct gsim_lane two[] = {{.discipline = GSIM_DISCIPLINE_RR},
                                           {.discipline = GSIM_DISCIPLINE_RR}};
    const struct gsim_view *view = ctx->view;
    struct gsim_unit gpu = {0};
    struct gsim_arrangement how = {.lanes = two, .n_lanes = view->jobs.n_active == 1 ? 1 : 2};
    if (view->changes.n_arrived == 0)
        return;
    if (gsim_plan_arrange(plan, &gpu, 1, &how))
        (void)place(plan, view->changes.arrived[0]);
}

static void test_a_gpu_in_turns_is_not_split_below_its_jobs(void **state) {
    struct fixture *f = *state;
    struct gsim_policy policy = {.name = "lanes", .shares_gpus = true, .decide = decide_split};
    assert_int_equal(read_text(f, "job_id,submit_s,duration_s\na,0,2\nb,1,1\n"), GSIM_OK);
    struct test_run one = {.trace = &f->trace, .policy = "lanes", .custom = &policy};
    struct gsim_result result;
    assert_int_equal(test_try(&one, f->arena, &result, &f->log), GSIM_FAILED);
    assert_non_null(strstr(f->log.errors[0].text, "jobs take turns on the whole unit"));
}

/* Turns that pass whether they are used or not, and memory that may take longer than one to move:
 * no job would ever run. */
static void decide_in_vain(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    static const struct gsim_lane strict = {.discipline = GSIM_DISCIPLINE_RR,
                                            .slices.turns = GSIM_TURNS_EQUAL};
    struct gsim_unit gpu = {0};
    struct gsim_arrangement how = {.lanes = &strict, .n_lanes = 1, .memory = GSIM_MEMORY_PROACTIVE};
    if (ctx->view->changes.n_arrived > 0)
        assert_false(gsim_plan_arrange(plan, &gpu, 1, &how));
}

static void test_turns_do_not_pass_before_memory_is_there(void **state) {
    struct fixture *f = *state;
    struct gsim_policy policy = {.name = "lanes", .shares_gpus = true, .decide = decide_in_vain};
    assert_int_equal(read_text(f, "job_id,submit_s,duration_s,mem_gib\na,0,1,1\n"), GSIM_OK);
    struct test_run one = {.trace = &f->trace, .policy = "lanes", .custom = &policy};
    struct gsim_result result;
    assert_int_equal(test_try(&one, f->arena, &result, &f->log), GSIM_FAILED);
    assert_non_null(strstr(f->log.errors[0].text, "ahead of turns that pass unused"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_a_job_pays_for_the_rule_of_its_own_lane),
        TEST(test_a_rank_counts_in_a_lane_by_priority),
        TEST(test_a_running_job_goes_into_another_lane),
        TEST(test_a_gpu_in_turns_is_not_split_below_its_jobs),
        TEST(test_turns_do_not_pass_before_memory_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
