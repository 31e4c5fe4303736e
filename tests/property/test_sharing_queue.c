/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The queue of policies that share GPUs. Gangs have whole GPUs there, so that a trace of gangs runs
 * as under fifo, or with queue=backfill as under backfill: every start exact. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "tests/support/runner.h"
#include "sim/base/units.h"
#include "sim/base/wide.h"

#define S GSIM_NS_PER_S
enum { JOBS = 60, RUNS = 20 / TEST_FEWER + 1 };

/* The last three manage memory of gangs as well, whose times then differ from those alone. */
static const char *const sharing[] = {"timeslice", "mps",    "mig",    "vgpu",     "chimera",
                                      "reef",      "xsched", "orion",  "gpreempt", "tally",
                                      "uvm",       "msched", "nvshare"};
#define N_RESIDENT 10
#define N_SHARING (sizeof sharing / sizeof *sharing)

static struct gsim_result run(const char *policy, const char *set, const struct gsim_trace *trace,
                              struct gsim_arena *arena) {
    const char *const sets[] = {set, NULL};
    struct test_run how = {.trace = trace,
                           .policy = policy,
                           .sets = sets,
                           .device = "h200",
                           .nodes = 3,
                           .gpus_per_node = 4};
    return test_run(&how, arena);
}

static void test_gangs(void **state) {
    (void)state;
    static int64_t submit[JOBS], service[JOBS], mem[JOBS];
    static uint32_t gpus[JOBS];
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct gsim_arena *arena = gsim_arena_new();
        uint64_t random = seed;
        int64_t at = 0;
        for (int job = 0; job < JOBS; job++) {
            at += (int64_t)(gsim_mix_next(&random) % 60) * S;
            submit[job] = at;
            service[job] = (int64_t)(1 + gsim_mix_next(&random) % 300) * S;
            gpus[job] = (uint32_t)(2 + gsim_mix_next(&random) % 6);
            mem[job] = GSIM_GIB;
        }
        struct gsim_trace trace = test_trace(JOBS, submit, service, gpus, arena);
        trace.column[GSIM_COL_MEM_BYTES] = mem;
        struct gsim_result fifo = run("fifo", NULL, &trace, arena);
        struct gsim_result backfill = run("backfill", NULL, &trace, arena);
        for (size_t p = 0; p < N_RESIDENT; p++) {
            struct gsim_result strict = run(sharing[p], "queue=fifo", &trace, arena);
            struct gsim_result loose = run(sharing[p], "queue=backfill", &trace, arena);
            for (int job = 0; job < JOBS; job++) {
                assert_int_equal(strict.jobs.start_ns[job], fifo.jobs.start_ns[job]);
                assert_int_equal(loose.jobs.start_ns[job], backfill.jobs.start_ns[job]);
            }
        }
        gsim_arena_free(arena);
    }
}

/* a has one of two GPUs for 100 s; b needs both; c and d need one each for 10 s. In one strict
 * queue they wait for b; passed over b, they share the GPUs with a, or have the idle one. */
static void test_a_gang_at_the_head(void **state) {
    (void)state;
    static const int64_t submit[] = {0, S, 2 * S, 3 * S};
    static const int64_t service[] = {100 * S, 50 * S, 10 * S, 10 * S};
    static const int64_t mem[] = {GSIM_GIB, GSIM_GIB, GSIM_GIB, GSIM_GIB};
    static const uint32_t gpus[] = {1, 2, 1, 1};
    for (size_t p = 0; p < N_SHARING; p++) {
        struct gsim_arena *arena = gsim_arena_new();
        struct gsim_trace trace = test_trace(4, submit, service, gpus, arena);
        trace.column[GSIM_COL_MEM_BYTES] = mem;
        struct test_run how = {
            .trace = &trace, .policy = sharing[p], .device = "h200", .gpus_per_node = 2};
        struct gsim_result strict = test_run(&how, arena);
        how.sets = (const char *const[]){"queue=backfill", NULL};
        struct gsim_result loose = test_run(&how, arena);
        assert_true(strict.jobs.start_ns[2] >= strict.jobs.start_ns[1]);
        assert_true(loose.jobs.start_ns[2] < 10 * S && loose.jobs.start_ns[3] < 10 * S);
        gsim_arena_free(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gangs),
        cmocka_unit_test(test_a_gang_at_the_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
