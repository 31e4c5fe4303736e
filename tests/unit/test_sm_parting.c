/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How SMs part their memory into L1 and shared memory, and which kernels may begin on SMs that have
 * been parted for others: as an H200 does it (experiments/parted). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "models/gpu/sm_array.h"

enum { SMS = 4, WORK_NS = 1000, KIB = 1024 };

static const struct gsim_profile device = {.value = {[GSIM_KEY_SMS] = SMS,
                                                     [GSIM_KEY_SM_THREADS] = 2048,
                                                     [GSIM_KEY_SM_REGISTER_BYTES] = 262144,
                                                     [GSIM_KEY_SM_SHARED_BYTES] = 228 * KIB,
                                                     [GSIM_KEY_SM_BLOCK_SHARED_BYTES] = KIB,
                                                     [GSIM_KEY_SM_BLOCKS] = 32}};

/* A kernel with one block an SM. */
static struct gsim_sm_kernel kernel(int64_t threads, int64_t shared_bytes, int64_t arrived_ns,
                                    struct gsim_sm_held *held) {
    gsim_sm_held_clear(held);
    return (struct gsim_sm_kernel){.blocks = SMS,
                                   .threads = threads,
                                   .shared_bytes = shared_bytes,
                                   .all = gsim_work_of_ns(WORK_NS),
                                   .left = gsim_work_of_ns(WORK_NS),
                                   .arrived_ns = arrived_ns,
                                   .n_sms = SMS,
                                   .held = held};
}

static void solve(struct gsim_sm_kernel *kernels, uint32_t n) {
    struct gsim_space space = gsim_space_of_device(&device);
    uint16_t order[4];
    gsim_sm_array_solve(&space, kernels, order, n, NULL);
}

static int64_t parted_kib(uint8_t parting) {
    return gsim_sm_parting_bytes(228 * KIB, parting) / KIB;
}

/* Kernels by their registers, threads and shared memory, and the KiB that Nsight Compute says the
 * driver has an SM have for them. */
static const struct {
    int64_t registers, threads, shared_bytes, kib;
} measured[] = {
    {16, 32, 0, 32},       {16, 256, 0, 32},      {16, 384, 0, 32},        {16, 512, 0, 16},
    {16, 1024, 0, 8},      {160, 256, 0, 8},      {16, 32, 3072, 132},     {16, 32, 4096, 164},
    {16, 64, 6144, 228},   {16, 128, 2048, 100},  {16, 128, 7168, 132},    {16, 128, 8192, 164},
    {16, 256, 1024, 32},   {16, 256, 2048, 64},   {16, 256, 16384, 164},   {16, 384, 16, 16},
    {16, 512, 1024, 16},   {16, 512, 8192, 100},  {16, 512, 32768, 132},   {16, 512, 36864, 164},
    {16, 768, 16384, 100}, {16, 1024, 3072, 8},   {16, 1024, 4096, 16},    {16, 1024, 65536, 132},
    {48, 512, 1024, 8},    {48, 1024, 57344, 64}, {88, 128, 20480, 132},   {88, 256, 73728, 164},
    {160, 64, 24576, 164}, {160, 128, 512, 16},   {236, 256, 114688, 132}, {236, 128, 8192, 64},
    {16, 32, 131072, 132}, {16, 32, 163840, 164}, {16, 32, 232448, 228},
};

static void test_the_driver_parts_sms_as_measured(void **state) {
    (void)state;
    struct gsim_space space = gsim_space_of_device(&device);
    for (uint32_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        struct gsim_sm_held held = {.n = 0};
        struct gsim_sm_kernel it = kernel(measured[i].threads, measured[i].shared_bytes, 0, &held);
        it.register_bytes = measured[i].registers * measured[i].threads * 4;
        struct gsim_sm_alone alone = gsim_sm_alone_of(&space, &it);
        if (parted_kib(alone.parting) != measured[i].kib)
            print_message("row %u\n", i);
        assert_int_equal(parted_kib(alone.parting), measured[i].kib);
    }
}

/* A library may ask for another part, but no kernel has less than its blocks need. */
static void test_a_program_says_how_its_kernels_part_sms(void **state) {
    (void)state;
    struct gsim_space space = gsim_space_of_device(&device);
    struct gsim_sm_held held = {.n = 0};
    struct gsim_sm_kernel it = kernel(384, 131 * KIB, 0, &held);
    assert_int_equal(parted_kib(gsim_sm_alone_of(&space, &it).parting), 132);
    it.parted_bytes = 228 * KIB;
    assert_int_equal(parted_kib(gsim_sm_alone_of(&space, &it).parting), 228);
    it.parted_bytes = 8 * KIB;
    assert_int_equal(parted_kib(gsim_sm_alone_of(&space, &it).parting), 132);
}

