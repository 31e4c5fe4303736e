/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks on SMs, and slots of these, against a plain program that is written from docs/models/
 * sm-sharing.md (room, parted memory, order and crowding), on random devices and kernels: block by
 * block, and in floating point. And what holds of any kernels beside each other. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "models/gpu/sm_array.h"
#include "sim/base/rng.h"
#include "tests/support/runner.h"

enum { KIB = 1024, MOST = 6, SMS_MOST = 16, WARP = 32, QUARTERS = 4, WORK_NS = 1000000 };
enum { ROUNDS = 2000 / TEST_FEWER_REPEATED, STEPS = 12 };

/* --- a device and kernels, as drawn ---------------------------------------------------------- */

struct drawn {
    struct gsim_profile device;
    struct gsim_sm_held held[MOST];
    struct gsim_sm_kernel kernel[MOST];
    uint32_t n;
    int64_t now_ns;
    /* Of the plain program: how SMs are parted, which were not empty when all was looked at last,
     * and the kernels that were there then. */
    double parted[SMS_MOST];
    bool was_busy[SMS_MOST], was_there[MOST];
};

static int64_t pick(gsl_rng *rng, const int64_t *of, unsigned long n) {
    return of[gsl_rng_uniform_int(rng, n)];
}

static int64_t between(gsl_rng *rng, int64_t least, int64_t most) {
    return least + (int64_t)gsl_rng_uniform_int(rng, (unsigned long)(most - least + 1));
}

static struct gsim_profile draw_device(gsl_rng *rng) {
    static const int64_t threads[] = {1024, 1536, 2048}, shared[] = {64, 100, 164, 228},
                         blocks[] = {4, 16, 32}, own[] = {0, KIB};
    return (struct gsim_profile){.value = {[GSIM_KEY_SMS] = between(rng, 1, SMS_MOST),
                                           [GSIM_KEY_SM_THREADS] = pick(rng, threads, 3),
                                           [GSIM_KEY_SM_REGISTER_BYTES] = 256 * KIB,
                                           [GSIM_KEY_SM_SHARED_BYTES] = pick(rng, shared, 4) * KIB,
                                           [GSIM_KEY_SM_BLOCKS] = pick(rng, blocks, 3),
                                           [GSIM_KEY_SM_BLOCK_SHARED_BYTES] = pick(rng, own, 2)}};
}

static void draw_kernel(gsl_rng *rng, struct drawn *drawn, uint32_t i) {
    static const int64_t threads[] = {32, 64, 100, 128, 256, 512, 1024},
                         shared[] = {0, 0, 1, 7, 12, 36, 48, 63}, registers[] = {16, 32, 40, 64};
    int64_t sms = drawn->device.value[GSIM_KEY_SMS], own = pick(rng, threads, 7);
    memset(&drawn->held[i], 0, sizeof drawn->held[i]);
    drawn->kernel[i] = (struct gsim_sm_kernel){
        .blocks = between(rng, 1, sms * 8),
        .threads = own,
        .register_bytes = own * pick(rng, registers, 4) * 4,
        .shared_bytes = pick(rng, shared, 8) * KIB,
        .busy = {(uint32_t)between(rng, 0, 1) * (uint32_t)between(rng, 1, 950000),
                 (uint32_t)between(rng, 0, 1) * (uint32_t)between(rng, 1, 950000)},
        .all = gsim_work_of_ns(WORK_NS),
        .left = gsim_work_of_ns(WORK_NS),
        .arrived_ns = drawn->now_ns++,
        .n_sms = (uint16_t)sms,
        .held = &drawn->held[i]};
}

static void drop(struct drawn *drawn, uint32_t i) {
    uint32_t last = --drawn->n;
    drawn->kernel[i] = drawn->kernel[last];
    drawn->held[i] = drawn->held[last];
    drawn->kernel[i].held = &drawn->held[i];
    drawn->was_there[i] = drawn->was_there[last];
    drawn->was_there[last] = false;
}

