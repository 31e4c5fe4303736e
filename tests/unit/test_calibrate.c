/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the rounds of a calibration come to: medians, spreads, and when a key has had enough of them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim/calibrate/calibrate.h"

static struct gsim_measurement *opened(struct gsim_arena *arena, struct gsim_log *log) {
    struct gsim_measurement *m = gsim_arena_alloc(arena, sizeof *m);
    assert_non_null(m);
    *m = (struct gsim_measurement){.arena = arena, .log = log, .part = 1};
    return m;
}

static void put_all(struct gsim_measurement *m, const double *value, int n) {
    for (int i = 0; i < n; i++)
        gsim_measured_put(m, GSIM_KEY_PCIE_D2H, value[i], "copies");
}

/* Of 1, 2, ..., 9 the median is 5 and the middle half lies between 3 and 7: 80 % of it. */
static void the_middle_half_is_the_spread(void **state) {
    struct gsim_log log = {0};
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_measurement *m = opened(arena, &log);
    const double value[] = {9, 1, 8, 2, 7, 3, 6, 4, 5};
    (void)state;
    put_all(m, value, 9);
    assert_true(gsim_rounds_spread(&m->of[GSIM_KEY_PCIE_D2H].rounds) > 0.799);
    assert_true(gsim_rounds_spread(&m->of[GSIM_KEY_PCIE_D2H].rounds) < 0.801);
    gsim_measured_settle(m);
    assert_string_equal(m->of[GSIM_KEY_PCIE_D2H].text, "5");
    assert_string_equal(m->of[GSIM_KEY_PCIE_D2H].how,
                        "copies; median of 9 rounds, middle half within 80.0 %");
    assert_int_equal(log.n_warnings, 1);
    gsim_arena_free(arena);
}

/* One copy in five at four fifths of the speed, as on an H100 whose host was busy, moves nothing. */
static void one_slow_round_does_not_matter(void **state) {
    struct gsim_log log = {0};
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_measurement *m = opened(arena, &log);
    const double value[] = {55.1e9, 43.2e9, 55.2e9, 55.1e9, 55.0e9};
    (void)state;
    put_all(m, value, 4);
    assert_false(gsim_part_is_steady(m, 1)); /* five rounds are the least */
    put_all(m, value + 4, 1);
    assert_true(gsim_part_is_steady(m, 1));
    gsim_measured_settle(m);
    assert_string_equal(m->of[GSIM_KEY_PCIE_D2H].text, "55100000000");
    assert_int_equal(log.n_warnings, 0);
    gsim_arena_free(arena);
}

static void a_part_waits_for_its_slowest_key(void **state) {
    struct gsim_log log = {0};
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_measurement *m = opened(arena, &log);
    (void)state;
    for (int i = 0; i < GSIM_ROUNDS_LEAST; i++) {
        gsim_measured_put(m, GSIM_KEY_PCIE_H2D, 50e9, "copies");
        gsim_measured_put_point(m, 4, 300e9, "a copy");
        gsim_measured_put_point(m, 8, i % 2 ? 500e9 : 600e9, "a copy");
    }
    m->part = 2;
    assert_true(gsim_part_is_steady(m, 2)); /* nothing was measured there */
    assert_false(gsim_part_is_steady(m, 1)); /* the second point of the curve */
    for (int i = 0; i < 4; i++)
        gsim_measured_put_point(m, 8, 600e9, "a copy");
    m->part = 1;
    assert_true(gsim_part_is_steady(m, 1));
    gsim_measured_settle(m);
    assert_string_equal(m->of[GSIM_KEY_HBM_BY_SMS].text, "4:300000e6,8:600000e6");
    gsim_arena_free(arena);
}

/* A call that failed has no time, and what only failed was not measured. */
static void what_failed_is_no_round(void **state) {
    struct gsim_log log = {0};
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_measurement *m = opened(arena, &log);
    const double zero = 0;
    const double value[] = {0, -1, 1 / zero, zero / zero};
    (void)state;
    put_all(m, value, 4);
    assert_int_equal(m->of[GSIM_KEY_PCIE_D2H].rounds.n, 0);
    gsim_measured_settle(m);
    assert_null(m->of[GSIM_KEY_PCIE_D2H].text);
    gsim_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_middle_half_is_the_spread),
        cmocka_unit_test(one_slow_round_does_not_matter),
        cmocka_unit_test(a_part_waits_for_its_slowest_key),
        cmocka_unit_test(what_failed_is_no_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
