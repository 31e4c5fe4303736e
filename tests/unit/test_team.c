/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads that stand by for pieces of work, and GPUs that look ahead on them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "gsim/units.h"
#include "sim/base/team.h"
#include "tests/support/runner.h"

enum { PIECES = 100, LOOPS = 200 };

struct work {
    struct gsim_arena *arena;
    uint32_t n_done[PIECES];
    char *text[PIECES];
};

/* Blocks of one arena from several threads: one that is cut from a chunk, and one that grows. */
static void do_piece(void *arg, uint32_t piece) {
    struct work *work = arg;
    work->n_done[piece]++;
    work->text[piece] = gsim_arena_printf(work->arena, "piece %u", piece);
    char *grown = gsim_arena_grow(work->arena, NULL, 0, 16);
    grown = gsim_arena_grow(work->arena, grown, 16, 4096);
    gsim_arena_drop(work->arena, grown);
}

static void test_each_piece_is_done_once(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct work work = {.arena = arena};
    struct gsim_team *team = gsim_team_new(4, arena);
    gsim_arena_use_threads(arena);
    for (uint32_t loop = 1; loop <= LOOPS; loop++) {
        gsim_team_do(team, loop % PIECES, do_piece, &work);
        for (uint32_t piece = 0; piece < loop % PIECES; piece++) {
            char expected[32];
            (void)snprintf(expected, sizeof expected, "piece %u", piece);
            assert_int_equal(work.n_done[piece], 1);
            assert_string_equal(work.text[piece], expected);
            work.n_done[piece] = 0;
        }
    }
    gsim_team_close(team);
    gsim_team_close(NULL);
    gsim_arena_free(arena);
}

/* A team that never had a loop has no threads to end, and one of a single thread works alone. */
static void test_a_team_may_be_small(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct work work = {.arena = arena};
    gsim_team_close(gsim_team_new(3, arena));
    struct gsim_team *team = gsim_team_new(1, arena);
    gsim_team_do(team, 3, do_piece, &work);
    assert_int_equal(work.n_done[0] + work.n_done[1] + work.n_done[2], 3);
    gsim_team_close(team);
    gsim_arena_free(arena);
}

/* --- a run ------------------------------------------------------------------------------------ */

static int threads_now(void) {
    int n = 0;
    char line[128];
    FILE *file = fopen("/proc/self/status", "r");
    while (file && n == 0 && fgets(line, sizeof line, file))
        if (sscanf(line, "Threads: %d", &n) != 1)
            n = 0;
    if (file)
        (void)fclose(file);
    return n;
}

static void note_threads(void *arg, uint32_t n_done, uint32_t n_jobs) {
    int *most = arg, now = threads_now();
    (void)n_done, (void)n_jobs;
    *most = now > *most ? now : *most;
}

/* Trainings of 1000 iterations and more, three to a GPU, with lengths that have no common cycle; each
 * GPU walks thousands of slices between two ends. */
static struct gsim_trace trainings(struct gsim_arena *arena, uint32_t n) {
    int64_t *submit = gsim_arena_array(arena, n, sizeof *submit);
    int64_t *service = gsim_arena_array(arena, n, sizeof *service);
    int64_t *gpu_ns = gsim_arena_array(arena, n, sizeof *gpu_ns);
    int64_t *host_ns = gsim_arena_array(arena, n, sizeof *host_ns);
    int64_t *iterations = gsim_arena_array(arena, n, sizeof *iterations);
    int64_t *bytes = gsim_arena_array(arena, n, sizeof *bytes);
    uint32_t *gpus = gsim_arena_array(arena, n, sizeof *gpus);
    for (uint32_t job = 0; job < n; job++) {
        submit[job] = job * 7 * GSIM_NS_PER_S;
        gpu_ns[job] = 7000003 + job * 1000033;
        host_ns[job] = 1000003 + job * 100003;
        iterations[job] = 1000 + 300 * job;
        service[job] = iterations[job] * (gpu_ns[job] + host_ns[job]);
        gpus[job] = 1;
    }
    struct gsim_trace trace = test_trace(n, submit, service, gpus, arena);
    trace.column[GSIM_COL_GPU_NS] = gpu_ns;
    trace.column[GSIM_COL_HOST_NS] = host_ns;
    trace.column[GSIM_COL_ITERATIONS] = iterations;
    trace.column[GSIM_COL_MEM_BYTES] = bytes;
    return trace;
}

static void test_threads_change_no_result(void **state) {
    (void)state;
    enum { N = 24, THREADS = 3 };
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_trace trace = trainings(arena, N);
    int before = threads_now(), most = 0;
    struct test_run run = {.trace = &trace, .policy = "timeslice", .device = "h200", .gpus_per_node = 8};
    struct gsim_result alone = test_run(&run, arena);
    run.n_threads = THREADS;
    run.progress = note_threads;
    run.progress_arg = &most;
    struct gsim_result together = test_run(&run, arena);
    for (uint32_t job = 0; job < N; job++)
        assert_int_equal(together.jobs.end_ns[job], alone.jobs.end_ns[job]);
    assert_int_equal(together.summary.turns, alone.summary.turns);
    assert_int_equal(together.steps, alone.steps);
    if (before > 0) /* the system says how many threads there are */
        assert_int_equal(most, before + THREADS - 1);
    assert_int_equal(threads_now(), before);
    gsim_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_piece_is_done_once),
        cmocka_unit_test(test_a_team_may_be_small),
        cmocka_unit_test(test_threads_change_no_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
