/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of jobs over the links of a cluster: how a cluster's nodes are wired, that a quote is
 * what idle links charge, and what jobs do to each other. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "models/links/transfers.h"
#include "sim/base/rng.h"
#include "sim/core/cluster.h"

enum { N_SLOTS = 8 };

struct fixture {
    struct gsim_arena *arena;
    struct gsim_profile profile;
    const struct gsim_profile *profiles[1];
    struct gsim_cluster cluster;
    struct gsim_transfers transfers;
    struct gsim_log log;
};

/* Links of round numbers, 1 B/ns each way, and a network if there is one. */
static void open_cluster(struct fixture *f, const struct gsim_node_group *groups, uint32_t n) {
    f->arena = gsim_arena_new();
    assert_int_equal(gsim_profile_load("h200", f->arena, &f->profile, &f->log), GSIM_OK);
    f->profile.value[GSIM_KEY_NETWORK_BYTES_PER_S] = 2000000000;
    f->profile.value[GSIM_KEY_STORAGE_BYTES_PER_S] = 250000000;
    f->profile.value[GSIM_KEY_PCIE_H2D] = 1000000000;
    f->profile.value[GSIM_KEY_PCIE_H2D_REUSED] = 500000000;
    f->profile.value[GSIM_KEY_PCIE_D2H] = 1000000000;
    f->profiles[0] = &f->profile;
    struct gsim_cluster_spec spec = {
        .groups = groups, .n_groups = n, .profiles = f->profiles, .n_profiles = 1};
    assert_int_equal(gsim_cluster_open(&f->cluster, &spec, f->arena, &f->log), GSIM_OK);
    struct gsim_model_setup setup = {.arena = f->arena,
                                     .n_gpus = f->cluster.n_gpus,
                                     .profiles = f->profiles,
                                     .n_profiles = 1,
                                     .type_of_gpu = f->cluster.type_of_gpu,
                                     .wiring = f->cluster.wiring};
    assert_true(gsim_transfers_init(&f->transfers, &setup));
    assert_true(gsim_transfers_reserve(&f->transfers, N_SLOTS));
}

static struct gsim_node_group nodes(uint32_t count, uint32_t gpus, uint32_t below, int64_t root,
                                    int64_t network) {
    return (struct gsim_node_group){.count = count,
                                    .gpus_per_node = gpus,
                                    .hbm_bytes = 16 * GSIM_GIB,
                                    .gpus_per_root = below,
                                    .root_bytes_per_s = root,
                                    .network_bytes_per_s = network};
}

/* A cargo of which nothing is on the nodes where it goes, or all. */
static struct gsim_cargo cargo(enum gsim_cargo_way carriage, const struct gsim_unit *units,
                               int64_t bytes, bool is_from_elsewhere) {
    return (struct gsim_cargo){.way = carriage,
                               .bytes = bytes,
                               .kept_bytes = bytes,
                               .home = is_from_elsewhere ? units : NULL};
}

static int64_t quote(const struct fixture *f, enum gsim_cargo_way carriage,
                     const struct gsim_unit *units, uint32_t n, int64_t bytes,
                     bool is_from_elsewhere) {
    struct gsim_cargo one = cargo(carriage, units, bytes, is_from_elsewhere);
    return gsim_transfers_ns(&f->transfers, &one, units, n);
}

static void begin(struct fixture *f, gsim_slot slot, enum gsim_cargo_way carriage,
                  const struct gsim_unit *units, uint32_t n, int64_t bytes, bool is_from_elsewhere,
                  int64_t now_ns) {
    struct gsim_cargo one = cargo(carriage, units, bytes, is_from_elsewhere);
    assert_true(gsim_transfers_begin(&f->transfers, slot, &one, units, n, now_ns));
}

static void expect_done(struct fixture *f, gsim_slot slot, int64_t end_ns) {
    gsim_slot done;
    int64_t at_ns;
    bool has_failed;
    assert_true(gsim_transfers_pop(&f->transfers, INT64_MAX - 1, &done, &at_ns, &has_failed));
    assert_int_equal(done, slot);
    assert_int_equal(at_ns, end_ns);
}

