/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Links: an idle link charges the quote, engines serve first come, both directions together meet
 * the ceiling, and a root is shared fairly. The rates here are round numbers, 1 byte a nanosecond,
 * so that every time can be computed by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "models/links/link.h"
#include "sim/base/rng.h"

/* 1 B/ns each way, 1.5 B/ns together; 10 and 20 ns a copy, 40 a pair, 100 for a synchronous one. */
static const struct gsim_copy_rates slow = {.bytes_per_s = {1000000000, 1000000000},
                                            .both_bytes_per_s = 1500000000,
                                            .copy_ns = {10, 20},
                                            .both_copy_ns = 40,
                                            .sync_ns = 100};
/* The same without costs of copies. */
static const struct gsim_copy_rates plain = {.bytes_per_s = {1000000000, 1000000000},
                                             .both_bytes_per_s = 1500000000};

static struct gsim_transfer transfer(uint32_t gpu, enum gsim_direction direction, int64_t bytes,
                                     const struct gsim_copy_rates *rates, uint64_t tag) {
    return (struct gsim_transfer){.gpu = gpu,
                                  .direction = direction,
                                  .bytes = bytes,
                                  .cost = gsim_copy_cost(rates, direction, bytes, 0),
                                  .tag = tag};
}

static struct gsim_link open_link(struct gsim_arena *arena, uint32_t n_gpus,
                                  const uint32_t *root_of_gpu, const int64_t *root_bytes_per_s) {
    struct gsim_link link;
    assert_true(gsim_link_init(&link, n_gpus, root_of_gpu, root_bytes_per_s, arena));
    return link;
}

static void submit(struct gsim_link *link, struct gsim_transfer asked, int64_t now_ns) {
    assert_int_not_equal(gsim_link_submit(link, &asked, now_ns), GSIM_LINK_NONE);
}

static void expect_done(struct gsim_link *link, uint64_t tag, int64_t begin_ns, int64_t end_ns) {
    struct gsim_transfer_done done;
    assert_int_equal(gsim_link_next_time(link), end_ns);
    assert_false(gsim_link_pop(link, end_ns - 1, &done));
    assert_true(gsim_link_pop(link, end_ns, &done));
    assert_int_equal(done.tag, tag);
    assert_int_equal(done.begin_ns, begin_ns);
    assert_int_equal(done.end_ns, end_ns);
}

static void test_an_idle_link_charges_the_quote(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_link link = open_link(arena, 1, NULL, NULL);
    /* 1000 bytes by 300: four copies of 10 ns. */
    assert_int_equal(gsim_copy_ns(&slow, GSIM_H2D, 1000, 300), 1040);
    assert_int_equal(gsim_copy_ns(&slow, GSIM_D2H, 1000, 0), 1020);
    assert_int_equal(gsim_copy_ns(&slow, GSIM_D2H, 0, 0), 0);
    struct gsim_transfer asked = transfer(0, GSIM_H2D, 1000, &slow, 7);
    asked.cost = gsim_copy_cost(&slow, GSIM_H2D, 1000, 300);
    submit(&link, asked, 5);
    expect_done(&link, 7, 5, 1045);
    assert_int_equal(gsim_link_next_time(&link), GSIM_NEVER);
    gsim_arena_free(arena);
}

static void test_an_engine_serves_first_come(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_link link = open_link(arena, 2, NULL, NULL);
    submit(&link, transfer(0, GSIM_H2D, 100, &plain, 1), 0);
    submit(&link, transfer(0, GSIM_H2D, 10, &plain, 2), 1);
    submit(&link, transfer(0, GSIM_H2D, 0, &plain, 3), 2);
    submit(&link, transfer(1, GSIM_H2D, 50, &plain, 4), 3); /* another GPU does not wait */
    assert_true(gsim_link_is_busy(&link, 0, GSIM_H2D));
    assert_false(gsim_link_is_busy(&link, 0, GSIM_D2H));
    expect_done(&link, 4, 3, 53);
    expect_done(&link, 1, 0, 100);
    expect_done(&link, 2, 100, 110);
    expect_done(&link, 3, 110, 110);
    gsim_arena_free(arena);
}

/* 300 bytes in from 0, 300 out from 100: 100 are in, then both go at 0.75. The 200 left come in at
 * 366.67; by then 200 are out, and the last 100 go alone. */
static void test_both_directions_share_the_ceiling(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_link link = open_link(arena, 1, NULL, NULL);
    assert_int_equal(gsim_copy_both_ns(&plain, GSIM_H2D, 300, 0), 400);
    struct gsim_transfer asked = transfer(0, GSIM_H2D, 300, &plain, 0);
    assert_true(gsim_link_submit(&link, &asked, 0) != GSIM_LINK_NONE);
    submit(&link, transfer(0, GSIM_D2H, 300, &plain, 1), 100);
    expect_done(&link, 0, 0, 367);
    expect_done(&link, 1, 100, 467);
    gsim_arena_free(arena);
}

