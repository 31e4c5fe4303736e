/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sharing in space: what the rules of models/gpu/space.h come to. What was measured of it on an H200 is
 * in the suite h200 of `gsim validate`. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/gpu/space.h"
#include "tests/support/runner.h"

enum { PPM = 1000000 };

struct fixture {
    struct gsim_arena *arena;
    struct gsim_profile profile;
    struct gsim_space space;
};

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    struct gsim_log log = {0};
    f->arena = gsim_arena_new();
    assert_int_equal(gsim_profile_load("h200", f->arena, &f->profile, &log), GSIM_OK);
    f->space = gsim_space_of_device(&f->profile);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    gsim_arena_free(f->arena);
    free(f);
    return 0;
}

static struct gsim_holder computing(uint32_t fill_ppm) {
    return (struct gsim_holder){.cap_ppm = PPM, .fill_ppm = fill_ppm};
}

static struct gsim_holder copying(const struct fixture *f, uint32_t fill_ppm) {
    return (struct gsim_holder){.cap_ppm = PPM,
                                .fill_ppm = fill_ppm,
                                .memory_ppm = PPM,
                                .hbm_bytes_per_s =
                                    gsim_space_bandwidth(&f->space, (int64_t)fill_ppm * 132)};
}

static double rate(const struct gsim_holder *holder) {
    return (double)holder->rate_q32 / (double)GSIM_RATE_ONE;
}

static void near(double value, double expected) {
    if (fabs(value - expected) > 1e-5 * expected)
        fail_msg("%.8f, expected %.8f", value, expected);
}

/* --- the curve -------------------------------------------------------------------------------- */

static void the_curve_has_straight_lines_between_its_points(void **state) {
    const struct fixture *f = *state;
    assert_int_equal(gsim_space_bandwidth(&f->space, 33 * GSIM_SM), 1927500000000);
    assert_int_equal(gsim_space_bandwidth(&f->space, 2 * GSIM_SM), 150100000000); /* half of 4's */
    assert_int_equal(gsim_space_bandwidth(&f->space, 0), 0);
    /* halfway between 66 and 99 SMs: (3096.5 + 3562.5) / 2 */
    assert_int_equal(gsim_space_bandwidth(&f->space, 82500000), 3329500000000);
    assert_int_equal(gsim_space_bandwidth(&f->space, 500 * GSIM_SM), 3884700000000);
    assert_int_equal(gsim_space_memory_ppm(&f->profile, 250000, 1927500000000), PPM);
    assert_int_equal(gsim_space_memory_ppm(&f->profile, 250000, 963750000000), PPM / 2);
}

/* --- one holder ------------------------------------------------------------------------------- */

static void alone_it_runs_at_one_to_the_bit(void **state) {
    const struct fixture *f = *state;
    for (uint32_t ppm = 1; ppm <= PPM; ppm += 9973)
        for (uint32_t memory = 0; memory <= PPM; memory += 333331) {
            struct gsim_holder one = copying(f, ppm);
            one.memory_ppm = memory;
            gsim_space_solve(&f->space, &one, 1);
            assert_true(one.rate_q32 == GSIM_RATE_ONE);
        }
}

static void a_cap_slows_compute_in_proportion_and_memory_by_the_curve(void **state) {
    const struct fixture *f = *state;
    struct gsim_holder one = computing(PPM);
    one.cap_ppm = 250000;
    gsim_space_solve(&f->space, &one, 1);
    near(rate(&one), 0.25);
    one.fill_ppm = 200000; /* it does not fill its cap */
    gsim_space_solve(&f->space, &one, 1);
    assert_true(one.rate_q32 == GSIM_RATE_ONE);
    one = copying(f, PPM);
    one.cap_ppm = 500000;
    gsim_space_solve(&f->space, &one, 1);
    near(rate(&one), 3096.5 / 3884.7);
    one.memory_ppm = 500000; /* half of its time each: 1 / (0.5 * 2 + 0.5 * 3884.7 / 3096.5) */
    gsim_space_solve(&f->space, &one, 1);
    near(rate(&one), 1 / (1 + 0.5 * 3884.7 / 3096.5));
}

/* --- several ---------------------------------------------------------------------------------- */