static void expect_nothing(struct fixture *f) {
    gsim_slot slot;
    int64_t end_ns;
    bool has_failed;
    assert_false(gsim_transfers_pop(&f->transfers, INT64_MAX - 1, &slot, &end_ns, &has_failed));
    assert_false(has_failed);
}

static void test_a_cluster_that_says_nothing_has_no_limits(void **state) {
    (void)state;
    struct fixture f = {0};
    struct gsim_node_group group = nodes(2, 4, 0, 0, 0);
    open_cluster(&f, &group, 1);
    assert_null(f.cluster.wiring.root_of_gpu);
    assert_null(f.cluster.wiring.network_bytes_per_s);
    assert_int_equal(f.cluster.wiring.node_of_gpu[5], 1);
    gsim_arena_free(f.arena);
}

/* Two nodes of 5 GPUs in pairs (the last alone), one of 2 that says nothing. */
static void test_roots_are_numbered_through(void **state) {
    (void)state;
    struct fixture f = {0};
    struct gsim_node_group groups[] = {nodes(2, 5, 2, 1500000000, 0), nodes(1, 2, 0, 0, 7)};
    static const uint32_t root[] = {0, 0, 1, 1, 2, 3, 3, 4, 4, 5, 6, 7};
    open_cluster(&f, groups, 2);
    for (uint32_t gpu = 0; gpu < 12; gpu++)
        assert_int_equal(f.cluster.wiring.root_of_gpu[gpu], root[gpu]);
    for (uint32_t r = 0; r < 8; r++)
        assert_int_equal(f.cluster.wiring.root_bytes_per_s[r], r < 6 ? 1500000000 : INT64_MAX);
    assert_int_equal(f.cluster.wiring.network_bytes_per_s[1], 0); /* what its device says */
    assert_int_equal(f.cluster.wiring.network_bytes_per_s[2], 7);
    gsim_arena_free(f.arena);
}

/* Below a root of 1.5 B/ns: 900 bytes out on one GPU take 900 ns, on two 1200. A second job that joins
 * after 300 ns leaves 0.75 each: 600 left take 800, then 300 of the second alone. */
static void test_jobs_below_one_root_slow_each_other(void **state) {
    (void)state;
    struct fixture f = {0};
    struct gsim_node_group group = nodes(1, 4, 2, 1500000000, 0);
    static const struct gsim_unit unit[] = {{0, 0}, {1, 0}, {2, 0}};
    open_cluster(&f, &group, 1);
    assert_int_equal(quote(&f, GSIM_CARGO_OUT, unit, 1, 900, false), 900);
    assert_int_equal(quote(&f, GSIM_CARGO_OUT, unit, 2, 900, false), 1200);
    begin(&f, 0, GSIM_CARGO_OUT, &unit[0], 1, 900, false, 0);
    begin(&f, 2, GSIM_CARGO_OUT, &unit[2], 1, 900, false, 0); /* another root */
    begin(&f, 1, GSIM_CARGO_OUT, &unit[1], 1, 900, false, 300);
    expect_done(&f, 2, 900);
    expect_done(&f, 0, 1100);
    expect_done(&f, 1, 1400);
    expect_nothing(&f);
    gsim_arena_free(f.arena);
}

/* 4 B/ns into each node: 3 x 800 bytes into one and 800 into the other are 600 and 200 ns; then 800
 * bytes into each GPU. What another job brings into the first node waits for that. */
static void test_the_network_comes_before_the_bus(void **state) {
    (void)state;
    struct fixture f = {0};
    struct gsim_node_group group = nodes(2, 4, 0, 0, 4000000000);
    static const struct gsim_unit unit[] = {{0, 0}, {1, 0}, {2, 0}, {4, 0}, {3, 0}};
    open_cluster(&f, &group, 1);
    assert_int_equal(quote(&f, GSIM_CARGO_IN_FRESH, unit, 4, 800, true), 1400);
    assert_int_equal(quote(&f, GSIM_CARGO_IN_REUSED, unit, 4, 800, false), 1600);
    begin(&f, 0, GSIM_CARGO_IN_FRESH, unit, 4, 800, true, 0);
    begin(&f, 1, GSIM_CARGO_IN_FRESH, &unit[4], 1, 400, true, 100);
    expect_done(&f, 1, 600 + 100 + 400);
    expect_done(&f, 0, 1400);
    expect_nothing(&f);
    gsim_arena_free(f.arena);
}

