/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TGS (NSDI 2023) keeps production jobs within 5 % of alone and gives the gaps to the opportunistic
 * job; AntMan (OSDI 2020) keeps guaranteed jobs within a few percent where packing does not: fifty
 * seeded pairs of training jobs, against the driver's time slices. */
#define _XOPEN_SOURCE 700
#include "tests/support/trace_file.h"

#include "sim/base/rng.h"
#include "tests/support/runner.h"

enum { PAIRS = 50, MINUTES = 8 };

static int between(gsl_rng *rng, int low, int high) {
    return low + (int)gsl_rng_uniform_int(rng, (unsigned long)(high - low + 1));
}

/* A production job that leaves 10 to 60 % of its GPU idle, for eight minutes; an opportunistic
 * one that would keep it busy and outlasts it. The GPU waits for a host that launches slowly (of odd
 * seeds), or between iterations. */
static bool is_host_bound(unsigned long seed) {
    return seed % 2 == 1;
}

static void draw_pair(struct fixture *f, unsigned long seed) {
    char text[512];
    gsl_rng *rng = gsim_rng_stream(seed, 0, "pair");
    int iteration_ms = between(rng, 60, 300), gap_percent = between(rng, 10, 60);
    double gap_ms = iteration_ms * gap_percent / 100.0, gpu_ms = iteration_ms - gap_ms;
    int iterations = MINUTES * 60000 / iteration_ms;
    int kernels = (int)(gpu_ms * between(rng, 4, 20)); /* of 0.05 to 0.25 ms */
    int blocks = between(rng, 50, 800);
    int other_ms = between(rng, 60, 300), other_kernels = other_ms * between(rng, 4, 20);
    (void)snprintf(text, sizeof text,
                   "job_id,submit_s,iterations,gpu_ms,host_ms,host_gap_ms,kernels,blocks,class\n"
                   "p,0,%d,%g,%g,%g,%d,%d,production\no,0,%d,%d,0,0,%d,%d,opportunistic\n",
                   iterations, gpu_ms, is_host_bound(seed) ? gpu_ms + gap_ms : 0.0,
                   is_host_bound(seed) ? 0.0 : gap_ms, kernels, blocks, MINUTES * 60000 / other_ms,
                   other_ms, other_kernels, between(rng, 50, 800));
    gsl_rng_free(rng);
    if (read_text(f, text) != GSIM_OK)
        fail_msg("%s", f->log.errors[0].text);
}

struct outcome {
    double production; /* JCT over alone */
    double other; /* the opportunistic one's */
};

static struct outcome play(struct fixture *f, const char *policy, const char *const *sets) {
    struct test_run run = {.trace = &f->trace, .policy = policy, .device = "h200", .sets = sets};
    struct gsim_result result = test_run(&run, f->arena);
    return (struct outcome){(double)result.jobs.end_ns[0] / (double)f->trace.service_ns[0],
                            (double)result.jobs.end_ns[1] / (double)f->trace.service_ns[1]};
}

/* Means over all pairs, by what the production job's GPU waits for. */
struct summary {
    struct outcome host_bound, with_gaps;
    double worst;
};

static struct summary play_all(struct fixture *f, const char *policy) {
    struct summary sum = {0};
    for (unsigned long seed = 1; seed <= PAIRS; seed++) {
        draw_pair(f, seed);
        struct outcome one = play(f, policy, NULL);
        struct outcome *of = is_host_bound(seed) ? &sum.host_bound : &sum.with_gaps;
        of->production += one.production / (PAIRS / 2);
        of->other += one.other / (PAIRS / 2);
        sum.worst = one.production > sum.worst ? one.production : sum.worst;
    }
    print_message("# %-10s production over alone %.3f host-bound, %.3f with gaps, worst %.3f; "
                  "opportunistic %.3f and %.3f\n",
                  policy, sum.host_bound.production, sum.with_gaps.production, sum.worst,
                  sum.host_bound.other, sum.with_gaps.other);
    return sum;
}

static void test_production_is_as_good_as_alone(void **state) {
    struct summary slices = play_all(*state, "timeslice");
    struct summary tgs = play_all(*state, "tgs"), antman = play_all(*state, "antman");
    assert_true(slices.host_bound.production > 1.15 && slices.with_gaps.production > 1.15);
    assert_true(tgs.host_bound.production <= 1.05 && tgs.with_gaps.production <= 1.05);
    assert_true(antman.host_bound.production <= 1.05 && antman.with_gaps.production <= 1.05);
    /* waiting for the end of the production job would be 2 */
    assert_true(tgs.host_bound.other < 1.9 && tgs.with_gaps.other < 2);
    assert_true(antman.host_bound.other < 1.9 && antman.with_gaps.other < 2);
}

static void test_a_wider_tolerance_gives_the_other_more(void **state) {
    struct fixture *f = *state;
    static const char *const sets[][2] = {{"tolerance=1%", NULL}, {"tolerance=10%", NULL}};
    struct outcome strict = {0}, lax = {0};
    for (unsigned long seed = 1; seed <= 10; seed++) {
        draw_pair(f, seed);
        struct outcome a = play(f, "tgs", sets[0]), b = play(f, "tgs", sets[1]);
        strict.production += a.production, strict.other += a.other;
        lax.production += b.production, lax.other += b.other;
    }
    assert_true(lax.production > strict.production);
    assert_true(lax.other < strict.other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_production_is_as_good_as_alone),
        TEST(test_a_wider_tolerance_gives_the_other_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
