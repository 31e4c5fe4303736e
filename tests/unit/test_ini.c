/* SPDX-License-Identifier: GPL-3.0-or-later */
/* INI files: what is an entry, on which line it stands, and that nothing is cut in silence. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/ini.h"

struct fixture {
    struct gsim_arena *arena;
    struct gsim_log log;
    struct gsim_ini ini;
};

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    if (!f)
        return -1;
    f->arena = gsim_arena_new();
    *state = f;
    return f->arena ? 0 : -1;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    gsim_arena_free(f->arena);
    free(f);
    return 0;
}

static enum gsim_status read_bytes(struct fixture *f, const char *text, size_t length) {
    f->log = (struct gsim_log){0};
    return gsim_ini_read_text("t.ini", text, length, f->arena, &f->ini, &f->log);
}

static enum gsim_status read_text(struct fixture *f, const char *text) {
    return read_bytes(f, text, strlen(text));
}

static void assert_entry(const struct fixture *f, int i, const char *section, const char *key,
                         const char *value, int64_t line) {
    assert_in_range(i, 0, f->ini.n - 1);
    assert_string_equal(f->ini.entries[i].section, section);
    assert_string_equal(f->ini.entries[i].key, key);
    assert_string_equal(f->ini.entries[i].value, value);
    assert_int_equal(f->ini.entries[i].line, line);
}

static void assert_error(const struct fixture *f, const char *place_and_text) {
    assert_true(f->log.n_errors > 0);
    if (!strstr(f->log.errors[0].text, place_and_text))
        fail_msg("expected '%s' in '%s'", place_and_text, f->log.errors[0].text);
}

static void entries_keep_their_lines(void **state) {
    struct fixture *f = *state;
    assert_int_equal(
        read_text(f, "top = 1\n\n# note\n[a]\nx = 1 ; note\n; note\ny=2 words\n[b]\nx : 3"),
        GSIM_OK);
    assert_int_equal(f->ini.n, 4);
    assert_entry(f, 0, "", "top", "1", 1);
    assert_entry(f, 1, "a", "x", "1", 5);
    assert_entry(f, 2, "a", "y", "2 words", 7);
    assert_entry(f, 3, "b", "x", "3", 9);
}

static void crlf_and_byte_order_mark_are_no_content(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_text(f, "\xEF\xBB\xBF[a]\r\nx = 1\r\n\r\ny = 2\r\n"), GSIM_OK);
    assert_int_equal(f->ini.n, 2);
    assert_entry(f, 0, "a", "x", "1", 2);
    assert_entry(f, 1, "a", "y", "2", 4);
}

static void an_indented_line_continues_the_value(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_text(f, "[a]\nx = 1,2,\n  3,4\n\t| tag\ny = 5\n"), GSIM_OK);
    assert_int_equal(f->ini.n, 2);
    assert_entry(f, 0, "a", "x", "1,2, 3,4 | tag", 2);
    assert_entry(f, 1, "a", "y", "5", 5);
}

/* The same section and key as before, but a heading stands between: two entries. */
static void an_indented_key_after_a_heading_is_a_key(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_text(f, "[a]\nx = 1\n[a]\n  x = 2\n"), GSIM_OK);
    assert_int_equal(f->ini.n, 2);
    assert_entry(f, 1, "a", "x", "2", 4);
}

static enum gsim_status read_once(struct fixture *f, const char *text) {
    assert_int_equal(read_text(f, text), GSIM_OK);
    return gsim_ini_once(&f->ini, f->arena, &f->log);
}

static void a_key_that_stands_twice_is_refused_where_asked(void **state) {
    struct fixture *f = *state;
    char text[2048] = "[a]\n";
    assert_int_equal(read_once(f, "[a]\nx = 1\ny = 1\n[b]\nx = 1\n"), GSIM_OK);
    assert_int_equal(read_once(f, ""), GSIM_OK);
    assert_int_equal(read_once(f, "[a]\nx = 1\n[a]\nx = 2\n"), GSIM_BAD_INPUT);
    assert_error(f, "t.ini:4: key 'x' stands twice in section [a], first in line 2");
    assert_int_equal(read_once(f, "[a]\nx = 1\n[b]\nx = 2\n[a]\nx = 1\n"), GSIM_BAD_INPUT);
    assert_error(f, "t.ini:6: key 'x' stands twice in section [a], first in line 2");
    for (int i = 0; i < 100; i++) /* more keys than a first table would have room for */
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "k%d = 1\n", i);
    assert_int_equal(read_once(f, text), GSIM_OK);
    (void)snprintf(text + strlen(text), sizeof text - strlen(text), "k57 = 2\n");
    assert_int_equal(read_once(f, text), GSIM_BAD_INPUT);
    assert_error(f, "t.ini:102: key 'k57' stands twice in section [a], first in line 59");
}