/* Another kernel comes, or one has ended. */
static void change(gsl_rng *rng, struct drawn *drawn) {
    if (drawn->n < MOST && (drawn->n == 0 || gsl_rng_uniform(rng) < 0.6)) {
        draw_kernel(rng, drawn, drawn->n++);
        return;
    }
    drop(drawn, (uint32_t)gsl_rng_uniform_int(rng, drawn->n));
}

static void solve(struct drawn *drawn) {
    struct gsim_space space = gsim_space_of_device(&drawn->device);
    uint16_t order[MOST];
    gsim_sm_array_solve(&space, drawn->kernel, order, drawn->n, NULL);
}

/* --- the plain program ----------------------------------------------------------------------- */

struct room {
    double threads, registers, shared, blocks;
};

/* A kernel by its number in `drawn`, and its blocks on each SM. */
struct plain {
    int64_t on[MOST][SMS_MOST], begun[MOST];
    double longer[MOST], most_taken;
};

static struct room room_of(const struct drawn *drawn) {
    const int64_t *value = drawn->device.value;
    return (struct room){
        (double)value[GSIM_KEY_SM_THREADS], (double)value[GSIM_KEY_SM_REGISTER_BYTES],
        (double)value[GSIM_KEY_SM_SHARED_BYTES], (double)value[GSIM_KEY_SM_BLOCKS]};
}

/* Threads in whole warps, registers by eight a thread, and what the system has of shared memory. */
static struct room need_of(const struct drawn *drawn, uint32_t i) {
    const struct gsim_sm_kernel *its = &drawn->kernel[i];
    double threads = ceil((double)its->threads / WARP) * WARP;
    double each = ceil((double)its->register_bytes / (double)its->threads / 32) * 32;
    return (struct room){
        threads, each * threads,
        (double)its->shared_bytes + (double)drawn->device.value[GSIM_KEY_SM_BLOCK_SHARED_BYTES], 1};
}

/* Blocks that an SM holds of the kernel, if it has no others. */
static int64_t holds(const struct drawn *drawn, uint32_t i) {
    struct room sm = room_of(drawn), need = need_of(drawn, i);
    double n = fmin(floor(sm.threads / need.threads), floor(sm.registers / need.registers));
    n = fmin(n, sm.blocks);
    return (int64_t)(need.shared > 0 ? fmin(n, floor(sm.shared / need.shared)) : n);
}

static double step(const struct drawn *drawn, double wants) {
    static const double steps[] = {8, 16, 32, 64, 100, 132, 164, 196};
    double has = room_of(drawn).shared;
    for (int s = 0; s < 8; s++)
        if (wants <= steps[s] * KIB && steps[s] * KIB < has)
            return steps[s] * KIB;
    return has;
}

/* Others' SMs have to be parted so for the kernel to begin there. */
static double least(const struct drawn *drawn, uint32_t i) {
    return step(drawn, (double)holds(drawn, i) * need_of(drawn, i).shared);
}

/* How an empty SM is parted for the kernel. */
static double parted(const struct drawn *drawn, uint32_t i) {
    struct room sm = room_of(drawn), need = need_of(drawn, i);
    double n = (double)holds(drawn, i), all = n * need.shared;
    if (n > 1 && drawn->kernel[i].shared_bytes == 0)
        all = 4 * KIB * fmin(8, fmin(floor(sm.threads / need.threads), sm.blocks));
    else if (n > 1 && need.threads < 1024)
        all = fmax(all, fmin(132 * KIB, fmin(2 * n, sm.blocks) * need.shared));
    return fmax(step(drawn, all), least(drawn, i));
}

static bool is_empty(const struct drawn *drawn, const struct plain *plain, int64_t sm) {
    for (uint32_t k = 0; k < drawn->n; k++)
        if (plain->on[k][sm] > 0)
            return false;
    return true;
}

