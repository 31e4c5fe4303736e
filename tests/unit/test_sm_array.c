/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels on the SMs of one GPU, block by block: the order in which they are served, what a cap
 * leaves, and the equations of models/gpu/space.h where both models apply. A device of 4 SMs, each
 * with room for 64 threads and 8 KiB of shared memory. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "models/gpu/clock.h"
#include "models/gpu/sm_array.h"
#include "sim/base/wide.h"

enum { SMS = 4, WORK_NS = 1000 };
#define GB INT64_C(1000000000)

static const struct gsim_curve_point hbm_by_sms[] = {{1, 400 * GB}, {2, 700 * GB}, {4, 1000 * GB}};
static const struct gsim_profile device = {.value = {[GSIM_KEY_SMS] = SMS,
                                                     [GSIM_KEY_HBM_BY_SMS] = 3,
                                                     [GSIM_KEY_HBM_BYTES_PER_S] = 1000 * GB,
                                                     [GSIM_KEY_SM_THREADS] = 64,
                                                     [GSIM_KEY_SM_REGISTER_BYTES] = 65536,
                                                     [GSIM_KEY_SM_SHARED_BYTES] = 8192,
                                                     [GSIM_KEY_SM_BLOCKS] = 4,
                                                     [GSIM_KEY_MPS_SMS] = 2,
                                                     [GSIM_KEY_L2_HIT_NS] = 100,
                                                     [GSIM_KEY_L2_MISS_NS] = 350,
                                                     [GSIM_KEY_L2_FIRST_LOADS_MILLI] = 2000},
                                           .curve = {[GSIM_KEY_HBM_BY_SMS] = hbm_by_sms}};

static struct gsim_sm_kernel kernel(int64_t blocks, int64_t shared_bytes,
                                    struct gsim_sm_held *held) {
    gsim_sm_held_clear(held);
    return (struct gsim_sm_kernel){.blocks = blocks,
                                   .threads = 32,
                                   .register_bytes = 1024,
                                   .shared_bytes = shared_bytes,
                                   .all = gsim_work_of_ns(WORK_NS),
                                   .left = gsim_work_of_ns(WORK_NS),
                                   .n_sms = SMS,
                                   .held = held};
}

static void solve(struct gsim_sm_kernel *kernels, uint32_t n) {
    struct gsim_space space = gsim_space_of_device(&device);
    uint16_t order[4];
    gsim_sm_array_solve(&space, kernels, order, n, NULL);
}

/* Eight blocks of which an SM holds one: four wait, and keep the second kernel away although there
 * are threads left for it. It begins when the last four blocks do, half of the work later. */
static void test_a_kernel_waits_for_the_blocks_before_it(void **state) {
    (void)state;
    struct gsim_sm_held held[2] = {{.n = 0}};
    struct gsim_sm_kernel kernels[] = {kernel(8, 8192, &held[0]), kernel(2, 0, &held[1])};
    kernels[1].arrived_ns = 1;
    solve(kernels, 2);
    assert_int_equal(kernels[0].rate_q32, GSIM_RATE_ONE);
    assert_int_equal(kernels[1].rate_q32, 0);
    assert_true(kernels[0].look == gsim_work_of_ns(WORK_NS / 2));
    kernels[0].left = kernels[0].look;
    solve(kernels, 2);
    assert_int_equal(kernels[0].rate_q32, GSIM_RATE_ONE);
    assert_int_equal(kernels[1].rate_q32, GSIM_RATE_ONE);
    assert_int_equal(held[1].n, 2);
}

/* Blocks that leave matter to a kernel that waits; alone, the kernel is asked for at its end, and
 * what has left by then is found from its work: of six blocks two begin in the second wave. */
static void test_ends_of_blocks_matter_to_others(void **state) {
    (void)state;
    struct gsim_sm_held held = {.n = 0};
    struct gsim_sm_kernel one = kernel(6, 8192, &held);
    solve(&one, 1);
    assert_int_equal(held.n, 4);
    assert_true(one.look == 0);
    one.left = gsim_work_of_ns(WORK_NS / 4);
    solve(&one, 1);
    assert_int_equal(held.n, 2);
    assert_int_equal(one.rate_q32, GSIM_RATE_ONE);
}

/* Two clients with caps of three of the four SMs, blocks that need an SM each. The second one takes
 * the SM that is idle, though it is none of its first ones, and two when the first client's kernel
 * ends: each block takes all of the kernel's time, so that it needs twice as long. */
static void test_caps_beyond_the_gpu_share_all_sms(void **state) {
    (void)state;
    struct gsim_sm_held held[2] = {{.n = 0}};
    struct gsim_sm_kernel kernels[] = {kernel(3, 8192, &held[0]), kernel(3, 8192, &held[1])};
    for (int i = 0; i < 2; i++) {
        kernels[i].n_sms = 3;
        kernels[i].is_pooled = kernels[i].may_begin_apart = kernels[i].has_queue = true;
    }
    kernels[1].arrived_ns = 1;
    solve(kernels, 2);
    assert_int_equal(kernels[0].rate_q32, GSIM_RATE_ONE);
    assert_int_equal(kernels[1].rate_q32, GSIM_RATE_ONE / 3);
    assert_int_equal(held[1].blocks[3], 1);
    assert_true(kernels[1].look == gsim_work_of_ns(WORK_NS) - gsim_work_of_ns(WORK_NS) / 3);
    kernels[1].left = kernels[1].look;
    solve(&kernels[1], 1);
    assert_int_equal(held[1].n, 2);
    assert_int_equal(kernels[1].rate_q32, gsim_muldiv_floor(GSIM_RATE_ONE, 2, 3));
    assert_true(kernels[1].look == 0);
}