/* Counted on an H200 by %smid (experiments/caps/sms_h200.csv). */
static void a_cap_of_mps_leaves_whole_pairs_and_at_least_eight_sms(void **state) {
    static const struct {
        uint32_t percent, sms;
    } counted[] = {{1, 8},   {5, 8},   {7, 8},   {10, 12},  {12, 14},  {20, 26},
                   {30, 38}, {33, 42}, {66, 86}, {85, 112}, {99, 130}, {100, 132}};
    const struct fixture *f = *state;
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        struct gsim_holder one = computing(PPM);
        one.cap_ppm = counted[i].percent * (PPM / 100);
        one.has_steps = true;
        gsim_space_solve(&f->space, &one, 1);
        near(rate(&one), counted[i].sms / 132.0);
        assert_int_equal(one.wanted, (int64_t)counted[i].sms * PPM);
    }
}

static void caps_up_to_100_percent_do_not_meet(void **state) {
    const struct fixture *f = *state;
    struct gsim_holder two[] = {computing(PPM), computing(PPM)};
    two[0].cap_ppm = 300000;
    two[1].cap_ppm = 700000;
    gsim_space_solve(&f->space, two, 2);
    near(rate(&two[0]), 0.3);
    near(rate(&two[1]), 0.7);
}

static void caps_past_100_percent_crowd_all_sms(void **state) {
    const struct fixture *f = *state;
    struct gsim_holder three[] = {computing(PPM), computing(PPM), computing(500000)};
    three[0].cap_ppm = 700000;
    three[1].cap_ppm = 800000;
    gsim_space_solve(&f->space, three, 3); /* 0.7 + 0.8 + 0.5 = 2 SMs' worth on each SM */
    near(rate(&three[0]), 0.35);
    near(rate(&three[1]), 0.4);
    near(rate(&three[2]), 0.5);
}

static void ranges_crowd_where_they_overlap(void **state) {
    const struct fixture *f = *state;
    struct gsim_holder two[] = {computing(PPM), computing(PPM)};
    two[0].n_sms = 88; /* 0 to 87 */
    two[1].first_sm = 44;
    two[1].n_sms = 88; /* 44 to 131: 44 SMs of each are shared */
    gsim_space_solve(&f->space, two, 2);
    near(rate(&two[0]), 66.0 / 132);
    near(rate(&two[1]), 66.0 / 132);
    two[1].first_sm = 88;
    two[1].n_sms = 44;
    gsim_space_solve(&f->space, two, 2);
    near(rate(&two[0]), 88.0 / 132);
    near(rate(&two[1]), 44.0 / 132);
}

/* --- several that load ------------------------------------------------------------------------ */

/* The law of models/gpu/memory_queue.h in floating point, by bisection: 44 SMs of three holders each,
 * of which the third draws 600 GB/s on 132 SMs, and so 600 x C(44) / C(132) here. The curve gives its
 * bytes on their way, as SMs; over 44 that is the part of its time in which it waits. The bytes of
 * all are those of 88 SMs and its own, which grow with the time that a load takes. */
static double curve(double sms) {
    static const double at[][2] = {{0, 0},       {4, 300.2},   {8, 577.7},   {16, 1074.5},
                                   {33, 1927.5}, {66, 3096.5}, {99, 3562.5}, {132, 3884.7}};
    int i = 1;
    while (i < 7 && at[i][0] < sms)
        i++;
    return at[i - 1][1] +
           (at[i][1] - at[i - 1][1]) * (sms - at[i - 1][0]) / (at[i][0] - at[i - 1][0]);
}

static double solve_for(double target, double (*of)(double, double), double with, double low,
                        double high) {
    for (int i = 0; i < 200; i++) {
        double middle = (low + high) / 2;
        *(of(middle, with) < target ? &low : &high) = middle;
    }
    return low;
}

static double curve_at(double sms, double with) {
    (void)with;
    return curve(sms);
}

/* Bytes of SMs over those of all three holders, where the third draws `modest` alone. */
static double too_many(double sms, double modest) {
    double own = solve_for(modest, curve_at, 0, 0, 132), waits = own / 44;
    double longer = sms / curve(sms) / (own / modest);
    return sms - 88 - own * longer / (1 - waits + waits * longer);
}

