/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arithmetic as text: what it comes to, and what it refuses. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "sim/app/sweep/expression.h"

struct names {
    struct gsim_log log;
    struct gsim_call last;
    int n_calls;
};

/* "seven" is 7, "sum(...)" is how many arguments it has; "other@place" is 100. */
static enum gsim_status value_of(void *arg, const struct gsim_call *call, double *out) {
    struct names *names = arg;
    names->last = *call;
    names->n_calls++;
    *out = call->place ? 100 : strcmp(call->name, "seven") == 0 ? 7 : call->n_arguments;
    return strcmp(call->name, "nobody") == 0
               ? gsim_fail(&names->log, GSIM_BAD_INPUT, NULL, 0, "nobody is called that")
               : GSIM_OK;
}

static enum gsim_status evaluate(const char *text, double *out, struct names *names,
                                 struct gsim_arena *arena) {
    struct gsim_expression expression = {
        .text = text, .file = "t.csv", .line = 3, .value = value_of, .arg = names};
    *names = (struct names){0};
    return gsim_expression_value(&expression, arena, out, &names->log);
}

static void test_values(void **state) {
    static const struct {
        const char *text;
        double value;
    } rows[] = {
        {"1", 1},           {"1 + 2 * 3", 7},    {"(1 + 2) * 3", 9}, {"8 / 2 / 2", 2},
        {"8 - 2 - 2", 4},   {"-3 + 1e1", 7},     {"2 * seven", 14},  {"seven - 0.5", 6.5},
        {"seven-1", 6},     {"count(a b c)", 3}, {"count() + 1", 1}, {"other@place / 4", 25},
        {"-(seven)", -7.0}, {"2 - -seven", 9},   {"2*(3-(1+1))", 2}, {"  1.5e-3*1000 ", 1.5}};
    struct gsim_arena *arena = gsim_arena_new();
    struct names names;
    double value;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        value = NAN;
        assert_int_equal(evaluate(rows[i].text, &value, &names, arena), GSIM_OK);
        if (!(fabs(value - rows[i].value) < 1e-12))
            fail_msg("%s is %g, not %g", rows[i].text, value, rows[i].value);
    }
    assert_int_equal(evaluate("seven / (seven - 7)", &value, &names, arena), GSIM_OK);
    assert_true(isnan(value)); /* no infinity that would be within any bound */
    gsim_arena_free(arena);
}

static void test_calls(void **state) {
    struct gsim_arena *arena = gsim_arena_new();
    struct names names;
    double value;
    (void)state;
    assert_int_equal(evaluate("1e3 * copy_us(h2d  4096)@fast", &value, &names, arena), GSIM_OK);
    assert_int_equal(names.n_calls, 1);
    assert_string_equal(names.last.name, "copy_us");
    assert_int_equal(names.last.n_arguments, 2);
    assert_string_equal(names.last.argument[0], "h2d");
    assert_string_equal(names.last.argument[1], "4096");
    assert_string_equal(names.last.place, "fast");
    gsim_arena_free(arena);
}

static void test_what_is_refused(void **state) {
    static const char *const texts[] = {
        "",         "1 +", "(1",     "1)",     "1 2",        "a(b",
        "a(b (c))", "* 3", "1 // 2", "nobody", "2 * (3 + )", "a(1 2 3 4 5 6 7 8 9 10 11 12 13)"};
    char deep[200];
    struct gsim_arena *arena = gsim_arena_new();
    struct names names;
    double value;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (evaluate(texts[i], &value, &names, arena) != GSIM_BAD_INPUT)
            fail_msg("'%s' is taken", texts[i]);
        assert_int_equal(names.log.n_errors, 1);
    }
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    assert_int_equal(evaluate(deep, &value, &names, arena), GSIM_BAD_INPUT);
    assert_non_null(strstr(names.log.errors[0].text, "t.csv:3: "));
    gsim_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