/* Without caps: an SM at once, and two after half of the first block, which so ends before them. */
static void test_alike_blocks_begin_in_pieces(void **state) {
    (void)state;
    struct gsim_sm_held held[2] = {{.n = 0}};
    struct gsim_sm_kernel kernels[] = {kernel(3, 8192, &held[0]), kernel(3, 8192, &held[1])};
    kernels[1].is_alike = kernels[1].may_begin_apart = true;
    kernels[1].arrived_ns = 1;
    solve(kernels, 2);
    kernels[1].left -= kernels[1].all / 6;
    solve(&kernels[1], 1);
    assert_int_equal(held[1].n, 3);
    kernels[1].left = kernels[1].look;
    solve(&kernels[1], 1);
    assert_int_equal(held[1].n, 2);
}

/* The second client's kernel comes at half of the first one's time, and gets its last two SMs at
 * half of its own first block: that block ends a half later, the others a whole, and not all
 * together. */
static void test_pieces_end_as_they_began(void **state) {
    (void)state;
    struct gsim_sm_held held[2] = {{.n = 0}};
    struct gsim_sm_kernel kernels[] = {kernel(3, 8192, &held[0]), kernel(3, 8192, &held[1])};
    gsim_work all = kernels[1].all;
    for (int i = 0; i < 2; i++) {
        kernels[i].n_sms = 3;
        kernels[i].is_pooled = kernels[i].may_begin_apart = kernels[i].has_queue = true;
    }
    kernels[0].left = all / 2;
    kernels[1].arrived_ns = 1;
    solve(kernels, 2);
    kernels[1].left = all - all / 6; /* half of one of three blocks */
    solve(&kernels[1], 1);
    assert_int_equal(held[1].n, 3);
    assert_true(kernels[1].look == kernels[1].left - 3 * (all - all / 6 * 3) / 3);
    kernels[1].left = kernels[1].look;
    solve(&kernels[1], 1);
    assert_int_equal(held[1].n, 2);
    assert_true(kernels[1].look == 0 && kernels[1].left <= all / 3 + 2);
}

/* Four blocks of which an SM holds one begin in pieces, three and one, before any has done its part:
 * all stay to the end, so that a kernel behind them gets nothing from the middle on. */
static void test_blocks_in_pieces_end_together(void **state) {
    (void)state;
    struct gsim_sm_held held[3] = {{.n = 0}};
    struct gsim_sm_kernel kernels[] = {kernel(4, 8192, &held[0]), kernel(4, 8192, &held[1]),
                                       kernel(1, 8192, &held[2])};
    kernels[0].arrived_ns = 2;
    kernels[1].arrived_ns = 3;
    kernels[2].n_sms = 1;
    solve(kernels, 3);
    assert_int_equal(held[0].n, 3);
    gsim_sm_held_clear(&held[2]); /* the oldest has ended */
    kernels[0].left = gsim_work_of_ns(WORK_NS * 7 / 8);
    solve(kernels, 2);
    assert_int_equal(held[0].n, 4);
    kernels[0].left = gsim_work_of_ns(WORK_NS / 2);
    solve(kernels, 2);
    assert_int_equal(held[0].n, 4);
    assert_int_equal(kernels[1].rate_q32, 0);
}

/* Blocks that end over the last 60 % of their kernel free a third of its SMs when five sixths of
 * that are left (500 of 1000 ns), a third at a half (300 ns), all but one block's at a sixth
 * (100 ns): half of the SM time of these 600 ns, as if each block left by itself. */
static void test_uneven_ends_free_half_of_the_time(void **state) {
    (void)state;
    static const struct {
        int64_t left_ns, look_ns;
        uint32_t first, second;
    } at[] = {{1000, 500, 4, 0}, {500, 300, 3, 1}, {300, 100, 2, 2}, {100, 0, 1, 3}};
    struct gsim_profile uneven = device;
    uneven.value[GSIM_KEY_JOB_SPREAD_PPM] = 600000;
    struct gsim_space space = gsim_space_of_device(&uneven);
    struct gsim_sm_held held[2] = {{.n = 0}};
    struct gsim_sm_kernel kernels[] = {kernel(4, 8192, &held[0]), kernel(4, 8192, &held[1])};
    kernels[1].arrived_ns = 1;
    for (uint32_t i = 0; i < 4; i++) {
        uint16_t order[2];
        kernels[0].left = gsim_work_of_ns(at[i].left_ns);
        gsim_sm_array_solve(&space, kernels, order, 2, NULL);
        assert_int_equal(held[0].n, at[i].first);
        assert_int_equal(held[1].n, at[i].second);
        assert_true(kernels[0].look == gsim_work_of_ns(at[i].look_ns));
    }
}

/* A kernel of four waves began on the last two SMs; its cap lies on the first two now, where its
 * neighbour has left. The one block of its last wave stays where it is until it ends. */
static void test_blocks_stay_when_a_cap_moves(void **state) {
    (void)state;
    struct gsim_sm_held held = {.n = 0};
    struct gsim_sm_kernel one = kernel(7, 8192, &held);
    one.n_sms = 2;
    one.first_sm = 2;
    solve(&one, 1);
    assert_int_equal(held.n, 2);
    one.first_sm = 0;
    one.left = gsim_work_of_ns(WORK_NS / 8);
    held.pace = 2;
    solve(&one, 1);
    assert_int_equal(held.n, 1);
    assert_int_equal(held.blocks[2] + held.blocks[3], 1);
}

static void test_a_queue_of_its_own_does_not_wait(void **state) {
    (void)state;
    struct gsim_sm_held held[2] = {{.n = 0}};
    struct gsim_sm_kernel kernels[] = {kernel(8, 8192, &held[0]), kernel(2, 0, &held[1])};
    kernels[1].arrived_ns = 1;
    kernels[1].has_queue = true;
    solve(kernels, 2);
    assert_int_equal(kernels[1].rate_q32, GSIM_RATE_ONE);
}

