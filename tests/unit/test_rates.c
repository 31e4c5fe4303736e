/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measured speeds (sim/api/rates.h): their arithmetic, and which rows say what. Numbers are small
 * enough to be done by hand. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/api/rates.h"
#include "sim/base/units.h"
#include "traces/rates.h"

static const gsim_u128 one_q64 = (gsim_u128)1 << 64;

/* --- speeds ----------------------------------------------------------------------------------- */

static void test_ratios(void **state) {
    (void)state;
    struct gsim_tempo three = gsim_tempo_of(3, 0), four = gsim_tempo_of(1, 2);
    assert_true(three.digits >> 63 == 1);
    assert_true(gsim_tempo_ratio_q64(three, three) == one_q64);
    assert_true(gsim_tempo_ratio_q64(three, four) == one_q64 / 4 * 3);
    gsim_u128 third = gsim_tempo_ratio_q64(four, three), exact = one_q64 * 4 / 3;
    assert_true(third <= exact && exact - third < 4); /* to 2^-62 */
    assert_true(gsim_tempo_ratio_q64(gsim_tempo_of(1, 200), gsim_tempo_of(1, -200)) ==
                ~(gsim_u128)0);
    assert_int_equal(gsim_tempo_of(0, 5).digits, 0);
}

static void test_times(void **state) {
    (void)state;
    assert_int_equal(gsim_tempo_time_ns(gsim_tempo_of(2, 0), 3), 3 * GSIM_NS_PER_S / 2);
    assert_int_equal(gsim_tempo_time_ns(gsim_tempo_of(3, 0), 1), 333333334); /* rounded up */
    assert_int_equal(gsim_tempo_time_ns(gsim_tempo_of(3, 0), 0), 0);
    assert_int_equal(gsim_tempo_time_ns(gsim_tempo_of(1, -40), INT64_MAX), -1);
}

/* --- rows ------------------------------------------------------------------------------------- */

struct fixture {
    struct gsim_arena *arena;
    struct gsim_rates *rates;
};

static struct fixture table_of(const char *rows) {
    struct fixture f = {.arena = gsim_arena_new()};
    struct gsim_log *log = gsim_arena_alloc(f.arena, sizeof *log);
    char path[] = "/tmp/gsim-rates-XXXXXX";
    int handle = mkstemp(path);
    FILE *file = handle < 0 ? NULL : fdopen(handle, "w");
    assert_non_null(file);
    (void)fputs(rows, file);
    (void)fclose(file);
    enum gsim_status status = gsim_rates_read(path, f.arena, &f.rates, log);
    (void)remove(path);
    if (status != GSIM_OK)
        fail_msg("%s", log->errors[0].text);
    return f;
}

static void end(struct fixture *f) {
    gsim_arena_free(f->arena);
}

/* Whether the speed is that many iterations per second, to a part in 2^50. */
static void check(const struct gsim_rates *rates, uint32_t gpus, uint32_t nodes,
                  struct gsim_host host, double per_s) {
    struct gsim_rated rated = gsim_rates_find(rates, 0, 0, gpus, nodes, host);
    double found = (double)rated.tempo.digits;
    for (int i = rated.tempo.exponent; i < 0; i++)
        found /= 2;
    assert_true(rated.is_there);
    if (found < per_s * (1 - 1e-15) || found > per_s * (1 + 1e-15))
        fail_msg("%u GPUs of %u nodes: %.17g instead of %.17g", gpus, nodes, found, per_s);
}

static void test_width(void **state) {
    (void)state;
    struct fixture f = table_of("device,model,gpus,iterations_per_s\n"
                                "d,m,8,14\nd,m,2,6\nd,m,4,10\nd,m,16,0\n");
    check(f.rates, 1, 0, gsim_host_ample, 3); /* in proportion */
    check(f.rates, 2, 0, gsim_host_ample, 6);
    check(f.rates, 3, 0, gsim_host_ample, 8);
    check(f.rates, 7, 0, gsim_host_ample, 13);
    check(f.rates, 9, 0, gsim_host_ample, 0); /* on the way to a width on which it cannot run */
    check(f.rates, 99, 0, gsim_host_ample, 0);
    assert_int_equal(gsim_rates_widest(f.rates, 0), 16);
    end(&f);
}

