/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Placement: what each rule takes, by hand; and random takes and releases against plain counts. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/rng.h"
#include "sim/core/cluster.h"

static struct gsim_cluster make(uint32_t nodes, uint32_t gpus, int64_t cpus,
                                struct gsim_arena *arena) {
    static struct gsim_log log;
    struct gsim_cluster cluster;
    struct gsim_node_group group = {.count = nodes,
                                    .gpus_per_node = gpus,
                                    .cpus_milli = cpus * 1000,
                                    .hbm_bytes = 16 * GSIM_GIB};
    struct gsim_cluster_spec spec = {.groups = &group, .n_groups = 1};
    assert_int_equal(gsim_cluster_open(&cluster, &spec, arena, &log), GSIM_OK);
    return cluster;
}

static struct gsim_request ask(uint32_t gpus, enum gsim_rule rule) {
    return (struct gsim_request){
        .shape = {.gpus = gpus, .share_ppm = (uint32_t)GSIM_PPM, .rule = rule}, .mem_bytes = -1};
}

/* Finds, and checks which GPUs were taken ("-" for a misfit). */
static void expect(struct gsim_cluster *cluster, struct gsim_request request, const char *gpus) {
    struct gsim_unit units[64];
    char text[256] = "";
    struct gsim_found found = gsim_cluster_find(cluster, &request, units);
    for (uint32_t u = 0; u < found.n_units; u++) {
        (void)snprintf(text + strlen(text), 8, "%s%u", u ? " " : "", units[u].gpu);
        if (found.is_on_one_node)
            assert_int_equal(cluster->node_of_gpu[units[u].gpu],
                             cluster->node_of_gpu[units[0].gpu]);
    }
    assert_string_equal(found.fits ? text : "-", gpus);
}

static void test_consolidate(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_cluster c = make(3, 4, 0, arena);
    expect(&c, ask(3, GSIM_RULE_CONSOLIDATE), "0 1 2");
    expect(&c, ask(2, GSIM_RULE_CONSOLIDATE), "4 5"); /* the rest of node 0 is too small */
    expect(&c, ask(1, GSIM_RULE_CONSOLIDATE), "3"); /* the fullest node that fits */
    expect(&c, ask(5, GSIM_RULE_CONSOLIDATE), "8 9 10 11 6"); /* a whole node and one more */
    expect(&c, ask(2, GSIM_RULE_CONSOLIDATE), "-");
    expect(&c, ask(1, GSIM_RULE_CONSOLIDATE), "7");
    expect(&c, ask(1, GSIM_RULE_CONSOLIDATE), "-");
    gsim_arena_free(arena);
}

/* Named units are taken, given back and taken again; at once where they lie on one node. */
static void test_named_units(void **state) {
    (void)state;
    static const struct gsim_unit together[] = {{7, 0}, {5, 0}}, apart[] = {{3, 0}, {4, 0}};
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_cluster c = make(3, 4, 0, arena);
    struct gsim_request request = ask(2, GSIM_RULE_ANY), filling = request;
    request.on_node = gsim_cluster_take_named(&c, &request, together, 2);
    assert_int_equal(request.on_node, 0xA); /* the second and the fourth of node 1 */
    assert_int_equal(c.n_idle, 10);
    assert_int_equal(c.node_idle[1], 2);
    assert_int_equal(c.n_unused_whole, 8);
    gsim_cluster_release(&c, &request, together, 2);
    assert_int_equal(c.n_unused_whole, 12);
    gsim_cluster_retake(&c, &request, together, 2);
    assert_int_equal(c.node_idle[1], 2);
    assert_int_equal(gsim_cluster_take_named(&c, &filling, apart, 2), 0); /* of two nodes */
    assert_int_equal(c.n_idle, 8);
    expect(&c, ask(1, GSIM_RULE_CONSOLIDATE), "6"); /* what is left of node 1 */
    gsim_cluster_release(&c, &filling, apart, 2);
    gsim_cluster_release(&c, &request, together, 2);
    expect(&c, ask(3, GSIM_RULE_CONSOLIDATE), "4 5 7");
    filling.mem_bytes = GSIM_GIB;
    assert_int_equal(gsim_cluster_take_named(&c, &filling, apart, 1), 0); /* memory counts, too */
    assert_int_equal(c.gpu_mem_used[3], GSIM_GIB);
    gsim_arena_free(arena);
}