/* A kernel has two of four blocks on its two SMs, where half of the room is left. */
static void test_kernels_of_one_range_share_a_queue(void **state) {
    struct gsim_sm_held held[2] = {{.n = 0}};
    struct gsim_sm_kernel kernels[] = {kernel(4, 5000, &held[0]), kernel(2, 1000, &held[1])};
    (void)state;
    kernels[0].n_sms = kernels[1].n_sms = 2; /* the older one comes first */
    solve(kernels, 2);
    assert_int_equal(held[1].n, 0);
}

/* Four blocks that fill an SM each stay to their end, and leave nothing: the younger kernel waits
 * for all of it, and has the rest of the SMs when three of them are free. */
static void test_blocks_go_where_there_is_room(void **state) {
    (void)state;
    struct gsim_sm_held held[2] = {{.n = 0}};
    struct gsim_sm_kernel kernels[] = {kernel(4, 8192, &held[0]), kernel(4, 4096, &held[1])};
    kernels[0].arrived_ns = 1;
    kernels[1].n_sms = 1; /* a range with a queue of its own: two of its blocks wait */
    solve(kernels, 2);
    assert_int_equal(held[1].n, 2);
    assert_int_equal(held[0].n, 3);
    assert_int_equal(held[0].blocks[0], 0);
    assert_int_equal(kernels[0].rate_q32, GSIM_RATE_ONE / 4 * 3);
}

/* Caps of 10, 25, 30, 50, 70, 75 and 100 % left 12, 32, 38, 66, 92, 98 and 132 SMs of an H200. */
static void test_a_cap_is_rounded_down_to_pairs_of_sms(void **state) {
    (void)state;
    static const int64_t percent[] = {10, 25, 30, 50, 70, 75, 100};
    static const int64_t sms[] = {12, 32, 38, 66, 92, 98, 132};
    struct gsim_profile h200 = device;
    h200.value[GSIM_KEY_SMS] = 132;
    for (size_t i = 0; i < sizeof sms / sizeof *sms; i++)
        assert_int_equal(gsim_sm_array_width(&h200, 132, (uint32_t)(percent[i] * 10000)), sms[i]);
}

static uint64_t by_rates(uint32_t cap_ppm, uint32_t memory_ppm) {
    struct gsim_space space = gsim_space_of_device(&device);
    struct gsim_holder holder = {.cap_ppm = cap_ppm,
                                 .fill_ppm = GSIM_PPM,
                                 .memory_ppm = memory_ppm,
                                 .hbm_bytes_per_s = memory_ppm * 1000 * GB / GSIM_PPM};
    gsim_space_solve(&space, &holder, 1);
    return holder.rate_q32;
}

/* A kernel that fills the GPU alone, on half of the SMs: the part of its time that is bound by
 * memory goes by bandwidth, 700 of 1000 GB/s, the rest by SMs. */
static void test_alone_under_a_cap_both_models_agree(void **state) {
    (void)state;
    for (uint32_t memory_ppm = 0; memory_ppm <= GSIM_PPM; memory_ppm += 250000) {
        struct gsim_sm_held held = {.n = 0};
        struct gsim_sm_kernel one = kernel(40, 8192, &held);
        one.n_sms = 2;
        one.memory_ppm = memory_ppm;
        solve(&one, 1);
        int64_t apart = (int64_t)one.rate_q32 - (int64_t)by_rates(500000, memory_ppm);
        assert_in_range(apart + 4, 0, 8);
    }
}

static void expect_on_two_sms(int64_t gb_per_s, int64_t register_bytes, uint64_t rate_e5) {
    struct gsim_profile waiting = device;
    waiting.value[GSIM_KEY_SM_MEMORY_THREADS] = 64;
    struct gsim_space space = gsim_space_of_device(&waiting);
    struct gsim_sm_held held = {.n = 0};
    struct gsim_sm_kernel one = kernel(40, 2048, &held);
    uint16_t order[1];
    one.n_sms = 2;
    one.register_bytes = register_bytes;
    one.hbm_bytes_per_s = gb_per_s * GB;
    one.memory_ppm = (uint32_t)(gb_per_s * 1000);
    gsim_sm_array_solve(&space, &one, order, 1, NULL);
    assert_in_range(one.rate_q32 * 100000 / GSIM_RATE_ONE, rate_e5 - 1, rate_e5 + 1);
}

/* A kernel that draws 700 of the 1000 GB/s of its four SMs has two SMs' bytes on their way, so it waits
 * for half of its time, for loads of 2 / 700. On two SMs it draws less than the 400 up to which
 * memory is idle, so that these take 1 / 400, 0.875 of that: 2 (0.5 + 0.5 x 0.875) = 1.875 times as
 * long, where bandwidth and SMs by their parts of the time would say 0.3 x 2 + 0.7 / 0.7 = 1.6. One
 * that draws 900 has 10/3 SMs' and waits for 5/6 of its time; r times as long it has
 * 1 + (900 / r - 400) / 300 on their way, and r = 2 (1/6 + 5/6 (3 / r - 1/3) r / (10/3)) = 11/7. One
 * that draws 1000 waits for all of its time, and draws 700. With half of the threads, 700 are all
 * that it can draw; on two SMs these are 400. */
static void test_a_kernel_on_fewer_sms_waits_on_each(void **state) {
    (void)state;
    expect_on_two_sms(700, 1024, 53333);
    expect_on_two_sms(900, 1024, 63636);
    expect_on_two_sms(1000, 1024, 70000);
    expect_on_two_sms(700, 65536, 57142);
}

/* Two kernels that are bound by memory all the time, on two SMs each. */
static void solve_on_own_sms(struct gsim_sm_kernel kernels[2]) {
    for (uint16_t i = 0; i < 2; i++) {
        kernels[i].first_sm = (uint16_t)(2 * i);
        kernels[i].n_sms = 2;
        kernels[i].has_queue = true;
        kernels[i].memory_ppm = GSIM_PPM;
    }
    solve(kernels, 2);
}

