/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rates that are kept are those that would be found anew: random kernels on the SMs of a device,
 * from one instant to the next, where each change is of one thing that may decide a rate. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "models/gpu/sm_array.h"
#include "sim/base/rng.h"

enum { SMS = 20, MOST = GSIM_SM_LAST_MOST + 4, SETUPS = 300, INSTANTS = 40, WORK_NS = 2000 };
#define GB INT64_C(1000000000)

static const struct gsim_curve_point copies[] = {{1, 400 * GB}, {8, 1700 * GB}, {20, 2000 * GB}};
static const struct gsim_curve_point loads[] = {{1, 450 * GB}, {8, 2000 * GB}, {20, 2300 * GB}};
static const struct gsim_curve_point staged[] = {{1, 500 * GB}, {8, 2000 * GB}, {20, 2400 * GB}};
static const struct gsim_profile device = {.value = {[GSIM_KEY_SMS] = SMS,
                                                     [GSIM_KEY_HBM_BY_SMS] = 3,
                                                     [GSIM_KEY_HBM_LOADS_BY_SMS] = 3,
                                                     [GSIM_KEY_HBM_STAGED_BY_SMS] = 3,
                                                     [GSIM_KEY_HBM_BYTES_PER_S] = 2000 * GB,
                                                     [GSIM_KEY_SM_THREADS] = 256,
                                                     [GSIM_KEY_SM_REGISTER_BYTES] = 65536,
                                                     [GSIM_KEY_SM_SHARED_BYTES] = 8192,
                                                     [GSIM_KEY_SM_BLOCKS] = 8,
                                                     [GSIM_KEY_SM_MEMORY_THREADS] = 128,
                                                     [GSIM_KEY_JOB_SPREAD_PPM] = 70000,
                                                     [GSIM_KEY_POWER_LIMIT_W] = 300,
                                                     [GSIM_KEY_POWER_IDLE_W] = 100,
                                                     [GSIM_KEY_POWER_EXPONENT_MILLI] = 2400,
                                                     [GSIM_KEY_L2_HIT_NS] = 100,
                                                     [GSIM_KEY_L2_MISS_NS] = 350,
                                                     [GSIM_KEY_L2_FIRST_LOADS_MILLI] = 2000},
                                           .curve = {[GSIM_KEY_HBM_BY_SMS] = copies,
                                                     [GSIM_KEY_HBM_LOADS_BY_SMS] = loads,
                                                     [GSIM_KEY_HBM_STAGED_BY_SMS] = staged}};

/* Kernels of a space, twice: of the one set rates are kept, of the other they are not. */
struct setup {
    gsl_rng *rng;
    struct gsim_space space;
    struct gsim_sm_kernel kernel[2][MOST];
    struct gsim_sm_held held[2][MOST];
    struct gsim_sm_last *last;
    uint32_t n;
    int64_t n_kept; /* instants at which what is kept was of use */
};

static int64_t below(const struct setup *setup, int64_t limit) {
    return (int64_t)gsim_rng_word(setup->rng) % limit;
}

/* What decides rates, a thing at a time. */
enum thing {
    BLOCKS,
    THREADS,
    WHOLE,
    REGISTERS,
    SHARED,
    IS_WHOLE,
    MEMORY,
    BYTES,
    LOADS,
    CLOCK,
    POWER,
    MEMORY_POWER,
    LOWERS,
    MISSES,
    MISSES_ALONE,
    PARTED,
    SMALL_L1,
    ALL,
    SM_RANGE,
    THINGS
};

static void draw(const struct setup *setup, struct gsim_sm_kernel *kernel, enum thing thing) {
    switch (thing) {
    case BLOCKS:
        kernel->blocks = 1 + below(setup, 200);
        break;
    case THREADS:
        kernel->threads = 32 * (1 + below(setup, 8));
        break;
    case WHOLE:
        kernel->whole_blocks = kernel->blocks * below(setup, 3);
        break;
    case REGISTERS:
        kernel->register_bytes = kernel->threads * 4 * (1 + below(setup, 64));
        break;
    case SHARED:
        kernel->shared_bytes = 1024 * below(setup, 8);
        break;
    case IS_WHOLE:
        kernel->is_whole = below(setup, 8) == 0;
        break;
    case MEMORY:
        kernel->memory_ppm = (uint32_t)below(setup, GSIM_PPM + 1);
        break;
    case BYTES:
        kernel->hbm_bytes_per_s = below(setup, 4) * 300 * GB;
        break;
    case LOADS:
        kernel->loads_ppm = (uint32_t)below(setup, GSIM_PPM + 1);
        break;
    case CLOCK:
        kernel->clock_ppm = 500000 + (uint32_t)below(setup, 500001);
        break;
    case POWER:
        kernel->power_uw = 1000000 * below(setup, 250);
        break;
    case MEMORY_POWER:
        kernel->memory_uw = 1000000 * below(setup, 80);
        break;
    case LOWERS:
        kernel->lowers_ppm = (uint32_t)(below(setup, 2) * below(setup, 200000));
        break;
    case MISSES:
        kernel->first_loads.misses_ppm = (uint32_t)(below(setup, 2) * 700000);
        break;
    case MISSES_ALONE:
        kernel->first_loads.misses_alone_ppm = (uint32_t)below(setup, 500000);
        break;
    case PARTED:
        kernel->parted_bytes = below(setup, 2) * 228 * 1024;
        break;
    case SMALL_L1:
        kernel->small_l1_ppm = (uint32_t)(below(setup, 2) * 300000);
        break;
    case ALL:
        kernel->all = gsim_work_of_ns(WORK_NS + below(setup, WORK_NS));
        break;
    case SM_RANGE:
        kernel->n_sms = (uint16_t)(1 + below(setup, setup->space.sms));
        break;
    case THINGS:
        break;
    }
}