static void test_consolidate_does_not_scatter(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_cluster c = make(3, 4, 0, arena);
    expect(&c, ask(2, GSIM_RULE_CONSOLIDATE), "0 1");
    expect(&c, ask(3, GSIM_RULE_CONSOLIDATE), "4 5 6");
    expect(&c, ask(3, GSIM_RULE_CONSOLIDATE), "8 9 10");
    assert_int_equal(c.n_idle, 4);
    expect(&c, ask(4, GSIM_RULE_CONSOLIDATE), "-"); /* four idle, on three nodes */
    assert_int_equal(c.n_idle, 4); /* a misfit leaves no trace */
    expect(&c, ask(4, GSIM_RULE_ANY), "7 11 2 3");
    gsim_arena_free(arena);
}

/* Two nodes of 4 GPUs with 16 GiB, then one of 8 with 8 GiB. */
static void test_consolidate_on_mixed_nodes(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_log log = {0};
    struct gsim_cluster c;
    struct gsim_node_group groups[] = {{.count = 2, .gpus_per_node = 4, .hbm_bytes = 16 * GSIM_GIB},
                                       {.count = 1, .gpus_per_node = 8, .hbm_bytes = 8 * GSIM_GIB}};
    struct gsim_cluster_spec spec = {.groups = groups, .n_groups = 2};
    assert_int_equal(gsim_cluster_open(&c, &spec, arena, &log), GSIM_OK);
    struct gsim_request all = ask(16, GSIM_RULE_CONSOLIDATE), eight = ask(8, GSIM_RULE_CONSOLIDATE);
    expect(&c, all, "8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7"); /* the widest nodes first */
    struct gsim_unit units[16];
    for (uint16_t gpu = 0; gpu < 16; gpu++)
        units[gpu] = (struct gsim_unit){.gpu = gpu};
    gsim_cluster_release(&c, &all, units, 16);
    eight.mem_bytes = 12 * GSIM_GIB; /* more than a GPU of the widest node has */
    expect(&c, eight, "0 1 2 3 4 5 6 7");
    expect(&c, ask(9, GSIM_RULE_CONSOLIDATE), "-");
    expect(&c, ask(8, GSIM_RULE_CONSOLIDATE), "8 9 10 11 12 13 14 15");
    gsim_arena_free(arena);
}

static void test_spread_and_fullest(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_cluster c = make(3, 4, 0, arena);
    expect(&c, ask(4, GSIM_RULE_SPREAD), "0 4 8 1");
    struct gsim_cluster d = make(3, 8, 0, arena);
    expect(&d, ask(20, GSIM_RULE_FULLEST), "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15");
    expect(&d, ask(9, GSIM_RULE_FULLEST), "16 17 18 19 20 21 22 23");
    gsim_arena_free(arena);
}

static void test_shares_memory_cpus(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_cluster c = make(2, 1, 0, arena);
    struct gsim_request request = ask(1, GSIM_RULE_CONSOLIDATE);
    request.shape.share_ppm = 600000;
    expect(&c, request, "0");
    request.shape.share_ppm = 300000;
    expect(&c, request, "0"); /* best fit: 0.4 left there */
    expect(&c, request, "1"); /* 0.1 left is too little */
    expect(&c, ask(1, GSIM_RULE_ANY), "-");
    struct gsim_cluster m = make(1, 2, 0, arena);
    struct gsim_unit first = {0, 0};
    gsim_cluster_pin(&m, &first, 1, 10 * GSIM_GIB); /* a paused job's memory */
    request = ask(1, GSIM_RULE_CONSOLIDATE);
    request.mem_bytes = 8 * GSIM_GIB;
    expect(&m, request, "1"); /* 10 + 8 > 16 on GPU 0 */
    expect(&m, request, "-");
    struct gsim_cluster p = make(2, 4, 8, arena);
    request = ask(2, GSIM_RULE_CONSOLIDATE);
    request.shape.cpus_milli = 6000;
    expect(&p, request, "0 1");
    expect(&p, request, "4 5"); /* node 0 has 2 CPUs left */
    expect(&p, request, "-");
    gsim_arena_free(arena);
}