/* They have the bytes of two SMs on their way each, with which four SMs draw 1000 GB/s: each gets 500
 * of the 1000 that it has alone. */
static void test_bandwidth_is_shared_as_by_rates(void **state) {
    (void)state;
    struct gsim_sm_held held[2] = {{.n = 0}};
    struct gsim_sm_kernel kernels[] = {kernel(40, 8192, &held[0]), kernel(40, 8192, &held[1])};
    solve_on_own_sms(kernels);
    for (uint16_t i = 0; i < 2; i++)
        assert_in_range((kernels[i].rate_q32 + 10000) / 20000, GSIM_RATE_ONE / 2 / 20000 - 1,
                        GSIM_RATE_ONE / 2 / 20000 + 1);
}

/* On three SMs and on one they would draw 850 and 400 of the 1000 GB/s, and wait in one queue, where
 * three quarters of the bytes are the first one's: it gets 750, the other 250. */
static void test_bandwidth_goes_by_bytes_under_way(void **state) {
    (void)state;
    struct gsim_sm_held held[2] = {{.n = 0}};
    struct gsim_sm_kernel kernels[] = {kernel(40, 8192, &held[0]), kernel(40, 8192, &held[1])};
    kernels[0].n_sms = 3;
    kernels[1].first_sm = 3;
    kernels[1].n_sms = 1;
    for (uint16_t i = 0; i < 2; i++) {
        kernels[i].has_queue = true;
        kernels[i].memory_ppm = GSIM_PPM;
    }
    solve(kernels, 2);
    assert_in_range(kernels[0].rate_q32 / (GSIM_RATE_ONE / 100000), 74998, 75001);
    assert_in_range(kernels[1].rate_q32 / (GSIM_RATE_ONE / 100000), 24998, 25001);
}

/* The first kernel is bound by memory all the time on two SMs; the second one draws 400 of the 700 GB/s
 * that its two SMs could: by the curve it has the bytes of one SM on their way. With 32 threads an SM
 * of the 64 that have as many as an SM can have, it has no more than those, so it waits all of its
 * time. Three SMs' worth draw 850 GB/s, so each load takes 3 / 850 in place of 1 / 400, and the rate
 * is 850 / 1200 = 0.70833. With 64 threads it could have two SMs' worth, so it waits for half of its
 * time: with x times as long for a load it has 2x / (1 + x) on their way, and x is
 * 400 k / (700 + 150 (k - 2)) at k = 2 + 2x / (1 + x). That is x = 1.45125, k = 3.18408, and the rate
 * is 1 / (0.5 + 0.5 x) = 0.81591. */
static void test_few_threads_wait_more(void **state) {
    (void)state;
    struct gsim_profile waiting = device;
    waiting.value[GSIM_KEY_SM_MEMORY_THREADS] = 64;
    struct gsim_space space = gsim_space_of_device(&waiting);
    for (int64_t threads = 32; threads <= 64; threads += 32) {
        struct gsim_sm_held held[2] = {{.n = 0}};
        struct gsim_sm_kernel kernels[] = {kernel(40, 2048, &held[0]), kernel(2, 0, &held[1])};
        uint16_t order[2];
        for (uint16_t i = 0; i < 2; i++) {
            kernels[i].first_sm = (uint16_t)(2 * i);
            kernels[i].n_sms = 2;
            kernels[i].has_queue = true;
        }
        kernels[0].memory_ppm = GSIM_PPM;
        kernels[1].memory_ppm = 571429;
        kernels[1].hbm_bytes_per_s = 400 * GB;
        kernels[1].threads = threads;
        gsim_sm_array_solve(&space, kernels, order, 2, NULL);
        uint64_t expected = threads == 32 ? 70833 : 81591;
        assert_in_range(kernels[1].rate_q32 / (GSIM_RATE_ONE / 100000), expected - 1, expected + 1);
    }
}

/* Four blocks that have an SM each alone have two SMs together, and draw what these can: as much as
 * the other kernel. So it gets 500 of the 1000 that it draws alone. */
static void test_crowded_blocks_have_the_bytes_of_their_sms(void **state) {
    (void)state;
    struct gsim_sm_held held[2] = {{.n = 0}};
    struct gsim_sm_kernel kernels[] = {kernel(4, 0, &held[0]), kernel(40, 8192, &held[1])};
    solve_on_own_sms(kernels);
    assert_int_equal(held[0].n, 4);
    for (uint16_t i = 0; i < 2; i++)
        assert_in_range(kernels[i].rate_q32 / (GSIM_RATE_ONE / 100000), 49998, 50001);
}

/* Two kernels with SMs of their own, alone on these: both models know them by part of the SMs and by
 * what they draw, and let loads take equally long. They are within 2 millionths of each other: parts
 * that are bound by memory are whole millionths. */
