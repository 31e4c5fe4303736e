/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The walking skeleton: two jobs on one GPU stop, save, resume and replace each other while the
 * other one still saves. A scripted policy drives the real core and the real device model; every
 * time is computed by hand beside the script. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "gsim/device.h"
#include "models/hardware/profile.h"
#include "gsim/run.h"

#define S GSIM_NS_PER_S

/* A device with round numbers: out 8 GiB/s, in 4 GiB/s; everything else is free. */
static struct gsim_profile round_profile(void) {
    struct gsim_profile profile = {.name = "round", .title = "round numbers"};
    profile.value[GSIM_KEY_HBM_BYTES] = 16 * GSIM_GIB;
    profile.value[GSIM_KEY_PCIE_D2H] = 8 * GSIM_GIB;
    profile.value[GSIM_KEY_PCIE_H2D] = 4 * GSIM_GIB;
    profile.value[GSIM_KEY_PCIE_H2D_REUSED] = 4 * GSIM_GIB;
    profile.value[GSIM_KEY_SPEED_MILLI] = 1000;
    for (int key = GSIM_KEY_GANG_NODES_PPM; key <= GSIM_KEY_GANG_SWITCHES_SKEWED_PPM; key++)
        profile.value[key] = GSIM_PPM;
    return profile;
}

/* Job 0: 10 iterations of 1 s; job 1: 4 iterations of 0.5 s. 8 GiB each. */
static const int64_t submit_ns[] = {0, 3 * S + S / 2};
static const int64_t service_ns[] = {10 * S, 2 * S};
static const int64_t iterations[] = {10, 4};
static const int64_t mem_bytes[] = {8 * GSIM_GIB, 8 * GSIM_GIB};
static const uint32_t id_at[] = {0, 2};

static struct gsim_trace two_jobs(void) {
    struct gsim_trace trace = {.path = "two.csv", .format = "native", .n_jobs = 2};
    trace.id_text = "A\0B";
    trace.id_at = id_at;
    trace.first_line = 2;
    trace.submit_ns = submit_ns;
    trace.service_ns = service_ns;
    trace.column[GSIM_COL_ITERATIONS] = iterations;
    trace.column[GSIM_COL_MEM_BYTES] = mem_bytes;
    return trace;
}

static enum gsim_status run_script(const struct gsim_policy *policy, struct gsim_arena *arena,
                                   struct gsim_result *result, struct gsim_log *log) {
    static struct gsim_trace trace;
    static struct gsim_profile profile;
    trace = two_jobs();
    profile = round_profile();
    const struct gsim_profile *profiles[] = {&profile};
    struct gsim_node_group group = {.count = 1, .gpus_per_node = 1, .hbm_bytes = 16 * GSIM_GIB};
    struct gsim_cluster_spec cluster = {
        .groups = &group, .n_groups = 1, .profiles = profiles, .n_profiles = 1};
    struct gsim_run_options options = {.trace = &trace,
                                       .cluster = &cluster,
                                       .policy = policy,
                                       .model = &gsim_model_device,
                                       .device_name = "round",
                                       .until_ns = GSIM_NEVER};
    return gsim_run(&options, arena, result, log);
}

static bool place(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot) {
    struct gsim_shape shape = gsim_shape_of(ctx->view, slot, GSIM_RULE_CONSOLIDATE);
    return gsim_plan_place(plan, slot, &shape);
}

/* --- B takes A's GPU while A saves; A comes back when B is done --------------------------------
 */

static void decide_take_over(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    const struct gsim_view *view = ctx->view;
    const gsim_slot a = 0, b = 1;
    if (view->changes.n_arrived && view->jobs.index[view->changes.arrived[0]] == 0)
        assert_true(place(ctx, plan, a));
    if (view->changes.n_arrived && view->jobs.index[view->changes.arrived[0]] == 1) {
        struct gsim_quote quote = gsim_ask(ctx, a, GSIM_STOP_ITERATION, GSIM_KEEP_HOST, NULL, 0);
        assert_int_equal(quote.stop_ns, S / 2); /* at 3.5 of 1 s iterations */
        assert_int_equal(quote.save_ns, S);
        assert_int_equal(quote.resume_ns, 2 * S);
        assert_int_equal(view->cluster.n_idle_gpus, 0);
        assert_false(place(ctx, plan, b));
        uint32_t mark = gsim_plan_mark(plan);
        assert_true(gsim_plan_preempt(plan, a, GSIM_STOP_ITERATION, GSIM_KEEP_HOST));
        assert_int_equal(view->cluster.n_idle_gpus, 1);
        gsim_plan_rollback(plan, mark);
        assert_int_equal(view->cluster.n_idle_gpus, 0);
        assert_true(gsim_plan_preempt(plan, a, GSIM_STOP_ITERATION, GSIM_KEEP_HOST));
        assert_true(place(ctx, plan, b));
    }
    if (view->changes.n_completed && view->jobs.index[view->changes.completed[0]] == 1)
        assert_true(place(ctx, plan, a));
}

