/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which jobs give way under policies that rank jobs, and what counts as a start and as a preemption:
 * cases by hand, of those that the plain simulator of tests/plain found. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "gsim/units.h"
#include "tests/support/runner.h"

#define S GSIM_NS_PER_S
enum { MOST = 6 };

/* Jobs in seconds, and what they are to come to. */
struct expected {
    uint32_t n;
    int64_t submit_s[MOST], service_s[MOST];
    uint32_t gpus[MOST];
    int64_t num_nodes[MOST]; /* 0: none asked for */
    int64_t start_s[MOST], end_s[MOST];
    int64_t preemptions;
};

static void check(struct test_run run, const struct expected *due) {
    struct gsim_arena *arena = gsim_arena_new();
    int64_t submit[MOST], service[MOST], num_nodes[MOST];
    for (uint32_t i = 0; i < due->n; i++) {
        submit[i] = due->submit_s[i] * S;
        service[i] = due->service_s[i] * S;
        num_nodes[i] = due->num_nodes[i] > 0 ? due->num_nodes[i] : -1;
    }
    struct gsim_trace trace = test_trace(due->n, submit, service, due->gpus, arena);
    trace.column[GSIM_COL_NUM_NODES] = num_nodes;
    run.trace = &trace;
    struct gsim_result result = test_run(&run, arena);
    for (uint32_t i = 0; i < due->n; i++) {
        assert_int_equal(result.jobs.start_ns[i], due->start_s[i] * S);
        assert_int_equal(result.jobs.end_ns[i], due->end_s[i] * S);
    }
    assert_int_equal(result.summary.preemptions, due->preemptions);
    gsim_arena_free(arena);
}

/* At 4, 0 has 36 s on one GPU left, and 1 has 18 s on two: 36 GPU s each, and 1 is the last in the
 * trace. */
static void test_srsf_of_equals_the_last_gives_way(void **state) {
    (void)state;
    check((struct test_run){.policy = "srsf", .gpus_per_node = 3},
          &(struct expected){.n = 3,
                             .submit_s = {0, 0, 4},
                             .service_s = {40, 22, 5},
                             .gpus = {1, 2, 1},
                             .start_s = {0, 0, 4},
                             .end_s = {40, 27, 9},
                             .preemptions = 1});
}

/* Nodes of four GPUs; 0 and 1 are on the first, 2 and 3 on the second. At 10, 1 and 3 end, and 0 gives
 * way to 5, which needs three GPUs of a node. 4 takes two GPUs of the second node, which 0, with less
 * time left, takes from it at once: 4 has not run, and begins when 5 ends. */
static void test_what_is_over_at_once_is_no_start(void **state) {
    (void)state;
    check((struct test_run){.policy = "srtf", .nodes = 2, .gpus_per_node = 4},
          &(struct expected){.n = 6,
                             .submit_s = {0, 1, 2, 3, 4, 10},
                             .service_s = {100, 9, 20, 7, 1000, 5},
                             .gpus = {2, 2, 2, 2, 2, 3},
                             .start_s = {0, 1, 2, 3, 15, 10},
                             .end_s = {100, 10, 22, 10, 1015, 15},
                             .preemptions = 1});
}

/* All arrive at once. 1 is 5 s ahead of 2 at 10, 2 of 1 at 20, 1 of 2 at 30 and 2 of 1 at 40. */
static void test_las_alternates_from_the_beginning(void **state) {
    (void)state;
    static const char *const sets[] = {"quantum=5s", NULL};
    check((struct test_run){.policy = "las", .sets = sets},
          &(struct expected){.n = 3,
                             .service_s = {5, 20, 60},
                             .gpus = {1, 1, 1},
                             .start_s = {0, 5, 10},
                             .end_s = {5, 45, 85},
                             .preemptions = 4});
}

/* Three nodes of two GPUs; 0 is on the first, 1 has a GPU of each. At 10 the slice of 0 is over, that of
 * 1 is not. 2 wants two GPUs of one node: without 0 none has them. 3 wants one of each of three nodes,
 * which are there without 0: that 2 found no room says nothing of it. 0 goes on when 1 ends, and 2
 * begins when 3 ends. */
static void test_a_gang_that_asks_for_nodes_is_tried_by_itself(void **state) {
    (void)state;
    static const char *const sets[] = {"quantum=10s", NULL};
    check((struct test_run){.policy = "suspend", .nodes = 3, .gpus_per_node = 2, .sets = sets},
          &(struct expected){.n = 4,
                             .submit_s = {0, 5, 9, 10},
                             .service_s = {100, 8, 4, 5},
                             .gpus = {1, 3, 2, 3},
                             .num_nodes = {0, 3, 0, 3},
                             .start_s = {0, 5, 15, 10},
                             .end_s = {103, 13, 19, 15},
                             .preemptions = 1});
}

/* One GPU and slices of 10 s, each of which ends when the next job comes, which has had nothing: 0 has had
 * 10.0004 s when 1 comes, 1 10.0002 s when 2 comes. When 3 comes, less urgent than all, 2 has had
 * 10.0003 s: 0 is first in line, of equal milliseconds, and has had more; 1 has had less, and takes the
 * GPU for the 4.9998 s that it has left. */
static void test_a_job_of_the_same_millisecond_is_tried(void **state) {
    (void)state;
    enum { MS = GSIM_NS_PER_MS };
    static const char *const sets[] = {"quantum=10s", NULL};
    static const int64_t submit[] = {0, 10 * S + 4 * MS / 10, 20 * S + 6 * MS / 10,
                                     30 * S + 9 * MS / 10};
    static const int64_t service[] = {100 * S, 15 * S, 100 * S, S}, priority[] = {0, 0, 0, -1};
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_trace trace = test_trace(4, submit, service, NULL, arena);
    trace.column[GSIM_COL_PRIORITY] = priority;
    struct test_run run = {.policy = "suspend", .gpus_per_node = 1, .sets = sets, .trace = &trace};
    struct gsim_result result = test_run(&run, arena);
    assert_int_equal(result.jobs.end_ns[1], 35 * S + 7 * MS / 10);
    gsim_arena_free(arena);
}