static void test_beside_each_other_both_models_agree(void **state) {
    (void)state;
    struct gsim_space space = gsim_space_of_device(&device);
    uint64_t seed = 7;
    for (int round = 0; round < 3000; round++) {
        struct gsim_sm_held held[2] = {{.n = 0}};
        struct gsim_sm_kernel kernels[2];
        struct gsim_holder holders[2];
        int64_t first_sms = 1 + (int64_t)(gsim_mix_next(&seed) % 3);
        for (uint16_t i = 0; i < 2; i++) {
            int64_t sms = i ? SMS - first_sms : first_sms;
            int64_t most = gsim_space_bandwidth(&space, sms * GSIM_SM) / GB;
            holders[i] = (struct gsim_holder){
                .first_sm = i ? (uint32_t)first_sms : 0,
                .n_sms = (uint32_t)sms,
                .cap_ppm = (uint32_t)GSIM_PPM,
                .fill_ppm = (uint32_t)(sms * GSIM_PPM / SMS),
                .hbm_bytes_per_s = (int64_t)(gsim_mix_next(&seed) % (uint64_t)(most * 5 / 4)) * GB};
            holders[i].memory_ppm =
                gsim_space_memory_ppm(&device, holders[i].fill_ppm, holders[i].hbm_bytes_per_s);
            kernels[i] = kernel(sms, 2048, &held[i]);
            kernels[i].first_sm = (uint16_t)holders[i].first_sm;
            kernels[i].n_sms = (uint16_t)sms;
            kernels[i].has_queue = true;
            kernels[i].memory_ppm = holders[i].memory_ppm;
            kernels[i].hbm_bytes_per_s = holders[i].hbm_bytes_per_s;
        }
        gsim_space_solve(&space, holders, 2);
        solve(kernels, 2);
        for (int i = 0; i < 2; i++) {
            int64_t apart = (int64_t)kernels[i].rate_q32 - (int64_t)holders[i].rate_q32;
            assert_true(llabs(apart) < (int64_t)(GSIM_RATE_ONE / 500000));
        }
    }
}

/* Two kernels that draw 800 GB/s alone on half of the SMs each, of which the curve has 700: together
 * they draw the 1000 that there are, and not 1143, as with the curve's 700 each. */
static void test_no_more_is_drawn_than_there_is(void **state) {
    (void)state;
    struct gsim_sm_held held[2] = {{.n = 0}};
    struct gsim_sm_kernel kernels[] = {kernel(2, 2048, &held[0]), kernel(2, 2048, &held[1])};
    kernels[0].hbm_bytes_per_s = kernels[1].hbm_bytes_per_s = 800 * GB;
    solve_on_own_sms(kernels);
    for (int i = 0; i < 2; i++)
        assert_in_range(kernels[i].rate_q32 / (GSIM_RATE_ONE / 100000), 62499, 62501);
}

/* On two of four SMs a kernel that is never bound by memory runs at half of its speed: half of its
 * time is lost to SMs. Beside another on the other two, both bound by memory all the time, each
 * alone there would run at 0.7 and runs at 0.5: of its time 0.5 x (1 / 0.7 - 1) goes to the SMs that
 * it lacks, and 0.5 x (2 - 1 / 0.7) to the bandwidth that both share. */
static void test_what_is_lost_has_a_cause(void **state) {
    (void)state;
    struct gsim_sm_held held[2] = {{.n = 0}};
    struct gsim_sm_kernel one = kernel(40, 8192, &held[0]);
    one.n_sms = 2;
    solve(&one, 1);
    assert_in_range(one.lost.sms_ppm, 499990, 500000);
    assert_int_equal(one.lost.bandwidth_ppm, 0);
    struct gsim_sm_kernel kernels[] = {kernel(40, 8192, &held[0]), kernel(40, 8192, &held[1])};
    solve_on_own_sms(kernels);
    assert_in_range(kernels[0].lost.sms_ppm, 214200, 214300);
    assert_in_range(kernels[0].lost.bandwidth_ppm, 285600, 285800);
}

static uint32_t clock_alone(const struct gsim_profile *profile, int64_t core_uj,
                            int64_t memory_uj) {
    struct gsim_clock_energy energy = {.core_uj = core_uj, .memory_uj = memory_uj};
    return gsim_clock_alone(profile, &energy, 10200000);
}

/* 700 W, 140 of them idle. Work of 700 W within 560: the clock whose 5/2 power is 0.8, 0.9146 of the
 * highest. Alone, an iteration of 8.5 J that takes 10.2 ms draws within 560 W at the clock whose
 * 3/2 power is 560 x 0.0102 / 8.5 = 0.672, 0.7672 of the highest. With the exponent 3 it is the cubic
 * root of 0.8, 0.92831, and the square root of 0.672, 0.81975. */
static void test_power_lowers_the_clock(void **state) {
    (void)state;
    struct gsim_profile limited = device;
    limited.value[GSIM_KEY_POWER_LIMIT_W] = 700;
    limited.value[GSIM_KEY_POWER_IDLE_W] = 140;
    limited.value[GSIM_KEY_POWER_EXPONENT_MILLI] = 2500;
    assert_int_equal(gsim_clock(&limited, 560000000, 0), GSIM_PPM);
    assert_int_equal(gsim_clock(&limited, 700000000, 0), 914610);
    assert_int_equal(clock_alone(&limited, 8500000, 0) / 100, 7672);
    assert_int_equal(clock_alone(&limited, 5712000, 0), GSIM_PPM);
    assert_int_equal(gsim_clock(&device, 700000000, 0), GSIM_PPM);
    limited.value[GSIM_KEY_POWER_EXPONENT_MILLI] = 3000;
    assert_int_equal(gsim_clock(&limited, 700000000, 0) / 10, 92831);
    assert_int_equal(clock_alone(&limited, 8500000, 0) / 10, 81975);
}

/* 560 W are left. With the exponent 2, 560 W of kernels and 280 W of memory at the highest clock x
 * fulfil x x + x / 2 = 1: x is the root of 17 less 1, over 4, 0.780776. 1120 W of memory alone leave a
 * half. Alone, an iteration of 10.2 ms may draw 5.712 J; 2.856 of them for memory leave 2.856 J, of
 * 5.712 at the highest clock: with an exponent of energy of 1 a half, and without memory 1. */
