/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a kernel waits for when it begins: a device whose L2 of 100 bytes keeps unused lines until
 * others fill 40 of them and has lost them when they fill 80; two loads, of 100 ns from L2 and of
 * 300 ns from idle memory. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "models/gpu/first_loads.h"

static const struct gsim_profile device = {.value = {[GSIM_KEY_HBM_BYTES_PER_S] = 1000,
                                                     [GSIM_KEY_L2_BYTES] = 100,
                                                     [GSIM_KEY_L2_HIT_NS] = 100,
                                                     [GSIM_KEY_L2_MISS_NS] = 300,
                                                     [GSIM_KEY_L2_KEEPS_PPM] = 400000,
                                                     [GSIM_KEY_L2_LOSES_PPM] = 800000,
                                                     [GSIM_KEY_L2_FIRST_LOADS_MILLI] = 2000}};

static int64_t longer_ns(int64_t own_bytes, int64_t others_bytes, uint64_t times_q32) {
    struct gsim_space space = gsim_space_of_device(&device);
    struct gsim_first_loads loads = gsim_first_loads_of(&space, own_bytes, others_bytes);
    return gsim_first_loads_longer_ns(&device, loads, times_q32);
}

static void test_lines_go_as_others_fill_l2(void **state) {
    (void)state;
    assert_int_equal(longer_ns(0, 0, GSIM_RATE_ONE), 0);
    assert_int_equal(longer_ns(0, 40, GSIM_RATE_ONE), 0);
    assert_int_equal(longer_ns(0, 60, GSIM_RATE_ONE), 200); /* half of two loads, 200 ns more */
    assert_int_equal(longer_ns(20, 40, GSIM_RATE_ONE), 200);
    assert_int_equal(longer_ns(0, 80, GSIM_RATE_ONE), 400);
    assert_int_equal(longer_ns(0, INT64_MAX, GSIM_RATE_ONE), 400);
}

/* Lines that L2 has take no longer; those that come from memory do. */
static void test_loads_from_memory_wait_for_others(void **state) {
    (void)state;
    assert_int_equal(longer_ns(0, 40, 2 * GSIM_RATE_ONE), 0);
    assert_int_equal(longer_ns(0, 60, 2 * GSIM_RATE_ONE), 500); /* half of 2 x (600 - 100) */
    assert_int_equal(longer_ns(0, 80, 2 * GSIM_RATE_ONE), 1000);
}

/* A program that moves more than L2 holds finds nothing there alone either, so that only the longer
 * way to memory counts; one that keeps half of it loses the other half. */
static void test_a_program_pushes_out_its_own_lines(void **state) {
    (void)state;
    assert_int_equal(longer_ns(80, 80, GSIM_RATE_ONE), 0);
    assert_int_equal(longer_ns(80, 80, 2 * GSIM_RATE_ONE), 600);
    assert_int_equal(longer_ns(60, 20, GSIM_RATE_ONE), 200);
    assert_int_equal(longer_ns(INT64_MAX, INT64_MAX, GSIM_RATE_ONE), 0);
}

/* An instance with half of the memory's bandwidth has half of L2. */
static void test_an_instance_has_part_of_l2(void **state) {
    (void)state;
    struct gsim_space half = {&device, 1, 500};
    assert_int_equal(gsim_first_loads_of(&half, 0, 20).misses_ppm, 0);
    assert_int_equal(gsim_first_loads_of(&half, 0, 30).misses_ppm, 500000);
    assert_int_equal(gsim_first_loads_of(&half, 0, 40).misses_ppm, 1000000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_go_as_others_fill_l2),
        cmocka_unit_test(test_loads_from_memory_wait_for_others),
        cmocka_unit_test(test_a_program_pushes_out_its_own_lines),
        cmocka_unit_test(test_an_instance_has_part_of_l2),
    };
    return cmocka_run_group_tests_name("first loads of kernels", tests, NULL, NULL);
}