static void loads_wait_by_the_bytes_of_all(void **state) {
    const struct fixture *f = *state;
    struct gsim_holder three[] = {copying(f, PPM), copying(f, PPM), copying(f, PPM)};
    for (uint32_t i = 0; i < 3; i++) {
        three[i].first_sm = 44 * i;
        three[i].n_sms = 44;
    }
    three[2].hbm_bytes_per_s = 600000000000;
    gsim_space_solve(&f->space, three, 3);
    double slow = curve(44) / 3884.7, modest = 600 * slow;
    double all = solve_for(0, too_many, modest, 88, 132);
    double own = solve_for(modest, curve_at, 0, 0, 132);
    double longer = 1 - own / 44 + own / 44 * all / curve(all) / (own / modest);
    near((double)three[0].drawn_bytes_per_s, 44e9 * curve(all) / all);
    near((double)three[1].drawn_bytes_per_s, 44e9 * curve(all) / all);
    near((double)three[2].drawn_bytes_per_s, 1e9 * modest / longer);
    near(rate(&three[2]), slow / longer);
}

/* Up to the first point of the curve, 300.2 GB/s of all holders, memory is idle for each. */
static void little_traffic_is_in_the_way_of_none(void **state) {
    const struct fixture *f = *state;
    struct gsim_holder two[] = {copying(f, 500000), copying(f, 500000)};
    for (uint32_t i = 0; i < 2; i++) {
        two[i].first_sm = 66 * i;
        two[i].n_sms = 66;
        two[i].memory_ppm = 48000;
        two[i].hbm_bytes_per_s = 150000000000;
    }
    gsim_space_solve(&f->space, two, 2);
    assert_true(two[0].rate_q32 == GSIM_RATE_ONE && two[1].rate_q32 == GSIM_RATE_ONE);
    two[1].hbm_bytes_per_s = 200000000000;
    gsim_space_solve(&f->space, two, 2);
    assert_true(two[0].rate_q32 < GSIM_RATE_ONE && two[1].rate_q32 < GSIM_RATE_ONE);
}

/* On the curve of loads 66 SMs draw 2346 and 132 draw 3932: kernels that store nothing and always wait
 * take 2 x 2346 / 3932 times as long beside each other. */
static void loads_alone_wait_less(void **state) {
    const struct fixture *f = *state;
    struct gsim_holder two[] = {copying(f, 500000), copying(f, 500000)};
    for (uint32_t i = 0; i < 2; i++) {
        two[i].first_sm = 66 * i;
        two[i].n_sms = 66;
        two[i].hbm_bytes_per_s = 2346000000000;
        two[i].loads_ppm = PPM;
    }
    gsim_space_solve(&f->space, two, 2);
    near(rate(&two[0]), 3932 / (2 * 2346.0));
    near(rate(&two[1]), 3932 / (2 * 2346.0));
}

/* One that loads 2346 beside a copy that draws 3096.5, 66 SMs each and both always waiting. Of what they
 * draw 0.43105 goes by the curve of loads, the rest by that of copies: 4 SMs of the mixed curve draw
 * 0.43105 x 151 + 0.56895 x 300.2 = 235.887. On an idle memory a load takes 4 / 235.887 for both, which
 * is 4 / 151 on the loads' own curve: they have 66 x 151 / 235.887 SMs under way, and the copy has 66 x
 * 300.2 / 235.887, 126.243 together, since bytes under way stay where kernels wait all the time. The
 * mixed curve gives 0.43105 x 3815.30 + 0.56895 x 3828.50 = 3822.81 there (between 99 and 132 SMs), so a
 * load takes 126.243 / 3822.81 = 0.03302376. Alone it takes 66 / 2346 x 151 / 235.887 = 0.01800897 in
 * these units beside loads, and 66 / 3096.5 x 300.2 / 235.887 = 0.02712560 beside copies. */
static void loads_wait_for_stores(void **state) {
    const struct fixture *f = *state;
    struct gsim_holder two[] = {copying(f, 500000), copying(f, 500000)};
    two[0].n_sms = two[1].n_sms = two[1].first_sm = 66;
    two[0].hbm_bytes_per_s = 2346000000000;
    two[0].loads_ppm = PPM;
    gsim_space_solve(&f->space, two, 2);
    near(rate(&two[0]), 0.01800897 / 0.03302376);
    near(rate(&two[1]), 0.02712560 / 0.03302376);
}