static void test_memory_has_a_clock_of_its_own(void **state) {
    (void)state;
    struct gsim_profile limited = device;
    limited.value[GSIM_KEY_POWER_LIMIT_W] = 700;
    limited.value[GSIM_KEY_POWER_IDLE_W] = 140;
    limited.value[GSIM_KEY_POWER_EXPONENT_MILLI] = 2000;
    assert_int_equal(gsim_clock(&limited, 560000000, 280000000) / 10, 78077);
    assert_int_equal(gsim_clock(&limited, 0, 1120000000), GSIM_PPM / 2);
    assert_int_equal(gsim_clock(&limited, 0, 560000000), GSIM_PPM);
    assert_int_equal(clock_alone(&limited, 5712000, 2856000), GSIM_PPM / 2);
    assert_int_equal(clock_alone(&limited, 5712000, 0), GSIM_PPM);
}

/* 560 W are left. With an exponent of energy of 1, kernels of 8 ms that draw 5.04 J at the highest clock
 * take t with 5.04 x 8 / t = 0.56 t: the root of 72 ms^2, 8.485281 ms. With 2.8 J of memory beside 3.15,
 * 3.15 x 8 / t + 2.8 = 0.56 t, which t = 9.658911 fulfils. 4.48 J are within the limit, and a device without
 * a limit has the highest clock. */
static void test_power_makes_iterations_longer(void **state) {
    (void)state;
    struct gsim_profile limited = device;
    limited.value[GSIM_KEY_POWER_LIMIT_W] = 700;
    limited.value[GSIM_KEY_POWER_IDLE_W] = 140;
    limited.value[GSIM_KEY_POWER_EXPONENT_MILLI] = 2000;
    const int64_t kernels_ns = 8000000;
    struct gsim_clock_energy energy = {.core_uj = 5040000};
    assert_in_range(gsim_clock_iteration_ns(&limited, &energy, kernels_ns), 8485281, 8485283);
    assert_int_equal(gsim_clock_iteration_ns(&device, &energy, kernels_ns), kernels_ns);
    energy = (struct gsim_clock_energy){.core_uj = 3150000, .memory_uj = 2800000};
    assert_in_range(gsim_clock_iteration_ns(&limited, &energy, kernels_ns), 9658910, 9658912);
    energy = (struct gsim_clock_energy){.core_uj = 4480000};
    assert_int_equal(gsim_clock_iteration_ns(&limited, &energy, kernels_ns), kernels_ns);
}

/* Two kernels on two of the four SMs each, the first of which is `first`, with these watts for
 * kernels: the rates in ten thousandths. */
static void expect_clocked(struct gsim_sm_kernel first, int64_t room_w, int64_t exponent_milli,
                           uint64_t one, uint64_t other) {
    struct gsim_profile limited = device;
    limited.value[GSIM_KEY_POWER_LIMIT_W] = room_w + 1;
    limited.value[GSIM_KEY_POWER_IDLE_W] = 1;
    limited.value[GSIM_KEY_POWER_EXPONENT_MILLI] = exponent_milli;
    struct gsim_space space = gsim_space_of_device(&limited);
    struct gsim_sm_held held[2] = {{.n = 0}};
    struct gsim_sm_kernel kernels[] = {first, kernel(40, 8192, &held[1])};
    uint16_t order[2];
    kernels[0].held = &held[0];
    for (uint16_t i = 0; i < 2; i++) {
        kernels[i].first_sm = (uint16_t)(2 * i);
        kernels[i].n_sms = 2;
        kernels[i].has_queue = true;
    }
    gsim_sm_array_solve(&space, kernels, order, 2, NULL);
    assert_in_range(kernels[0].rate_q32 * 10000 / GSIM_RATE_ONE, one - 1, one + 1);
    assert_in_range(kernels[1].rate_q32 * 10000 / GSIM_RATE_ONE, other - 1, other + 1);
}

/* The first draws 800 W at the highest clock, where the limit leaves 200, and alone on all SMs runs
 * at the clock 0.5743 (0.25 to the power of 2/5): on half of them it draws 400 W, so that the clock
 * is 0.7578, and it runs 0.7578 / 0.5743 times faster than half as fast. The other, which draws
 * nothing, is slower by the clock. */
static void test_a_lower_clock_slows_all_kernels(void **state) {
    (void)state;
    struct gsim_sm_held held;
    struct gsim_sm_kernel first = kernel(40, 8192, &held);
    first.power_uw = 800000000;
    first.clock_ppm = 574349;
    expect_clocked(first, 200, 2500, 6597, 3789);
}

/* While the first runs, the clock is 0.8 at most: its own rate, measured so, is a half on half of the
 * SMs, and that of the other 0.8 of a half. If it draws 800 W at that clock, where the limit leaves
 * 100, it runs alone at 0.8 times the root of an eighth, 0.2828. At the GPU's highest clock it would
 * draw 800 / 0.64 = 1250 W, on half of the SMs 625, so that the clock is the root of 100 / 625, 0.4:
 * it runs 0.4 / 0.2828 times faster than half as fast, and the other at 0.4 of a half. */
static void test_a_kernel_lowers_the_highest_clock(void **state) {
    (void)state;
    struct gsim_sm_held held;
    struct gsim_sm_kernel first = kernel(40, 8192, &held);
    first.lowers_ppm = 200000;
    expect_clocked(first, 1000, 2000, 5000, 4000);
    first.power_uw = 800000000;
    first.clock_ppm = 353553;
    expect_clocked(first, 100, 2000, 7071, 2000);
}

/* On half of the SMs a kernel draws 700 of 1000; one of which a block takes half of an SM's shared
 * memory or more draws 1100 of 1200. */
static void test_staged_kernels_draw_more(void **state) {
    (void)state;
    static const struct gsim_curve_point staged[] = {{2, 1100 * GB}, {4, 1200 * GB}};
    struct gsim_profile profile = device;
    profile.curve[GSIM_KEY_HBM_STAGED_BY_SMS] = staged;
    profile.value[GSIM_KEY_HBM_STAGED_BY_SMS] = 2;
    struct gsim_space space = gsim_space_of_device(&profile);
    for (int64_t shared = 2048; shared <= 4096; shared += 2048) {
        struct gsim_sm_held held = {.n = 0};
        struct gsim_sm_kernel one = kernel(40, shared, &held);
        uint16_t order[1];
        one.n_sms = 2;
        one.memory_ppm = GSIM_PPM;
        gsim_sm_array_solve(&space, &one, order, 1, NULL);
        assert_in_range(one.rate_q32 * 10000 / GSIM_RATE_ONE, shared == 4096 ? 9166 : 6999,
                        shared == 4096 ? 9167 : 7000);
    }
}

