/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantities as text: decimals are exact, units are known, what does not fit is said. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/units.h"
#include "traces/cells.h"

static int64_t decimal(const char *text, int64_t scale, enum gsim_parse expected) {
    int64_t value = -77;
    assert_int_equal(gsim_parse_decimal(text, strlen(text), scale, &value), expected);
    return value;
}

static void test_decimals_are_exact(void **state) {
    (void)state;
    assert_int_equal(decimal("0.1", 10, GSIM_PARSE_OK), 1);
    assert_int_equal(decimal("1.234567891", GSIM_NS_PER_S, GSIM_PARSE_OK), 1234567891);
    /* 2^53 + 1 has no double of its own */
    assert_int_equal(decimal("9007199254740993", 1, GSIM_PARSE_OK), INT64_C(9007199254740993));
    assert_int_equal(decimal("9223372036854775807", 1, GSIM_PARSE_OK), INT64_MAX);
    assert_int_equal(decimal("9223372036.854775807", GSIM_NS_PER_S, GSIM_PARSE_OK), INT64_MAX);
    assert_int_equal(decimal("-2.5", 2, GSIM_PARSE_OK), -5);
    assert_int_equal(decimal("+007", 1, GSIM_PARSE_OK), 7);
    assert_int_equal(decimal(".5", 2, GSIM_PARSE_OK), 1);
    assert_int_equal(decimal("5.", 2, GSIM_PARSE_OK), 10);
}

static void test_digits_are_taken_in(void **state) {
    (void)state;
    const char *text = "007.25x";
    int64_t number = 0;
    const char *at = gsim_read_digits(text, &number);
    assert_ptr_equal(at, text + 3);
    assert_int_equal(number, 7);
    at = gsim_read_digits(at + 1, &number); /* behind the others */
    assert_ptr_equal(at, text + 6);
    assert_int_equal(number, 725);
    assert_ptr_equal(gsim_read_digits(at, &number), at);
    assert_int_equal(number, 725);
    number = 0;
    (void)gsim_read_digits("999999999999999999", &number);
    assert_int_equal(number, INT64_C(999999999999999999));
}

/* The short way of cells gives what the long one does, and leaves to it what it cannot read. */
static void test_times_of_cells_are_decimals(void **state) {
    (void)state;
    static const char *const texts[] = {"0",
                                        "00",
                                        "7.25",
                                        "5.",
                                        ".5",
                                        ".",
                                        "",
                                        "1.2.3",
                                        "1..",
                                        "-1",
                                        "+1",
                                        "1e3",
                                        "12a",
                                        "a",
                                        "1 ",
                                        "999999999.999999999",
                                        "0.0000000001",
                                        "1234567890.5",
                                        "123456789.123",
                                        "99999999999999999999"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int64_t fast = -77, slow = -77;
        size_t length = strlen(texts[i]);
        assert_int_equal(gsim_cell_seconds(texts[i], length, &fast),
                         gsim_parse_decimal(texts[i], length, GSIM_NS_PER_S, &slow));
        assert_int_equal(fast, slow);
    }
}

static void test_halves_round_away_from_zero(void **state) {
    (void)state;
    assert_int_equal(decimal("0.5", 1, GSIM_PARSE_OK), 1);
    assert_int_equal(decimal("-0.5", 1, GSIM_PARSE_OK), -1);
    assert_int_equal(decimal("0.4999999999999999999999999", 1, GSIM_PARSE_OK), 0);
    assert_int_equal(decimal("2.5", 1, GSIM_PARSE_OK), 3);
    assert_int_equal(decimal("1.0000000005", GSIM_NS_PER_S, GSIM_PARSE_OK), 1000000001);
    /* a third of a byte of a GiB: 2^30 / 3 = 357913941.33 */
    assert_int_equal(decimal("0.333333333333333333333333333", GSIM_GIB, GSIM_PARSE_OK), 357913941);
}

static void test_exponents(void **state) {
    (void)state;
    assert_int_equal(decimal("1e3", 1, GSIM_PARSE_OK), 1000);
    assert_int_equal(decimal("1.5E-3", GSIM_NS_PER_S, GSIM_PARSE_OK), 1500000);
    assert_int_equal(decimal("0e999999", 1, GSIM_PARSE_OK), 0);
    assert_int_equal(decimal("1e-999999", GSIM_NS_PER_S, GSIM_PARSE_OK), 0);
    /* powers of ten from the 39th on do not fit 128 bits */
    assert_int_equal(
        decimal("111111111111111111111111111111111111e-39", GSIM_NS_PER_S, GSIM_PARSE_OK), 111111);
    assert_int_equal(
        decimal("999999999999999999999999999999999999e-45", GSIM_NS_PER_S, GSIM_PARSE_OK), 1);
    assert_int_equal(
        decimal("999999999999999999999999999999999999e-180", GSIM_NS_PER_S, GSIM_PARSE_OK), 0);
    (void)decimal("1e19", 1, GSIM_PARSE_RANGE);
    (void)decimal("1e999999", 1, GSIM_PARSE_RANGE);
    (void)decimal("1e", 1, GSIM_PARSE_SYNTAX);
    (void)decimal("1e+", 1, GSIM_PARSE_SYNTAX);
}

