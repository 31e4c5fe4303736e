/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values by their rank against the C library's sort: ties, signs and the extremes, places of every
 * kind, and samples that mislead. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "sim/base/pick.h"
#include "tests/support/numbers.h"

enum { N = 20000 };

static int64_t *sorted_copy(const int64_t *values, size_t n) {
    int64_t *sorted = malloc(n * sizeof *sorted);
    assert_non_null(sorted);
    memcpy(sorted, values, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_i64);
    return sorted;
}

/* The ends, neighbours, pairs twice; n >= 6. */
enum { PLACES = 9 };
static void places_of(size_t n, size_t *at) {
    const size_t places[PLACES] = {0, 1, 1, n / 2, n / 2 + 1, n - 2, n - 1, n - 2, n - 1};
    memcpy(at, places, sizeof places);
}

static void check_picks(int64_t *values, size_t n) {
    size_t at[PLACES];
    int64_t *sorted = sorted_copy(values, n);
    places_of(n, at);
    gsim_pick_i64(values, n, at, PLACES);
    for (int k = 0; k < PLACES; k++)
        assert_int_equal(values[at[k]], sorted[at[k]]);
    qsort(values, n, sizeof *values, compare_i64); /* they were moved, and all are there */
    assert_memory_equal(values, sorted, n * sizeof *values);
    free(sorted);
}

static void test_of_an_array(void **state) {
    (void)state;
    static const uint64_t ranges[] = {1, 2, 5000, UINT64_C(1) << 40, 0};
    static const size_t sizes[] = {6, 16, 17, 100, N};
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            int64_t *values = draw_i64(N, ranges[r], r + 1);
            values[0] = INT64_MIN;
            values[1] = INT64_MAX;
            check_picks(values, sizes[s]);
            free(values);
        }
}

static void test_of_what_is_in_order(void **state) {
    (void)state;
    int64_t *values = draw_i64(N, 0, 1);
    for (int64_t i = 0; i < N; i++)
        values[i] = i;
    check_picks(values, N);
    for (int64_t i = 0; i < N; i++)
        values[i] = i < N / 2 ? -i : i - N;
    check_picks(values, N);
    free(values);
}

static void test_of_doubles(void **state) {
    (void)state;
    size_t at[PLACES];
    double values[100], were[100], picked[PLACES];
    int64_t *drawn = draw_i64(N, 0, 2), keys[100];
    for (int i = 0; i < 100; i++)
        values[i] = were[i] = (double)drawn[i] * 1e-9;
    values[33] = were[33] = (double)INFINITY;
    values[44] = were[44] = -(double)INFINITY;
    for (int i = 0; i < 100; i++) {
        keys[i] = gsim_key_of_f64(values[i]);
        assert_true(gsim_key_to_f64(keys[i]) == values[i]);
    }
    int64_t *sorted = sorted_copy(keys, 100);
    places_of(100, at);
    assert_true(gsim_pick_f64(values, 100, at, picked, PLACES));
    assert_memory_equal(values, were, sizeof values);
    for (int k = 0; k < PLACES; k++)
        assert_true(picked[k] == gsim_key_to_f64(sorted[at[k]]));
    for (int i = 1; i < 100; i++)
        assert_true(gsim_key_to_f64(sorted[i - 1]) <= gsim_key_to_f64(sorted[i]));
    free(sorted);
    free(drawn);
}

/* --- of values that nobody keeps --------------------------------------------------------------- */

static enum gsim_picked pass(const int64_t *values, const size_t *at, size_t n_at, int64_t *sample,
                             size_t n_sample, int64_t *picked, size_t *n_kept) {
    struct gsim_picks picks;
    gsim_picks_open(&picks, N, at, n_at, sample, n_sample);
    for (size_t from = 0; from < N; from += 1000)
        gsim_picks_add(&picks, values + from, 1000);
    *n_kept = 0;
    for (uint32_t r = 0; r < picks.n_ranges; r++)
        *n_kept += picks.range[r].n_kept;
    return gsim_picks_close(&picks, picked);
}