/* Takes and releases at random: counts always agree with a recount, and all is free at the end. */
static void test_random_takes(void **state) {
    (void)state;
    enum { JOBS = 64, NODES = 7, GPUS = 5 };
    struct gsim_arena *arena = gsim_arena_new();
    gsl_rng *rng = gsim_rng_stream(5, 0, "cluster");
    struct gsim_cluster c = make(NODES, GPUS, 0, arena);
    struct gsim_unit units[JOBS][64];
    struct gsim_request requests[JOBS];
    uint32_t n[JOBS] = {0};
    for (int step = 0; step < 20000; step++) {
        uint32_t j = (uint32_t)gsl_rng_uniform_int(rng, JOBS);
        if (n[j]) {
            gsim_cluster_release(&c, &requests[j], units[j], n[j]);
            n[j] = 0;
        } else {
            requests[j] = ask(1 + (uint32_t)gsl_rng_uniform_int(rng, 12),
                              (enum gsim_rule)gsl_rng_uniform_int(rng, GSIM_RULE_COUNT));
            if (requests[j].shape.gpus == 1 && step % 2)
                requests[j].shape.share_ppm = 1 + (uint32_t)gsl_rng_uniform_int(rng, 999999);
            struct gsim_found found = gsim_cluster_find(&c, &requests[j], units[j]);
            n[j] = found.n_units;
            assert_int_equal(found.fits, n[j] > 0);
            for (uint32_t u = 0; found.is_on_one_node && u < n[j]; u++)
                assert_int_equal(units[j][u].gpu / GPUS, units[j][0].gpu / GPUS);
        }
        uint32_t idle = 0;
        for (uint32_t gpu = 0; gpu < NODES * GPUS; gpu++)
            idle += gsim_cluster_is_idle(&c, gpu);
        assert_int_equal(idle, c.n_idle);
    }
    for (uint32_t j = 0; j < JOBS; j++)
        if (n[j])
            gsim_cluster_release(&c, &requests[j], units[j], n[j]);
    assert_int_equal(c.n_idle, NODES * GPUS);
    assert_int_equal(c.partial.n, 0);
    gsl_rng_free(rng);
    gsim_arena_free(arena);
}

static void test_affinity(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_cluster c = make(3, 4, 0, arena);
    expect(&c, ask(1, GSIM_RULE_AFFINITY), "0");
    expect(&c, ask(2, GSIM_RULE_AFFINITY), "4 5"); /* not beside the single one */
    expect(&c, ask(1, GSIM_RULE_AFFINITY), "1"); /* among its like */
    expect(&c, ask(2, GSIM_RULE_AFFINITY), "6 7");
    expect(&c, ask(3, GSIM_RULE_AFFINITY), "8 9 10"); /* an empty node */
    expect(&c, ask(2, GSIM_RULE_AFFINITY), "2 3"); /* no like, no empty node: as consolidated */
    gsim_arena_free(arena);
}

/* By the seed: the same one gives the same, and over many seeds every node comes first. */
static void test_random_rule(void **state) {
    (void)state;
    bool comes_first[3] = {false};
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct gsim_arena *arena = gsim_arena_new();
        uint32_t first[2];
        for (int i = 0; i < 2; i++) {
            struct gsim_cluster c = make(3, 4, 0, arena);
            struct gsim_unit units[12];
            struct gsim_request five = ask(5, GSIM_RULE_RANDOM);
            c.random = seed;
            assert_int_equal(gsim_cluster_find(&c, &five, units).n_units, 5);
            first[i] = units[0].gpu / 4;
            expect(&c, ask(8, GSIM_RULE_RANDOM), "-");
            assert_int_equal(c.n_idle, 7);
        }
        assert_int_equal(first[0], first[1]);
        comes_first[first[0]] = true;
        gsim_arena_free(arena);
    }
    assert_true(comes_first[0] && comes_first[1] && comes_first[2]);
}

static struct gsim_request ask_on(uint32_t gpus, uint32_t nodes, enum gsim_rule rule) {
    struct gsim_request request = ask(gpus, rule);
    request.n_nodes = nodes;
    return request;
}

