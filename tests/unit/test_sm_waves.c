/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When blocks leave SMs: kernels go on in waves, as long as their room stays. A device of 10 SMs,
 * each with room for one block that takes all of its shared memory. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "models/gpu/sm_array.h"

enum { SMS = 10, WORK_NS = 1000, KIB = 1024 };

static struct gsim_profile device(int64_t shared_kib, uint32_t spread_ppm) {
    return (struct gsim_profile){.value = {[GSIM_KEY_SMS] = SMS,
                                           [GSIM_KEY_SM_THREADS] = 1024,
                                           [GSIM_KEY_SM_REGISTER_BYTES] = 262144,
                                           [GSIM_KEY_SM_SHARED_BYTES] = shared_kib * KIB,
                                           [GSIM_KEY_SM_BLOCKS] = 32,
                                           [GSIM_KEY_JOB_SPREAD_PPM] = spread_ppm}};
}

static struct gsim_sm_kernel kernel(int64_t blocks, int64_t shared_kib, int64_t arrived_ns,
                                    struct gsim_sm_held *held) {
    gsim_sm_held_clear(held);
    return (struct gsim_sm_kernel){.blocks = blocks,
                                   .threads = 32,
                                   .shared_bytes = shared_kib * KIB,
                                   .all = gsim_work_of_ns(WORK_NS),
                                   .left = gsim_work_of_ns(WORK_NS),
                                   .arrived_ns = arrived_ns,
                                   .n_sms = SMS,
                                   .held = held};
}

/* The kernels when this much of the first is left, and the others have begun nothing or little. */
static void solve(const struct gsim_profile *profile, struct gsim_sm_kernel *kernels, uint32_t n,
                  int64_t left_ns) {
    struct gsim_space space = gsim_space_of_device(profile);
    uint16_t order[4];
    kernels[0].left = gsim_work_of_ns(left_ns);
    gsim_sm_array_solve(&space, kernels, order, n, NULL);
}

/* Within a nanosecond. */
static void assert_looks_at(const struct gsim_sm_kernel *kernel, int64_t ns) {
    gsim_work apart = kernel->look - gsim_work_of_ns(ns);
    assert_true(apart > -gsim_work_of_ns(1) && apart < gsim_work_of_ns(1));
}

/* A kernel of 1.1 waves holds all SMs in the first half of its time, and a tenth of them in the
 * second one, to its end and at its full speed. By the work that is left five of its blocks would
 * be there in the middle. */
static void test_a_wave_of_few_blocks_holds_few_sms(void **state) {
    (void)state;
    struct gsim_profile profile = device(8, 0);
    struct gsim_sm_held held[2] = {{.n = 0}};
    struct gsim_sm_kernel kernels[] = {kernel(11, 8, 0, &held[0]), kernel(20, 8, 1, &held[1])};
    solve(&profile, kernels, 2, WORK_NS);
    assert_looks_at(&kernels[0], WORK_NS / 2);
    solve(&profile, kernels, 2, 501);
    assert_int_equal(held[0].n, 10);
    assert_int_equal(held[1].n, 0);
    static const int64_t left_ns[] = {500, 250, 1};
    for (uint32_t i = 0; i < 3; i++) {
        solve(&profile, kernels, 2, left_ns[i]);
        assert_int_equal(held[0].n, 1);
        assert_int_equal(held[1].n, 9);
        assert_int_equal(kernels[0].rate_q32, GSIM_RATE_ONE);
    }
}

/* Of 25 blocks none leaves its SM before the third wave, whenever the kernel is looked at. */
static void test_waves_before_the_last_one_are_full(void **state) {
    (void)state;
    static const int64_t left_ns[] = {1000, 700, 660, 500, 340}, last_ns[] = {333, 100, 1};
    struct gsim_profile profile = device(8, 0);
    struct gsim_sm_held held = {.n = 0};
    struct gsim_sm_kernel one = kernel(25, 8, 0, &held);
    for (uint32_t i = 0; i < 5; i++) {
        solve(&profile, &one, 1, left_ns[i]);
        assert_int_equal(held.n, 10);
    }
    for (uint32_t i = 0; i < 3; i++) {
        solve(&profile, &one, 1, last_ns[i]);
        assert_int_equal(held.n, 5);
    }
}

