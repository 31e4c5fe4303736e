/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The suites of `gsim validate`, each row within its bound: what was measured on an H200, what is
 * published, what public simulators print. The suite theory, millions of jobs, is in
 * tests/analytic. */
#define _POSIX_C_SOURCE 200809L
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/app/cli/cli.h"

/* The exit code; what the command prints goes to *text, which the caller frees. */
static int validate(const char *suite, char **text, size_t *n) {
    char *argv[] = {(char[]){"gsim"}, (char[]){"validate"}, strdup(suite), NULL};
    FILE *out = open_memstream(text, n);
    assert_non_null(out);
    struct gsim_io io = {.out = out, .err = out};
    int exit_code = gsim_cli(3, argv, &io);
    assert_int_equal(fclose(out), 0);
    free(argv[2]);
    return exit_code;
}

static void print_misses(char *text) {
    for (char *rest = text, *line = strtok_r(text, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest))
        if (strstr(line, "MISSES") || strncmp(line, "gsim:", 5) == 0)
            print_message("# %s\n", line);
}

static void check_suite(void **state) {
    char *text = NULL;
    size_t n = 0;
    int exit_code = validate(*state, &text, &n);
    const char *summary = strstr(text, "\nsuite ");
    if (summary)
        print_message("# %s", strchr(summary + 1, '\n') + 1);
    if (exit_code != 0)
        print_misses(text);
    free(text);
    assert_int_equal(exit_code, 0);
}

#define SUITE(suite)                                                                               \
    {                                                                                              \
        .name = suite, .test_func = check_suite, .initial_state = (char[]) {                       \
            suite                                                                                  \
        }                                                                                          \
    }
int main(void) {
    const struct CMUnitTest tests[] = {
#ifndef GSIM_SANITIZED
        SUITE("h200"), /* minutes of demand paging there, which test_runs has in small */
#endif
        SUITE("msched"), SUITE("nvshare"), SUITE("preemption"), SUITE("reference"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