/* Four nodes of four, of which the first has three idle. Five GPUs on two nodes are three of the
 * first (the fullest that has more than two) and two of the next one, which has two left then; so
 * have the nodes that a spread gang took as the emptiest. */
static void test_numbers_of_nodes(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_cluster c = make(4, 4, 0, arena);
    struct gsim_request two = ask_on(4, 2, GSIM_RULE_CONSOLIDATE);
    struct gsim_unit units[4];
    expect(&c, ask(1, GSIM_RULE_CONSOLIDATE), "0");
    expect(&c, ask_on(4, 4, GSIM_RULE_CONSOLIDATE), "1 4 8 12");
    gsim_cluster_release(&c, &two, (struct gsim_unit[]){{1, 0}, {4, 0}, {8, 0}, {12, 0}}, 4);
    expect(&c, ask_on(5, 2, GSIM_RULE_CONSOLIDATE), "1 2 3 4 5");
    expect(&c, ask_on(4, 2, GSIM_RULE_SPREAD), "8 9 12 13");
    assert_false(gsim_cluster_find_on(&c, &two, 1, units).fits);
    expect(&c, ask_on(3, 1, GSIM_RULE_ANY), "-"); /* six idle, two on a node */
    expect(&c, ask_on(8, 2, GSIM_RULE_RANDOM), "-");
    assert_int_equal(c.n_idle, 6); /* a misfit leaves no trace */
    expect(&c, ask_on(6, 3, GSIM_RULE_CONSOLIDATE), "6 7 10 11 14 15");
    gsim_arena_free(arena);
}

/* Units that a policy names: four on two nodes are two and two, five three and two. */
static void test_named_numbers_of_nodes(void **state) {
    (void)state;
    static const struct gsim_unit even[] = {{0, 0}, {4, 0}, {1, 0}, {5, 0}, {6, 0}},
                                  uneven[] = {{0, 0}, {1, 0}, {2, 0}, {4, 0}},
                                  many[] = {{0, 0}, {4, 0}, {8, 0}, {1, 0}};
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_cluster c = make(3, 4, 0, arena);
    struct gsim_request two = ask_on(4, 2, GSIM_RULE_ANY), any = ask(4, GSIM_RULE_ANY);
    assert_true(gsim_cluster_are_spread(&c, &two, even, 4));
    assert_true(gsim_cluster_are_spread(&c, &two, even, 5));
    assert_false(gsim_cluster_are_spread(&c, &two, uneven, 4));
    assert_false(gsim_cluster_are_spread(&c, &two, many, 4));
    assert_true(gsim_cluster_are_spread(&c, &any, uneven, 4));
    gsim_arena_free(arena);
}

/* Four nodes of four, two below a switch. With one GPU left on the first node, its switch has no two
 * nodes with two. */
static void test_numbers_of_nodes_below_a_switch(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_log log = {0};
    struct gsim_cluster c;
    struct gsim_node_group group = {
        .count = 4, .gpus_per_node = 4, .hbm_bytes = GSIM_GIB, .nodes_per_switch = 2};
    struct gsim_cluster_spec spec = {.groups = &group, .n_groups = 1};
    assert_int_equal(gsim_cluster_open(&c, &spec, arena, &log), GSIM_OK);
    expect(&c, ask(3, GSIM_RULE_CONSOLIDATE), "0 1 2");
    expect(&c, ask_on(4, 2, GSIM_RULE_CONSOLIDATE), "8 9 12 13");
    expect(&c, ask_on(2, 2, GSIM_RULE_CONSOLIDATE), "10 14"); /* its switch has fewer idle GPUs */
    gsim_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_consolidate),
        cmocka_unit_test(test_named_units),
        cmocka_unit_test(test_consolidate_does_not_scatter),
        cmocka_unit_test(test_consolidate_on_mixed_nodes),
        cmocka_unit_test(test_spread_and_fullest),
        cmocka_unit_test(test_shares_memory_cpus),
        cmocka_unit_test(test_random_takes),
        cmocka_unit_test(test_affinity),
        cmocka_unit_test(test_random_rule),
        cmocka_unit_test(test_numbers_of_nodes),
        cmocka_unit_test(test_named_numbers_of_nodes),
        cmocka_unit_test(test_numbers_of_nodes_below_a_switch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