/* What memory does takes as long as its bytes: of 11 blocks the last one has 1/11 of that (90.9 of
 * 1000 ns), and half of what computes (of 500 ns 250, with 45.5 of the rest). */
static void test_memory_makes_the_last_wave_short(void **state) {
    (void)state;
    static const struct {
        uint32_t memory_ppm;
        int64_t last_ns;
    } at[] = {{0, 500}, {500000, 295}, {1000000, 90}};
    struct gsim_profile profile = device(8, 0);
    for (uint32_t i = 0; i < 3; i++) {
        struct gsim_sm_held held[2] = {{.n = 0}};
        struct gsim_sm_kernel kernels[] = {kernel(11, 8, 0, &held[0]), kernel(1, 8, 1, &held[1])};
        kernels[0].memory_ppm = at[i].memory_ppm;
        solve(&profile, kernels, 2, WORK_NS);
        assert_looks_at(&kernels[0], at[i].last_ns);
        solve(&profile, kernels, 2, at[i].last_ns + 2);
        assert_int_equal(held[0].n, 10);
        solve(&profile, kernels, 2, at[i].last_ns - 2);
        assert_int_equal(held[0].n, 1);
    }
}

/* Ten blocks, alone of one wave, find room on six SMs: these end when their time is over, after 600
 * of the 1000 ns of work, and not after half of them. */
static void test_no_block_ends_sooner_than_alone(void **state) {
    (void)state;
    struct gsim_profile profile = device(8, 0);
    struct gsim_sm_held held[3] = {{.n = 0}};
    struct gsim_sm_kernel kernels[] = {kernel(10, 8, 1, &held[0]), kernel(4, 8, 0, &held[1]),
                                       kernel(2, 8, 2, &held[2])};
    kernels[0].n_sms = kernels[2].n_sms = 6;
    kernels[1].first_sm = 6;
    kernels[1].n_sms = 4;
    solve(&profile, kernels, 3, WORK_NS);
    assert_looks_at(&kernels[0], 400);
    solve(&profile, kernels, 3, 402);
    assert_int_equal(held[0].n, 6);
    assert_int_equal(held[2].n, 0);
    solve(&profile, kernels, 3, 398);
    assert_int_equal(held[0].n, 4);
    assert_int_equal(held[2].n, 2);
}

/* 16 blocks: six in the second wave, of 500 ns. They end over 60 % of that wave (300 ns): a third
 * when five sixths are left (250 ns), a third at a half (150), all but one at a sixth (50). */
static void test_the_last_wave_ends_unevenly(void **state) {
    (void)state;
    static const struct {
        int64_t left_ns, look_ns;
        uint32_t blocks;
    } at[] = {{500, 250, 6}, {250, 150, 4}, {150, 50, 2}, {50, 0, 1}};
    struct gsim_profile profile = device(8, 600000);
    struct gsim_sm_held held[2] = {{.n = 0}};
    struct gsim_sm_kernel kernels[] = {kernel(16, 8, 0, &held[0]), kernel(20, 8, 1, &held[1])};
    solve(&profile, kernels, 2, WORK_NS);
    for (uint32_t i = 0; i < 4; i++) {
        solve(&profile, kernels, 2, at[i].left_ns);
        assert_int_equal(held[0].n, at[i].blocks);
        assert_int_equal(held[1].n, 10 - at[i].blocks);
        assert_looks_at(&kernels[0], at[i].look_ns);
    }
}

/* Six SMs hold 40 blocks in seven waves, of which two are over when the other four SMs get free:
 * from then on blocks begin and end at different times, so that four are left of the last 100 ns,
 * and two of the last 50. In step all ten would stay to the end. */