static void test_nobody_waits_for_a_forgotten_job(void **state) {
    (void)state;
    struct fixture f = {0};
    struct gsim_node_group group = nodes(1, 1, 0, 0, 0);
    static const struct gsim_unit unit = {0, 0};
    open_cluster(&f, &group, 1);
    begin(&f, 0, GSIM_CARGO_OUT, &unit, 1, 100, false, 0);
    gsim_transfers_forget(&f.transfers, 0);
    begin(&f, 0, GSIM_CARGO_OUT, &unit, 1, 50, false, 10); /* the slot's next job queues behind */
    expect_done(&f, 0, 150);
    expect_nothing(&f);
    gsim_arena_free(f.arena);
}

/* 100 bytes of each of three jobs go out of one GPU, and 100 of a fourth of the other, below a root of 1 B/ns:
 * the first has had half of the root for 40 ns. The second is cancelled in the queue, and then the first under way,
 * so that the third begins at 40; it and the fourth share the root until that has 80 more, at 200. */
static void test_a_copy_that_is_cancelled_leaves_its_link(void **state) {
    (void)state;
    struct fixture f = {0};
    struct gsim_node_group group = nodes(1, 2, 2, 1000000000, 0);
    static const struct gsim_unit unit[] = {{0, 0}, {1, 0}};
    open_cluster(&f, &group, 1);
    for (gsim_slot slot = 0; slot < 4; slot++)
        begin(&f, slot, GSIM_CARGO_OUT, &unit[slot == 3], 1, 100, false, 0);
    gsim_transfers_cancel(&f.transfers, 1, 40);
    gsim_transfers_cancel(&f.transfers, 0, 40);
    begin(&f, 0, GSIM_CARGO_OUT, unit, 1, 50, false, 50); /* the slot's next job */
    expect_done(&f, 3, 200);
    expect_done(&f, 2, 220);
    expect_done(&f, 0, 270);
    expect_nothing(&f);
    gsim_arena_free(f.arena);
}

/* 100 bytes into each of two nodes at 1 B/ns, and 100 more into the first: as the first job is cancelled at 40
 * the second begins there, and then goes over the bus. A stop on its way to storage (0.25 B/ns) leaves that, too. */
static void test_networks_and_storage_are_left_as_well(void **state) {
    (void)state;
    struct fixture f = {0};
    struct gsim_node_group group = nodes(2, 1, 0, 0, 1000000000);
    static const struct gsim_unit unit[] = {{0, 0}, {1, 0}};
    open_cluster(&f, &group, 1);
    begin(&f, 0, GSIM_CARGO_IN_FRESH, unit, 2, 100, true, 0);
    begin(&f, 1, GSIM_CARGO_IN_FRESH, unit, 1, 100, true, 0);
    gsim_transfers_cancel(&f.transfers, 0, 40);
    expect_done(&f, 1, 240);
    expect_nothing(&f);
    struct gsim_cargo out = {.way = GSIM_CARGO_OUT, .stored_bytes = 100};
    assert_true(gsim_transfers_begin(&f.transfers, 2, &out, unit, 1, 300));
    assert_true(gsim_transfers_begin(&f.transfers, 3, &out, unit, 1, 300));
    gsim_transfers_cancel(&f.transfers, 2, 350);
    expect_done(&f, 3, 750);
    expect_nothing(&f);
    gsim_arena_free(f.arena);
}

/* Four GPUs of 1 B/ns each way, two to a domain that carries 1.5 in, 1 out and 1 both ways: two
 * copies in get 0.75 each. One copy out beside one in has 0.5 of each; of two domains neither minds the
 * other. */