/* A GPU of each node is idle from 0 to 10. 2 waits for two of one node; 3, as wide, asks for one of
 * each and has them at 1. */
static void test_a_gang_speaks_for_those_of_its_wish(void **state) {
    (void)state;
    check((struct test_run){.policy = "srtf", .nodes = 2, .gpus_per_node = 4},
          &(struct expected){.n = 4,
                             .submit_s = {0, 0, 1, 1},
                             .service_s = {10, 10, 20, 30},
                             .gpus = {3, 3, 2, 2},
                             .num_nodes = {1, 1, 1, 2},
                             .start_s = {0, 0, 10, 1},
                             .end_s = {10, 10, 30, 31}});
}

/* Three GPUs and slices of 10 s. 3 pushes out 0 at 10.2, 4 pushes out 1 at 11. When 4 ends at 12, 0 has its
 * GPU, as it has waited longer. 1 has rested at 21 and takes the GPU of 2, which came at 5, for the 4 s that
 * it has left, also where 5, which finds no room, comes to wait behind it at 20.5. */
static void test_gandiva_looks_when_a_job_has_rested(void **state) {
    (void)state;
    enum { MS = GSIM_NS_PER_MS };
    static const char *const sets[] = {"slice=10s", "packing=off", "preempt=restart", NULL};
    static const int64_t submit[] = {0, 0, 5 * S, 10 * S + 200 * MS, 11 * S, 20 * S + 500 * MS};
    static const int64_t service[] = {100 * S, 15 * S, 100 * S, 100 * S, S, S};
    static const uint32_t gpus[] = {1, 1, 1, 1, 1, 3};
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_trace trace = test_trace(6, submit, service, gpus, arena);
    struct test_run run = {.policy = "gandiva", .gpus_per_node = 3, .sets = sets, .trace = &trace};
    struct gsim_result result = test_run(&run, arena);
    assert_int_equal(result.jobs.end_ns[1], 25 * S);
    gsim_arena_free(arena);
}

/* 0 gives its GPU to 2 at 1. When 1 ends at 3, 0 goes on on its GPU, or waits for its own until 2
 * has ended; then 3 has that of 1. */
static void test_paused_jobs_stay_in_place(void **state) {
    (void)state;
    const char *const pause[] = {"preempt=pause", NULL};
    struct test_run run = {.policy = "srtf", .gpus_per_node = 2, .sets = pause};
    struct expected due = {.n = 4,
                           .submit_s = {0, 0, 1, 4},
                           .service_s = {30, 3, 5, 40},
                           .gpus = {1, 1, 1, 1},
                           .start_s = {0, 0, 1, 6},
                           .end_s = {32, 3, 6, 46},
                           .preemptions = 1};
    check(run, &due);
    run.pauses_in_place = true;
    due.start_s[3] = 4;
    due.end_s[0] = 35;
    due.end_s[3] = 44;
    check(run, &due);
}

/* Two nodes of two GPUs. 0 and 1 are on the first, 2 and 3 on the second; the gang 4 has a GPU of
 * each from 5 on, and is gathered on the first when 1 ends at 8: by way of the host in no time, of
 * storage in 1 s and 2 s, as an image in 1 s and 3 s. Where it would begin anew it stays. */
static void check_gathering(const char *preempt, int64_t end_s, uint32_t migrations) {
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_trace trace = test_trace(5, (const int64_t[]){0, 0, 0, 0, S},
                                         (const int64_t[]){5 * S, 8 * S, 5 * S, 50 * S, 20 * S},
                                         (const uint32_t[]){1, 1, 1, 1, 2}, arena);
    const char *const sets[] = {"packing=off", preempt, NULL};
    static const char *const device_sets[] = {"restart.stop_ns=1s", "restart.resume_ns=2s",
                                              "checkpoint.out_ns=1s", "checkpoint.in_ns=3s", NULL};
    struct test_run run = {.trace = &trace,
                           .policy = "gandiva",
                           .sets = sets,
                           .device_sets = device_sets,
                           .nodes = 2,
                           .gpus_per_node = 2};
    struct gsim_result result = test_run(&run, arena);
    assert_int_equal(result.jobs.end_ns[4], end_s * S);
    assert_int_equal(result.summary.migrations, migrations);
    gsim_arena_free(arena);
}

static void test_gandiva_moves_jobs_as_they_are_stopped(void **state) {
    (void)state;
    check_gathering("preempt=suspend", 25, 1);
    check_gathering("preempt=pause", 25, 1);
    check_gathering("preempt=restart", 28, 1);
    check_gathering("preempt=checkpoint", 29, 1);
    check_gathering("preempt=discard", 25, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_srsf_of_equals_the_last_gives_way),
        cmocka_unit_test(test_paused_jobs_stay_in_place),
        cmocka_unit_test(test_what_is_over_at_once_is_no_start),
        cmocka_unit_test(test_las_alternates_from_the_beginning),
        cmocka_unit_test(test_a_gang_that_asks_for_nodes_is_tried_by_itself),
        cmocka_unit_test(test_a_job_of_the_same_millisecond_is_tried),
        cmocka_unit_test(test_a_gang_speaks_for_those_of_its_wish),
        cmocka_unit_test(test_gandiva_looks_when_a_job_has_rested),
        cmocka_unit_test(test_gandiva_moves_jobs_as_they_are_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
