/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program that embeds the library may write its numbers with commas: the library's have points,
 * in what it reads and in what it says. The language is made into a folder of the test's own. */
#define _XOPEN_SOURCE 700
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/base/decimal.h"
#include "traces/estimate.h"
#include "traces/rates.h"
#include "traces/values.h"

static char folder[] = "/tmp/gsim-language-XXXXXX";

/* Whether the process writes commas now. */
static bool speak_german(void) {
    char command[160];
    (void)snprintf(command, sizeof command,
                   "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
    int status = system(command); /* warnings make it end with 1 */
    (void)setenv("LOCPATH", folder, 1);
    return status != -1 && setlocale(LC_NUMERIC, "de_DE.UTF-8") != NULL;
}

static int begin(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state) {
    char command[64];
    (void)state;
    (void)setlocale(LC_NUMERIC, "C");
    (void)unsetenv("LOCPATH");
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static void write_file(char path[64], const char *text) {
    (void)snprintf(path, 64, "%s/table.csv", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void test_commas(void **state) {
    char text[32], path[64], *rest;
    (void)state;
    if (!speak_german())
        skip();
    (void)snprintf(text, sizeof text, "%.1f", 2.5);
    assert_string_equal(text, "2,5");
    assert_true(gsim_decimal_read("2.5,", &rest) * 2 == 5 && strcmp(rest, ",") == 0);
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_log *log = gsim_arena_alloc(arena, sizeof *log);
    assert_string_equal(gsim_arena_printf(arena, "%.1f", 2.5), "2.5");
    gsim_warn(log, NULL, 0, "%.1f s", 2.5);
    assert_string_equal(log->warnings[0].text, "2.5 s");

    struct gsim_estimate estimate;
    assert_int_equal(gsim_estimate_read("duration x lognormal(0.5, 0.25)", arena, &estimate, log),
                     GSIM_OK);
    assert_string_equal(estimate.text, "duration x lognormal(0.5, 0.25)");
    assert_true(estimate.dist.param[1] * 4 == 1);
    const double *value;
    uint32_t n;
    write_file(path, "1.5\n2.5\n");
    assert_int_equal(gsim_values_read(path, NULL, arena, &value, &n, log), GSIM_OK);
    assert_true(n == 2 && value[0] * 2 == 3 && value[1] * 2 == 5);
    struct gsim_rates *rates;
    write_file(path, "device,model,gpus,iterations_per_s\nh200,m,1,2.5\n");
    assert_int_equal(gsim_rates_read(path, arena, &rates, log), GSIM_OK);

    (void)snprintf(text, sizeof text, "%.1f", 2.5);
    assert_string_equal(text, "2,5"); /* the process has its language still */
    gsim_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_commas)};
    return cmocka_run_group_tests(tests, begin, end);
}