/* How the SM is with the kernel's blocks. */
static double becomes(const struct drawn *drawn, const struct plain *plain, uint32_t i,
                      int64_t sm) {
    if (!is_empty(drawn, plain, sm))
        return drawn->parted[sm];
    if (!drawn->was_there[i] || !drawn->was_busy[sm])
        return parted(drawn, i);
    if (holds(drawn, i) > 1 && need_of(drawn, i).threads < 1024)
        return room_of(drawn).shared;
    return drawn->parted[sm] >= least(drawn, i) ? drawn->parted[sm] : parted(drawn, i);
}

/* Whether one more block of the kernel fits the SM, and how many would. */
static int64_t fits(const struct drawn *drawn, const struct plain *plain, uint32_t i, int64_t sm) {
    struct room free = room_of(drawn), need = need_of(drawn, i);
    free.shared = becomes(drawn, plain, i, sm);
    if (free.shared < least(drawn, i))
        return 0;
    for (uint32_t k = 0; k < drawn->n; k++) {
        struct room its = need_of(drawn, k);
        double n = (double)plain->on[k][sm];
        free.threads -= n * its.threads;
        free.registers -= n * its.registers;
        free.shared -= n * its.shared;
        free.blocks -= n;
    }
    double n = fmin(floor(free.threads / need.threads), floor(free.registers / need.registers));
    n = fmin(n, free.blocks);
    n = need.shared > 0 ? fmin(n, floor(free.shared / need.shared)) : n;
    return n > 0 ? (int64_t)n : 0;
}

/* The kernels by age; those of one instant there are none. */
static uint32_t nth_oldest(const struct drawn *drawn, uint32_t nth) {
    for (uint32_t i = 0; i < drawn->n; i++) {
        uint32_t older = 0;
        for (uint32_t k = 0; k < drawn->n; k++)
            older += drawn->kernel[k].arrived_ns < drawn->kernel[i].arrived_ns;
        if (older == nth)
            return i;
    }
    fail();
    return 0;
}

/* Blocks go one by one to the SM that has room for most of them, oldest kernels first; behind one
 * that waits none begins. */
static void plain_place(struct drawn *drawn, struct plain *plain) {
    int64_t room[SMS_MOST];
    for (uint32_t nth = 0; nth < drawn->n; nth++) {
        uint32_t i = nth_oldest(drawn, nth);
        int64_t best = 0;
        for (int64_t sm = 0; sm < drawn->device.value[GSIM_KEY_SMS]; sm++)
            room[sm] = fits(drawn, plain, i, sm);
        while (plain->begun[i] < drawn->kernel[i].blocks) {
            best = 0;
            for (int64_t sm = 1; sm < drawn->device.value[GSIM_KEY_SMS]; sm++)
                best = room[sm] > room[best] ? sm : best;
            if (room[best] == 0)
                return;
            room[best]--;
            drawn->parted[best] = becomes(drawn, plain, i, best);
            plain->on[i][best]++;
            plain->begun[i]++;
        }
    }
}

/* What the next look finds. */
static void look(struct drawn *drawn, const struct plain *plain) {
    for (int64_t sm = 0; sm < SMS_MOST; sm++)
        drawn->was_busy[sm] = !is_empty(drawn, plain, sm);
    for (uint32_t i = 0; i < drawn->n; i++)
        drawn->was_there[i] = true;
}

static double issue_or_tensor(const struct gsim_sm_kernel *kernel, int pipe) {
    return (pipe == 0 ? kernel->busy.issue_ppm : kernel->busy.tensor_ppm) / 1e6;
}

/* Blocks of an SM with all of the kernel on the GPU. */
static double alone_on_sm(const struct drawn *drawn, uint32_t i) {
    double sms = (double)drawn->device.value[GSIM_KEY_SMS];
    return fmin((double)holds(drawn, i), ceil((double)drawn->kernel[i].blocks / sms));
}

