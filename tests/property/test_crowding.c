/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs that page below one root, and jobs that are loaded there (models/jobs/link_shares.h), against a plain
 * walk in which each copy of each wait for pages, and each load, has its fair share of the root at every
 * instant. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <cmocka.h>

#include "gsim/observe.h"
#include "models/hardware/profile.h"
#include "sim/base/rng.h"
#include "sim/base/sort.h"
#include "tests/support/runner.h"

enum { MOST = 8, PIECES = 40, ROUNDS = 60 / TEST_FEWER_REPEATED };

/* What a job does again and again: waits for pages, a piece of fixed work, of copying in and of copying out
 * after each other, then computes. A job that is loaded copies in all its bytes once, and then works. */
struct pager {
    double submit_s, compute_s, fixed_s; /* of an iteration */
    double bytes; /* each way, of an iteration */
    double load_bytes; /* 0: the job pages */
    int64_t touched_bytes; /* by an iteration; 0: all of the job's memory */
    double asks; /* bytes per second while it copies */
    int64_t iterations;
    /* while it is walked */
    int step; /* 3 a piece; the last one computes */
    double left; /* seconds, or bytes */
    double end_s;
};

enum { COPY_IN = 1, LAST_STEP = 3 * PIECES };

static bool copies(const struct pager *p) {
    return p->iterations > 0 && p->step < LAST_STEP && p->step % 3 > 0;
}

static void begin_step(struct pager *p) {
    if (p->load_bytes > 0)
        p->left = p->step == COPY_IN ? p->load_bytes : p->fixed_s;
    else if (p->step == LAST_STEP)
        p->left = p->compute_s;
    else
        p->left = p->step % 3 ? p->bytes / PIECES : p->fixed_s / PIECES;
}

static void end_step(struct pager *p) {
    if (p->load_bytes > 0 && p->step == COPY_IN)
        p->step = LAST_STEP;
    else
        p->step = p->step == LAST_STEP ? 0 : p->step + 1;
    p->iterations -= p->step == 0;
}

static void begin(struct pager *p) {
    p->step = p->load_bytes > 0 ? COPY_IN : 0;
    begin_step(p);
}

/* The level up to which all get what they ask for. */
static double level_of(const struct pager *p, const struct pager *all, int n, double now_s,
                       double root) {
    double level = 0;
    for (int round = 0; round <= n; round++) {
        double left = root, n_above = 0;
        for (int i = 0; i < n; i++) {
            if (!copies(&all[i]) || all[i].step % 3 != p->step % 3 || all[i].submit_s > now_s)
                continue;
            n_above += all[i].asks > level;
            left -= all[i].asks > level ? 0 : all[i].asks;
        }
        level = n_above > 0 ? left / n_above : level;
    }
    return level;
}

static double rate_of(const struct pager *p, const struct pager *all, int n, double now_s,
                      double root) {
    if (!copies(p))
        return 1;
    double level = level_of(p, all, n, now_s, root);
    return level < p->asks ? level : p->asks;
}

