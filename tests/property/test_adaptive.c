/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adaptive preemption against each fixed way, on seeded traces of the specs in experiments/adaptive
 * that nothing was tuned on (seeds 1 to 50 were): never far from the best fixed way, and better than all
 * of them where memory differs from job to job and the way to the host is slow. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "tests/support/runner.h"
#include "traces/generate.h"
#include "traces/spec_read.h"

enum { FIRST = 101, SEEDS = 50 / TEST_FEWER, CHOICES = 6 };

static const char *const choices[CHOICES] = {"choice=auto",   "choice=resident",
                                             "choice=host",   "choice=checkpoint",
                                             "choice=finish", "choice=restart"};

/* 3 GB/s to the host: what copies of memory that is not pinned reach, and about what PCIe 3.0 x4 does.
 * Memory that the driver's checkpoint moves takes the same link. */
static const char *const slow_link[] = {
    "pcie.d2h_bytes_per_s=3e9",           "pcie.h2d_bytes_per_s=3e9",
    "pcie.h2d_reused_bytes_per_s=3e9",    "checkpoint.out_ns_per_gib=394750000",
    "checkpoint.in_ns_per_gib=358000000", NULL};

static double jct_s(const struct gsim_trace *trace, const char *choice,
                    const char *const *device_sets, struct gsim_arena *arena) {
    const char *sets[] = {choice, NULL};
    struct test_run run = {.trace = trace,
                           .policy = "adaptive",
                           .device = "h200",
                           .device_sets = device_sets,
                           .sets = sets};
    return test_run(&run, arena).summary.jct_mean_s;
}

/* Returns the mean of its mean JCTs over that of the best of the fixed ways. most bounds the mean of the
 * ratios of single traces, most_of_one each of them. A slow build has too few traces to judge means. */
static double check_spec(const char *name, const char *const *device_sets, double most,
                         double most_of_one) {
    double sum[CHOICES] = {0}, ratios = 0, worst = 0;
    for (uint64_t seed = FIRST; seed < FIRST + SEEDS; seed++) {
        struct gsim_arena *arena = gsim_arena_new();
        struct gsim_log *log = gsim_arena_alloc(arena, sizeof *log);
        const struct gsim_spec *spec;
        struct gsim_trace trace;
        const char *path = gsim_arena_printf(arena, "experiments/adaptive/%s.ini", name);
        assert_int_equal(gsim_spec_read(path, NULL, arena, &spec, log), GSIM_OK);
        assert_int_equal(gsim_trace_generate(spec, seed, 0, arena, &trace, log), GSIM_OK);
        double best = 0, own = 0;
        for (int c = 0; c < CHOICES; c++) {
            double jct = jct_s(&trace, choices[c], device_sets, arena);
            sum[c] += jct;
            own = c == 0 ? jct : own;
            best = c == 1 || (c > 1 && jct < best) ? jct : best;
        }
        ratios += own / best;
        worst = own / best > worst ? own / best : worst;
        gsim_arena_free(arena);
    }
    double least = sum[1];
    for (int c = 2; c < CHOICES; c++)
        least = sum[c] < least ? sum[c] : least;
    print_message(
        "# %s%s: %.3f of the best fixed way on average, %.3f at worst; %.3f of the best in the "
        "mean\n",
        name, device_sets ? ", slow link" : "", ratios / SEEDS, worst, sum[0] / least);
    assert_true(worst <= most_of_one);
    if (TEST_FEWER > 1)
        return 0;
    assert_true(ratios / SEEDS <= most);
    return sum[0] / least;
}

/* At worst a single trace costs a sixth more, and a quarter more on the slow link. */
static void test_against_fixed_ways(void **state) {
    (void)state;
    assert_true(check_spec("small", NULL, 1.02, 1.20) < 1.015);
    assert_true(check_spec("medium", NULL, 1.02, 1.20) < 1.015);
    assert_true(check_spec("large", NULL, 1.02, 1.20) < 1.015);
    assert_true(check_spec("mixed", NULL, 1.02, 1.20) < 1.015);
}

static void test_it_pays_on_slow_links(void **state) {
    (void)state;
    assert_true(check_spec("mixed", slow_link, 1.05, 1.30) < 0.97);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_fixed_ways),
                                       cmocka_unit_test(test_it_pays_on_slow_links)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