static void test_a_domain_is_shared(void **state) {
    (void)state;
    struct fixture f = {0};
    struct gsim_node_group group = nodes(1, 4, 0, 0, 0);
    group.host = (struct gsim_host_wiring){.numa_gpus = 2,
                                           .bytes_per_s = {1500000000, 1000000000, 1000000000}};
    static const struct gsim_unit unit[] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}};
    open_cluster(&f, &group, 1);
    assert_int_equal(quote(&f, GSIM_CARGO_IN_FRESH, unit, 1, 600, false), 600);
    assert_int_equal(quote(&f, GSIM_CARGO_IN_FRESH, unit, 2, 600, false), 800);
    assert_int_equal(quote(&f, GSIM_CARGO_OUT, unit, 4, 600, false), 1200);
    begin(&f, 0, GSIM_CARGO_IN_FRESH, &unit[0], 1, 800, false, 0);
    begin(&f, 1, GSIM_CARGO_OUT, &unit[1], 1, 800, false, 0);
    begin(&f, 2, GSIM_CARGO_OUT, &unit[2], 1, 800, false, 0);
    expect_done(&f, 2, 800);
    expect_done(&f, 0, 1600);
    expect_done(&f, 1, 1600);
    expect_nothing(&f);
    assert_false(f.transfers.pcie.was_host_limited); /* by nothing that the cluster did not say */
    gsim_arena_free(f.arena);
}

/* What four H200s of one host reach together, as measured (experiments/validate/h200/host.csv). */
static void test_a_host_is_as_measured(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_log log = {0};
    struct fixture f = {0};
    struct gsim_node_group group = nodes(1, 4, 0, 0, 0);
    open_cluster(&f, &group, 1);
    assert_int_equal(gsim_profile_load("h200", arena, &f.profile, &log), GSIM_OK);
    f.transfers = (struct gsim_transfers){0};
    struct gsim_model_setup setup = {.arena = arena,
                                     .n_gpus = 4,
                                     .profiles = f.profiles,
                                     .n_profiles = 1,
                                     .type_of_gpu = f.cluster.type_of_gpu,
                                     .wiring = f.cluster.wiring};
    assert_true(gsim_transfers_init(&f.transfers, &setup));
    static const struct gsim_unit unit[] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}};
    int64_t bytes = 1000000000;
    assert_int_equal(4000000 / (quote(&f, GSIM_CARGO_IN_FRESH, unit, 4, bytes, false) / 1000), 166);
    assert_int_equal(4000000 / (quote(&f, GSIM_CARGO_OUT, unit, 4, bytes, false) / 1000), 130);
    assert_int_equal(1000000 / (quote(&f, GSIM_CARGO_IN_FRESH, unit, 1, bytes, false) / 1000), 55);
    gsim_arena_free(f.arena);
    gsim_arena_free(arena);
}

/* The device's 2 B/ns where the cluster names no network. 3 GPUs' 600 bytes of which two are there. */
static void test_only_what_is_elsewhere_crosses(void **state) {
    (void)state;
    struct fixture f = {0};
    struct gsim_node_group group = nodes(3, 4, 0, 0, 0);
    static const struct gsim_unit home[] = {{0, 0}, {1, 0}, {4, 0}},
                                  there[] = {{1, 0}, {2, 0}, {8, 0}};
    struct gsim_cargo one = {
        .way = GSIM_CARGO_IN_FRESH, .bytes = 600, .kept_bytes = 600, .home = home, .n_home = 3};
    open_cluster(&f, &group, 1);
    assert_int_equal(gsim_transfers_ns(&f.transfers, &one, home, 3), 600);
    assert_false(f.transfers.has_crossed);
    assert_int_equal(gsim_transfers_ns(&f.transfers, &one, there, 3), 300 + 600);
    assert_true(gsim_transfers_begin(&f.transfers, 0, &one, there, 3, 0));
    assert_true(f.transfers.has_crossed);
    expect_done(&f, 0, 900);
    gsim_arena_free(f.arena);
}

/* 0.25 B/ns of storage: what goes out is copied first and then written, 200 bytes of each of two GPUs;
 * what comes back is read meanwhile: both ways share the rate, until 1800. */