static void repeated_keys_stay_and_the_last_is_found(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_text(f, "[a]\nx = 1\nx = 2\n"), GSIM_OK);
    assert_int_equal(f->ini.n, 2);
    assert_string_equal(gsim_ini_find(&f->ini, "a", "x")->value, "2");
    assert_null(gsim_ini_find(&f->ini, "b", "x"));
    assert_null(gsim_ini_find(&f->ini, "a", "z"));
}

static void an_empty_file_has_no_entries(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_text(f, ""), GSIM_OK);
    assert_int_equal(f->ini.n, 0);
    assert_int_equal(read_text(f, "\n\n# only notes\n"), GSIM_OK);
    assert_int_equal(f->ini.n, 0);
}

/* "x = " and 194 letters make 198 bytes: the longest line that is taken. */
static void lines_are_taken_whole_or_refused(void **state) {
    struct fixture *f = *state;
    char text[240] = "x = ";
    memset(text + 4, 'v', 194);
    assert_int_equal(read_text(f, text), GSIM_OK);
    assert_int_equal(strlen(f->ini.entries[0].value), 194);
    text[198] = 'v';
    assert_int_equal(read_text(f, text), GSIM_BAD_INPUT);
    assert_error(f, "t.ini:1: the line is longer than 198 bytes");
}

static void names_are_taken_whole_or_refused(void **state) {
    struct fixture *f = *state;
    char text[100];
    (void)snprintf(text, sizeof text, "[a]\n%048d = 1\n", 7);
    assert_int_equal(read_text(f, text), GSIM_OK);
    (void)snprintf(text, sizeof text, "[a]\n%049d = 1\n", 7);
    assert_int_equal(read_text(f, text), GSIM_BAD_INPUT);
    assert_error(f, "t.ini:2: the name of the key is longer");
    (void)snprintf(text, sizeof text, "[%060d]\nx = 1\n", 7);
    assert_int_equal(read_text(f, text), GSIM_BAD_INPUT);
    assert_error(f, "t.ini:2: the name of the section is longer");
}

static void a_nul_byte_is_refused(void **state) {
    struct fixture *f = *state;
    static const char text[] = "[a]\nx = 1\ny = \0 2\n";
    assert_int_equal(read_bytes(f, text, sizeof text - 1), GSIM_BAD_INPUT);
    assert_error(f, "t.ini:3: the line holds a NUL byte");
}

static void what_is_no_entry_is_named_by_its_line(void **state) {
    struct fixture *f = *state;
    assert_int_equal(read_text(f, "[a]\nx = 1\n\njust words\n"), GSIM_BAD_INPUT);
    assert_error(f, "t.ini:4: neither");
    assert_int_equal(read_text(f, "[a\nx = 1\n"), GSIM_BAD_INPUT);
    assert_error(f, "t.ini:1: neither");
}

static void files_that_cannot_be_read_say_why(void **state) {
    struct fixture *f = *state;
    f->log = (struct gsim_log){0};
    assert_int_equal(gsim_ini_read_file("/nonexistent/x.ini", f->arena, &f->ini, &f->log),
                     GSIM_BAD_INPUT);
    assert_error(f, "/nonexistent/x.ini: the file cannot be read: ");
    f->log = (struct gsim_log){0};
    assert_int_equal(gsim_ini_read_file("/", f->arena, &f->ini, &f->log), GSIM_BAD_INPUT);
    assert_error(f, "/: the file cannot be read: not a regular file");
}

static void a_file_reads_as_its_text_does(void **state) {
    struct fixture *f = *state;
    char path[] = "/tmp/gsim_test_ini_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    assert_non_null(file);
    (void)fputs("[a]\nx = 1\n", file);
    assert_int_equal(fclose(file), 0);
    f->log = (struct gsim_log){0};
    enum gsim_status status = gsim_ini_read_file(path, f->arena, &f->ini, &f->log);
    (void)unlink(path);
    assert_int_equal(status, GSIM_OK);
    assert_entry(f, 0, "a", "x", "1", 2);
    assert_string_equal(f->ini.path, path);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(entries_keep_their_lines),
        TEST(crlf_and_byte_order_mark_are_no_content),
        TEST(an_indented_line_continues_the_value),
        TEST(an_indented_key_after_a_heading_is_a_key),
        TEST(a_key_that_stands_twice_is_refused_where_asked),
        TEST(repeated_keys_stay_and_the_last_is_found),
        TEST(an_empty_file_has_no_entries),
        TEST(lines_are_taken_whole_or_refused),
        TEST(names_are_taken_whole_or_refused),
        TEST(a_nul_byte_is_refused),
        TEST(what_is_no_entry_is_named_by_its_line),
        TEST(files_that_cannot_be_read_say_why),
        TEST(a_file_reads_as_its_text_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