/* Whether a kernel begins beside one that found the SMs empty. */
static bool begins_beside(int64_t threads, int64_t kib, int64_t other_threads, int64_t other_kib) {
    struct gsim_sm_held held[2] = {{.n = 0}};
    struct gsim_sm_kernel kernels[] = {kernel(threads, kib * KIB, 0, &held[0]),
                                       kernel(other_threads, other_kib * KIB, 1, &held[1])};
    solve(kernels, 2);
    assert_int_equal(held[0].n, SMS);
    return held[1].n > 0;
}

/* SMs are parted for twice the blocks that they hold, but have to be for as many alone; and one
 * without shared memory has its KiB as well. */
static void test_kernels_begin_where_enough_is_parted(void **state) {
    (void)state;
    assert_false(begins_beside(64, 0, 32, 1)); /* 32 KiB, and 64 for 32 blocks of 2 */
    assert_true(begins_beside(64, 0, 256, 3)); /* 32 for 8 blocks of 4 */
    assert_false(begins_beside(64, 0, 256, 7));
    assert_true(begins_beside(256, 2, 256, 7)); /* 64 KiB */
    assert_false(begins_beside(256, 2, 256, 8));
    assert_true(begins_beside(512, 12, 32, 3)); /* 132 for 4 blocks of 13, and for 32 of 4 */
    assert_false(begins_beside(1024, 12, 32, 3)); /* 32: two blocks of 13 */
    assert_false(begins_beside(1024, 0, 64, 0)); /* 8, and 32 blocks of 1 */
    assert_true(begins_beside(1024, 0, 256, 0));
}

/* An SM stays parted when blocks leave it and others are there. */
static void test_an_sm_stays_parted_until_it_is_empty(void **state) {
    (void)state;
    struct gsim_sm_held held[3] = {{.n = 0}};
    struct gsim_sm_kernel kernels[] = {kernel(128, 200 * KIB, 0, &held[0]),
                                       kernel(128, 0, 1, &held[1]),
                                       kernel(128, 200 * KIB, 2, &held[2])};
    solve(kernels, 2);
    assert_int_equal(held[1].n, SMS);
    kernels[0] = kernels[1];
    solve(kernels, 1); /* the first has left */
    kernels[1] = kernels[2];
    solve(kernels, 2);
    assert_int_equal(held[2].n, SMS);
    gsim_sm_held_clear(&held[1]); /* where it found the SMs empty, the other one waits */
    gsim_sm_held_clear(&held[2]);
    solve(kernels, 1);
    solve(kernels, 2);
    assert_int_equal(held[2].n, 0);
}

/* Whether a third kernel, of 128 threads, begins at once where blocks of 1024 threads, two an SM,
 * have left the SMs to a kernel that waited for them. */
static bool begins_after_wait(int64_t first_kib, int64_t threads, int64_t waiting_kib,
                              int64_t third_kib) {
    struct gsim_sm_held held[3] = {{.n = 0}};
    struct gsim_sm_kernel kernels[] = {kernel(1024, first_kib * KIB, 0, &held[0]),
                                       kernel(threads, waiting_kib * KIB, 1, &held[1]),
                                       kernel(128, third_kib * KIB, 2, &held[2])};
    kernels[0].blocks = 2 * SMS;
    solve(kernels, 2);
    assert_int_equal(held[1].n, 0);
    solve(&kernels[1], 2);
    assert_int_equal(held[1].n, SMS);
    return held[2].n > 0;
}

/* All memory is parted for a kernel that waited as shared memory, and a third one finds as much as
 * it needs. For a kernel of which an SM holds one block, or which has 1024 threads, the SM stays as
 * it was, or is parted as an empty one where that is not enough. */
static void test_sms_are_parted_anew_for_a_kernel_that_waited(void **state) {
    (void)state;
    assert_true(begins_after_wait(0, 128, 0, 80));
    assert_true(begins_after_wait(8, 128, 0, 80));
    assert_true(begins_after_wait(0, 128, 12, 40));
    assert_true(begins_after_wait(0, 128, 80, 64));
    assert_false(begins_after_wait(0, 128, 128, 7));
    assert_true(begins_after_wait(100, 128, 128, 7));
    assert_false(begins_after_wait(0, 1024, 3, 40));
}