static size_t draw_sample(const int64_t *values, int64_t **sample) {
    size_t n = gsim_pick_sample(N);
    uint64_t state = 0;
    *sample = malloc(n * sizeof **sample);
    assert_non_null(*sample);
    for (size_t i = 0; i < n; i++)
        (*sample)[i] = values[gsim_pick_sample_at(&state, N)];
    return n;
}

static void test_of_a_stream(void **state) {
    (void)state;
    static const uint64_t ranges[] = {1, 2, 3, 5000, UINT64_C(1) << 40, 0};
    const size_t at[] = {0, N / 4, N / 4 + 1, N / 2, N - N / 20, N - 2, N - 1};
    enum { N_AT = sizeof at / sizeof *at };
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
        int64_t *values = draw_i64(N, ranges[r], 10 + r), *sorted = sorted_copy(values, N), *sample;
        int64_t picked[N_AT], again[N_AT];
        size_t n_sample = draw_sample(values, &sample), n_kept;
        assert_int_equal(pass(values, at, N_AT, sample, n_sample, picked, &n_kept), GSIM_PICKED);
        assert_int_equal(pass(values, at, N_AT, sample, 0, again, &n_kept), GSIM_PICKED);
        assert_int_equal(n_kept, N);
        for (int k = 0; k < N_AT; k++) {
            assert_int_equal(picked[k], sorted[at[k]]);
            assert_int_equal(again[k], sorted[at[k]]);
        }
        free(sample);
        free(sorted);
        free(values);
    }
}

/* With 1024 of 20 000 values as a sample (28^3 is more than 20 000, so the root is 32), limits are 64
 * of 1024 away, and 1250 values on each side of the one in the middle are kept. */
static void test_little_is_kept(void **state) {
    (void)state;
    const size_t at = N / 2;
    int64_t *values = draw_i64(N, 0, 3), *sample, picked;
    size_t n_sample = draw_sample(values, &sample), n_kept;
    assert_int_equal(n_sample, 1024);
    assert_int_equal(pass(values, &at, 1, sample, n_sample, &picked, &n_kept), GSIM_PICKED);
    assert_in_range(n_kept, 2000, 3000);
    free(sample);
    free(values);
}

/* A sample of the largest values only, then one of the smallest. */
static void test_a_sample_that_misleads_is_found_out(void **state) {
    (void)state;
    const size_t at[] = {N / 2, N / 2 + 1};
    int64_t *values = draw_i64(N, 0, 4), *sorted = sorted_copy(values, N), *sample, picked[2];
    size_t n_sample = draw_sample(values, &sample), n_kept;
    memcpy(sample, sorted + N - n_sample, n_sample * sizeof *sample);
    assert_int_equal(pass(values, at, 2, sample, n_sample, picked, &n_kept), GSIM_PICK_MISSED);
    memcpy(sample, sorted, n_sample * sizeof *sample);
    assert_int_equal(pass(values, at, 2, sample, n_sample, picked, &n_kept), GSIM_PICK_MISSED);
    free(sample);
    free(sorted);
    free(values);
}

static void test_nothing(void **state) {
    (void)state;
    struct gsim_picks picks;
    size_t at = 0;
    int64_t none = 7;
    gsim_pick_i64(NULL, 0, NULL, 0);
    assert_true(gsim_pick_f64(NULL, 0, NULL, NULL, 0));
    gsim_picks_open(&picks, 0, &at, 0, NULL, 0);
    gsim_picks_add(&picks, NULL, 0);
    assert_int_equal(gsim_picks_close(&picks, &none), GSIM_PICKED);
    assert_int_equal(none, 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of_an_array),
        cmocka_unit_test(test_of_what_is_in_order),
        cmocka_unit_test(test_of_doubles),
        cmocka_unit_test(test_of_a_stream),
        cmocka_unit_test(test_little_is_kept),
        cmocka_unit_test(test_a_sample_that_misleads_is_found_out),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