/* Times as long on this SM, where others take these parts; adds what the kernel takes. */
static double longer_on(const struct drawn *drawn, struct plain *plain, uint32_t i, int64_t sm,
                        double taken[2][SMS_MOST]) {
    double alone = alone_on_sm(drawn, i), n = (double)plain->on[i][sm], longer = 1, all[2];
    for (int pipe = 0; pipe < 2; pipe++) {
        double has = issue_or_tensor(&drawn->kernel[i], pipe), before = taken[pipe][sm];
        double warps = fmax(1, floor(alone * need_of(drawn, i).threads / (WARP * QUARTERS)));
        double own = fmin(fmax(0, n / alone - 1) * has / 2, (1 - before) / 2), o = before + own;
        all[pipe] = has * n / alone;
        plain->most_taken = fmax(plain->most_taken, o);
        longer += fmax(1 + has / warps * o / (1 - o), all[pipe] / (1 - before)) - 1;
    }
    for (int pipe = 0; pipe < 2; pipe++)
        taken[pipe][sm] += fmin(all[pipe] / longer, 1 - 1e-6 - taken[pipe][sm]);
    return longer;
}

static void plain_crowd(const struct drawn *drawn, struct plain *plain) {
    double taken[2][SMS_MOST] = {{0}};
    for (uint32_t nth = 0; nth < drawn->n; nth++) {
        uint32_t i = nth_oldest(drawn, nth);
        double most = 1, speed = 0;
        plain->longer[i] = 1;
        if (drawn->kernel[i].busy.issue_ppm + drawn->kernel[i].busy.tensor_ppm == 0 ||
            plain->begun[i] == 0)
            continue;
        for (int64_t sm = 0; sm < drawn->device.value[GSIM_KEY_SMS]; sm++) {
            if (plain->on[i][sm] == 0)
                continue;
            double longer = longer_on(drawn, plain, i, sm, taken);
            most = fmax(most, longer);
            speed += (double)plain->on[i][sm] / longer;
        }
        bool are_all_there = plain->begun[i] == drawn->kernel[i].blocks;
        plain->longer[i] = are_all_there ? most : (double)plain->begun[i] / speed;
    }
}

/* --- both ------------------------------------------------------------------------------------ */

/* The blocks that gsim has are those of the plain program before the next change. */
static void take_over(const struct drawn *drawn, struct plain *plain) {
    memset(plain, 0, sizeof *plain);
    for (uint32_t i = 0; i < drawn->n; i++)
        for (int64_t sm = 0; sm < SMS_MOST; sm++) {
            plain->on[i][sm] = drawn->held[i].blocks[sm];
            plain->begun[i] += drawn->held[i].blocks[sm];
        }
}

static void assert_is(double got, double due, double slack) {
    if (fabs(got - due) > slack * due)
        fail_msg("%.9f, plainly %.9f", got, due);
}

static void compare(const struct drawn *drawn, const struct plain *plain) {
    double parts = 1e-5 / (1 - plain->most_taken); /* slots are counted in millionths */
    for (uint32_t i = 0; i < drawn->n; i++) {
        const struct gsim_sm_kernel *kernel = &drawn->kernel[i];
        for (int64_t sm = 0; sm < SMS_MOST; sm++)
            assert_int_equal(drawn->held[i].blocks[sm], plain->on[i][sm]);
        assert_is((double)kernel->crowded_q32 / 0x1p32, plain->longer[i], parts);
        double most = (double)holds(drawn, i) * (double)drawn->device.value[GSIM_KEY_SMS];
        double rate =
            (double)plain->begun[i] / fmin(most, (double)kernel->blocks) / plain->longer[i];
        assert_is((double)kernel->rate_q32 / 0x1p32 + 1e-9, fmin(rate, 1) + 1e-9, parts);
    }
}

/* A kernel that no SM holds a block of is none. */
static bool can_run(const struct drawn *drawn) {
    return drawn->n == 0 || holds(drawn, drawn->n - 1) > 0;
}