static void add(struct setup *setup, uint32_t at) {
    struct gsim_sm_kernel *kernel = &setup->kernel[0][at];
    *kernel = (struct gsim_sm_kernel){.has_queue = below(setup, 2)};
    for (enum thing thing = BLOCKS; thing < THINGS; thing++)
        draw(setup, kernel, thing);
    kernel->left = kernel->all;
    kernel->arrived_ns = below(setup, 1000);
    setup->held[0][at] = setup->held[1][at] = (struct gsim_sm_held){.n = 0};
}

static void set_up(struct setup *setup) {
    bool is_part = below(setup, 4) == 0;
    setup->space = gsim_space_of_device(&device);
    if (is_part) {
        setup->space.sms = SMS / 2;
        setup->space.peak_bytes_per_s = 1000 * GB;
    }
    setup->n = 1 + (uint32_t)below(setup, below(setup, 8) == 0 ? MOST : 5);
    for (uint32_t i = 0; i < setup->n; i++)
        add(setup, i);
}

static bool is_where(enum thing thing) {
    return thing <= IS_WHOLE || thing == ALL || thing == SM_RANGE;
}

/* One kernel is further, or is another one, or differs in one thing; where its blocks would be
 * others then, it begins anew. */
static void change(struct setup *setup) {
    uint32_t at = (uint32_t)below(setup, setup->n);
    struct gsim_sm_kernel *kernel = &setup->kernel[0][at];
    int64_t way = below(setup, 8);
    if (way == 0)
        add(setup, at);
    if (way == 1 || way == 2)
        kernel->left = 1 + kernel->left * (gsim_work)(1 + below(setup, 8)) / 9;
    if (way < 4)
        return;
    enum thing thing = (enum thing)below(setup, THINGS);
    draw(setup, kernel, thing);
    if (!is_where(thing))
        return;
    kernel->left = kernel->all;
    setup->held[0][at] = setup->held[1][at] = (struct gsim_sm_held){.n = 0};
}

static void solve(struct setup *setup) {
    uint16_t order[MOST];
    memcpy(setup->kernel[1], setup->kernel[0], sizeof setup->kernel[0]);
    for (uint32_t i = 0; i < setup->n; i++) {
        setup->kernel[0][i].held = &setup->held[0][i];
        setup->kernel[1][i].held = &setup->held[1][i];
    }
    uint64_t rate_q32 = setup->last->n > 0 ? setup->last->rate_q32[0] : 0;
    gsim_sm_array_solve(&setup->space, setup->kernel[0], order, setup->n, setup->last);
    gsim_sm_array_solve(&setup->space, setup->kernel[1], order, setup->n, NULL);
    setup->n_kept += setup->last->n > 0 && setup->last->rate_q32[0] == rate_q32;
}

static void compare(const struct setup *setup) {
    for (uint32_t i = 0; i < setup->n; i++) {
        const struct gsim_sm_kernel *kept = &setup->kernel[0][i], *anew = &setup->kernel[1][i];
        assert_int_equal(kept->rate_q32, anew->rate_q32);
        assert_true(kept->look == anew->look);
        assert_int_equal(kept->lost.sms_ppm, anew->lost.sms_ppm);
        assert_int_equal(kept->lost.bandwidth_ppm, anew->lost.bandwidth_ppm);
        assert_memory_equal(kept->held, anew->held, sizeof *kept->held);
    }
}

static void test_rates_that_are_kept_are_those_found_anew(void **state) {
    (void)state;
    struct setup *setup = calloc(1, sizeof *setup);
    struct gsim_sm_last last = {.n = 0}; /* one for all setups: of spaces that differ, too */
    assert_non_null(setup);
    setup->rng = gsim_rng_stream(1, 0, "sm_rates");
    setup->last = &last;
    for (int i = 0; i < SETUPS; i++) {
        set_up(setup);
        for (int instant = 0; instant < INSTANTS; instant++) {
            solve(setup);
            compare(setup);
            change(setup);
        }
    }
    assert_true(setup->n_kept > SETUPS); /* it is no test of rates that are never kept */
    gsl_rng_free(setup->rng);
    free(setup);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rates_that_are_kept_are_those_found_anew),
    };
    return cmocka_run_group_tests_name("rates of kernels on SMs", tests, NULL, NULL);
}