static void test_take_over_while_saving(void **state) {
    (void)state;
    static const struct gsim_policy policy = {.name = "script", .decide = decide_take_over};
    struct gsim_arena *arena = gsim_arena_new();
    static struct gsim_log log;
    struct gsim_result result;
    assert_int_equal(run_script(&policy, arena, &result, &log), GSIM_OK);
    /* A runs 0-3.5, on to its boundary at 4, saves 4-5; B runs 5-7; A restores 7-9, runs its other
     * 6 s until 15. */
    assert_int_equal(result.jobs.start_ns[1], 5 * S);
    assert_int_equal(result.jobs.end_ns[1], 7 * S);
    assert_int_equal(result.jobs.end_ns[0], 15 * S);
    assert_int_equal(result.jobs.preemptions[0], 1);
    assert_int_equal(result.jobs.wait_ns[0], 2 * S); /* 5-7 */
    assert_int_equal(result.jobs.stall_ns[0], 3 * S); /* 4-5 and 7-9 */
    assert_int_equal(result.jobs.wait_ns[1], 3 * S / 2);
    assert_int_equal(result.summary.bytes_out, 8 * GSIM_GIB);
    assert_int_equal(result.summary.bytes_in, 8 * GSIM_GIB);
    assert_true(result.summary.gpu_busy == 1.0);
    gsim_arena_free(arena);
}

/* --- they replace each other, each while the other saves ---------------------------------------
 */

static void decide_replace(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    const struct gsim_view *view = ctx->view;
    const gsim_slot a = 0, b = 1;
    if (view->changes.n_arrived && view->jobs.index[view->changes.arrived[0]] == 0)
        assert_true(place(ctx, plan, a));
    if (view->changes.n_arrived && view->jobs.index[view->changes.arrived[0]] == 1) {
        assert_true(gsim_plan_preempt(plan, a, GSIM_STOP_ITERATION, GSIM_KEEP_HOST));
        assert_true(place(ctx, plan, b));
        gsim_plan_wake(plan, 5 * S + S / 5);
    }
    if (view->now_ns == 5 * S + S / 5 &&
        view->jobs.state[b] == GSIM_RUNNING) { /* B has run 0.2 s; A is held: swap them again */
        assert_int_equal(view->jobs.state[a], GSIM_HELD);
        assert_true(gsim_plan_preempt(plan, b, GSIM_STOP_SAVE, GSIM_KEEP_HOST));
        assert_true(place(ctx, plan, a));
    }
    for (uint32_t i = 0; i < view->changes.n_completed; i++)
        if (view->jobs.index[view->changes.completed[i]] == 0)
            assert_true(place(ctx, plan, b));
}

static void test_replace_each_other(void **state) {
    (void)state;
    static const struct gsim_policy policy = {.name = "script", .decide = decide_replace};
    struct gsim_arena *arena = gsim_arena_new();
    static struct gsim_log log;
    struct gsim_result result;
    assert_int_equal(run_script(&policy, arena, &result, &log), GSIM_OK);
    /* A 0-4, saves 4-5. B 5-5.2, saves 5.2-6.2. A restores 6.2-8.2, runs 6 s to 14.2. B restores
     * 14.2-16.2, runs its other 1.8 s to 18. */
    assert_int_equal(result.jobs.end_ns[0], 14 * S + S / 5);
    assert_int_equal(result.jobs.end_ns[1], 18 * S);
    assert_int_equal(result.summary.preemptions, 2);
    gsim_arena_free(arena);
}

/* --- a job in transition cannot be preempted ----------------------------------------------------
 */

static void decide_too_early(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    const struct gsim_view *view = ctx->view;
    if (view->changes.n_arrived && view->jobs.index[view->changes.arrived[0]] == 0) {
        (void)place(ctx, plan, 0);
    } else if (view->changes.n_arrived) {
        gsim_plan_preempt(plan, 0, GSIM_STOP_ITERATION, GSIM_KEEP_HOST);
        gsim_plan_wake(plan, 4 * S + S / 2);
    } else if (view->now_ns == 4 * S + S / 2) {
        gsim_plan_preempt(plan, 0, GSIM_STOP_SAVE, GSIM_KEEP_HOST);
    }
}

