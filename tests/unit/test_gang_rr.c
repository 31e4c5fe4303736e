/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gang-rr: from when a slice counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gsim/units.h"
#include "tests/support/runner.h"

#define S GSIM_NS_PER_S

/* The slice of 10 s counts from when a gang runs, not from when the last one did: 1 runs 100-110 and
 * 120-125, 2 runs 110-120 and 125-130. While it counted on from 0, 2 took the GPU at 101. After the
 * next pause 3 and 4 come at once: 3 runs 200-210 and 220-225, 4 runs 210-220. */
static void test_a_first_gang_has_a_slice(void **state) {
    (void)state;
    enum { N = 5 };
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_trace trace =
        test_trace(N, (const int64_t[]){0, 100 * S, 101 * S, 200 * S, 200 * S},
                   (const int64_t[]){5 * S, 15 * S, 15 * S, 15 * S, 10 * S},
                   (const uint32_t[]){1, 1, 1, 1, 1}, arena);
    trace.column[GSIM_COL_MEM_BYTES] = (const int64_t[]){0, 0, 0, 0, 0};
    static const char *const sets[] = {"slice=10s", "preempt=pause", NULL};
    static const int64_t end_s[] = {5, 125, 130, 225, 220};
    struct test_run run = {.trace = &trace, .policy = "gang-rr", .sets = sets};
    struct gsim_result result = test_run(&run, arena);
    for (int job = 0; job < N; job++)
        assert_int_equal(result.jobs.end_ns[job], end_s[job] * S);
    assert_int_equal(result.summary.preemptions, 3);
    gsim_arena_free(arena);
}

/* Slices of 5 s on one GPU. 0 runs 0-2 in the first row; 2 comes at 2 and takes its place there, for the
 * rest of the slice: 1, in the second row, runs 5-6, and 2 goes on 6-13. While the slice counted
 * from 2, where the gang that began it was gone before the next decide, 1 ran 7-8. */
static void test_a_slice_counts_from_a_gang_that_has_ended(void **state) {
    (void)state;
    enum { N = 3 };
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_trace trace =
        test_trace(N, (const int64_t[]){0, 0, 2 * S}, (const int64_t[]){2 * S, S, 10 * S},
                   (const uint32_t[]){1, 1, 1}, arena);
    trace.column[GSIM_COL_MEM_BYTES] = (const int64_t[]){0, 0, 0};
    static const char *const sets[] = {"slice=5s", "preempt=pause", NULL};
    static const int64_t end_s[] = {2, 6, 13};
    struct test_run run = {.trace = &trace, .policy = "gang-rr", .sets = sets};
    struct gsim_result result = test_run(&run, arena);
    for (int job = 0; job < N; job++)
        assert_int_equal(result.jobs.end_ns[job], end_s[job] * S);
    gsim_arena_free(arena);
}

/* Slices of 10 s on two GPUs. 0 and 1 are the first row, 2 the second, in the column of 0: 0 ends at 1,
 * and 2 runs on beside 1. The second row's turn is 10-20, whatever happens in it: 3, which comes at 12 to
 * the column of 0, runs 20-25 in the first row's turn, and 2 goes on at 25, with 11 s of 30 left. While
 * the slice counted from 1, when 2 had come to run, 3 ran 12-17. */
static void test_a_slice_is_not_before_its_turn(void **state) {
    (void)state;
    enum { N = 4 };
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_trace trace =
        test_trace(N, (const int64_t[]){0, 0, 0, 12 * S}, (const int64_t[]){S, 100 * S, 30 * S, 5 * S},
                   (const uint32_t[]){1, 1, 1, 1}, arena);
    trace.column[GSIM_COL_MEM_BYTES] = (const int64_t[]){0, 0, 0, 0};
    static const char *const sets[] = {"slice=10s", "preempt=pause", NULL};
    static const int64_t end_s[] = {1, 100, 36, 25};
    struct test_run run = {.trace = &trace, .policy = "gang-rr", .sets = sets, .gpus_per_node = 2};
    struct gsim_result result = test_run(&run, arena);
    for (int job = 0; job < N; job++)
        assert_int_equal(result.jobs.end_ns[job], end_s[job] * S);
    gsim_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_first_gang_has_a_slice),
        cmocka_unit_test(test_a_slice_counts_from_a_gang_that_has_ended),
        cmocka_unit_test(test_a_slice_is_not_before_its_turn)};
    return cmocka_run_group_tests_name("gang-rr", tests, NULL, NULL);
}
