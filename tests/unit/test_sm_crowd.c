/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much longer kernels compute where older blocks issue first, at numbers that were worked out by
 * hand. A device of 2 SMs with room for 1024 threads each: with 512 threads in a block an SM holds
 * two, of which 8 warps are on each quarter of it; with 128 threads eight. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "models/gpu/sm_array.h"

enum { SMS = 2, WORK_NS = 1000 };

static const struct gsim_profile device = {.value = {[GSIM_KEY_SMS] = SMS,
                                                     [GSIM_KEY_SM_THREADS] = 1024,
                                                     [GSIM_KEY_SM_REGISTER_BYTES] = 262144,
                                                     [GSIM_KEY_SM_SHARED_BYTES] = 65536,
                                                     [GSIM_KEY_SM_BLOCKS] = 32}};

struct setup {
    struct gsim_sm_held held[3];
    struct gsim_sm_kernel kernel[3];
};

/* A kernel with a block of 128 threads on each SM, one warp a quarter, that arrived as the number
 * says. */
static void add(struct setup *setup, uint32_t i, uint32_t issue_percent, uint32_t tensor_percent) {
    setup->held[i] = (struct gsim_sm_held){.blocks = {1, 1}, .n = SMS, .pace = SMS};
    setup->kernel[i] =
        (struct gsim_sm_kernel){.blocks = SMS,
                                .threads = 128,
                                .busy = {issue_percent * 10000, tensor_percent * 10000},
                                .all = gsim_work_of_ns(WORK_NS),
                                .left = gsim_work_of_ns(WORK_NS),
                                .arrived_ns = i,
                                .n_sms = SMS,
                                .held = &setup->held[i]};
}

static void find(struct setup *setup, uint32_t n) {
    struct gsim_space space = gsim_space_of_device(&device);
    for (uint32_t i = 0; i < n; i++)
        setup->kernel[i].alone = gsim_sm_alone_of(&space, &setup->kernel[i]);
    gsim_sm_crowd_find(&space, setup->kernel, n);
}

static void expect(const struct setup *setup, uint32_t i, int64_t milli) {
    int64_t got = (int64_t)((setup->kernel[i].crowded_q32 * 1000 + GSIM_RATE_ONE / 2) >> 32);
    assert_int_equal(got, milli);
}

/* The older takes 60 % of the slots, so each instruction of the younger waits for 0.6 / 0.4 = 1.5
 * slots: of its only warp, which takes 20 %, that is 0.3 of its time. The older loses nothing, also
 * where it comes second in the list. */
static void test_a_younger_kernel_waits_for_slots(void **state) {
    (void)state;
    struct setup setup;
    add(&setup, 0, 60, 0);
    add(&setup, 1, 20, 0);
    find(&setup, 2);
    expect(&setup, 0, 1000);
    expect(&setup, 1, 1300);
    setup.kernel[0].arrived_ns = 5;
    find(&setup, 2); /* 0.2 / 0.8 of a slot, of a warp that takes 60 %: 0.15; no less than 0.75 */
    expect(&setup, 0, 1150);
    expect(&setup, 1, 1000);
}

/* A kernel of which four warps share each quarter takes 80 % with 20 % each: they wait for as long
 * as the one above, 1.3 times in all, but 40 % are all that is left of the slots: 0.8 / 0.4. */
static void test_slots_that_are_left_bound_it(void **state) {
    (void)state;
    struct setup setup;
    add(&setup, 0, 60, 0);
    add(&setup, 1, 80, 0);
    setup.kernel[1].threads = 512;
    find(&setup, 2);
    expect(&setup, 1, 2000);
}

/* What tensor cores wait is beyond what slots do: 1.5 x 0.2 for instructions, and at 50 % and 30 %
 * of the tensor cores 1 x 0.3. */
static void test_tensor_cores_are_waited_for_as_well(void **state) {
    (void)state;
    struct setup setup;
    add(&setup, 0, 60, 50);
    add(&setup, 1, 20, 30);
    find(&setup, 2);
    expect(&setup, 1, 1600);
    add(&setup, 0, 0, 50);
    find(&setup, 2);
    expect(&setup, 1, 1300);
    add(&setup, 1, 0, 0); /* its app says nothing: it is not crowded, and crowds none */
    add(&setup, 2, 20, 30);
    find(&setup, 3);
    expect(&setup, 1, 1000);
    expect(&setup, 2, 1300);
}