static void test_room_that_changes_puts_a_kernel_out_of_step(void **state) {
    (void)state;
    struct gsim_profile profile = device(8, 0);
    struct gsim_sm_held held[2] = {{.n = 0}};
    struct gsim_sm_kernel kernels[] = {kernel(40, 8, 1, &held[0]), kernel(4, 8, 0, &held[1])};
    solve(&profile, kernels, 2, WORK_NS);
    assert_int_equal(held[0].n, 6);
    solve(&profile, kernels, 1, 700);
    assert_int_equal(held[0].n, 10);
    assert_int_equal(held[0].step, -1);
    solve(&profile, kernels, 1, 100);
    assert_int_equal(held[0].n, 4);
    solve(&profile, kernels, 1, 50);
    assert_int_equal(held[0].n, 2);
}

/* Room that comes before a block has ended: the kernel is in step with all ten blocks. */
static void test_room_that_changes_early_does_not(void **state) {
    (void)state;
    struct gsim_profile profile = device(8, 0);
    struct gsim_sm_held held[2] = {{.n = 0}};
    struct gsim_sm_kernel kernels[] = {kernel(40, 8, 1, &held[0]), kernel(4, 8, 0, &held[1])};
    solve(&profile, kernels, 2, WORK_NS);
    solve(&profile, kernels, 1, 990);
    solve(&profile, kernels, 1, 50);
    assert_int_equal(held[0].n, 10);
}

/* A kernel that is stopped in its first wave leaves its SMs at the end of that, half of its time
 * later. Two of its twelve blocks are left, and half of its work: they take as long as they would
 * have without a stop. By the work that is left they would be six, at 0.6 of the kernel's speed. */
static void test_a_kernel_that_left_goes_on_with_the_blocks_that_are_left(void **state) {
    (void)state;
    struct gsim_profile profile = device(8, 0);
    struct gsim_sm_held held[2] = {{.n = 0}};
    struct gsim_sm_kernel kernels[] = {kernel(12, 8, 1, &held[0]), kernel(20, 8, 2, &held[1])};
    solve(&profile, kernels, 1, WORK_NS);
    kernels[0].is_stopped = true;
    solve(&profile, kernels, 1, 900);
    assert_looks_at(&kernels[0], 500);
    solve(&profile, kernels, 1, 500);
    assert_int_equal(held[0].n, 0);
    kernels[0].is_stopped = false;
    for (int64_t left_ns = 500; left_ns > 0; left_ns -= 100) {
        solve(&profile, kernels, 2, left_ns);
        assert_int_equal(held[0].n, 2);
        assert_int_equal(held[1].n, 8);
        assert_int_equal(kernels[0].rate_q32, GSIM_RATE_ONE);
    }
}

/* It finds room for one of its two blocks: they run one after the other, each as long as a block
 * takes alone, which is half of the kernel's work at half of its speed. */
static void test_blocks_that_are_left_run_in_waves(void **state) {
    (void)state;
    struct gsim_profile profile = device(8, 0);
    struct gsim_sm_held held[3] = {{.n = 0}};
    struct gsim_sm_kernel kernels[] = {kernel(12, 8, 1, &held[0]), kernel(9, 8, 0, &held[1]),
                                       kernel(1, 8, 2, &held[2])};
    solve(&profile, kernels, 1, WORK_NS);
    kernels[0].is_stopped = true;
    solve(&profile, kernels, 1, 900);
    solve(&profile, kernels, 1, 500);
    kernels[0].is_stopped = false;
    solve(&profile, kernels, 3, 500);
    assert_int_equal(held[0].n, 1);
    assert_int_equal(held[2].n, 0);
    assert_int_equal(kernels[0].rate_q32, GSIM_RATE_ONE / 2);
    assert_looks_at(&kernels[0], 250);
    kernels[0].is_stopped = true; /* with its last block to come, it leaves again */
    solve(&profile, kernels, 3, 400);
    solve(&profile, kernels, 3, 250);
    assert_int_equal(held[0].n, 0);
    kernels[0].is_stopped = false;
    solve(&profile, kernels, 1, 250);
    assert_int_equal(held[0].n, 1);
    assert_int_equal(kernels[0].rate_q32, GSIM_RATE_ONE);
}