static void the_order_is_of_no_matter(void **state) {
    const struct fixture *f = *state;
    uint64_t seed = 1;
    for (int round = 0; round < 300; round++) {
        struct gsim_holder forth[7], back[7];
        gsim_i128 drawn = 0;
        for (uint32_t i = 0; i < 7; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            struct gsim_holder *h = &forth[i];
            *h = copying(f, 1 + (uint32_t)(seed >> 33) % PPM);
            h->memory_ppm = (uint32_t)(seed >> 20) % (PPM + 1);
            h->cap_ppm = 1 + (uint32_t)(seed >> 7) % PPM;
            h->hbm_bytes_per_s = h->hbm_bytes_per_s / 1000 * (int64_t)(seed >> 11 & 1023) / 1024;
            h->hbm_bytes_per_s *= 1000;
            if (seed >> 60 & 1) {
                h->first_sm = (uint32_t)(seed >> 40) % 132;
                h->n_sms = 1 + (uint32_t)(seed >> 47) % (132 - h->first_sm);
            }
            back[6 - i] = *h;
        }
        gsim_space_solve(&f->space, forth, 7);
        gsim_space_solve(&f->space, back, 7);
        for (uint32_t i = 0; i < 7; i++) {
            assert_memory_equal(&forth[i], &back[6 - i], sizeof forth[i]);
            assert_true(forth[i].rate_q32 > 0 && forth[i].rate_q32 <= GSIM_RATE_ONE);
            drawn += forth[i].drawn_bytes_per_s;
        }
        assert_true(drawn <= f->space.peak_bytes_per_s);
    }
}

/* --- instances -------------------------------------------------------------------------------- */

static void an_instance_is_a_small_device(void **state) {
    const struct fixture *f = *state;
    const struct gsim_mig *mig = f->profile.mig;
    const struct gsim_mig_profile *instance = &mig->profile[gsim_mig_find(mig, "3g.71gb")];
    struct gsim_space space = gsim_space_of_instance(&f->profile, instance);
    struct gsim_holder one = computing(PPM);
    gsim_space_solve(&space, &one, 1);
    near(rate(&one), 60.0 / 132);
    one = copying(f, PPM); /* half of the memory's 3975.8 GB/s, where 60 SMs could draw more */
    gsim_space_solve(&space, &one, 1);
    near((double)one.drawn_bytes_per_s, 1987.9e9);
    near(rate(&one), 1987.9 / 3884.7);
}

static void the_ideal_device_has_bandwidth_for_all(void **state) {
    struct fixture *f = *state;
    struct gsim_log log = {0};
    assert_int_equal(gsim_profile_load("ideal", f->arena, &f->profile, &log), GSIM_OK);
    struct gsim_space space = gsim_space_of_device(&f->profile);
    struct gsim_holder two[] = {computing(500000), computing(500000)};
    two[0].hbm_bytes_per_s = two[1].hbm_bytes_per_s = INT64_MAX / 4;
    two[0].memory_ppm = PPM;
    gsim_space_solve(&space, two, 2);
    assert_true(two[0].rate_q32 == GSIM_RATE_ONE && two[1].rate_q32 == GSIM_RATE_ONE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_curve_has_straight_lines_between_its_points),
        TEST(alone_it_runs_at_one_to_the_bit),
        TEST(a_cap_slows_compute_in_proportion_and_memory_by_the_curve),
        TEST(a_cap_of_mps_leaves_whole_pairs_and_at_least_eight_sms),
        TEST(caps_up_to_100_percent_do_not_meet),
        TEST(caps_past_100_percent_crowd_all_sms),
        TEST(ranges_crowd_where_they_overlap),
        TEST(loads_wait_by_the_bytes_of_all),
        TEST(little_traffic_is_in_the_way_of_none),
        TEST(loads_alone_wait_less),
        TEST(loads_wait_for_stores),
        TEST(the_order_is_of_no_matter),
        TEST(an_instance_is_a_small_device),
        TEST(the_ideal_device_has_bandwidth_for_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
