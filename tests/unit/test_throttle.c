/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TGS's feedback, report by report, with the numbers of its public code: budgets are worked out in
 * the comments. The budget is 0 during six reports of 5 s: five measure, the sixth opens the cap. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "policies/tgs/throttle.h"
#include "gsim/units.h"

enum { BEST = 10000000 }; /* blocks a report */

static struct gsim_throttle started(int64_t rate) {
    struct gsim_throttle throttle = {
        .initial = 20000, .tolerance_ppm = 30000, .profile_reports = 5};
    gsim_throttle_start(&throttle);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(throttle.phase, i < 5 ? GSIM_THROTTLE_PROFILING : GSIM_THROTTLE_PROFILED);
        assert_int_equal(throttle.budget, 0);
        gsim_throttle_report(&throttle, rate);
    }
    return throttle;
}

static int64_t report(struct gsim_throttle *throttle, int64_t lost_ppm) {
    gsim_throttle_report(throttle, throttle->best - throttle->best / GSIM_PPM * lost_ppm);
    return throttle->budget;
}

static void test_profiling_is_alone(void **state) {
    (void)state;
    struct gsim_throttle throttle = started(BEST);
    assert_int_equal(throttle.best, BEST);
    assert_int_equal(throttle.budget, 20000);
    assert_int_equal(throttle.phase, GSIM_THROTTLE_SLOW_START);
}

static void test_slow_start(void **state) {
    (void)state;
    struct gsim_throttle throttle = started(BEST);
    assert_int_equal(report(&throttle, 0), 30001); /* half as much again and 1 */
    assert_int_equal(report(&throttle, 30000), 45002); /* 3 % is nothing */
    assert_int_equal(throttle.phase, GSIM_THROTTLE_SLOW_START);
    assert_int_equal(report(&throttle, 30001), 30001); /* two thirds */
    assert_int_equal(throttle.phase, GSIM_THROTTLE_AVOIDANCE);
}

static void test_avoidance(void **state) {
    (void)state;
    struct gsim_throttle throttle = started(BEST);
    (void)report(&throttle, 50000); /* 13333, avoidance */
    assert_int_equal(report(&throttle, 0), 13333 + 2500); /* 0.025 % of the best rate */
    assert_int_equal(report(&throttle, 40000), 15833 - 1266); /* 8 % of the budget */
    assert_int_equal(report(&throttle, 90000), (14567 - 1165) / 10); /* 9 % is a collapse */
    assert_int_equal(throttle.phase, GSIM_THROTTLE_SLOW_START);
    struct gsim_throttle slow = started(BEST / 10); /* steps are 1000 at least */
    (void)report(&slow, 50000);
    assert_int_equal(report(&slow, 0), 13333 + 1000);
    slow.budget = 500;
    assert_int_equal(report(&slow, 40000), 0);
}

/* 20 after four reports of 10 is taken for the best rate, and the next report sees a pair of 15 only,
 * 25 % off: five reports measure the rate again, and the one after them opens the cap. */
static void test_a_change_keeps_the_cap_closed(void **state) {
    (void)state;
    struct gsim_throttle throttle = {
        .initial = 20000, .tolerance_ppm = 30000, .profile_reports = 5};
    gsim_throttle_start(&throttle);
    for (int nth = 1; nth <= 11; nth++) {
        gsim_throttle_report(&throttle, nth < 5 ? BEST : 2 * BEST);
        assert_int_equal(throttle.budget, 0);
    }
    assert_int_equal(throttle.best, 2 * BEST);
    gsim_throttle_report(&throttle, 2 * BEST);
    assert_int_equal(throttle.budget, 20000);
}