/* 32 blocks in four waves are stopped in the first: 22 are left, in three waves of which the last
 * has two blocks, as those of the whole kernel. */
static void test_waves_that_are_left_are_those_of_the_kernel(void **state) {
    (void)state;
    static const uint32_t memory_ppm[] = {0, 400000};
    struct gsim_profile profile = device(8, 0);
    for (uint32_t i = 0; i < 2; i++) {
        struct gsim_sm_held held[2] = {{.n = 0}};
        struct gsim_sm_kernel kernels[] = {kernel(32, 8, 1, &held[0]), kernel(1, 8, 2, &held[1])};
        kernels[0].memory_ppm = memory_ppm[i];
        solve(&profile, kernels, 2, WORK_NS);
        gsim_work last = kernels[0].look;
        kernels[0].is_stopped = true;
        solve(&profile, kernels, 1, 900);
        gsim_work over = kernels[0].look;
        kernels[0].left = over;
        struct gsim_space space = gsim_space_of_device(&profile);
        uint16_t order[2];
        gsim_sm_array_solve(&space, kernels, order, 1, NULL);
        kernels[0].is_stopped = false;
        gsim_sm_array_solve(&space, kernels, order, 2, NULL);
        assert_int_equal(held[0].n, 10);
        assert_int_equal(kernels[0].rate_q32, GSIM_RATE_ONE);
        gsim_work apart = kernels[0].look - last;
        assert_true(apart > -gsim_work_of_ns(1) && apart < gsim_work_of_ns(1));
    }
}

/* A kernel that was alone is found in its last wave, on all SMs and on half of them (of three waves
 * of 5, 5 and 1 blocks): one block, with which it is as fast as it was, to its end. */
static void test_a_last_wave_that_began_alone_goes_on(void **state) {
    (void)state;
    struct gsim_profile profile = device(8, 0);
    for (uint16_t sms = SMS / 2; sms <= SMS; sms = (uint16_t)(sms + SMS / 2)) {
        struct gsim_sm_held held[2] = {{.n = 0}};
        struct gsim_sm_kernel kernels[] = {kernel(11, 8, 0, &held[0]), kernel(20, 8, 1, &held[1])};
        kernels[0].n_sms = kernels[1].n_sms = sms;
        kernels[0].ran_alone = true;
        solve(&profile, kernels, 2, 300);
        kernels[0].ran_alone = false;
        for (int64_t left_ns = 300; left_ns > 0; left_ns -= 100) {
            solve(&profile, kernels, 2, left_ns);
            assert_int_equal(held[0].n, 1);
            assert_int_equal(held[1].n, sms - 1);
            assert_int_equal(kernels[0].rate_q32, GSIM_RATE_ONE * sms / SMS);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_wave_of_few_blocks_holds_few_sms),
        cmocka_unit_test(test_waves_before_the_last_one_are_full),
        cmocka_unit_test(test_memory_makes_the_last_wave_short),
        cmocka_unit_test(test_no_block_ends_sooner_than_alone),
        cmocka_unit_test(test_the_last_wave_ends_unevenly),
        cmocka_unit_test(test_room_that_changes_puts_a_kernel_out_of_step),
        cmocka_unit_test(test_room_that_changes_early_does_not),
        cmocka_unit_test(test_a_kernel_that_left_goes_on_with_the_blocks_that_are_left),
        cmocka_unit_test(test_blocks_that_are_left_run_in_waves),
        cmocka_unit_test(test_waves_that_are_left_are_those_of_the_kernel),
        cmocka_unit_test(test_a_last_wave_that_began_alone_goes_on),
    };
    return cmocka_run_group_tests_name("waves of blocks on SMs", tests, NULL, NULL);
}