/* A kernel that takes twice as long with little L1. */
static struct gsim_sm_kernel needs_l1(int64_t arrived_ns, struct gsim_sm_held *held) {
    struct gsim_sm_kernel out = kernel(32, 0, arrived_ns, held);
    out.small_l1_ppm = GSIM_PPM;
    return out;
}

/* An SM with 100 KiB of shared memory or more has little L1, one with 64 has much: on all four SMs
 * the kernel runs at half of its rate, on two of them at three quarters. */
static void test_shared_memory_of_others_leaves_little_l1(void **state) {
    (void)state;
    struct gsim_sm_held held[2] = {{.n = 0}};
    struct gsim_sm_kernel kernels[] = {kernel(512, 8 * KIB, 0, &held[0]), needs_l1(1, &held[1])};
    solve(kernels, 2);
    assert_int_equal(kernels[1].rate_q32, GSIM_RATE_ONE / 2);
    kernels[0] = kernel(512, 8 * KIB, 0, &held[0]);
    kernels[1] = needs_l1(1, &held[1]);
    kernels[0].blocks = SMS / 2;
    solve(kernels, 2);
    assert_int_equal(held[1].n, SMS);
    assert_int_equal(kernels[1].rate_q32 >> 2, (GSIM_RATE_ONE / 4 * 3) >> 2);
    kernels[0] = kernel(512, 7 * KIB, 0, &held[0]);
    kernels[1] = needs_l1(1, &held[1]);
    solve(kernels, 2);
    assert_int_equal(kernels[1].rate_q32, GSIM_RATE_ONE);
}

/* A kernel that waited has little L1 for all of its time, and so has one that comes beside it; one
 * that finds empty SMs has all of it, and one that parts them so itself loses nothing. */
static void test_l1_stays_small_until_sms_are_empty(void **state) {
    (void)state;
    struct gsim_sm_held held[3] = {{.n = 0}};
    struct gsim_sm_kernel kernels[] = {kernel(1024, 0, 0, &held[0]), needs_l1(1, &held[1]),
                                       needs_l1(2, &held[2])};
    kernels[0].blocks = 2 * SMS;
    solve(kernels, 2);
    assert_int_equal(kernels[1].rate_q32, 0);
    solve(&kernels[1], 2);
    assert_int_equal(kernels[1].rate_q32, GSIM_RATE_ONE / 2);
    assert_int_equal(kernels[2].rate_q32, GSIM_RATE_ONE / 2);
    solve(&kernels[2], 1);
    assert_int_equal(kernels[2].rate_q32, GSIM_RATE_ONE / 2);
    kernels[2] = needs_l1(2, &held[2]);
    solve(&kernels[2], 1);
    assert_int_equal(kernels[2].rate_q32, GSIM_RATE_ONE);
    kernels[2] = needs_l1(2, &held[2]);
    kernels[2].shared_bytes = 8 * KIB;
    solve(&kernels[2], 1);
    assert_int_equal(kernels[2].rate_q32, GSIM_RATE_ONE);
}

/* A kernel of which only the time is known takes whole SMs, however others have left them that it
 * waited for. */
static void test_whole_kernel_after_others(void **state) {
    (void)state;
    struct gsim_sm_held of_first = {0}, of_whole = {0};
    struct gsim_sm_kernel kernels[] = {kernel(128, 7 * KIB, 0, &of_first),
                                       kernel(1, 0, 1, &of_whole)};
    kernels[1].is_whole = true;
    solve(kernels, 2);
    assert_true(kernels[0].rate_q32 == GSIM_RATE_ONE);
    assert_true(kernels[1].rate_q32 == 0 && of_whole.sees_parting);
    solve(&kernels[1], 1);
    assert_true(kernels[1].rate_q32 == GSIM_RATE_ONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_driver_parts_sms_as_measured),
        cmocka_unit_test(test_a_program_says_how_its_kernels_part_sms),
        cmocka_unit_test(test_kernels_begin_where_enough_is_parted),
        cmocka_unit_test(test_an_sm_stays_parted_until_it_is_empty),
        cmocka_unit_test(test_sms_are_parted_anew_for_a_kernel_that_waited),
        cmocka_unit_test(test_shared_memory_of_others_leaves_little_l1),
        cmocka_unit_test(test_l1_stays_small_until_sms_are_empty),
        cmocka_unit_test(test_whole_kernel_after_others),
    };
    return cmocka_run_group_tests_name("how SMs are parted", tests, NULL, NULL);
}