static void test_storage_comes_after_the_way_out(void **state) {
    (void)state;
    struct fixture f = {0};
    struct gsim_node_group group = nodes(1, 4, 0, 0, 0);
    static const struct gsim_unit unit[] = {{0, 0}, {1, 0}, {2, 0}};
    struct gsim_cargo out = {
        .way = GSIM_CARGO_OUT, .bytes = 200, .kept_bytes = 200, .stored_bytes = 200};
    struct gsim_cargo in = out;
    in.way = GSIM_CARGO_IN_FRESH;
    open_cluster(&f, &group, 1);
    assert_int_equal(gsim_transfers_ns(&f.transfers, &out, unit, 2), 200 + 1600);
    assert_int_equal(gsim_transfers_ns(&f.transfers, &in, &unit[2], 1), 800 + 200);
    assert_true(gsim_transfers_begin(&f.transfers, 0, &out, unit, 2, 0));
    assert_true(gsim_transfers_begin(&f.transfers, 1, &in, &unit[2], 1, 200));
    expect_done(&f, 1, 200 + 1600 + 200);
    expect_done(&f, 0, 200 + 1600 + 800); /* the half that was left when the other one was read */
    gsim_arena_free(f.arena);
}

static void test_a_quote_is_what_idle_links_charge(void **state) {
    (void)state;
    gsl_rng *rng = gsim_rng_stream(1, 0, "transfers");
    for (int round = 0; round < 200; round++) {
        struct fixture f = {0};
        uint32_t gpus = 1 + (uint32_t)gsl_rng_uniform_int(rng, 8);
        uint32_t below = (uint32_t)gsl_rng_uniform_int(rng, gpus + 1);
        struct gsim_node_group group =
            nodes(3, gpus, below, below ? 1 + (int64_t)gsl_rng_uniform_int(rng, 3000000000) : 0,
                  (int64_t)gsl_rng_uniform_int(rng, 2) * 777777777);
        group.host = (struct gsim_host_wiring){
            .numa_gpus = 1 + (uint32_t)gsl_rng_uniform_int(rng, gpus),
            .bytes_per_s = {1 + (int64_t)gsl_rng_uniform_int(rng, 4000000000),
                            1 + (int64_t)gsl_rng_uniform_int(rng, 4000000000),
                            1 + (int64_t)gsl_rng_uniform_int(rng, 4000000000)}};
        open_cluster(&f, &group, 1);
        for (int i = 0; i < 10; i++) {
            struct gsim_unit units[24];
            uint32_t n = 0;
            for (uint32_t gpu = 0; gpu < 3 * gpus; gpu++)
                if (gsl_rng_uniform_int(rng, 2) || gpu == 0)
                    units[n++] = (struct gsim_unit){gpu, 0};
            enum gsim_cargo_way carriage = (enum gsim_cargo_way)gsl_rng_uniform_int(rng, 3);
            int64_t bytes = (int64_t)gsl_rng_uniform_int(rng, 100000);
            bool is_from_elsewhere = carriage != GSIM_CARGO_OUT && gsl_rng_uniform_int(rng, 2);
            int64_t now_ns = i * GSIM_NS_PER_S * 1000000;
            struct gsim_cargo one = cargo(carriage, units, 1 + bytes, is_from_elsewhere);
            one.n_home = is_from_elsewhere ? (uint32_t)gsl_rng_uniform_int(rng, n + 1) : 0;
            one.stored_bytes = gsl_rng_uniform_int(rng, 3) ? 0 : one.bytes;
            assert_true(gsim_transfers_begin(&f.transfers, 3, &one, units, n, now_ns));
            expect_done(&f, 3, now_ns + gsim_transfers_ns(&f.transfers, &one, units, n));
        }
        gsim_arena_free(f.arena);
    }
    gsl_rng_free(rng);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_cluster_that_says_nothing_has_no_limits),
        cmocka_unit_test(test_roots_are_numbered_through),
        cmocka_unit_test(test_jobs_below_one_root_slow_each_other),
        cmocka_unit_test(test_the_network_comes_before_the_bus),
        cmocka_unit_test(test_nobody_waits_for_a_forgotten_job),
        cmocka_unit_test(test_a_copy_that_is_cancelled_leaves_its_link),
        cmocka_unit_test(test_networks_and_storage_are_left_as_well),
        cmocka_unit_test(test_a_domain_is_shared),
        cmocka_unit_test(test_a_host_is_as_measured),
        cmocka_unit_test(test_only_what_is_elsewhere_crosses),
        cmocka_unit_test(test_storage_comes_after_the_way_out),
        cmocka_unit_test(test_a_quote_is_what_idle_links_charge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