static void test_what_is_not_a_number(void **state) {
    (void)state;
    static const char *const bad[] = {"",    " 1",  "1 ",  "two", "1.2.3", "--1",  "0x10",
                                      "inf", "nan", "1,5", ".",   "-",     "1e1.5"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        (void)decimal(bad[i], 1, GSIM_PARSE_SYNTAX);
}

static void test_what_does_not_fit(void **state) {
    (void)state;
    (void)decimal("9223372036854775808", 1, GSIM_PARSE_RANGE); /* 2^63 */
    (void)decimal("9223372036.854775808", GSIM_NS_PER_S, GSIM_PARSE_RANGE);
    (void)decimal("99999999999999999999999999999999999999999999", 1, GSIM_PARSE_RANGE);
    (void)decimal("8589934592", GSIM_GIB, GSIM_PARSE_RANGE); /* 2^33 GiB = 2^63 bytes */
    assert_int_equal(decimal("8589934591", GSIM_GIB, GSIM_PARSE_OK), INT64_C(8589934591) << 30);
}

static void test_times(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t ns;
    } good[] = {{"10ms", 10000000},      {"30s", 30000000000},  {"30 s", 30000000000},
                {"2h", 7200000000000},   {"1.5us", 1500},       {"7ns", 7},
                {"1m", 60000000000},     {"1min", 60000000000}, {"1d", 86400000000000},
                {"1w", 604800000000000}, {"2", 2000000000},     {"2.08ms", 2080000}};
    int64_t ns;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(gsim_parse_time(good[i].text, GSIM_NS_PER_S, &ns), GSIM_PARSE_OK);
        assert_int_equal(ns, good[i].ns);
    }
    assert_int_equal(gsim_parse_time("3", GSIM_NS_PER_MS, &ns), GSIM_PARSE_OK);
    assert_int_equal(ns, 3000000);
    assert_int_equal(gsim_parse_time("3parsec", GSIM_NS_PER_S, &ns), GSIM_PARSE_SYNTAX);
    assert_int_equal(gsim_parse_time("3sx", GSIM_NS_PER_S, &ns), GSIM_PARSE_SYNTAX);
    assert_int_equal(gsim_parse_time("300y", GSIM_NS_PER_S, &ns), GSIM_PARSE_SYNTAX);
    assert_int_equal(gsim_parse_time("16000w", GSIM_NS_PER_S, &ns), GSIM_PARSE_RANGE); /* 306 a */
}

static void test_bytes_and_rates(void **state) {
    (void)state;
    int64_t bytes;
    assert_int_equal(gsim_parse_bytes("4GiB", &bytes), GSIM_PARSE_OK);
    assert_int_equal(bytes, INT64_C(4) << 30);
    assert_int_equal(gsim_parse_bytes("16GB", &bytes), GSIM_PARSE_OK);
    assert_int_equal(bytes, INT64_C(16000000000));
    assert_int_equal(gsim_parse_bytes("1.5 KiB", &bytes), GSIM_PARSE_OK);
    assert_int_equal(bytes, 1536);
    assert_int_equal(gsim_parse_bytes("4gib", &bytes), GSIM_PARSE_SYNTAX);
    assert_int_equal(gsim_parse_rate("25.1GB/s", &bytes), GSIM_PARSE_OK);
    assert_int_equal(bytes, INT64_C(25100000000));
    assert_int_equal(gsim_parse_rate("3975.8e9", &bytes), GSIM_PARSE_OK);
    assert_int_equal(bytes, INT64_C(3975800000000));
    assert_int_equal(gsim_parse_rate("25GB", &bytes), GSIM_PARSE_SYNTAX);
}

static void test_ratios_and_whole_numbers(void **state) {
    (void)state;
    int64_t value;
    assert_int_equal(gsim_parse_ppm("5%", &value), GSIM_PARSE_OK);
    assert_int_equal(value, 50000);
    assert_int_equal(gsim_parse_ppm("0.05", &value), GSIM_PARSE_OK);
    assert_int_equal(value, 50000);
    assert_int_equal(gsim_parse_int("-12", &value), GSIM_PARSE_OK);
    assert_int_equal(value, -12);
    assert_int_equal(gsim_parse_int("1.0", &value), GSIM_PARSE_SYNTAX);
    assert_int_equal(gsim_parse_int("1e3", &value), GSIM_PARSE_SYNTAX);
    assert_int_equal(gsim_parse_int("-", &value), GSIM_PARSE_SYNTAX);
    assert_int_equal(gsim_parse_int("9223372036854775808", &value), GSIM_PARSE_RANGE);
}

static void test_seconds_are_written_exactly(void **state) {
    (void)state;
    char text[64];
    assert_int_equal(gsim_format_seconds(text, INT64_C(12345000000), 9), 12);
    assert_string_equal(text, "12.345000000");
    (void)gsim_format_seconds(text, -1, 9);
    assert_string_equal(text, "-0.000000001");
    (void)gsim_format_seconds(text, 999999999, 0);
    assert_string_equal(text, "0");
    (void)gsim_format_seconds(text, INT64_MAX, 9);
    assert_string_equal(text, "9223372036.854775807");
}

