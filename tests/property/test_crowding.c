/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs that page below one root (models/jobs/link_shares.h), against a plain walk in which each copy of each
 * wait for pages has its fair share of the root at every instant. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "models/hardware/profile.h"
#include "sim/base/rng.h"
#include "sim/base/sort.h"
#include "tests/support/runner.h"

enum { MOST = 8, PIECES = 40, ROUNDS = 60 / TEST_FEWER };

/* What a job does again and again: waits for pages, a piece of fixed work, of copying in and of copying out
 * after each other, then computes. */
struct pager {
    double submit_s, compute_s, fixed_s; /* of an iteration */
    double bytes; /* each way, of an iteration */
    int64_t iterations;
    /* while it is walked */
    int step; /* 3 a piece; the last one computes */
    double left; /* seconds, or bytes */
    double end_s;
};

static bool copies(const struct pager *p) {
    return p->iterations > 0 && p->step < 3 * PIECES && p->step % 3 > 0;
}

static void begin_step(struct pager *p) {
    if (p->step == 3 * PIECES)
        p->left = p->compute_s;
    else
        p->left = p->step % 3 ? p->bytes / PIECES : p->fixed_s / PIECES;
}

static double rate_of(const struct pager *p, const struct pager *all, int n, double now_s,
                      double alone, double root) {
    int n_alike = 0;
    if (!copies(p))
        return 1;
    for (int i = 0; i < n; i++)
        n_alike += copies(&all[i]) && all[i].step % 3 == p->step % 3 && all[i].submit_s <= now_s;
    return root / n_alike < alone ? root / n_alike : alone;
}

/* The plain walk: until all are done. */
static void walk(struct pager *all, int n, double alone, double root) {
    double now_s = 0;
    int n_left = n;
    for (int i = 0; i < n; i++)
        begin_step(&all[i]);
    while (n_left > 0) {
        double step_s = 1e30, rate[MOST];
        for (int i = 0; i < n; i++) {
            struct pager *p = &all[i];
            rate[i] = p->iterations == 0 || p->submit_s > now_s
                          ? 0
                          : rate_of(p, all, n, now_s, alone, root);
            double ends_s = rate[i] > 0 ? p->left / rate[i] : p->submit_s - now_s;
            if (p->iterations > 0 && ends_s < step_s)
                step_s = ends_s;
        }
        now_s += step_s;
        for (int i = 0; i < n; i++) {
            struct pager *p = &all[i];
            p->left -= rate[i] * step_s;
            if (rate[i] == 0 || p->left > 1e-9 * (copies(p) ? alone : 1))
                continue;
            p->step = p->step == 3 * PIECES ? 0 : p->step + 1;
            p->iterations -= p->step == 0;
            p->end_s = now_s;
            n_left -= p->iterations == 0 && p->step == 0;
            begin_step(p);
        }
    }
}

/* --- the same jobs in the simulator ------------------------------------------------------------- */

static const char *const uvm[] = {"memory=uvm", NULL};

static struct gsim_trace trace_of(const struct pager *all, int n, struct gsim_arena *arena) {
    struct gsim_trace trace = {.path = "drawn", .n_jobs = (uint32_t)n, .id_text = ""};
    size_t size = (size_t)n;
    uint32_t *order = gsim_arena_array(arena, size, sizeof *order);
    int64_t *column[5];
    for (int c = 0; c < 5; c++)
        column[c] = gsim_arena_array(arena, size, sizeof **column);
    trace.id_at = gsim_arena_array(arena, size, sizeof *trace.id_at);
    for (int i = 0; i < n; i++) {
        column[0][i] = all[i].iterations;
        column[1][i] = (int64_t)(all[i].compute_s * 1e9);
        column[2][i] = 320 * GSIM_MIB;
        column[3][i] = (int64_t)(all[i].submit_s * 1e9);
        column[4][i] = column[0][i] * column[1][i];
    }
    assert_true(gsim_sort_order(column[3], order, (uint32_t)n));
    trace.order = order;
    trace.submit_ns = column[3];
    trace.service_ns = column[4];
    trace.column[GSIM_COL_ITERATIONS] = column[0];
    trace.column[GSIM_COL_GPU_NS] = column[1];
    trace.column[GSIM_COL_MEM_BYTES] = column[2];
    return trace;
}

static struct gsim_result simulate(const struct pager *all, int n, int64_t root,
                                   struct gsim_arena *arena) {
    struct gsim_trace *trace = gsim_arena_alloc(arena, sizeof *trace);
    struct gsim_node_group *group = gsim_arena_alloc(arena, sizeof *group);
    *trace = trace_of(all, n, arena);
    *group = (struct gsim_node_group){.count = 1,
                                      .gpus_per_node = (uint32_t)n,
                                      .hbm_bytes = 256 * GSIM_MIB,
                                      .gpus_per_root = root ? (uint32_t)n : 0,
                                      .root_bytes_per_s = root};
    struct test_run run = {.trace = trace,
                           .policy = "fifo",
                           .device = "p100",
                           .hbm_bytes = 256 * GSIM_MIB,
                           .sets = uvm,
                           .groups = group,
                           .n_groups = 1};
    return test_run(&run, arena);
}