static void test_broken_rule_ends_the_run(void **state) {
    (void)state;
    static const struct gsim_policy policy = {.name = "script", .decide = decide_too_early};
    struct gsim_arena *arena = gsim_arena_new();
    static struct gsim_log log;
    struct gsim_result result;
    assert_int_equal(run_script(&policy, arena, &result, &log), GSIM_FAILED);
    assert_non_null(strstr(log.errors[0].text, "policy 'script' broke a rule at 4.500000000 s"));
    assert_non_null(strstr(log.errors[0].text, "job 'A' (saving)"));
    gsim_arena_free(arena);
}

/* Supposing that a job is over is a question: a plan that leaves it standing is refused whole. */
static void decide_suppose(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    const struct gsim_view *view = ctx->view;
    if (view->changes.n_arrived && view->jobs.index[view->changes.arrived[0]] == 0)
        (void)place(ctx, plan, 0);
    else if (view->changes.n_arrived)
        assert_true(gsim_plan_suppose_over(plan, 0));
}

static void test_a_question_left_standing(void **state) {
    (void)state;
    static const struct gsim_policy policy = {.name = "script", .decide = decide_suppose};
    struct gsim_arena *arena = gsim_arena_new();
    static struct gsim_log log;
    struct gsim_result result;
    assert_int_equal(run_script(&policy, arena, &result, &log), GSIM_FAILED);
    assert_non_null(strstr(log.errors[0].text, "to be rolled back before the decide ends"));
    gsim_arena_free(arena);
}

/* A hook that cannot go on is the last one that is called. */
static void arrive_and_fail(struct gsim_ctx *ctx, gsim_slot slot) {
    if (slot == 1)
        ctx->status = gsim_fail(ctx->log, GSIM_FAILED, NULL, 0, "job B is too much");
}

static void decide_until_then(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    assert_int_equal(ctx->status, GSIM_OK);
    if (ctx->view->changes.n_arrived)
        (void)place(ctx, plan, 0);
}

static void test_a_hook_ends_the_run_at_once(void **state) {
    (void)state;
    static const struct gsim_policy policy = {
        .name = "script", .on_arrival = arrive_and_fail, .decide = decide_until_then};
    struct gsim_arena *arena = gsim_arena_new();
    static struct gsim_log log;
    struct gsim_result result;
    assert_int_equal(run_script(&policy, arena, &result, &log), GSIM_FAILED);
    assert_string_equal(log.errors[0].text, "job B is too much");
    gsim_arena_free(arena);
}

/* --- a pause keeps the memory where it is --------------------------------------------------------
 */

static void decide_pause(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    const struct gsim_view *view = ctx->view;
    if (view->changes.n_arrived && view->jobs.index[view->changes.arrived[0]] == 0) {
        assert_true(place(ctx, plan, 0));
    } else if (view->changes.n_arrived) {
        /* 8 + 8 GiB fit 16: both may be resident. */
        assert_true(gsim_plan_preempt(plan, 0, GSIM_STOP_SAVE, GSIM_KEEP_RESIDENT));
        assert_true(place(ctx, plan, 1));
    }
    if (view->changes.n_completed && view->jobs.index[view->changes.completed[0]] == 1)
        assert_true(place(ctx, plan, 0));
}

static void test_pause(void **state) {
    (void)state;
    static const struct gsim_policy policy = {.name = "script", .decide = decide_pause};
    struct gsim_arena *arena = gsim_arena_new();
    static struct gsim_log log;
    struct gsim_result result;
    assert_int_equal(run_script(&policy, arena, &result, &log), GSIM_OK);
    assert_int_equal(result.jobs.end_ns[1], 5 * S + S / 2); /* free switches: 3.5 + 2 */
    assert_int_equal(result.jobs.end_ns[0], 12 * S);
    assert_int_equal(result.summary.bytes_in, 0);
    assert_int_equal(result.summary.migrations, 0);
    gsim_arena_free(arena);
}

/* --- motion without progress ends the run ------------------------------------------------------- */

static int64_t told_ns;