/* Forty blocks of which an SM holds one, of 100 ns each; two waves and a half are over when a kernel
 * of a higher rank comes. Blocks in step make room for it together, at the end of the third wave;
 * those that are out of step a third of four at a time, in two thirds of a block's time. The rest go
 * on behind it. */
static void test_a_higher_rank_goes_first(void **state) {
    (void)state;
    for (int is_in_step = 0; is_in_step < 2; is_in_step++) {
        struct gsim_sm_held held[2] = {{.n = 0}};
        struct gsim_sm_kernel kernels[] = {kernel(40, 8192, &held[0]), kernel(4, 8192, &held[1])};
        kernels[1].arrived_ns = 1;
        kernels[1].rank = 1;
        solve(kernels, 1);
        kernels[0].left = gsim_work_of_ns(WORK_NS) * 30 / 40;
        held[0].some_ended = !is_in_step;
        held[0].step = is_in_step ? 0 : -1;
        solve(kernels, 2); /* blocks on SMs stay */
        int64_t ns = 0;
        for (int step = 0; held[0].n > 0; step++) {
            assert_int_equal(held[0].n, 4 - 2 * step);
            ns += gsim_work_time(kernels[0].left - kernels[0].look, kernels[0].rate_q32);
            kernels[0].left = kernels[0].look;
            solve(kernels, 2);
        }
        assert_in_range(ns, is_in_step ? 50 : 66, is_in_step ? 51 : 70);
        assert_int_equal(held[1].n, 4);
        assert_int_equal(kernels[0].rate_q32, 0);
        solve(kernels, 1);
        assert_int_equal(held[0].n, 4);
        assert_int_equal(held[0].leaving, 0);
    }
}

/* Four blocks that began together end together; the others wait though there is room again. */
static void test_a_stopped_kernel_leaves_at_its_blocks(void **state) {
    (void)state;
    struct gsim_sm_held held = {.n = 0};
    struct gsim_sm_kernel one = kernel(8, 8192, &held);
    solve(&one, 1);
    one.is_stopped = true;
    one.left = gsim_work_of_ns(WORK_NS) * 3 / 4;
    solve(&one, 1);
    assert_int_equal(held.n, 4);
    assert_true(one.look == gsim_work_of_ns(WORK_NS / 2));
    one.left = one.look;
    solve(&one, 1);
    assert_int_equal(held.n, 0);
    assert_int_equal(one.rate_q32, 0);
    one.is_stopped = false;
    solve(&one, 1);
    assert_int_equal(held.n, 4);
    assert_int_equal(one.rate_q32, GSIM_RATE_ONE);
}

/* A kernel of eight waves on all four SMs loses two of them when one wave is over: the blocks there
 * leave a third at a time within the time of a block (an eighth of the kernel), the others have
 * successors. A kernel that owns the two SMs gets them then, and not before; the blocks that the
 * first kernel has left are those that it may have, and no work is lost. */
static void test_blocks_leave_sms_that_are_taken_away(void **state) {
    (void)state;
    enum { BLOCKS = 32 };
    struct gsim_sm_held held[2] = {{.n = 0}};
    struct gsim_sm_set first_two = {{3}};
    struct gsim_sm_kernel kernels[] = {kernel(BLOCKS, 8192, &held[0]), kernel(4, 8192, &held[1])};
    kernels[0].has_queue = kernels[1].has_queue = true;
    kernels[1].first_sm = kernels[1].n_sms = 2;
    kernels[1].arrived_ns = 1;
    solve(kernels, 1);
    assert_int_equal(held[0].n, 4);
    kernels[0].left = kernels[0].all * 7 / 8;
    kernels[0].only = &first_two;
    solve(kernels, 2);
    assert_int_equal(held[0].n, 4);
    assert_int_equal(kernels[0].rate_q32, GSIM_RATE_ONE);
    assert_int_equal(kernels[1].rate_q32, 0);
    for (int steps = 0; held[0].n > 2 && steps < BLOCKS; steps++) {
        assert_true(kernels[0].look > 0 && kernels[0].look < kernels[0].left);
        kernels[0].left = kernels[0].look;
        solve(kernels, 2);
    }
    assert_true(kernels[0].left >= kernels[0].all * 6 / 8);
    assert_int_equal(held[0].blocks[0] + held[0].blocks[1], 2);
    assert_int_equal(held[0].blocks[2] + held[0].blocks[3], 0);
    assert_int_equal(kernels[0].rate_q32, GSIM_RATE_ONE / 2);
    assert_int_equal(held[1].n, 2);
    assert_int_equal(held[1].blocks[2] + held[1].blocks[3], 2);
    kernels[0].only = NULL; /* and comes back when its owner has ended */
    solve(kernels, 1);
    assert_int_equal(held[0].n, 4);
}

/* Half of the blocks of a kernel of two waves: served as a kernel of one wave, at the speed that its
 * kernel has alone. */
static void test_an_atom_has_the_speed_of_its_kernel(void **state) {
    (void)state;
    struct gsim_sm_held held = {.n = 0};
    struct gsim_sm_kernel atom = kernel(2, 8192, &held);
    atom.whole_blocks = 8;
    solve(&atom, 1);
    assert_int_equal(held.n, 2);
    assert_int_equal(atom.rate_q32, GSIM_RATE_ONE / 2);
}

