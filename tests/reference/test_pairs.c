/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What TGS (NSDI 2023), AntMan (OSDI 2020) and Salus (MLSys 2020) say of themselves, on the first few
 * traces of the specs of experiments/sharing, whose results.md has all fifty. Bounds are a little
 * wider than what is measured there. */
#define _XOPEN_SOURCE 700
#include "tests/support/trace_file.h"

#include "tests/support/runner.h"
#include "traces/generate.h"
#include "traces/spec_read.h"

enum { PAIRS = TEST_FEWER_REPEATED > 1 ? 4 : 8 };
#define SMALL (INT64_C(64) << 30) /* bytes of a GPU on which two jobs do not fit */

static const struct gsim_spec *read_spec(struct fixture *f, const char *path) {
    const struct gsim_spec *spec;
    if (gsim_spec_read(path, NULL, f->arena, &spec, &f->log) != GSIM_OK)
        fail_msg("%s", f->log.errors[0].text);
    return spec;
}

static struct gsim_trace draw(struct fixture *f, const struct gsim_spec *spec,
                              uint64_t replication) {
    struct gsim_trace trace;
    assert_int_equal(gsim_trace_generate(spec, 1, replication, f->arena, &trace, &f->log), GSIM_OK);
    return trace;
}

/* --- pairs -------------------------------------------------------------------------------------- */

/* Of a production job, and of an opportunistic one that came with it and has more to do. */
struct outcome {
    double production; /* JCT over alone */
    double pace; /* of the opportunistic one while both are there, over alone */
};

static double seconds(int64_t ns) {
    return (double)ns / 1e9;
}

static struct outcome play(struct fixture *f, const struct gsim_trace *trace, const char *policy,
                           const char *const *sets, int64_t hbm_bytes) {
    struct test_run run = {
        .trace = trace, .policy = policy, .device = "h200", .sets = sets, .hbm_bytes = hbm_bytes};
    struct gsim_result result = test_run(&run, f->arena);
    double production_s = seconds(result.jobs.end_ns[0]), end_s = seconds(result.jobs.end_ns[1]);
    double both_s = end_s < production_s ? end_s : production_s;
    /* alone afterwards, it did in that time what was left */
    return (struct outcome){production_s / seconds(trace->service_ns[0]),
                            (seconds(trace->service_ns[1]) - (end_s - both_s)) / both_s};
}

struct summary {
    struct outcome mean;
    double worst; /* of production */
};

static struct summary play_some(struct fixture *f, uint64_t n, const char *policy,
                                const char *const *sets, int64_t hbm_bytes) {
    const struct gsim_spec *spec = read_spec(f, "experiments/sharing/pairs.ini");
    struct summary sum = {0};
    for (uint64_t pair = 0; pair < n; pair++) {
        struct gsim_trace trace = draw(f, spec, pair);
        struct outcome one = play(f, &trace, policy, sets, hbm_bytes);
        sum.mean.production += one.production / (double)n;
        sum.mean.pace += one.pace / (double)n;
        sum.worst = one.production > sum.worst ? one.production : sum.worst;
    }
    print_message("# %-10s production over alone %.3f, worst %.3f; pace of the other %.3f\n",
                  policy, sum.mean.production, sum.worst, sum.mean.pace);
    return sum;
}

static struct summary play_all(struct fixture *f, const char *policy, const char *const *sets,
                               int64_t hbm_bytes) {
    return play_some(f, PAIRS, policy, sets, hbm_bytes);
}

static const char *const paging[] = {"memory=uvm", NULL};

/* MPS gives the other job more, and has nothing to keep it from the production job. */
static void test_production_is_as_good_as_alone(void **state) {
    struct summary slices = play_all(*state, "timeslice", NULL, 0);
    struct summary packing = play_all(*state, "gandiva", NULL, 0);
    struct summary tgs = play_all(*state, "tgs", paging, 0);
    struct summary antman = play_all(*state, "antman", NULL, 0);
    struct summary mps = play_all(*state, "mps", NULL, 0);
    print_message("# TGS to MPS: pace x %.2f\n", tgs.mean.pace / mps.mean.pace);
    assert_true(slices.mean.production > 1.2 && packing.mean.production > 1.2);
    assert_true(tgs.mean.production <= 1.05 && tgs.worst <= 1.1 && tgs.mean.pace > 0.2);
    assert_true(antman.mean.production <= 1.04 && antman.worst <= 1.07 && antman.mean.pace > 0.1);
    assert_true(mps.mean.pace > tgs.mean.pace);
    if (PAIRS == 8) /* the first ones happen to leave each other's SMs alone */
        assert_true(mps.worst > 1.2);
}

/* Where memory is for one: under mps the other waits, demand paging ruins both. */
static void test_production_keeps_its_memory(void **state) {
    enum { PAGED = TEST_FEWER_REPEATED > 1 ? 1 : PAIRS };
    struct summary tgs = play_some(*state, PAGED, "tgs", paging, SMALL);
    struct summary mps = play_some(*state, PAGED, "mps", NULL, SMALL);
    struct summary uvm = play_some(*state, 1, "uvm", NULL, SMALL); /* five times the work */
    assert_true(tgs.mean.production <= 1.08 && tgs.worst <= 1.15 && tgs.mean.pace > 0.05);
    assert_true(mps.mean.production < 1.001 && mps.mean.pace < 0.001);
    assert_true(uvm.mean.production > 5);
}

static void test_a_wider_tolerance_gives_the_other_more(void **state) {
    static const char *const strict_sets[] = {"tolerance=1%", NULL};
    static const char *const lax_sets[] = {"tolerance=10%", NULL};
    struct summary strict = play_all(*state, "tgs", strict_sets, 0);
    struct summary lax = play_all(*state, "tgs", lax_sets, 0);
    assert_true(lax.mean.production > strict.mean.production);
    assert_true(lax.mean.pace > strict.mean.pace);
}

/* --- Salus -------------------------------------------------------------------------------------- */

static double mean_jct_s(struct fixture *f, const struct gsim_trace *trace, const char *order) {
    const char *const sets[] = {"lanes=one", order, NULL};
    struct test_run run = {.trace = trace, .policy = "salus", .device = "p100", .sets = sets};
    return test_run(&run, f->arena).summary.jct_mean_s;
}

/* Published: 3.19 on a mix that is not. */
static void test_shortest_remaining_time_pays(void **state) {
    struct fixture *f = *state;
    const struct gsim_spec *spec = read_spec(f, "experiments/sharing/salus.ini");
    double fifo_s = 0, srtf_s = 0;
    for (uint64_t replication = 0; replication < PAIRS; replication++) {
        struct gsim_trace trace = draw(f, spec, replication);
        fifo_s += mean_jct_s(f, &trace, "order=fifo");
        srtf_s += mean_jct_s(f, &trace, "order=srtf");
    }
    print_message("# mean JCT by fifo over srtf %.2f, published 3.19\n", fifo_s / srtf_s);
    assert_true(fifo_s > 2 * srtf_s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_production_is_as_good_as_alone),
        TEST(test_production_keeps_its_memory),
        TEST(test_a_wider_tolerance_gives_the_other_more),
        TEST(test_shortest_remaining_time_pays),
    };
    return cmocka_run_group_tests_name("sharing, as its systems say", tests, NULL, NULL);
}