static void test_the_duplex_quote_is_what_the_link_does(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_link link = open_link(arena, 1, NULL, NULL);
    static const int64_t bytes[][2] = {{1000, 1000}, {1000, 0}, {0, 700}, {4096, 123}, {5, 90000}};
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        int64_t now_ns = (int64_t)i * 1000000;
        for (enum gsim_direction d = GSIM_H2D; d < GSIM_DIRECTIONS; d++) {
            struct gsim_transfer asked = transfer(0, d, bytes[i][d], &slow, 0);
            asked.cost = gsim_copy_cost(&slow, d, bytes[i][d], 64);
            submit(&link, asked, now_ns);
        }
        struct gsim_transfer_done done = {0};
        while (gsim_link_pop(&link, INT64_MAX - 1, &done)) {
        }
        assert_int_equal(done.end_ns - now_ns,
                         gsim_copy_duplex_ns(&slow, bytes[i][0], bytes[i][1], 64));
    }
    /* 2 copies out of 20 ns and 4 in of 10, and 4 turns of 3: by turns while there are both. */
    assert_int_equal(gsim_copy_serial_ns(&slow, 400, 200, 100, 3), 440 + 240 + 12);
    assert_int_equal(gsim_copy_serial_ns(&slow, 400, 0, 100, 3), 440);
    gsim_arena_free(arena);
}

/* Three GPUs below a root of 1.2 B/ns each way. The third asks for 0.25 only (a copy of 300 ns for
 * 100 bytes), so the others have 0.475 each: 190 bytes take 400 ns. At 400 the third is done, too. */
static void test_a_root_is_shared_fairly(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    static const uint32_t root_of_gpu[] = {0, 1, 0, 0};
    static const int64_t root_bytes_per_s[] = {1200000000, INT64_MAX};
    static const struct gsim_copy_rates modest = {.bytes_per_s = {1000000000, 1000000000},
                                                  .both_bytes_per_s = INT64_MAX,
                                                  .copy_ns = {300, 300}};
    struct gsim_link link = open_link(arena, 4, root_of_gpu, root_bytes_per_s);
    submit(&link, transfer(0, GSIM_H2D, 190, &plain, 0), 0);
    submit(&link, transfer(1, GSIM_H2D, 190, &plain, 1), 0);
    submit(&link, transfer(2, GSIM_H2D, 500, &plain, 2), 0);
    submit(&link, transfer(3, GSIM_H2D, 100, &modest, 3), 0);
    expect_done(&link, 1, 0, 190); /* a root of its own */
    expect_done(&link, 3, 0, 400);
    expect_done(&link, 0, 0, 401); /* 0.475 is rounded down to 2^-32 */
    expect_done(&link, 2, 0, 711); /* 500 - 190.5 left, alone: its own rate */
    gsim_arena_free(arena);
}

enum { N_GPUS = 6, N_TRANSFERS = 400 };

struct plan {
    struct gsim_transfer asked[N_TRANSFERS];
    int64_t at_ns[N_TRANSFERS];
};

static void draw(struct plan *plan, gsl_rng *rng) {
    int64_t now_ns = 0;
    for (int i = 0; i < N_TRANSFERS; i++) {
        now_ns += (int64_t)gsl_rng_uniform_int(rng, 4000);
        plan->at_ns[i] = now_ns;
        plan->asked[i] = transfer((uint32_t)gsl_rng_uniform_int(rng, N_GPUS - 1),
                                  (enum gsim_direction)gsl_rng_uniform_int(rng, 2),
                                  (int64_t)gsl_rng_uniform_int(rng, 9000), &plain, (uint64_t)i);
        const struct gsim_copy_rates *rates = gsl_rng_uniform_int(rng, 2) ? &slow : &plain;
        plan->asked[i].cost = gsim_copy_cost(rates, plan->asked[i].direction, plan->asked[i].bytes,
                                             (int64_t)gsl_rng_uniform_int(rng, 3) * 512);
    }
}

static void drain(struct gsim_link *link, int64_t until_ns, struct gsim_transfer_done *done) {
    struct gsim_transfer_done one;
    while (gsim_link_pop(link, until_ns, &one))
        if (one.tag < N_TRANSFERS)
            done[one.tag] = one;
}

/* is_cut: transfers of nothing begin and end in between, on a GPU that carries nothing else: all
 * rates are computed and all progress is booked again, and nothing may change. */
static void carry(struct gsim_link *link, const struct plan *plan, bool is_cut, gsl_rng *rng,
                  struct gsim_transfer_done *done) {
    int64_t now_ns = 0;
    for (int i = 0; i < N_TRANSFERS; i++) {
        while (is_cut && now_ns < plan->at_ns[i]) {
            drain(link, now_ns, done);
            submit(link, transfer(N_GPUS - 1, GSIM_D2H, 0, &plain, N_TRANSFERS), now_ns);
            now_ns += 1 + (int64_t)gsl_rng_uniform_int(rng, 1500);
        }
        now_ns = plan->at_ns[i];
        drain(link, now_ns, done);
        submit(link, plan->asked[i], now_ns);
    }
    drain(link, INT64_MAX - 1, done);
}

