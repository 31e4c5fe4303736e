/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Suggestions for typos. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "sim/api/compat.h"
#include "sim/base/text.h"

static void test_distance_counts_edits(void **state) {
    (void)state;
    assert_int_equal(gsim_text_distance("", ""), 0);
    assert_int_equal(gsim_text_distance("fifo", "fifo"), 0);
    assert_int_equal(gsim_text_distance("", "abc"), 3);
    assert_int_equal(gsim_text_distance("kitten", "sitting"), 3); /* the textbook's example */
    assert_int_equal(gsim_text_distance("srtf", "strf"), 1); /* a swap of neighbours */
    assert_int_equal(gsim_text_distance("ca", "abc"), 3); /* a part is edited once at most */
}

static void test_long_words_are_far_from_everything(void **state) {
    (void)state;
    static const char word[] =
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    assert_int_equal(gsim_text_distance(word, "a"), 255);
}

static void test_only_what_is_close_is_suggested(void **state) {
    (void)state;
    static const char *const names[] = {"fifo", "backfill", "srtf", "tiresias"};
    assert_int_equal(gsim_text_suggest("tiresais", names, 4), 3);
    assert_int_equal(gsim_text_suggest("strf", names, 4), 2);
    assert_int_equal(gsim_text_suggest("backfil", names, 4), 1);
    assert_int_equal(gsim_text_suggest("gandiva", names, 4), -1);
    assert_int_equal(gsim_text_suggest("x", names, 4), -1);
    assert_int_equal(gsim_text_suggest("", names, 4), -1);
    assert_int_equal(gsim_text_suggest("fifo", names, 0), -1);
}

/* "a10" is one letter from "a100", but "a100-40" begins so; of two that do, the shorter. */
static void test_a_name_that_begins_so_beats_a_closer_one(void **state) {
    (void)state;
    static const char *const names[] = {"a10", "a100-80x", "a100-40", "p100", "h100-pcie"};
    assert_int_equal(gsim_text_suggest("a100", names, 5), 2);
    assert_int_equal(gsim_text_suggest("H100", names, 5), 4);
    assert_int_equal(gsim_text_suggest("P10O", names, 5), 3);
    assert_int_equal(gsim_text_suggest("a", names, 5), -1); /* a letter begins too much */
    assert_true(gsim_text_abbreviates("A100", "a100-40"));
    assert_false(gsim_text_abbreviates("a100-40x", "a100-40"));
    assert_false(gsim_text_abbreviates("", "a100-40"));
}

static void test_choices_are_whole_words(void **state) {
    (void)state;
    assert_int_equal(gsim_text_choice("short", "short|medium|long"), 0);
    assert_int_equal(gsim_text_choice("long", "short|medium|long"), 2);
    assert_int_equal(gsim_text_choice("lon", "short|medium|long"), -1);
    assert_int_equal(gsim_text_choice("longer", "short|medium|long"), -1);
    assert_int_equal(gsim_text_choice("short|medium", "short|medium|long"), -1);
    assert_int_equal(gsim_text_choice("", "short|medium|long"), -1);
}

/* What is nearly a name is told from what is another word. */
static void test_near_misses(void **state) {
    (void)state;
    static const char *const names[] = {"gpus",  "gpu_ms", "mem_gib", "iterations", "host_ms",
                                        "model", "user",   "vc",      "submit_s"};
    static const struct {
        const char *word;
        int expected;
    } cases[] = {
        {"gpu", 0},         {"GPUs", 0},        {"gups", 0},   {"gpu-ms", 1},
        {"gpu_us", 1},      {"Mem", 2},         {"mem_mb", 2}, {"iter", 3},
        {"itreations", 3},  {"itertion", 3},    {"host", 4},   {"modle", 5},
        {"models", 5},      {"usr", -1},        {"users", 6},  {"vcs", 7},
        {"submitted", -1},  {"submit_time", 8}, {"node", -1},  {"hostname", -1},
        {"model_name", -1}, {"", -1},           {"_", -1},     {"color", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(gsim_text_near_miss(cases[i].word, names, 9), cases[i].expected);
    char word[200];
    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    assert_int_equal(gsim_text_near_miss(word, names, 9), -1);
}

/* The choices of reference= are the names of the simulators, in the order of their numbers. */
static void test_references(void **state) {
    (void)state;
    for (int r = 1; r < GSIM_REFERENCE_COUNT; r++)
        assert_int_equal(
            gsim_text_choice(gsim_compat_of((enum gsim_reference)r)->name, "none|" GSIM_REFERENCES),
            r);
}

/* Names come from files of any encoding; JSON is UTF-8, and has escapes for what would end a text. */
static void test_json_of_any_bytes(void **state) {
    (void)state;
    static const struct {
        const char *text, *piece;
        int length;
    } cases[] = {{"a", "a", 1},
                 {"\"", "\\\"", 1},
                 {"\\", "\\\\", 1},
                 {"\n", "\\u000a", 1},
                 {"\xc3\xab!", "\xc3\xab", 2},
                 {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80", 4},
                 {"\xeb", "\\u00eb", 1}, /* Latin-1 */
                 {"\xc3", "\\u00c3", 1}, /* a character that is cut off */
                 {"\xed\xa0\x80", "\\u00ed", 1}}; /* half of a pair of UTF-16 */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char piece[8];
        assert_int_equal(gsim_text_json(cases[i].text, piece), cases[i].length);
        assert_string_equal(piece, cases[i].piece);
    }
}

static void test_texts_that_are_utf8(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t length;
        bool is_utf8;
    } cases[] = {{"", 0, true},
                 {"a\0b", 3, true},
                 {"\xc3\xab!", 3, true},
                 {"\xc3\xab", 1, false},
                 {"a\xeb!", 3, false},
                 {"\xf0\x9f\x98\x80", 4, true},
                 {"\xe2\x82\xac", 2, false}, /* the end is cut off, though bytes follow */
                 {"\xed\xa0\x80", 3, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(gsim_text_is_utf8(cases[i].text, cases[i].length), cases[i].is_utf8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_that_are_utf8),
        cmocka_unit_test(test_json_of_any_bytes),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_near_misses),
        cmocka_unit_test(test_distance_counts_edits),
        cmocka_unit_test(test_long_words_are_far_from_everything),
        cmocka_unit_test(test_only_what_is_close_is_suggested),
        cmocka_unit_test(test_a_name_that_begins_so_beats_a_closer_one),
        cmocka_unit_test(test_choices_are_whole_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