/* Whatever the first job does in a millisecond is thrown away. */
static void decide_in_vain(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    told_ns = ctx->view->now_ns;
    if (ctx->view->jobs.state[0] == GSIM_RUNNING)
        (void)gsim_plan_preempt(plan, 0, GSIM_STOP_SAVE, GSIM_KEEP_DISCARD);
    else if (ctx->view->jobs.state[0] == GSIM_QUEUED)
        (void)place(ctx, plan, 0);
    gsim_plan_wake(plan, ctx->view->now_ns + S / 1000);
}

static void test_motion_without_progress(void **state) {
    (void)state;
    static const struct gsim_policy policy = {.name = "script", .decide = decide_in_vain};
    struct gsim_arena *arena = gsim_arena_new();
    static struct gsim_log log;
    struct gsim_result result;
    assert_int_equal(run_script(&policy, arena, &result, &log), GSIM_FAILED);
    assert_non_null(
        strstr(log.errors[0].text, "moves 2 jobs about, and none has got anything done"));
    /* From the second job's arrival on, after 3.5 s, a heartbeat comes after 2 x 1024 such stops,
     * one each ms; the second one finds nothing new. */
    assert_true(told_ns < 8 * S);
    gsim_arena_free(arena);
}

/* The first job is stopped at each third instant, after 3 ms of its 8 s, and begins anew:
 * heartbeats see 0, 1 or 2 ms of work. */
static void decide_anew(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    if (ctx->view->jobs.state[0] == GSIM_QUEUED)
        (void)place(ctx, plan, 0);
    else if (ctx->view->now_ns % (3 * S / 1000) == 0)
        (void)gsim_plan_preempt(plan, 0, GSIM_STOP_SAVE, GSIM_KEEP_DISCARD);
    gsim_plan_wake(plan, ctx->view->now_ns + S / 1000);
}

static void test_work_done_again_is_no_progress(void **state) {
    (void)state;
    static const struct gsim_policy policy = {.name = "script", .decide = decide_anew};
    struct gsim_arena *arena = gsim_arena_new();
    static struct gsim_log log;
    struct gsim_result result;
    assert_int_equal(run_script(&policy, arena, &result, &log), GSIM_FAILED);
    assert_non_null(strstr(log.errors[0].text, "Each stop discards what a job has done"));
    gsim_arena_free(arena);
}

/* --- an arrangement that is undone leaves the number of clients as it was ---------------------- */

static void decide_arrange(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    static const struct gsim_unit gpu = {0, 0};
    static const struct gsim_lane any = {.discipline = GSIM_DISCIPLINE_PS};
    static const struct gsim_lane turns = {.discipline = GSIM_DISCIPLINE_RR};
    const struct gsim_arrangement wide = {.lanes = &any, .n_lanes = 1};
    const struct gsim_arrangement narrow = {.lanes = &turns, .n_lanes = 1, .max_clients = 3};
    const struct gsim_view *view = ctx->view;
    if (view->now_ns == 0)
        assert_true(gsim_plan_arrange(plan, &gpu, 1, &wide));
    assert_int_equal(view->cluster.client_limit[0], UINT32_MAX);
    uint32_t mark = gsim_plan_mark(plan);
    assert_true(gsim_plan_arrange(plan, &gpu, 1, &narrow));
    assert_int_equal(view->cluster.client_limit[0], 3);
    gsim_plan_rollback(plan, mark);
    assert_int_equal(view->cluster.client_limit[0], UINT32_MAX);
    for (uint32_t i = 0; i < view->changes.n_arrived; i++)
        assert_true(gsim_plan_place_on(plan, view->changes.arrived[i], &gpu, 1));
}

static void test_arrangement_undone(void **state) {
    (void)state;
    static const struct gsim_policy policy = {.name = "script", .decide = decide_arrange};
    struct gsim_arena *arena = gsim_arena_new();
    static struct gsim_log log;
    struct gsim_result result;
    assert_int_equal(run_script(&policy, arena, &result, &log), GSIM_OK);
    assert_int_equal(result.summary.unfinished, 0);
    gsim_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_take_over_while_saving),
        cmocka_unit_test(test_arrangement_undone),
        cmocka_unit_test(test_replace_each_other),
        cmocka_unit_test(test_broken_rule_ends_the_run),
        cmocka_unit_test(test_pause),
        cmocka_unit_test(test_motion_without_progress),
        cmocka_unit_test(test_work_done_again_is_no_progress),
        cmocka_unit_test(test_a_question_left_standing),
        cmocka_unit_test(test_a_hook_ends_the_run_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