/* The plain walk: until all are done. */
static void walk(struct pager *all, int n, double root) {
    double now_s = 0;
    int n_left = n;
    for (int i = 0; i < n; i++)
        begin(&all[i]);
    while (n_left > 0) {
        double step_s = 1e30, rate[MOST];
        for (int i = 0; i < n; i++) {
            struct pager *p = &all[i];
            rate[i] =
                p->iterations == 0 || p->submit_s > now_s ? 0 : rate_of(p, all, n, now_s, root);
            double ends_s = rate[i] > 0 ? p->left / rate[i] : p->submit_s - now_s;
            if (p->iterations > 0 && ends_s < step_s)
                step_s = ends_s;
        }
        now_s += step_s;
        for (int i = 0; i < n; i++) {
            struct pager *p = &all[i];
            p->left -= rate[i] * step_s;
            if (rate[i] == 0 || p->left > 1e-9 * (copies(p) ? p->asks : 1))
                continue;
            end_step(p);
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
    int64_t *column[7];
    for (int c = 0; c < 7; c++)
        column[c] = gsim_arena_array(arena, size, sizeof **column);
    trace.id_at = gsim_arena_array(arena, size, sizeof *trace.id_at);
    for (int i = 0; i < n; i++) {
        column[0][i] = all[i].iterations;
        column[1][i] = (int64_t)(all[i].compute_s * 1e9);
        column[2][i] = (all[i].load_bytes > 0 ? 1 : 320) * GSIM_MIB;
        column[5][i] = (int64_t)all[i].load_bytes;
        column[6][i] = all[i].touched_bytes > 0 ? all[i].touched_bytes : column[2][i];
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
    trace.column[GSIM_COL_LOAD_BYTES] = column[5];
    trace.column[GSIM_COL_WORKING_SET_BYTES] = column[6];
    return trace;
}

static struct gsim_result simulate_until(const struct pager *all, int n, int64_t root,
                                         uint32_t n_below, int64_t until_ns,
                                         struct gsim_arena *arena) {
    struct gsim_trace *trace = gsim_arena_alloc(arena, sizeof *trace);
    struct gsim_node_group *group = gsim_arena_alloc(arena, sizeof *group);
    *trace = trace_of(all, n, arena);
    *group = (struct gsim_node_group){.count = 1,
                                      .gpus_per_node = (uint32_t)n,
                                      .hbm_bytes = 256 * GSIM_MIB,
                                      .gpus_per_root = root ? n_below : 0,
                                      .root_bytes_per_s = root};
    struct test_run run = {.trace = trace,
                           .policy = "fifo",
                           .device = "p100",
                           .hbm_bytes = 256 * GSIM_MIB,
                           .sets = uvm,
                           .groups = group,
                           .n_groups = 1,
                           .until_ns = until_ns};
    return test_run(&run, arena);
}

static struct gsim_result simulate(const struct pager *all, int n, int64_t root,
                                   struct gsim_arena *arena) {
    return simulate_until(all, n, root, (uint32_t)n, 0, arena);
}

static int64_t rate_of_key(enum gsim_key key, struct gsim_arena *arena) {
    struct gsim_profile *profile = gsim_arena_alloc(arena, sizeof *profile);
    struct gsim_log log = {0};
    assert_int_equal(gsim_profile_load("p100", arena, profile, &log), GSIM_OK);
    return profile->value[key];
}

static int64_t copy_rate(struct gsim_arena *arena) {
    return rate_of_key(GSIM_KEY_UVM_COPY, arena);
}

/* What an iteration moves and waits for, from a run in which no other GPU is in the way. */
static void describe(struct pager *all, int n, struct gsim_arena *arena) {
    struct gsim_result result = simulate(all, n, 0, arena);
    double alone = (double)copy_rate(arena);
    double loads = (double)rate_of_key(GSIM_KEY_PCIE_H2D, arena);
    for (int i = 0; i < n; i++) {
        double iterations = (double)all[i].iterations;
        double took_s = (double)result.jobs.end_ns[i] / 1e9 - all[i].submit_s;
        all[i].asks = all[i].load_bytes > 0 ? loads : alone;
        if (all[i].load_bytes > 0) {
            all[i].fixed_s = took_s - all[i].load_bytes / loads;
            continue;
        }
        all[i].bytes =
            (double)(result.jobs.bytes_in[i] + result.jobs.bytes_out[i]) / 2 / iterations;
        all[i].fixed_s = took_s / iterations - all[i].compute_s - 2 * all[i].bytes / alone;
        assert_true(all[i].fixed_s > -1e-6 && all[i].bytes > 0);
        if (all[i].fixed_s < 0) /* all of a batch is copying on this device */
            all[i].fixed_s = 0;
    }
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
        describe(all, n, arena);
        struct gsim_result result = simulate(all, n, (int64_t)root, arena);
        walk(all, n, root);
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
    describe(all, 2, arena);
    struct gsim_result result = simulate(all, 2, copy_rate(arena), arena);
    walk(all, 2, alone);
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

/* A root is as narrow for one GPU as for several: half of the rate makes copies take twice as long. */
static void test_a_gpu_below_its_own_root_gets_what_it_carries(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct pager all[2] = {{0}};
    for (int i = 0; i < 2; i++)
        all[i] = (struct pager){.compute_s = 0.05, .iterations = 100};
    describe(all, 2, arena);
    struct gsim_result result = simulate_until(all, 2, copy_rate(arena) / 2, 1, 0, arena);
    for (int i = 0; i < 2; i++) {
        double copies_s = 2 * all[i].bytes / (double)(copy_rate(arena) / 2);
        double plain_s = 100 * (all[i].compute_s + all[i].fixed_s + copies_s);
        assert_true(fabs((double)result.jobs.end_ns[i] / 1e9 / plain_s - 1) < 0.01);
    }
    gsim_arena_free(arena);
}

/* A job that has more memory than its GPU, and touches less, asks for nothing once that is there. A pager
 * beside it, below a root that carries one of them, has half of the root in its first window, of a second,
 * and all of it from then on. */
static void test_a_gpu_with_all_that_it_touches_is_in_no_way(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct pager all[2] = {{0}};
    all[0] = (struct pager){
        .compute_s = 0.05, .iterations = 2000, .touched_bytes = 64 * GSIM_MIB};
    all[1] = (struct pager){.compute_s = 0.001, .iterations = 500};
    struct gsim_result alone = simulate(all, 2, 0, arena);
    struct gsim_result beside = simulate(all, 2, copy_rate(arena), arena);
    double later_s = (double)(beside.jobs.end_ns[1] - alone.jobs.end_ns[1]) / 1e9;
    print_message("# beside memory that is still: %.3f s later\n", later_s);
    assert_true(later_s > 0 && later_s <= 0.5);
    gsim_arena_free(arena);
}

/* --- loads beside paging ------------------------------------------------------------------------ */

/* Pagers and jobs that are loaded, in a fleet of at most MOST. */
static int draw(gsl_rng *rng, struct pager *all, double alone) {
    int n_pagers = 1 + (int)gsl_rng_uniform_int(rng, MOST / 2);
    int n = n_pagers + 1 + (int)gsl_rng_uniform_int(rng, (unsigned long)(MOST / 2));
    for (int i = 0; i < n_pagers; i++)
        all[i] = (struct pager){.submit_s = gsl_rng_uniform(rng),
                                .compute_s = 0.01 + 0.5 * gsl_rng_uniform(rng),
                                .iterations = 300};
    for (int i = n_pagers; i < n; i++)
        all[i] = (struct pager){.submit_s = 2 + 10 * gsl_rng_uniform(rng),
                                .load_bytes = alone * (2 + 10 * gsl_rng_uniform(rng)),
                                .compute_s = 0.001,
                                .iterations = 1};
    return n;
}

static void test_loads_and_pagers_share_as_in_a_plain_walk(void **state) {
    (void)state;
    gsl_rng *rng = gsim_rng_stream(7, 0, "loads");
    double worst[2] = {0}, sum[2] = {0}, n_all[2] = {0};
    for (int round = 0; round < ROUNDS; round++) {
        struct gsim_arena *arena = gsim_arena_new();
        struct pager all[MOST] = {{0}};
        double alone = (double)copy_rate(arena), most = 0;
        int n = draw(rng, all, alone);
        describe(all, n, arena);
        for (int i = 0; i < n; i++)
            most += all[i].asks;
        double root = most * (0.1 + gsl_rng_uniform(rng));
        struct gsim_result result = simulate(all, n, (int64_t)root, arena);
        walk(all, n, root);
        for (int i = 0; i < n; i++) {
            bool is_load = all[i].load_bytes > 0;
            double took_s = (double)result.jobs.end_ns[i] / 1e9 - all[i].submit_s;
            double off = took_s / (all[i].end_s - all[i].submit_s) - 1;
            worst[is_load] = fabs(off) > fabs(worst[is_load]) ? off : worst[is_load];
            sum[is_load] += off;
            n_all[is_load]++;
        }
        gsim_arena_free(arena);
    }
    for (int k = 0; k < 2; k++) {
        print_message("# %s against the plain walk: worst %+.1f %%, on average %+.1f %%\n",
                      k ? "loads" : "pagers", 100 * worst[k], 100 * sum[k] / n_all[k]);
        assert_true(fabs(worst[k]) < 0.08 && fabs(sum[k] / n_all[k]) < 0.01);
    }
    gsl_rng_free(rng);
}

/* The load of the last job, beside pagers that hardly compute: n_pagers of them page below a root that
 * carries as much as one of them asks for. Returns when the load ends. */
static double load_beside(struct pager *all, int n_pagers, struct gsim_arena *arena) {
    double alone = (double)copy_rate(arena);
    for (int i = 0; i < n_pagers; i++)
        all[i] = (struct pager){.compute_s = 0.001, .iterations = 3000};
    all[n_pagers] = (struct pager){
        .submit_s = 5, .load_bytes = 10 * alone, .compute_s = 0.001, .iterations = 1};
    struct gsim_result result = simulate(all, n_pagers + 1, (int64_t)alone, arena);
    return (double)result.jobs.end_ns[n_pagers] / 1e9;
}

/* Bytes that the pagers have brought in by some time. */
static double paged_by(const struct pager *all, int n_pagers, double until_s,
                       struct gsim_arena *arena) {
    double bytes = 0;
    struct gsim_result result =
        simulate_until(all, n_pagers + 1, copy_rate(arena), (uint32_t)n_pagers + 1,
                       (int64_t)(until_s * 1e9), arena);
    for (int i = 0; i < n_pagers; i++)
        bytes += (double)result.jobs.bytes_in[i];
    return bytes;
}

/* Each pager more makes the load later; while the load is under way the root is full and never carries more
 * than it can. */
static void test_a_full_root_is_shared_out_and_no_more(void **state) {
    (void)state;
    double before_s = 0;
    for (int n_pagers = 0; n_pagers < MOST - 1; n_pagers++) {
        struct gsim_arena *arena = gsim_arena_new();
        struct pager all[MOST] = {{0}};
        double ends_s = load_beside(all, n_pagers, arena), alone = (double)copy_rate(arena);
        double paged = paged_by(all, n_pagers, ends_s, arena) - paged_by(all, n_pagers, 5, arena);
        double carried = (paged + all[n_pagers].load_bytes) / (ends_s - 5) / alone;
        print_message("# a load beside %d pagers: %.2f s, %.1f %% of the root\n", n_pagers,
                      ends_s - 5, 100 * carried);
        assert_true(ends_s > before_s);
        assert_true(carried < 1.005 && carried > 0.995);
        before_s = ends_s;
        gsim_arena_free(arena);
    }
}

/* Memory came for a job in its first iteration, and all that it touches has been there since: a load five
 * seconds later, below a root that carries one load, takes as long as without the root. */
static void test_a_load_meets_no_gpu_that_has_all_that_it_touches(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct pager all[2] = {{0}};
    all[0] = (struct pager){.compute_s = 0.05, .iterations = 2000, .touched_bytes = 64 * GSIM_MIB};
    all[1] = (struct pager){.submit_s = 5,
                            .load_bytes = 10 * (double)copy_rate(arena),
                            .compute_s = 0.001,
                            .iterations = 1};
    struct gsim_result alone = simulate(all, 2, 0, arena);
    struct gsim_result beside = simulate(all, 2, rate_of_key(GSIM_KEY_PCIE_H2D, arena), arena);
    assert_int_equal(alone.jobs.end_ns[1], beside.jobs.end_ns[1]);
    gsim_arena_free(arena);
}

/* --- one link ----------------------------------------------------------------------------------- */

static void see_copies(void *arg, const struct gsim_span *span) {
    if (span->kind == GSIM_SPAN_COPY_IN)
        *(int64_t *)arg = span->end_ns;
}
static void see_change(void *arg, const struct gsim_change *change) {
    (void)arg;
    (void)change;
}
static void see_begin(void *arg, const struct gsim_scene *scene) {
    (void)arg;
    (void)scene;
}
static void see_end(void *arg, int64_t now_ns) {
    (void)arg;
    (void)now_ns;
}

/* A job is loaded to the GPU on which another one pages: both go over one link. */
static void test_a_load_shares_the_link_of_its_own_gpu(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        struct gsim_arena *arena = gsim_arena_new();
        struct pager all[2] = {{0}};
        double link = (double)rate_of_key(GSIM_KEY_PCIE_H2D, arena);
        int64_t end_ns = 0;
        all[0] = (struct pager){.compute_s = k == 0 ? 0.001 : 0.02 * k, .iterations = 1000};
        all[1] = (struct pager){
            .submit_s = 5, .load_bytes = 5 * link, .compute_s = 0.001, .iterations = 1};
        describe(all, 2, arena);
        struct gsim_trace trace = trace_of(all, 2, arena);
        struct gsim_observer observer = {.arg = &end_ns,
                                         .begin = see_begin,
                                         .change = see_change,
                                         .span = see_copies,
                                         .end = see_end};
        struct test_run run = {.trace = &trace,
                               .policy = "uvm",
                               .device = "p100",
                               .hbm_bytes = 256 * GSIM_MIB,
                               .gpus_per_node = 1,
                               .observer = &observer};
        (void)test_run(&run, arena);
        walk(all, 2, link);
        double took_s = (double)end_ns / 1e9 - 5, plain_s = all[1].end_s - all[1].fixed_s - 5;
        print_message("# over the link of a pager: %.3f s, in the plain walk %.3f s\n", took_s,
                      plain_s);
        assert_true(fabs(took_s / plain_s - 1) < 0.01 && took_s > 5.1);
        gsim_arena_free(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares_are_those_of_a_plain_walk),
        cmocka_unit_test(test_in_step_they_meet_more_often),
        cmocka_unit_test(test_nothing_changes_where_there_is_room),
        cmocka_unit_test(test_a_gpu_below_its_own_root_gets_what_it_carries),
        cmocka_unit_test(test_a_gpu_with_all_that_it_touches_is_in_no_way),
        cmocka_unit_test(test_loads_and_pagers_share_as_in_a_plain_walk),
        cmocka_unit_test(test_a_full_root_is_shared_out_and_no_more),
        cmocka_unit_test(test_a_load_meets_no_gpu_that_has_all_that_it_touches),
        cmocka_unit_test(test_a_load_shares_the_link_of_its_own_gpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
