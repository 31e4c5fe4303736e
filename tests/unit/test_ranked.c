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
    int64_t start_s[MOST], end_s[MOST];
    int64_t preemptions;
};

static void check(struct test_run run, const struct expected *due) {
    struct gsim_arena *arena = gsim_arena_new();
    int64_t submit[MOST], service[MOST];
    for (uint32_t i = 0; i < due->n; i++) {
        submit[i] = due->submit_s[i] * S;
        service[i] = due->service_s[i] * S;
    }
    struct gsim_trace trace = test_trace(due->n, submit, service, due->gpus, arena);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_srsf_of_equals_the_last_gives_way),
        cmocka_unit_test(test_what_is_over_at_once_is_no_start),
        cmocka_unit_test(test_las_alternates_from_the_beginning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