static void test_cutting_intervals_changes_nothing(void **state) {
    (void)state;
    static const uint32_t root_of_gpu[N_GPUS] = {0, 0, 1, 0, 1, 0};
    static const int64_t root_bytes_per_s[] = {1300000000, 900000000};
    gsl_rng *rng = gsim_rng_stream(1, 0, "link");
    for (int round = 0; round < 50; round++) {
        struct gsim_arena *arena = gsim_arena_new();
        struct gsim_link whole = open_link(arena, N_GPUS, root_of_gpu, root_bytes_per_s);
        struct gsim_link cut = open_link(arena, N_GPUS, root_of_gpu, root_bytes_per_s);
        struct plan plan;
        struct gsim_transfer_done a[N_TRANSFERS] = {0}, b[N_TRANSFERS] = {0};
        draw(&plan, rng);
        carry(&whole, &plan, false, rng, a);
        carry(&cut, &plan, true, rng, b);
        for (int i = 0; i < N_TRANSFERS; i++) {
            assert_int_equal(a[i].begin_ns, b[i].begin_ns);
            assert_int_equal(a[i].end_ns, b[i].end_ns);
            assert_true(a[i].end_ns - a[i].begin_ns >= plan.asked[i].cost.alone_ns);
        }
        gsim_arena_free(arena);
    }
    gsl_rng_free(rng);
}

/* --- beside paging ------------------------------------------------------------------------------ */

static struct gsim_link open_beside_pagers(struct gsim_arena *arena, int64_t root_bytes_per_s) {
    static const uint32_t one_root[] = {0, 0};
    static const uint16_t one_type[] = {0, 0};
    static const struct gsim_host_rates carried = {{1000000000, 1000000000, 1500000000}};
    int64_t *root = gsim_arena_array(arena, 1, sizeof *root);
    *root = root_bytes_per_s;
    struct gsim_link link = open_link(arena, 2, one_root, root);
    assert_true(gsim_link_meet_pagers(&link, &carried, one_type));
    return link;
}

static void page(struct gsim_link *link, uint32_t gpu, int64_t takes, int64_t peak,
                 int64_t now_ns) {
    struct gsim_link_paging paging = {{takes, 0, takes}, {peak, peak, peak}};
    gsim_link_set_paging(link, gpu, &paging);
    gsim_link_repage(link, gpu, now_ns);
}

/* A GPU that pages at 0.5 B/ns for half of the time. Of a root of 1 B/ns that leaves 0.75; of a root of 1.2
 * B/ns 0.7 as long as it copies and all of 1 otherwise, on average 0.85. A root of 1.5 B/ns has room for
 * both. */
static void test_paging_leaves_what_it_does_not_take(void **state) {
    (void)state;
    static const int64_t root[] = {1000000000, 1200000000, 1500000000},
                         ends_ns[] = {1200, 1059, 900};
    for (int k = 0; k < 3; k++) {
        struct gsim_arena *arena = gsim_arena_new();
        struct gsim_link link = open_beside_pagers(arena, root[k]);
        page(&link, 1, 250000000, 500000000, 0);
        submit(&link, transfer(0, GSIM_H2D, 900, &plain, 1), 0);
        expect_done(&link, 1, 0, ends_ns[k]);
        assert_true(link.has_met_paging == (k < 2));
        submit(&link, transfer(0, GSIM_D2H, 900, &plain, 2), 2000); /* it does not page this way */
        expect_done(&link, 2, 2000, 2900);
        gsim_arena_free(arena);
    }
}

/* 300 of 900 bytes are in before the GPU pages; then 0.75 B/ns until 600 are in; then it stops. */
static void test_rates_change_when_paging_does(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_link link = open_beside_pagers(arena, 4000000000);
    uint32_t gpu;
    submit(&link, transfer(0, GSIM_H2D, 900, &plain, 1), 0);
    page(&link, 0, 250000000, 1000000000, 300); /* over its own link */
    page(&link, 0, 0, 0, 700);
    assert_true(gsim_link_take_changed(&link, &gpu) && gpu == 0);
    assert_false(gsim_link_take_changed(&link, &gpu));
    expect_done(&link, 1, 0, 1000);
    assert_true(gsim_link_take_changed(&link, &gpu));
    gsim_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_idle_link_charges_the_quote),
        cmocka_unit_test(test_an_engine_serves_first_come),
        cmocka_unit_test(test_both_directions_share_the_ceiling),
        cmocka_unit_test(test_the_duplex_quote_is_what_the_link_does),
        cmocka_unit_test(test_a_root_is_shared_fairly),
        cmocka_unit_test(test_cutting_intervals_changes_nothing),
        cmocka_unit_test(test_paging_leaves_what_it_does_not_take),
        cmocka_unit_test(test_rates_change_when_paging_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