/* 12 % too little for 20 reports: the best rate is 20 % less, the budget half, slow start. */
static void test_the_best_rate_is_doubted(void **state) {
    (void)state;
    struct gsim_throttle throttle = started(BEST);
    for (int i = 0; i < 19; i++) {
        (void)report(&throttle, 150000);
        assert_int_equal(throttle.best, BEST);
    }
    (void)report(&throttle, 150000);
    assert_int_equal(throttle.best, BEST / 10 * 8);
    assert_int_equal(throttle.phase, GSIM_THROTTLE_SLOW_START);
}

/* Its budget stays while its rate is measured again. */
static void test_another_job_is_profiled_again(void **state) {
    (void)state;
    struct gsim_throttle throttle = started(BEST);
    /* pairs of reports of 13 after 10: 11.5 is 15 % off, then 13 is 30 % off; seen a report later */
    for (int i = 0; i < 2; i++) {
        gsim_throttle_report(&throttle, BEST / 10 * 13);
        assert_int_not_equal(throttle.phase, GSIM_THROTTLE_REPROFILING);
    }
    int64_t budget = throttle.budget;
    gsim_throttle_report(&throttle, BEST / 10 * 13);
    assert_int_equal(throttle.phase, GSIM_THROTTLE_REPROFILING);
    assert_int_equal(throttle.best, BEST / 10 * 13 - 325000); /* 2.5 % short of 13 */
    for (int i = 0; i < 5; i++) {
        assert_int_equal(throttle.phase, GSIM_THROTTLE_REPROFILING);
        assert_int_equal(throttle.budget, budget);
        gsim_throttle_report(&throttle, BEST / 10 * 13);
    }
    assert_int_equal(throttle.best, BEST / 10 * 13);
    assert_int_equal(throttle.phase, GSIM_THROTTLE_SLOW_START); /* as before */
    assert_int_equal(throttle.budget, budget);
}

/* What the other job does to it is taken for a change, and forgotten as soon as it is undone. */
static void test_a_shock_is_no_other_job(void **state) {
    (void)state;
    struct gsim_throttle throttle = started(BEST);
    for (int i = 0; i < 4; i++)
        (void)report(&throttle, 400000); /* 20000 to 13333, 1226, 817, and nothing */
    assert_int_equal(throttle.budget, 0);
    gsim_throttle_report(&throttle, BEST); /* pairs: 10 and 6 */
    assert_int_equal(throttle.best, BEST);
    assert_int_not_equal(throttle.phase, GSIM_THROTTLE_REPROFILING);
    struct gsim_throttle longer = started(BEST);
    for (int i = 0; i < 6; i++)
        gsim_throttle_report(&longer, BEST / 10 * 6);
    assert_int_equal(longer.phase, GSIM_THROTTLE_REPROFILING);
    assert_int_equal(longer.best, BEST / 1000 * 615); /* 2.5 % more than 6 */
    int64_t budget = longer.budget;
    for (int i = 0; i < 5; i++)
        gsim_throttle_report(&longer, BEST);
    assert_int_equal(longer.best, BEST);
    assert_int_equal(longer.budget, budget);
}

static void test_who_launches_nothing_loses_nothing(void **state) {
    (void)state;
    struct gsim_throttle throttle = started(0);
    assert_int_equal(throttle.budget, GSIM_THROTTLE_FREE);
    gsim_throttle_report(&throttle, 0);
    assert_int_equal(throttle.budget, GSIM_THROTTLE_FREE);
    gsim_throttle_report(&throttle, 1000);
    assert_int_equal(throttle.phase, GSIM_THROTTLE_PROFILING);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_profiling_is_alone),
        cmocka_unit_test(test_a_change_keeps_the_cap_closed),
        cmocka_unit_test(test_slow_start),
        cmocka_unit_test(test_avoidance),
        cmocka_unit_test(test_the_best_rate_is_doubted),
        cmocka_unit_test(test_another_job_is_profiled_again),
        cmocka_unit_test(test_a_shock_is_no_other_job),
        cmocka_unit_test(test_who_launches_nothing_loses_nothing),
    };
    return cmocka_run_group_tests_name("TGS's feedback", tests, NULL, NULL);
}