/* What an iteration moves and waits for, from a run in which nobody is in the way. */
static void describe(struct pager *all, int n, double alone, struct gsim_arena *arena) {
    struct gsim_result result = simulate(all, n, 0, arena);
    for (int i = 0; i < n; i++) {
        double iterations = (double)all[i].iterations;
        double took_s = (double)result.jobs.end_ns[i] / 1e9 - all[i].submit_s;
        all[i].bytes =
            (double)(result.jobs.bytes_in[i] + result.jobs.bytes_out[i]) / 2 / iterations;
        all[i].fixed_s = took_s / iterations - all[i].compute_s - 2 * all[i].bytes / alone;
        assert_true(all[i].fixed_s > -1e-6 && all[i].bytes > 0);
        if (all[i].fixed_s < 0) /* all of a batch is copying on this device */
            all[i].fixed_s = 0;
    }
}

static int64_t copy_rate(struct gsim_arena *arena) {
    struct gsim_profile *profile = gsim_arena_alloc(arena, sizeof *profile);
    struct gsim_log log = {0};
    assert_int_equal(gsim_profile_load("p100", arena, profile, &log), GSIM_OK);
    return profile->value[GSIM_KEY_UVM_COPY];
}

/* Roots from a tenth of what all could ask for to somewhat more than it; waits for pages are from a tenth
 * of a second to ten times what is computed. */
static void test_shares_are_those_of_a_plain_walk(void **state) {
    (void)state;
    gsl_rng *rng = gsim_rng_stream(7, 0, "crowding");
    double worst = 0, sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct gsim_arena *arena = gsim_arena_new();
        struct pager all[MOST] = {{0}};
        int n = 2 + (int)gsl_rng_uniform_int(rng, MOST - 1);
        double alone = (double)copy_rate(arena);
        double root = alone * n * (0.1 + gsl_rng_uniform(rng)), ends_s = 0, plain_s = 0;
        for (int i = 0; i < n; i++)
            all[i] = (struct pager){.submit_s = gsl_rng_uniform(rng),
                                    .compute_s = 0.01 + 0.5 * gsl_rng_uniform(rng),
                                    .iterations = 300};
        describe(all, n, alone, arena);
        struct gsim_result result = simulate(all, n, (int64_t)root, arena);
        walk(all, n, alone, root);
        for (int i = 0; i < n; i++) {
            ends_s += (double)result.jobs.end_ns[i] / 1e9;
            plain_s += all[i].end_s;
        }
        double off = ends_s / plain_s - 1;
        worst = (off < 0 ? -off : off) > worst ? (off < 0 ? -off : off) : worst;
        sum += off;
        double span_s = result.summary.makespan_s;
        assert_true((double)result.summary.bytes_in / span_s <= root * 1.01);
        gsim_arena_free(arena);
    }
    print_message("# against the plain walk: worst %.1f %%, on average %+.1f %%\n", 100 * worst,
                  100 * sum / ROUNDS);
    assert_true(worst < 0.05);
    gsl_rng_free(rng);
}

/* Jobs that are alike and begin together meet in every iteration, which is what averages know least of: two
 * that compute for as long as they copy, over a root that carries one of them. */
static void test_in_step_they_meet_more_often(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct pager all[2] = {{0}};
    double alone = (double)copy_rate(arena);
    for (int i = 0; i < 2; i++)
        all[i] = (struct pager){.compute_s = 0.0574, .iterations = 2000};
    describe(all, 2, alone, arena);
    struct gsim_result result = simulate(all, 2, copy_rate(arena), arena);
    walk(all, 2, alone, alone);
    double off = (double)result.jobs.end_ns[0] / 1e9 / all[0].end_s - 1;
    print_message("# in step: %+.1f %%\n", 100 * off);
    assert_true(off > -0.25 && off < 0);
    gsim_arena_free(arena);
}

/* A root that carries all that they can ask for, and no root at all, are the same to the nanosecond. */
static void test_nothing_changes_where_there_is_room(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct pager all[4] = {{0}};
    for (int i = 0; i < 4; i++)
        all[i] = (struct pager){.submit_s = 0.1 * i, .compute_s = 0.05, .iterations = 100};
    struct gsim_result plain = simulate(all, 4, 0, arena);
    struct gsim_result wide = simulate(all, 4, 4 * copy_rate(arena), arena);
    struct gsim_result narrow = simulate(all, 4, 4 * copy_rate(arena) / 5, arena);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(plain.jobs.end_ns[i], wide.jobs.end_ns[i]);
        assert_true(plain.jobs.end_ns[i] < narrow.jobs.end_ns[i]);
    }
    gsim_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares_are_those_of_a_plain_walk),
        cmocka_unit_test(test_in_step_they_meet_more_often),
        cmocka_unit_test(test_nothing_changes_where_there_is_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
