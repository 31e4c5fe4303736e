/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CPUs and memory of hosts beside GPUs (gsim_plan_place_beside): they are never given twice, come back
 * with a rollback and with the end of a job, and need not be counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/runner.h"

static struct gsim_host host(int64_t cpus, int64_t gib) {
    return (struct gsim_host){cpus * 1000, gib * GSIM_GIB};
}

static bool place(struct gsim_plan *plan, gsim_slot job, uint32_t gpu, struct gsim_host each) {
    struct gsim_unit unit = {.gpu = gpu};
    return gsim_plan_place_beside(plan, job, &unit, 1, each);
}

/* Three jobs come to a node of 8 CPUs and 100 GiB; a job that comes later finds all of them free. */
static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    const struct gsim_view *view = ctx->view;
    const gsim_slot *job = view->changes.arrived;
    assert_int_equal(gsim_ask_host(ctx, 0).cpus_milli, 8000);
    assert_int_equal(gsim_ask_host(ctx, 0).mem_bytes, 100 * GSIM_GIB);
    assert_int_equal(gsim_ask_host(ctx, 1).cpus_milli, 0);
    if (view->changes.n_arrived == 1)
        assert_true(place(plan, job[0], 3, host(8, 100)));
    if (view->changes.n_arrived < 3)
        return;
    assert_true(place(plan, job[0], 0, host(6, 10)));
    assert_false(place(plan, job[1], 1, host(3, 10))); /* CPUs */
    assert_false(place(plan, job[1], 1, host(2, 91))); /* memory */
    uint32_t mark = gsim_plan_mark(plan);
    assert_true(place(plan, job[1], 1, host(2, 90)));
    assert_false(place(plan, job[2], 2, host(1, 0)));
    gsim_plan_rollback(plan, mark);
    assert_true(place(plan, job[1], 1, host(1, 90)));
    assert_true(place(plan, job[2], 2, host(1, 0)));
}

static void test_hosts_are_given_once(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    static const int64_t submit[] = {0, 0, 0, 100 * GSIM_NS_PER_S};
    static const int64_t service[] = {GSIM_NS_PER_S, GSIM_NS_PER_S, GSIM_NS_PER_S, GSIM_NS_PER_S};
    static const uint32_t gpus[] = {1, 1, 1, 1};
    struct gsim_trace trace = test_trace(4, submit, service, gpus, arena);
    trace.column[GSIM_COL_MEM_BYTES] = (const int64_t[]){0, 0, 0, 0};
    struct gsim_policy policy = {.name = "beside", .decide = decide};
    const struct gsim_node_group groups[] = {
        {.count = 1, .gpus_per_node = 4, .cpus_milli = 8000, .host_bytes = 100 * GSIM_GIB},
        {.count = 1, .gpus_per_node = 4}};
    struct test_run run = {
        .trace = &trace, .policy = "beside", .custom = &policy, .groups = groups, .n_groups = 2};
    struct gsim_summary summary = test_run(&run, arena).summary;
    assert_int_equal(summary.unfinished, 0);
    gsim_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hosts_are_given_once)};
    return cmocka_run_group_tests_name("beside", tests, NULL, NULL);
}
