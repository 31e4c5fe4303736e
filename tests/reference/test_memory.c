/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moving memory, against what was measured on an H200: ../shared/validation/h200/pcie.csv. Every
 * row is printed with its error; the bounds are asserted where a bound was promised. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/link.h"
#include "tests/support/runner.h"

static struct gsim_profile h200(struct gsim_arena *arena) {
    static struct gsim_log log;
    struct gsim_profile profile;
    assert_int_equal(gsim_profile_load("h200", arena, &profile, &log), GSIM_OK);
    return profile;
}

/* Opens a table of the H200 and skips its header; skips the test without it. */
static FILE *open_table(const char *name, struct gsim_arena *arena) {
    const char *path = test_shared(gsim_arena_printf(arena, "validation/h200/%s", name), arena);
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file) {
        gsim_arena_free(arena);
        skip();
    }
    char header[512];
    assert_non_null(fgets(header, sizeof header, file));
    return file;
}

static double error_percent(double simulated, double measured) {
    return 100 * (simulated / measured - 1);
}

/* Microseconds of one queued copy in each of the ways that were measured. */
static double copy_us(const struct gsim_copy_rates *rates, const char *direction, int64_t bytes) {
    if (strcmp(direction, "duplex") == 0)
        return (double)gsim_copy_both_ns(rates, GSIM_H2D, bytes, bytes) / 1e3;
    bool is_out = strcmp(direction, "d2h") == 0;
    int64_t sync_ns = strcmp(direction, "h2d_sync") == 0 ? rates->sync_ns : 0;
    return (double)(gsim_copy_ns(rates, is_out ? GSIM_D2H : GSIM_H2D, bytes, bytes) + sync_ns) /
           1e3;
}

static void test_copies_by_size_and_direction(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    FILE *file = open_table("pcie.csv", arena);
    struct gsim_profile profile = h200(arena);
    struct gsim_copy_rates rates = gsim_copy_rates_pinned(&profile, false);
    char direction[32];
    long long bytes;
    double measured_us, gb_per_s;
    int n_bounded = 0;
    while (fscanf(file, "%31[^,],%lld,%lf,%lf\n", direction, &bytes, &measured_us, &gb_per_s) ==
           4) {
        double us = copy_us(&rates, direction, bytes);
        double error = error_percent(us, measured_us);
        bool is_bounded = bytes >= (strcmp(direction, "duplex") == 0 ? GSIM_MIB : 65536);
        print_message("# pcie %-8s %10lld B: %10.3f us, measured %10.3f, error %+5.1f %%%s\n",
                      direction, bytes, us, measured_us, error, is_bounded ? "" : " (no bound)");
        n_bounded += is_bounded;
        if (is_bounded && fabs(error) > 10)
            fail_msg("%s %lld: %.1f %%", direction, bytes, error);
    }
    (void)fclose(file);
    assert_int_equal(n_bounded, 30); /* 3 x 8 sizes from 64 KiB, 6 duplex sizes from 1 MiB */
    gsim_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies_by_size_and_direction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