/* Eight blocks that fill an SM each want all four SMs, and three where half as long again is
 * allowed: their atoms are three waves there in place of two. Two blocks want two. */
static void test_the_sms_that_a_kernel_wants(void **state) {
    (void)state;
    struct gsim_space space = gsim_space_of_device(&device);
    struct gsim_sm_held held = {.n = 0};
    struct gsim_sm_kernel one = kernel(8, 8192, &held);
    assert_int_equal(gsim_sm_array_needs(&space, &one, 0).sms, 4);
    assert_int_equal(gsim_sm_array_needs(&space, &one, 490000).sms, 4);
    assert_int_equal(gsim_sm_array_needs(&space, &one, 500000).sms, 3);
    one.blocks = 2;
    assert_int_equal(gsim_sm_array_needs(&space, &one, 0).sms, 2);
}

static void assert_takes(const struct gsim_sm_kernel *kernel, double ns) {
    double takes_ns = WORK_NS * (double)GSIM_RATE_ONE / (double)kernel->rate_q32;
    assert_true(takes_ns > ns - 3 && takes_ns < ns + 3); /* times of loads are whole nanoseconds */
}

/* Two loads from memory in place of L2, 250 ns longer each; beside a kernel that loads on two SMs,
 * 2 / 700 of a unit in place of 1 / 400, they take 400 ns in place of 350. */
static void test_a_kernel_begins_later_without_its_lines(void **state) {
    (void)state;
    struct gsim_sm_held held[2] = {{.n = 0}};
    struct gsim_sm_kernel kernels[] = {kernel(2, 8192, &held[0]), kernel(2, 8192, &held[1])};
    kernels[0].first_loads = (struct gsim_first_loads){0, GSIM_PPM};
    solve(kernels, 1);
    assert_takes(&kernels[0], 1500);
    assert_in_range(kernels[0].lost.bandwidth_ppm, 333000, 334000);
    kernels[1].memory_ppm = GSIM_PPM;
    solve(kernels, 2);
    assert_takes(&kernels[0], 1600);
    assert_takes(&kernels[1], 1000);
    kernels[0].first_loads = (struct gsim_first_loads){GSIM_PPM, GSIM_PPM};
    solve(kernels, 2);
    assert_takes(&kernels[0], 1100); /* from memory alone, too */
}

/* Before its data come a kernel draws nothing itself, so its own loads make it begin no later. */
static void test_a_kernel_begins_no_later_for_its_own_loads(void **state) {
    (void)state;
    struct gsim_sm_held held[2] = {{.n = 0}};
    struct gsim_sm_kernel kernels[] = {kernel(2, 8192, &held[0]), kernel(2, 8192, &held[1])};
    kernels[0].memory_ppm = GSIM_PPM;
    kernels[0].first_loads = (struct gsim_first_loads){GSIM_PPM, GSIM_PPM};
    solve(kernels, 2);
    assert_takes(&kernels[0], WORK_NS);
    kernels[0].first_loads.misses_alone_ppm = 0;
    solve(kernels, 2);
    assert_takes(&kernels[0], 1500);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_kernel_waits_for_the_blocks_before_it),
        cmocka_unit_test(test_ends_of_blocks_matter_to_others),
        cmocka_unit_test(test_caps_beyond_the_gpu_share_all_sms),
        cmocka_unit_test(test_alike_blocks_begin_in_pieces),
        cmocka_unit_test(test_pieces_end_as_they_began),
        cmocka_unit_test(test_blocks_in_pieces_end_together),
        cmocka_unit_test(test_uneven_ends_free_half_of_the_time),
        cmocka_unit_test(test_blocks_stay_when_a_cap_moves),
        cmocka_unit_test(test_a_queue_of_its_own_does_not_wait),
        cmocka_unit_test(test_kernels_of_one_range_share_a_queue),
        cmocka_unit_test(test_blocks_go_where_there_is_room),
        cmocka_unit_test(test_a_cap_is_rounded_down_to_pairs_of_sms),
        cmocka_unit_test(test_alone_under_a_cap_both_models_agree),
        cmocka_unit_test(test_a_kernel_on_fewer_sms_waits_on_each),
        cmocka_unit_test(test_bandwidth_is_shared_as_by_rates),
        cmocka_unit_test(test_bandwidth_goes_by_bytes_under_way),
        cmocka_unit_test(test_few_threads_wait_more),
        cmocka_unit_test(test_beside_each_other_both_models_agree),
        cmocka_unit_test(test_no_more_is_drawn_than_there_is),
        cmocka_unit_test(test_crowded_blocks_have_the_bytes_of_their_sms),
        cmocka_unit_test(test_what_is_lost_has_a_cause),
        cmocka_unit_test(test_a_kernel_begins_later_without_its_lines),
        cmocka_unit_test(test_a_kernel_begins_no_later_for_its_own_loads),
        cmocka_unit_test(test_power_lowers_the_clock),
        cmocka_unit_test(test_memory_has_a_clock_of_its_own),
        cmocka_unit_test(test_power_makes_iterations_longer),
        cmocka_unit_test(test_power_makes_iterations_longer),
        cmocka_unit_test(test_a_lower_clock_slows_all_kernels),
        cmocka_unit_test(test_a_kernel_lowers_the_highest_clock),
        cmocka_unit_test(test_staged_kernels_draw_more),
        cmocka_unit_test(test_blocks_leave_sms_that_are_taken_away),
        cmocka_unit_test(test_an_atom_has_the_speed_of_its_kernel),
        cmocka_unit_test(test_the_sms_that_a_kernel_wants),
        cmocka_unit_test(test_a_higher_rank_goes_first),
        cmocka_unit_test(test_a_stopped_kernel_leaves_at_its_blocks),
    };
    return cmocka_run_group_tests_name("kernels on SMs", tests, NULL, NULL);
}