static void test_short_forms(void **state) {
    (void)state;
    char text[64];
    (void)gsim_format_time(text, 30 * GSIM_NS_PER_S);
    assert_string_equal(text, "30s");
    (void)gsim_format_time(text, 2080000);
    assert_string_equal(text, "2.08ms");
    (void)gsim_format_bytes(text, 4 * GSIM_GIB);
    assert_string_equal(text, "4GiB");
    (void)gsim_format_ppm(text, 50000);
    assert_string_equal(text, "5%");
}

/* Whatever is written must read as the same value. */
static void test_forms_read_back(void **state) {
    (void)state;
    static const int64_t values[] = {0,
                                     1,
                                     7,
                                     999,
                                     1000,
                                     1001,
                                     123456789,
                                     2080000,
                                     INT64_C(86400000000000),
                                     1536,
                                     1 << 20,
                                     INT64_C(1) << 40,
                                     INT64_C(7200000000001),
                                     INT64_MAX / 4};
    char text[64];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        int64_t value;
        (void)gsim_format_time(text, values[i]);
        assert_int_equal(gsim_parse_time(text, GSIM_NS_PER_S, &value), GSIM_PARSE_OK);
        assert_int_equal(value, values[i]);
        (void)gsim_format_bytes(text, values[i]);
        assert_int_equal(gsim_parse_bytes(text, &value), GSIM_PARSE_OK);
        assert_int_equal(value, values[i]);
        (void)gsim_format_ppm(text, values[i] % 10000000);
        assert_int_equal(gsim_parse_ppm(text, &value), GSIM_PARSE_OK);
        assert_int_equal(value, values[i] % 10000000);
    }
}

/* A bare number is taken only where no other unit is as likely. */
static void test_numbers_without_a_unit(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool is_bare;
        enum gsim_parse size, speed;
    } cases[] = {
        {"5", true, GSIM_PARSE_BARE, GSIM_PARSE_BARE},
        {" 5 ", true, GSIM_PARSE_SYNTAX, GSIM_PARSE_SYNTAX},
        {"0.5", true, GSIM_PARSE_BARE, GSIM_PARSE_BARE},
        {"0", false, GSIM_PARSE_OK, GSIM_PARSE_OK},
        {"5B", false, GSIM_PARSE_OK, GSIM_PARSE_SYNTAX},
        {"5GiB", false, GSIM_PARSE_OK, GSIM_PARSE_SYNTAX},
        {"5B/s", false, GSIM_PARSE_SYNTAX, GSIM_PARSE_OK},
        {"999999", true, GSIM_PARSE_BARE, GSIM_PARSE_BARE},
        {"1e6", true, GSIM_PARSE_BARE, GSIM_PARSE_OK},
        {"1048575", true, GSIM_PARSE_BARE, GSIM_PARSE_OK},
        {"1048576", true, GSIM_PARSE_OK, GSIM_PARSE_OK},
        {"1e30", true, GSIM_PARSE_RANGE, GSIM_PARSE_RANGE},
        {"", false, GSIM_PARSE_SYNTAX, GSIM_PARSE_SYNTAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t value = 0;
        assert_int_equal(gsim_is_bare(cases[i].text), cases[i].is_bare);
        assert_int_equal(gsim_parse_size(cases[i].text, &value), cases[i].size);
        assert_int_equal(gsim_parse_speed(cases[i].text, &value), cases[i].speed);
    }
}

/* 86006720102 / 2^30 = 80.1000... */
static void test_sizes_for_people(void **state) {
    (void)state;
    static const struct {
        int64_t bytes;
        const char *text;
    } cases[] = {
        {86006720102, "80.1GiB"}, {85899345920, "80GiB"}, {1, "1B"},        {0, "0B"},
        {1023, "1023B"},          {1024, "1KiB"},         {1536, "1.5KiB"}, {1048577, "1MiB"},
        {INT64_MAX, "8388608TiB"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[32];
        assert_int_equal(gsim_format_size(text, cases[i].bytes), strlen(cases[i].text));
        assert_string_equal(text, cases[i].text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_without_a_unit),
        cmocka_unit_test(test_sizes_for_people),
        cmocka_unit_test(test_decimals_are_exact),
        cmocka_unit_test(test_digits_are_taken_in),
        cmocka_unit_test(test_times_of_cells_are_decimals),
        cmocka_unit_test(test_halves_round_away_from_zero),
        cmocka_unit_test(test_exponents),
        cmocka_unit_test(test_what_is_not_a_number),
        cmocka_unit_test(test_what_does_not_fit),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_bytes_and_rates),
        cmocka_unit_test(test_ratios_and_whole_numbers),
        cmocka_unit_test(test_seconds_are_written_exactly),
        cmocka_unit_test(test_short_forms),
        cmocka_unit_test(test_forms_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
