/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Public simulators, row by row of ../shared/validation/reference_simulators.csv: what they
 * printed and what gsim computes must be the same number, to the digits that were printed. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/runner.h"

struct row {
    const char *trace, *policy;
    uint32_t nodes, gpus;
    double mean, median, p95, makespan;
    int preemptions;
    const char *set; /* or NULL */
};

/* simulator tiresias; its names fifo, fjf, sjf, shortest, shortest-gpu, dlas-gpu, dlas (seconds),
 * dlas-gpu-100 (a knob), dlas-gpu-gittins */
#define PHILLY "derived/phillyee480_job.csv"
#define GITTINS "index=gittins"
static const struct row tiresias_rows[] = {
    {"tiresias/60_job.csv", "fifo", 2, 4, 1556.4833, 1415.5, 3897.65, 5747, 0, NULL},
    {"tiresias/60_job.csv", "backfill", 2, 4, 715.2667, 150.5, 3388.05, 4806, 0, NULL},
    {"tiresias/60_job.csv", "sjf", 2, 4, 725.7, 146.5, 3388.05, 4806, 8, NULL},
    {"tiresias/60_job.csv", "srtf", 2, 4, 519.8667, 142, 2832.6, 4901, 7, NULL},
    {"tiresias/60_job.csv", "srsf", 2, 4, 563.3833, 146.5, 2994.35, 4962, 13, NULL},
    {"tiresias/60_job.csv", "tiresias", 2, 4, 715.2667, 150.5, 3388.05, 4806, 0, NULL},
    {"tiresias/60_job.csv", "tiresias", 2, 4, 821.2333, 211, 2962.8, 4753, 88, GITTINS},
    {PHILLY, "fifo", 32, 4, 169711.8708, 128701.5, 476582.7, 3491723, 0, NULL},
    {PHILLY, "backfill", 32, 4, 147374.5354, 93314, 481066.7, 3481092, 0, NULL},
    {PHILLY, "sjf", 32, 4, 140423.3104, 66213, 500110.8, 3467240, 68, NULL},
    {PHILLY, "srtf", 32, 4, 130453.7875, 59889.5, 526118.2, 3598963, 204, NULL},
    {PHILLY, "srsf", 32, 4, 129464.6333, 59889.5, 524212.1, 3594657, 152, NULL},
    {PHILLY, "tiresias", 32, 4, 142580.6833, 71606, 500332.65, 3467240, 445, "unit=seconds"},
    {PHILLY, "tiresias", 32, 4, 140443.6854, 74257.5, 481944.25, 3470145, 406, NULL},
    {PHILLY, "tiresias", 32, 4, 139969.4833, 75071.5, 481944.25, 3470145, 517, "knob=100"},
    {PHILLY, "tiresias", 32, 4, 139355.8583, 60371, 576458.65, 3467240, 561, GITTINS},
};

static void check(const char *what, double simulated, double printed, double digits) {
    if (fabs(simulated - printed) > 0.5000001 * digits)
        fail_msg("%s: %.6f simulated, %.6f printed", what, simulated, printed);
}

static void check_tiresias(const struct row *row, struct gsim_arena *arena) {
    const char *path = test_shared(gsim_arena_printf(arena, "traces/%s", row->trace), arena);
    if (!path) {
        gsim_arena_free(arena);
        skip();
    }
    struct gsim_trace trace = test_read(path, arena);
    const char *history = gsim_arena_printf(
        arena, "history=%s", test_shared("traces/tiresias/yarn-gput1000.csv", arena));
    const char *sets[] = {row->set, history, NULL};
    struct test_run run = {.trace = &trace,
                           .policy = row->policy,
                           .sets = row->set ? sets : NULL,
                           .reference = GSIM_REFERENCE_TIRESIAS,
                           .nodes = row->nodes,
                           .gpus_per_node = row->gpus};
    struct gsim_summary s = test_run(&run, arena).summary;
    print_message("# %s %s %s: mean %.4f p95 %.2f preemptions %lld\n", row->trace, row->policy,
                  row->set ? row->set : "", s.jct_mean_s, s.jct_p95_s, (long long)s.preemptions);
    check("mean", s.jct_mean_s, row->mean, 1e-4);
    check("median", s.jct_p50_s, row->median, 1e-4);
    check("p95", s.jct_p95_s, row->p95, 1e-4);
    check("makespan", s.makespan_s, row->makespan, 1e-4);
    assert_int_equal(s.preemptions, row->preemptions);
}

static void test_tiresias(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof tiresias_rows / sizeof *tiresias_rows; i++) {
        struct gsim_arena *arena = gsim_arena_new();
        check_tiresias(&tiresias_rows[i], arena);
        gsim_arena_free(arena);
    }
}

static void check_pai(const char *policy, double mean, double median, double p95, double makespan) {
    struct gsim_arena *arena = gsim_arena_new();
    const char *path = test_shared("traces/derived/openb_pai_effective_7000.csv", arena);
    if (!path) {
        gsim_arena_free(arena);
        skip();
    }
    struct gsim_trace trace = test_read(path, arena);
    struct test_run run = {.trace = &trace,
                           .policy = policy,
                           .reference = GSIM_REFERENCE_PAI,
                           .gpus_per_node = 300,
                           .is_pool = true,
                           .pool_cpus_milli = 6966000};
    struct gsim_summary s = test_run(&run, arena).summary;
    print_message("# pai %s: mean %.4f p95 %.2f makespan %.0f\n", policy, s.jct_mean_s, s.jct_p95_s,
                  s.makespan_s);
    check("mean", s.jct_mean_s, mean, 1e-2);
    check("median", s.jct_p50_s, median, 1e-4);
    check("p95", s.jct_p95_s, p95, 1);
    check("makespan", s.makespan_s, makespan, 1e-4);
    gsim_arena_free(arena);
}

static void test_pai(void **state) {
    (void)state;
    check_pai("sjf", 6546.42, 1737.5, 27353, 125334);
    check_pai("fifo", 15554.41, 13438, 34607, 123085);
}

static void test_helios(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    const char *path = test_shared("traces/derived/phillyee480_job.csv", arena);
    if (!path) {
        gsim_arena_free(arena);
        skip();
    }
    struct gsim_trace trace = test_read(path, arena);
    struct test_run run = {.trace = &trace,
                           .policy = "fifo",
                           .reference = GSIM_REFERENCE_HELIOS,
                           .nodes = 16,
                           .gpus_per_node = 8};
    check("mean", test_run(&run, arena).summary.jct_mean_s, 177108.22, 1e-2);
    gsim_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiresias),
        cmocka_unit_test(test_pai),
        cmocka_unit_test(test_helios),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
