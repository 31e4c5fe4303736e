/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adaptive preemption against each fixed way, on fifty seeded traces of each of the specs in
 * experiments/adaptive: never far from the best fixed way, and better than all of them where
 * jobs are mixed. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "tests/support/runner.h"
#include "traces/generate.h"

enum { SEEDS = 50, CHOICES = 5 };

static const char *const choices[CHOICES] = {"choice=auto", "choice=resident", "choice=host",
                                             "choice=checkpoint", "choice=finish"};

static double jct_s(const struct gsim_trace *trace, const char *choice, struct gsim_arena *arena) {
    const char *sets[] = {choice, NULL};
    struct test_run run = {.trace = trace, .policy = "adaptive", .device = "h200", .sets = sets};
    return test_run(&run, arena).summary.jct_mean_s;
}

static void check_spec(const char *name) {
    double sum[CHOICES] = {0}, ratios = 0, worst = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct gsim_arena *arena = gsim_arena_new();
        struct gsim_log *log = gsim_arena_alloc(arena, sizeof *log);
        const struct gsim_generate_spec *spec;
        struct gsim_trace trace;
        const char *path = gsim_arena_printf(arena, "experiments/adaptive/%s.ini", name);
        assert_int_equal(gsim_generate_spec_read(path, arena, &spec, log), GSIM_OK);
        assert_int_equal(gsim_trace_generate(spec, seed, 0, arena, &trace, log), GSIM_OK);
        double best = 0, own = 0;
        for (int c = 0; c < CHOICES; c++) {
            double jct = jct_s(&trace, choices[c], arena);
            sum[c] += jct;
            own = c == 0 ? jct : own;
            best = c == 1 || (c > 1 && jct < best) ? jct : best;
        }
        ratios += own / best;
        worst = own / best > worst ? own / best : worst;
        gsim_arena_free(arena);
    }
    print_message("# %s: %.3f of the best fixed way on average, %.3f at worst\n", name,
                  ratios / SEEDS, worst);
    assert_true(ratios / SEEDS <= 1.02);
    assert_true(worst <= 1.10);
    for (int c = 1; c < CHOICES && strcmp(name, "mixed") == 0; c++)
        assert_true(sum[0] < sum[c]);
}

static void test_against_fixed_ways(void **state) {
    (void)state;
    check_spec("small");
    check_spec("medium");
    check_spec("large");
    check_spec("mixed");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_fixed_ways)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