/* Rows of a model beside another are a kind of their own, in both directions. */
static void test_pairs(void **state) {
    (void)state;
    struct fixture f = table_of("device,model,gpus,beside,iterations_per_s\n"
                                "d,m,1,n,3\nd,m,1,,4\nd,n,1,,2\nd,n,1,m,1\nd,m,2,,8\nd,m,2,n,7\n");
    uint32_t m = gsim_rates_kind(f.rates, "m"), n = gsim_rates_kind(f.rates, "n");
    uint32_t pair = gsim_rates_beside(f.rates, m, n);
    assert_int_equal(f.rates->n_pairs, 2);
    assert_int_equal(gsim_rates_beside(f.rates, m, m), GSIM_NO_KIND);
    assert_int_equal(gsim_rates_beside(f.rates, m, GSIM_NO_KIND), GSIM_NO_KIND);
    assert_true(gsim_rates_beside(f.rates, n, m) != pair);
    struct gsim_tempo three = gsim_tempo_of(3, 0), seven = gsim_tempo_of(7, 0);
    struct gsim_tempo one = gsim_rates_find(f.rates, pair, 0, 1, 0, gsim_host_ample).tempo;
    struct gsim_tempo two = gsim_rates_find(f.rates, pair, 0, 2, 0, gsim_host_ample).tempo;
    assert_true(one.digits == three.digits && one.exponent == three.exponent);
    assert_true(two.digits == seven.digits && two.exponent == seven.exponent);
    /* work is counted by the row alone */
    assert_int_equal(gsim_rates_reference(f.rates, m, 1).digits, gsim_tempo_of(4, 0).digits);
    end(&f);
}

static void test_nodes(void **state) {
    (void)state;
    struct fixture f = table_of("device,model,gpus,nodes,iterations_per_s\n"
                                "d,m,4,1,10\nd,m,4,2,8\nd,m,4,4,5\n");
    const double per_s[] = {10, 10, 8, 8, 5, 5};
    for (uint32_t nodes = 0; nodes < 6; nodes++)
        check(f.rates, 4, nodes, gsim_host_ample, per_s[nodes]);
    end(&f);
}

static struct gsim_host host(int64_t cpus, int64_t gib) {
    return (struct gsim_host){cpus * 1000, gib * GSIM_GIB};
}

static void test_hosts(void **state) {
    (void)state;
    struct fixture f = table_of("device,model,gpus,cpus_per_gpu,host_gib_per_gpu,iterations_per_s\n"
                                "d,m,1,12,64,20\nd,m,1,3,64,10\nd,m,1,12,128,28\n"
                                "d,m,2,3,64,16\nd,m,2,6,64,24\n");
    check(f.rates, 1, 0, host(3, 64), 10);
    check(f.rates, 1, 0, host(3, 999), 10);
    check(f.rates, 1, 0, host(1, 64), 10. / 3); /* in proportion to the CPUs */
    check(f.rates, 1, 0, host(6, 64), 10 + 10. / 3);
    check(f.rates, 1, 0, host(12, 127), 20); /* the row of more memory plays no part */
    check(f.rates, 1, 0, host(6, 128), 16);
    check(f.rates, 1, 0, host(99, 128), 28); /* further CPUs add nothing */
    check(f.rates, 1, 0, host(12, 63), 0); /* less memory than any row */
    check(f.rates, 1, 0, gsim_host_ample, 28);
    check(f.rates, 4, 0, host(4, 64), 16 + 8. / 3);
    end(&f);
}

static void test_wants(void **state) {
    (void)state;
    struct fixture f = table_of("device,model,gpus,cpus_per_gpu,host_gib_per_gpu,iterations_per_s\n"
                                "d,m,1,3,64,10\nd,m,1,12,128,28\nd,m,1,24,64,28\nd,m,1,24,128,28\n"
                                "d,m,4,1,20,7\nd,m,4,3,64,7\nd,n,1,,,3\n");
    struct gsim_host wants = gsim_rates_wants(f.rates, 0, 0, 1, 0);
    assert_int_equal(wants.cpus_milli, 12000);
    assert_int_equal(wants.mem_bytes, 128 * GSIM_GIB);
    wants = gsim_rates_wants(f.rates, 0, 0, 3, 0); /* by the next wider row */
    assert_int_equal(wants.cpus_milli, 1000);
    assert_int_equal(wants.mem_bytes, 20 * GSIM_GIB);
    wants = gsim_rates_wants(f.rates, 1, 0, 1, 0);
    assert_int_equal(wants.cpus_milli, 0);
    end(&f);
}

/* Work is counted on the first device on which the job can run so, whatever is beside its GPUs. */
static void test_reference(void **state) {
    (void)state;
    struct fixture f = table_of("device,model,gpus,cpus_per_gpu,iterations_per_s\n"
                                "a,m,1,3,0\nb,m,1,3,5\nb,m,1,6,8\n");
    struct gsim_tempo reference = gsim_rates_reference(f.rates, 0, 1);
    assert_true(gsim_tempo_ratio_q64(reference, gsim_tempo_of(8, 0)) == one_q64);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ratios), cmocka_unit_test(test_times),
        cmocka_unit_test(test_width),  cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_nodes),  cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_wants),  cmocka_unit_test(test_reference),
    };
    return cmocka_run_group_tests_name("rates", tests, NULL, NULL);
}