/* The second takes its 20 % over 1.3 times the time: 15.4 %. The third finds 75.4 % taken, and of
 * what is left, 24.6 %, waits 3.0625 slots: 0.1 x 3.0625. */
static void test_a_crowded_kernel_takes_less(void **state) {
    (void)state;
    struct setup setup;
    add(&setup, 0, 60, 0);
    add(&setup, 1, 20, 0);
    add(&setup, 2, 10, 0);
    find(&setup, 3);
    expect(&setup, 2, 1306);
}

/* Older kernels that would take all leave one slot of a million, at least: no time is without end. */
static void test_a_kernel_without_slots_goes_on(void **state) {
    (void)state;
    struct setup setup;
    add(&setup, 0, 100, 100);
    add(&setup, 1, 100, 0);
    find(&setup, 2);
    assert_true(setup.kernel[1].crowded_q32 >= 999999 * GSIM_RATE_ONE);
    assert_true(setup.kernel[1].crowded_q32 <= 1000001 * GSIM_RATE_ONE);
}

/* Alone each SM has a block of the kernel, and here one has both, which want 80 % of it: half of
 * what is beyond the 40 % of one block is older in the mean, 20 %, so that instructions wait for a
 * quarter of a slot: 0.4 x 0.25. Beside an older kernel with 60 % these are 0.6 + 0.2 (half of what
 * is free is no less): four slots, 1 + 0.4 x 4, more than 0.8 / 0.4. */
static void test_own_blocks_crowd_beyond_those_alone(void **state) {
    (void)state;
    struct setup setup;
    add(&setup, 0, 60, 0);
    add(&setup, 1, 40, 0);
    setup.held[1].blocks[0] = 2;
    setup.held[1].blocks[1] = 0;
    find(&setup, 2);
    expect(&setup, 1, 2600);
    setup.kernel[0].held->n = 0;
    find(&setup, 2);
    expect(&setup, 1, 1100);
}

/* A kernel of which one SM has older blocks and the other has none. */
static void find_beside_one(struct setup *setup, uint32_t issue_percent, int64_t blocks,
                            int64_t threads) {
    add(setup, 0, 60, 0);
    setup->held[0].blocks[0] = 0;
    setup->held[0].n = 1;
    add(setup, 1, issue_percent, 0);
    setup->kernel[1].blocks = blocks;
    setup->kernel[1].threads = threads;
    if (blocks > SMS) {
        setup->held[1].blocks[0] = 2;
        setup->held[1].n = 3;
    }
    find(setup, 2);
}

/* A kernel of which all blocks are there is over with the slowest of them; so it is when some have
 * ended: of four blocks with a warp of 10 % a quarter each, three are left, and one waits. Of a kernel
 * of eight blocks, four at a time, others follow where one ends, so that speeds add up: two blocks
 * are as fast as alone, and one takes 1 + 0.05 x 1.5 times as long: 3 / (2 + 1 / 1.075). */
static void test_the_slowest_block_decides(void **state) {
    (void)state;
    struct setup setup;
    find_beside_one(&setup, 20, SMS, 128);
    expect(&setup, 1, 1300);
    find_beside_one(&setup, 20, 4, 128);
    setup.held[1].pace = 4; /* as many as there were */
    find(&setup, 2);
    expect(&setup, 1, 1150);
    find_beside_one(&setup, 40, 8, 512);
    expect(&setup, 1, 1024);
}

/* On the way of a kernel that is solved: the part of its time that is bound by memory is as long as
 * ever. Older blocks take 60 %, and it computes 1.3 times as long in the half that is left. */
