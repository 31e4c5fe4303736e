/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A comparison whose two policies have equal means, in theory: first come, first served, and
 * foreground-background (las.quantum=share), which is as good for exponential work, since neither
 * knows what is left (Kleinrock, Queueing Systems II, 1976, section 4.6). Of comparisons of such a pair
 * one in twenty may find a difference at p < 0.05, with a warm-up too; one that is cut off at one end
 * only finds one far more often. The whole program runs, as gsim compare. */
#define _DEFAULT_SOURCE /* mkstemps */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/app/cli/cli.h"
#include "tests/support/runner.h"

/* Comparisons of each test. Fewer than 50 are too few for a bound. */
enum {
    EQUAL = 200 / TEST_FEWER / (TEST_FEWER_REPEATED > 1 ? 2 : 1),
    ONE_END = 200 / TEST_FEWER_REPEATED
};

static char spec[] = "/tmp/gsim_null_XXXXXX.ini";

static int write_spec(void **state) {
    (void)state;
    int file = mkstemps(spec, 4);
    FILE *out = file < 0 ? NULL : fdopen(file, "w");
    if (!out)
        return -1;
    fputs("[trace]\njobs = 500\nseed = 1\n[arrival]\nprocess = poisson\nload = 0.8\ngpus = 1\n"
          "[duration]\ndistribution = exponential\nmean = 100\n",
          out);
    return fclose(out);
}

static int remove_spec(void **state) {
    (void)state;
    return unlink(spec);
}

/* The p of las against fifo: the last field of the last row. */
static double p_of(const char *seed, const char *cooldown) {
    const char *args[] = {
        "gsim",     "compare", "--policies",      "fifo,las", "--set",      "las.quantum=share",
        "--device", "ideal",   "--gpus-per-node", "1",        "--nodes",    "1",
        "--reps",   "20",      "--warmup",        "20%",      "--cooldown", cooldown,
        "--format", "csv",     "--quiet",         "--jobs",   "1",          "--seed",
        seed,       spec};
    enum { N = sizeof args / sizeof *args };
    char *argv[N + 1] = {NULL}, *text = NULL;
    size_t size = 0;
    for (int i = 0; i < N; i++)
        argv[i] = strdup(args[i]);
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    struct gsim_io io = {.out = out, .err = stderr};
    assert_int_equal(gsim_cli(N, argv, &io), 0);
    (void)fclose(out);
    double p = strtod(strrchr(text, ',') + 1, NULL);
    free(text);
    for (int i = 0; i < N; i++)
        free(argv[i]);
    return p;
}

static double rejected(const char *cooldown, int trials) {
    int n = 0;
    for (int t = 1; t <= trials; t++) {
        char seed[16];
        (void)snprintf(seed, sizeof seed, "%d", t);
        n += p_of(seed, cooldown) < 0.05;
    }
    return (double)n / trials;
}

/* 5 %, give or take twice the standard error: 1.5 % of 200, 2.2 % of 100. */
static void test_equal_policies_differ_in_one_of_twenty(void **state) {
    (void)state;
    double share = rejected("20%", EQUAL), error = sqrt(0.05 * 0.95 / EQUAL);
    if (EQUAL >= 50 && !(fabs(share - 0.05) <= 2 * error))
        fail_msg("%.1f %% rejected", 100 * share);
}

static void test_a_window_with_one_end_flatters_preemption(void **state) {
    (void)state;
    double share = rejected("0", ONE_END);
    if (ONE_END >= 50 && !(share > 0.10))
        fail_msg("only %.1f %% rejected: is there still a window with one end?", 100 * share);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_policies_differ_in_one_of_twenty),
        cmocka_unit_test(test_a_window_with_one_end_flatters_preemption),
    };
    return cmocka_run_group_tests(tests, write_spec, remove_spec);
}
