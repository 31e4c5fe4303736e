// SPDX-License-Identifier: GPL-3.0-or-later
// Lines without quotes are split without libcsv. A quote in the header sends all of a file through
// libcsv: both ways are to hand over the same fields, rows, misfits and lines, wherever comments,
// spaces, empty lines, carriage returns and the ends of chunks fall.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/random.h"
#include "tests/support/runner.h"
#include "traces/csv.h"

// What the reader says, as text.
struct transcript {
    char *text;
    size_t n, capacity;
    bool takes_misfits;
};

static void say(struct transcript *t, const char *word, int64_t line, const char *text,
                size_t length) {
    if (t->n + length + 64 > t->capacity) {
        t->capacity = 2 * t->capacity + length + 64;
        t->text = realloc(t->text, t->capacity);
        assert_non_null(t->text);
    }
    t->n += (size_t)sprintf(t->text + t->n, "%s %lld <", word, (long long)line);
    memcpy(t->text + t->n, text, length);
    t->n += length;
    t->n += (size_t)sprintf(t->text + t->n, ">\n");
}

static enum gsim_status hear_header(void *arg, const char *const *names, uint32_t n, int64_t line) {
    for (uint32_t i = 0; i < n; i++)
        say(arg, "header", line, names[i], strlen(names[i]));
    return GSIM_OK;
}

static void hear_field(void *arg, uint32_t column, const char *text, size_t length) {
    assert_int_equal(text[length], '\0');
    say(arg, "field", column, text, length);
}

static enum gsim_status hear_row(void *arg, int64_t line) {
    say(arg, "row", line, "", 0);
    return GSIM_OK;
}

static bool hear_misfit(void *arg, int64_t line, uint32_t n, uint32_t n_columns) {
    struct transcript *t = arg;
    say(t, "misfit", line, "", 0);
    say(t, "fields", n, "", 0);
    assert_int_equal(n_columns, 3);
    return t->takes_misfits;
}

static void hear(const char *header, const char *body, size_t n, struct transcript *t) {
    static struct gsim_log log;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_csv_user user = {t, hear_header, hear_field, hear_row, hear_misfit};
    struct gsim_input *input = NULL;
    size_t before = strlen(header);
    char *bytes = malloc(before + n);
    assert_non_null(bytes);
    memcpy(bytes, header, before);
    memcpy(bytes + before, body, n);
    memset(&log, 0, sizeof log);
    assert_int_equal(gsim_input_open_bytes("x.csv", bytes, before + n, arena, &input, &log),
                     GSIM_OK);
    enum gsim_status status = gsim_csv_read(input, &user, arena, &log);
    gsim_input_close(input);
    say(t, "status", status, "", 0);
    say(t, "errors", log.n_errors, "", 0);
    for (int64_t i = 0; i < log.n_errors && i < 8; i++)
        say(t, "error", i, log.errors[i].text, strlen(log.errors[i].text));
    free(bytes);
    gsim_arena_free(arena);
}

static void compare(const char *body, size_t n, bool takes_misfits) {
    struct transcript plain = {.takes_misfits = takes_misfits};
    struct transcript quoted = {.takes_misfits = takes_misfits};
    hear("a,b,c\n", body, n, &plain);
    hear("\"a\",b,c\n", body, n, &quoted);
    if (plain.n != quoted.n || memcmp(plain.text, quoted.text, plain.n) != 0)
        print_message("of: %.*s\nsplit: %.*s\nlibcsv: %.*s\n", n < 400 ? (int)n : 400, body,
                      plain.n < 4000 ? (int)plain.n : 4000, plain.text,
                      quoted.n < 4000 ? (int)quoted.n : 4000, quoted.text);
    assert_int_equal(plain.n, quoted.n);
    assert_memory_equal(plain.text, quoted.text, plain.n);
    free(plain.text);
    free(quoted.text);
}

static void short_texts(void **state) {
    static const char letters[] = "ab,,,, \t#\n\n\nx7.\r";
    struct gsim_random random;
    (void)state;
    gsim_random_begin(&random, 1);
    for (int i = 0; i < 6000; i++) {
        char text[48];
        size_t n = gsim_random_below(&random, sizeof text);
        size_t n_letters = sizeof letters - (i % 2 ? 2 : 1); // every other text has no CR
        for (size_t k = 0; k < n; k++)
            text[k] = letters[gsim_random_below(&random, n_letters)];
        compare(text, n, i % 3);
    }
}

// Lines of all lengths, so that the ends of chunks fall anywhere in them.
static void several_chunks(void **state) {
    enum { BYTES = 2 * GSIM_INPUT_CHUNK + GSIM_INPUT_CHUNK / 2 };
    static const char *const pieces[] = {"1,2,3\n",
                                         "  one , two,\tthree\t\n",
                                         "# note, of a line\n",
                                         "\n",
                                         ",,\n",
                                         "a#b,#,c #\n",
                                         "1,2\n",
                                         "long long long,of,it\n",
                                         "1,2,3\r\n"};
    struct gsim_random random;
    char *text = malloc(BYTES + 64);
    (void)state;
    assert_non_null(text);
    for (uint64_t seed = 1; seed <= (TEST_FEWER > 1 ? 3 : 12); seed++) {
        size_t n = 0;
        gsim_random_begin(&random, seed);
        while (n < BYTES) { // a carriage return here and there, in some of the texts
            size_t which = gsim_random_below(&random, 8);
            if (seed % 3 == 0 && gsim_random_below(&random, 20000) == 0)
                which = 8;
            n += (size_t)sprintf(text + n, "%s", pieces[which]);
        }
        compare(text, n - seed % 2, true);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(short_texts),
                                       cmocka_unit_test(several_chunks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