static void test_what_memory_does_is_not_crowded(void **state) {
    (void)state;
    for (uint32_t memory_ppm = 0; memory_ppm <= GSIM_PPM; memory_ppm += GSIM_PPM / 2) {
        struct gsim_space space = gsim_space_of_device(&device);
        struct setup setup;
        uint16_t order[2];
        add(&setup, 0, 60, 0);
        add(&setup, 1, 20, 0);
        gsim_sm_held_clear(&setup.held[0]);
        gsim_sm_held_clear(&setup.held[1]);
        setup.kernel[1].memory_ppm = memory_ppm;
        gsim_sm_array_solve(&space, setup.kernel, order, 2, NULL);
        assert_int_equal(setup.kernel[0].rate_q32, GSIM_RATE_ONE);
        int64_t longer_e4 = (int64_t)((GSIM_RATE_ONE * 10000) / setup.kernel[1].rate_q32);
        int64_t due_e4 = 10000 + 3000 * (GSIM_PPM - memory_ppm) / GSIM_PPM;
        assert_in_range(longer_e4, due_e4 - 1, due_e4 + 1);
    }
}

/* An older kernel whose blocks end over 60 % of its time: a third of them when 50 % is left. Where
 * they take slots of a younger one its rate changes then, so all is looked at again, though none
 * waits; else it is enough to find them gone later. */
static void test_blocks_that_crowd_are_looked_for(void **state) {
    (void)state;
    struct gsim_profile uneven = device;
    uneven.value[GSIM_KEY_JOB_SPREAD_PPM] = 600000;
    for (uint32_t issue_percent = 0; issue_percent <= 60; issue_percent += 60) {
        struct gsim_space space = gsim_space_of_device(&uneven);
        struct setup setup;
        uint16_t order[2];
        add(&setup, 0, issue_percent, 0);
        add(&setup, 1, 20, 0);
        gsim_sm_held_clear(&setup.held[0]);
        gsim_sm_held_clear(&setup.held[1]);
        gsim_sm_array_solve(&space, setup.kernel, order, 2, NULL);
        assert_true(setup.kernel[0].look == (issue_percent > 0 ? gsim_work_of_ns(WORK_NS / 2) : 0));
    }
}

/* Four blocks, alone two on an SM, crowd each other on the one SM of a cap: when some have left,
 * the others are faster, so the kernel is as long whether another one is looked at meanwhile or
 * not. */
static void test_own_blocks_that_crowd_are_looked_for(void **state) {
    (void)state;
    struct gsim_profile uneven = device;
    uneven.value[GSIM_KEY_JOB_SPREAD_PPM] = 600000;
    struct gsim_space space = gsim_space_of_device(&uneven);
    struct setup setup;
    uint16_t order[1];
    add(&setup, 0, 60, 0);
    gsim_sm_held_clear(&setup.held[0]);
    setup.kernel[0].blocks = 2 * SMS;
    setup.kernel[0].n_sms = 1;
    gsim_sm_array_solve(&space, setup.kernel, order, 1, NULL);
    uint64_t crowded_q32 = setup.kernel[0].crowded_q32;
    assert_true(crowded_q32 > GSIM_RATE_ONE);
    assert_true(setup.kernel[0].look == gsim_work_of_ns(WORK_NS / 2));
    setup.kernel[0].left = setup.kernel[0].look;
    gsim_sm_array_solve(&space, setup.kernel, order, 1, NULL);
    assert_true(setup.kernel[0].crowded_q32 < crowded_q32);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_younger_kernel_waits_for_slots),
        cmocka_unit_test(test_slots_that_are_left_bound_it),
        cmocka_unit_test(test_tensor_cores_are_waited_for_as_well),
        cmocka_unit_test(test_a_crowded_kernel_takes_less),
        cmocka_unit_test(test_a_kernel_without_slots_goes_on),
        cmocka_unit_test(test_own_blocks_crowd_beyond_those_alone),
        cmocka_unit_test(test_the_slowest_block_decides),
        cmocka_unit_test(test_what_memory_does_is_not_crowded),
        cmocka_unit_test(test_blocks_that_crowd_are_looked_for),
        cmocka_unit_test(test_own_blocks_that_crowd_are_looked_for),
    };
    return cmocka_run_group_tests_name("crowded SMs", tests, NULL, NULL);
}