static void test_blocks_and_slots_are_those_of_a_plain_program(void **state) {
    (void)state;
    gsl_rng *rng = gsim_rng_stream(11, 0, "crowded SMs");
    for (int round = 0; round < ROUNDS; round++) {
        struct drawn drawn = {.device = draw_device(rng)};
        for (int step = 0; step < STEPS; step++) {
            struct plain plain;
            change(rng, &drawn);
            while (!can_run(&drawn))
                draw_kernel(rng, &drawn, drawn.n - 1);
            take_over(&drawn, &plain);
            plain_place(&drawn, &plain);
            look(&drawn, &plain);
            plain_crowd(&drawn, &plain);
            solve(&drawn);
            compare(&drawn, &plain);
        }
    }
    gsl_rng_free(rng);
}

/* No SM has more than there is room for, no kernel has more blocks than it consists of, and no
 * kernel is faster than alone, or runs without blocks. */
static void assert_hold(const struct drawn *drawn) {
    for (int64_t sm = 0; sm < drawn->device.value[GSIM_KEY_SMS]; sm++) {
        struct room free = room_of(drawn);
        for (uint32_t i = 0; i < drawn->n; i++) {
            struct room its = need_of(drawn, i);
            double n = (double)drawn->held[i].blocks[sm];
            free.threads -= n * its.threads;
            free.registers -= n * its.registers;
            free.shared -= n * its.shared;
            free.blocks -= n;
        }
        assert_true(free.threads >= 0 && free.registers >= 0);
        assert_true(free.shared >= 0 && free.blocks >= 0);
    }
    for (uint32_t i = 0; i < drawn->n; i++) {
        int64_t n = 0;
        for (int64_t sm = 0; sm < SMS_MOST; sm++)
            n += drawn->held[i].blocks[sm];
        assert_int_equal(n, drawn->held[i].n);
        assert_true(n <= drawn->kernel[i].blocks);
        assert_true(drawn->kernel[i].rate_q32 <= GSIM_RATE_ONE);
        assert_int_equal(drawn->kernel[i].rate_q32 > 0, n > 0);
    }
}

/* Time passes to the next look or end of a kernel, or to some instant before; those that are over
 * leave. */
static void pass_time(gsl_rng *rng, struct drawn *drawn) {
    int64_t step_ns = 1 + (int64_t)gsl_rng_uniform_int(rng, WORK_NS);
    for (uint32_t i = 0; i < drawn->n; i++) {
        const struct gsim_sm_kernel *its = &drawn->kernel[i];
        if (its->rate_q32 == 0)
            continue;
        int64_t ns = gsim_work_time(its->left - its->look, its->rate_q32);
        step_ns = ns > 0 && ns < step_ns ? ns : step_ns;
    }
    for (uint32_t i = 0; i < drawn->n; i++)
        drawn->kernel[i].left -= gsim_work_done(drawn->kernel[i].rate_q32, step_ns);
    for (uint32_t i = drawn->n; i-- > 0;)
        if (drawn->kernel[i].left <= 0)
            drop(drawn, i);
}

static void test_no_sm_has_more_than_its_room(void **state) {
    (void)state;
    gsl_rng *rng = gsim_rng_stream(12, 0, "crowded SMs");
    for (int round = 0; round < ROUNDS; round++) {
        struct drawn drawn = {.device = draw_device(rng)};
        for (int step = 0; step < 8 * STEPS; step++) {
            if (drawn.n < MOST && (drawn.n == 0 || gsl_rng_uniform(rng) < 0.2)) {
                do
                    draw_kernel(rng, &drawn, drawn.n);
                while (holds(&drawn, drawn.n) == 0);
                drawn.kernel[drawn.n++].rank = (uint16_t)between(rng, 0, 1);
            }
            if (gsl_rng_uniform(rng) < 0.2)
                drawn.kernel[between(rng, 0, drawn.n - 1)].is_stopped = gsl_rng_uniform(rng) < 0.5;
            solve(&drawn);
            assert_hold(&drawn);
            pass_time(rng, &drawn);
        }
    }
    gsl_rng_free(rng);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_and_slots_are_those_of_a_plain_program),
        cmocka_unit_test(test_no_sm_has_more_than_its_room),
    };
    return cmocka_run_group_tests_name("kernels on crowded SMs", tests, NULL, NULL);
}
