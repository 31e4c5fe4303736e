/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Policies on a few jobs each, small enough to be worked out by hand; the working is beside the
 * numbers. Everything runs on the ideal device unless a case says otherwise, so that a job placed
 * at t with s seconds left ends at t + s. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "policies/lib/common.h"
#include "tests/support/runner.h"

enum { MOST_JOBS = 8 };

/* Whole seconds; a limit or user of 0: none (users count from 1). */
struct row {
    int submit_s, service_s, gpus, limit_s, user;
    double end_s; /* expected */
};

struct fixture {
    const char *policy;
    const char *sets[4];
    const char *device;
    uint32_t nodes, gpus; /* nodes 0: one */
    int preemptions; /* expected */
    int share_percent, load_gib;
    int killed; /* expected */
    const char *assumed; /* expected; NULL: whatever */
    struct row jobs[MOST_JOBS]; /* up to the first without service */
};

static void *array(struct gsim_arena *arena, uint32_t n, size_t size) {
    void *cells = gsim_arena_array(arena, n, size);
    assert_non_null(cells);
    return cells;
}

/* A column is there if any job has something in it. */
static void put(struct gsim_trace *trace, enum gsim_column column, uint32_t job, int64_t cell,
                struct gsim_arena *arena) {
    if (!trace->column[column] && cell <= 0)
        return;
    if (!trace->column[column]) {
        int64_t *cells = array(arena, MOST_JOBS, sizeof *cells);
        for (uint32_t i = 0; i < MOST_JOBS; i++)
            cells[i] = -1;
        trace->column[column] = cells;
    }
    if (cell > 0)
        ((int64_t *)(uintptr_t)trace->column[column])[job] = cell;
}

static struct gsim_trace make_trace(const struct fixture *fixture, struct gsim_arena *arena) {
    static const char *const users[] = {"none", "ann", "bob"};
    int64_t *submit = array(arena, MOST_JOBS, sizeof *submit);
    int64_t *service = array(arena, MOST_JOBS, sizeof *service);
    uint32_t *gpus = array(arena, MOST_JOBS, sizeof *gpus);
    struct gsim_trace trace = {.path = "by hand",
                               .format = "test",
                               .id_text = "job",
                               .id_at = array(arena, MOST_JOBS, sizeof(uint32_t)),
                               .submit_ns = submit,
                               .service_ns = service,
                               .gpus = gpus};
    bool is_wide = false;
    for (uint32_t i = 0; i < MOST_JOBS && fixture->jobs[i].service_s > 0; i++) {
        const struct row *row = &fixture->jobs[i];
        submit[i] = row->submit_s * GSIM_NS_PER_S;
        service[i] = row->service_s * GSIM_NS_PER_S;
        gpus[i] = (uint32_t)row->gpus;
        is_wide |= row->gpus > 1;
        put(&trace, GSIM_COL_LIMIT_NS, i, row->limit_s * GSIM_NS_PER_S, arena);
        put(&trace, GSIM_COL_USER, i, row->user, arena);
        put(&trace, GSIM_COL_SHARE_PPM, i, fixture->share_percent * GSIM_PPM / 100, arena);
        /* only the first has something to load, and then all have memory to speak of */
        put(&trace, GSIM_COL_LOAD_BYTES, i, i == 0 ? fixture->load_gib * GSIM_GIB : 0, arena);
        put(&trace, GSIM_COL_MEM_BYTES, i, fixture->load_gib ? GSIM_GIB : 0, arena);
        trace.n_jobs = i + 1;
    }
    trace.gpus = is_wide ? gpus : NULL;
    trace.names[GSIM_COL_USER].n = 3;
    trace.names[GSIM_COL_USER].name = (const char **)(uintptr_t)users;
    return trace;
}

static void check(const struct fixture *fixture) {
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_trace trace = make_trace(fixture, arena);
    struct test_run run = {.trace = &trace,
                           .policy = fixture->policy,
                           .device = fixture->device,
                           .sets = fixture->sets,
                           .nodes = fixture->nodes,
                           .gpus_per_node = fixture->gpus};
    struct gsim_result result = test_run(&run, arena);
    for (uint32_t i = 0; i < trace.n_jobs; i++) {
        int64_t end_ns = result.jobs.end_ns[i];
        int64_t expected_ns = (int64_t)(fixture->jobs[i].end_s * 1e9);
        /* sharing rounds rates down: a few ns late */
        if (end_ns < expected_ns || end_ns > expected_ns + 20)
            fail_msg("%s, job %u: ends at %lld ns, not at %lld", fixture->policy, i,
                     (long long)end_ns, (long long)expected_ns);
    }
    assert_int_equal(result.summary.preemptions, fixture->preemptions);
    assert_int_equal(result.summary.killed, fixture->killed);
    if (fixture->assumed)
        assert_string_equal(result.summary.assumed, fixture->assumed);
    gsim_arena_free(arena);
}

/* --- lines ------------------------------------------------------------------------------------ */

static void test_the_head_blocks(void **state) {
    (void)state;
    /* 1 needs both GPUs and blocks 2 and 3, although one GPU is idle. */
    check(&(struct fixture){.policy = "fifo",
                            .gpus = 2,
                            .jobs = {{0, 10, 1, .end_s = 10},
                                     {1, 10, 2, .end_s = 20},
                                     {2, 3, 1, .end_s = 23},
                                     {3, 20, 1, .end_s = 40}}});
}

static void test_backfill_starves_the_wide(void **state) {
    (void)state;
    /* 2 passes at 2, 3 at 5 when 2 has ended; 1 gets both GPUs only when 3 ends, at 25. */
    check(&(struct fixture){.policy = "backfill",
                            .gpus = 2,
                            .jobs = {{0, 10, 1, .end_s = 10},
                                     {1, 10, 2, .end_s = 35},
                                     {2, 3, 1, .end_s = 5},
                                     {3, 20, 1, .end_s = 25}}});
}

static void test_exclusive_gives_whole_gpus(void **state) {
    (void)state;
    struct fixture fixture = {.policy = "fifo",
                              .gpus = 1,
                              .share_percent = 50,
                              .jobs = {{0, 10, 1, .end_s = 10}, {0, 10, 1, .end_s = 10}}};
    check(&fixture); /* two halves fit */
    fixture.policy = "exclusive";
    fixture.jobs[1].end_s = 20;
    check(&fixture);
}

/* --- EASY ------------------------------------------------------------------------------------- */

static void test_easy_within_one_instant(void **state) {
    (void)state;
    /* All come at 0. 1 is reserved for 10, when 0 ends, which started in the same plan; 2 is over
     * by then. */
    check(&(struct fixture){.policy = "easy-backfill",
                            .gpus = 2,
                            .jobs = {{0, 10, 1, 10, .end_s = 10},
                                     {0, 10, 2, 10, .end_s = 20},
                                     {0, 3, 1, 3, .end_s = 3}}});
}

static void test_easy_lets_pass_what_the_head_can_spare(void **state) {
    (void)state;
    /* At 10, 0 frees two of four GPUs and one is idle: the head needs two of these three, so the
     * long job 3 may have one. */
    struct fixture fixture = {.policy = "easy-backfill",
                              .gpus = 4,
                              .jobs = {{0, 10, 2, 10, .end_s = 10},
                                       {0, 100, 1, 100, .end_s = 100},
                                       {1, 10, 2, 10, .end_s = 20},
                                       {2, 100, 1, 100, .end_s = 102}}};
    check(&fixture);
    /* A head that needs all three can spare none: 3 waits until the head ends at 20. */
    fixture.jobs[2].gpus = 3;
    fixture.jobs[3].end_s = 120;
    check(&fixture);
}

static void test_easy_tries_one_of_each_width(void **state) {
    (void)state;
    /* The head 1 is to have all four GPUs at 100, so neither 2 nor 3 may have the idle one: 3 is as wide
     * as 2, and not tried. 4 is as wide, too, but over by then. */
    struct fixture fixture = {.policy = "easy-backfill",
                              .gpus = 4,
                              .jobs = {{0, 100, 3, 100, .end_s = 100},
                                       {1, 10, 4, 10, .end_s = 110},
                                       {2, 500, 1, 500, .end_s = 610},
                                       {3, 400, 1, 400, .end_s = 510},
                                       {4, 50, 1, 50, .end_s = 54}}};
    check(&fixture);
    /* A head that can spare one lets 2 have it, and 3 has no room then. */
    fixture.jobs[1].gpus = 3;
    fixture.jobs[2].end_s = 502;
    fixture.jobs[4].end_s = 160;
    check(&fixture);
}

static void test_easy_believes_limits_and_kills_nobody(void **state) {
    (void)state;
    /* 1 is reserved for 10, since 0 may run that long; 2 is over by 9 and starts. 0 ends at 5
     * already, but 2 is not stopped for it: 1 starts at 9. */
    check(&(struct fixture){.policy = "easy-backfill",
                            .gpus = 2,
                            .jobs = {{0, 5, 1, 10, .end_s = 5},
                                     {1, 10, 2, 10, .end_s = 19},
                                     {2, 7, 1, 7, .end_s = 9}}});
}

static void test_easy_past_the_limit(void **state) {
    (void)state;
    /* 0 is past its limit since 10 and may end any moment: nothing passes 1 any more at 12. */
    check(&(struct fixture){.policy = "easy-backfill",
                            .gpus = 2,
                            .jobs = {{0, 20, 1, 10, .end_s = 20},
                                     {1, 10, 2, 10, .end_s = 30},
                                     {12, 3, 1, 3, .end_s = 33}}});
}

static void test_kill_at_the_limit(void **state) {
    (void)state;
    /* 0 is ended at its limit of 10, and 1 starts then; 1 has just run for its limit when it is over. 2
     * starts and is at its limit before anything else happens. */
    struct fixture fixture = {.policy = "easy-backfill",
                              .sets = {"kill=on"},
                              .gpus = 2,
                              .killed = 2,
                              .assumed = "",
                              .jobs = {{0, 20, 1, 10, .end_s = 10},
                                       {1, 10, 2, 10, .end_s = 20},
                                       {25, 20, 1, 3, .end_s = 28}}};
    check(&fixture);
    fixture.policy = "fairshare";
    check(&fixture);
    fixture.sets[1] = "backfill=skip";
    check(&fixture);
    /* A job without a limit runs on. */
    fixture.jobs[2].limit_s = 0;
    fixture.jobs[2].end_s = 45;
    fixture.killed = 1;
    check(&fixture);
}

static void test_true_durations_are_told(void **state) {
    (void)state;
    struct fixture fixture = {.policy = "easy-backfill",
                              .gpus = 1,
                              .assumed = "limit_s=duration_s",
                              .jobs = {{0, 20, 1, 30, .end_s = 20}, {0, 20, 1, 0, .end_s = 40}}};
    check(&fixture);
    fixture.policy = "fairshare";
    check(&fixture);
    fixture.sets[0] = "backfill=skip";
    fixture.assumed = ""; /* looks at none */
    check(&fixture);
    fixture.sets[0] = NULL;
    fixture.jobs[1].limit_s = 25;
    check(&fixture);
}

/* On the H200 100 GiB take about 2 s. Until 0 runs, at about 2, the head is reserved for a limit from
 * now; 2 is over by then and starts at 1, not when 0 has loaded. With a limit of 200 s it waits. */
static void test_easy_while_a_job_loads(void **state) {
    (void)state;
    for (int limit_s = 50; limit_s <= 200; limit_s += 150) {
        struct gsim_arena *arena = gsim_arena_new();
        struct fixture fixture = {.load_gib = 100,
                                  .jobs = {{0, 90, 1, 100, .end_s = 0},
                                           {1, 10, 2, 10, .end_s = 0},
                                           {1, 40, 1, limit_s, .end_s = 0}}};
        struct gsim_trace trace = make_trace(&fixture, arena);
        struct test_run run = {
            .trace = &trace, .policy = "easy-backfill", .device = "h200", .gpus_per_node = 2};
        struct gsim_result result = test_run(&run, arena);
        if (limit_s == 50)
            assert_int_equal(result.jobs.start_ns[2], 1 * GSIM_NS_PER_S);
        else
            assert_true(result.jobs.start_ns[2] > result.jobs.start_ns[1]);
        gsim_arena_free(arena);
    }
}

/* 400 jobs of one GPU and, a quarter of the way, halfway and later, one of all 32. While a node is down
 * that one cannot start, and keeps nobody waiting: with no backfilling then, the mean JCT was 61 times
 * that of plain skipping. It is 4 per cent above it at most, where the wide job has its reservation. */
static void test_easy_goes_on_while_a_node_is_down(void **state) {
    (void)state;
    enum { NARROW = 400, WIDE = 3 };
    static int64_t submit[NARROW + WIDE], service[NARROW + WIDE], limit[NARROW + WIDE];
    static uint32_t gpus[NARROW + WIDE], id[NARROW + WIDE];
    uint32_t n = 0;
    for (int i = 0; i < NARROW; i++)
        for (int is_wide = 0; is_wide < 1 + (i == 100 || i == 200 || i == 300); is_wide++, n++) {
            submit[n] = 300 * i * GSIM_NS_PER_S;
            service[n] = (is_wide ? 3600 : 1800) * GSIM_NS_PER_S;
            limit[n] = 2 * service[n];
            gpus[n] = is_wide ? 32 : 1;
        }
    struct gsim_trace trace = {.path = "by hand",
                               .format = "test",
                               .n_jobs = n,
                               .id_text = "job",
                               .id_at = id,
                               .submit_ns = submit,
                               .service_ns = service,
                               .gpus = gpus};
    trace.column[GSIM_COL_LIMIT_NS] = limit;
    for (int seed = 1; seed <= 4; seed++) {
        double mean_s[3];
        static const char *const policies[] = {"backfill", "easy-backfill", "fairshare"};
        for (int p = 0; p < 3; p++) {
            struct gsim_arena *arena = gsim_arena_new();
            struct test_run run = {.trace = &trace,
                                   .policy = policies[p],
                                   .nodes = 4,
                                   .gpus_per_node = 8,
                                   .seed = seed,
                                   .mtbf_ns = 3 * 86400 * GSIM_NS_PER_S,
                                   .mttr_ns = 86400 * GSIM_NS_PER_S};
            mean_s[p] = test_run(&run, arena).summary.jct_mean_s;
            gsim_arena_free(arena);
        }
        assert_true(mean_s[1] < 1.05 * mean_s[0] && mean_s[2] < 1.05 * mean_s[0]);
    }
}

/* --- fair share ------------------------------------------------------------------------------- */

static void test_fairshare_forgets(void **state) {
    (void)state;
    /* ann runs to 100 and her 100 GPU s are halved there; bob, who has none, runs 1 to 160. Then
     * ann has 50 and bob 60: ann is next, although she has used more in all. */
    struct fixture fixture = {.policy = "fairshare",
                              .sets = {"half_life=100s", "calc_period=100s", "weight_age=0"},
                              .gpus = 1,
                              .jobs = {{0, 100, 1, .user = 1, .end_s = 100},
                                       {0, 60, 1, .user = 2, .end_s = 160},
                                       {1, 10, 1, .user = 1, .end_s = 170},
                                       {2, 10, 1, .user = 2, .end_s = 180}}};
    check(&fixture);
    /* With a long memory it is bob's turn. */
    fixture.sets[0] = "half_life=1000d";
    fixture.jobs[2].end_s = 180;
    fixture.jobs[3].end_s = 170;
    check(&fixture);
}

static void test_fairshare_counts_what_runs(void **state) {
    (void)state;
    /* At 10 both have used 10 GPU s: ann's 2 came first. At 11 ann has 11, of a job that still
     * runs, and 1, against bob's 10: it is bob's turn, and ann's 3 starts when his 4 ends at 16.
     * Were running jobs not counted, ann would be ahead with 1 against 10. */
    check(&(struct fixture){.policy = "fairshare",
                            .sets = {"weight_age=0"},
                            .gpus = 2,
                            .jobs = {{0, 30, 1, .user = 1, .end_s = 30},
                                     {0, 10, 1, .user = 2, .end_s = 10},
                                     {1, 1, 1, .user = 1, .end_s = 11},
                                     {2, 5, 1, .user = 1, .end_s = 21},
                                     {3, 5, 1, .user = 2, .end_s = 16}}});
}

static void test_fairshare_backfill(void **state) {
    (void)state;
    /* One user: in order of age. off: the wide 1 blocks; skip: 2 passes, and 3 at 5, and 1 waits
     * for it until 25; easy: 2 passes, 3 may not (3 + 20 > 10). */
    static const struct {
        const char *mode;
        double end_s[4];
    } cases[] = {{"backfill=off", {10, 20, 23, 40}},
                 {"backfill=skip", {10, 35, 5, 25}},
                 {"backfill=easy", {10, 20, 5, 40}},
                 {NULL, {10, 20, 5, 40}}}; /* as Slurm */
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct fixture fixture = {.policy = "fairshare",
                                  .sets = {cases[c].mode},
                                  .gpus = 2,
                                  .jobs = {{0, 10, 1, 10, 1, 0},
                                           {1, 10, 2, 10, 1, 0},
                                           {2, 3, 1, 3, 1, 0},
                                           {3, 20, 1, 20, 1, 0}}};
        for (int i = 0; i < 4; i++)
            fixture.jobs[i].end_s = cases[c].end_s[i];
        check(&fixture);
    }
}

/* --- shortest first --------------------------------------------------------------------------- */

static void test_sjf(void **state) {
    (void)state;
    check(&(struct fixture){
        .policy = "sjf",
        .gpus = 1,
        .jobs = {{0, 10, 1, .end_s = 10}, {1, 5, 1, .end_s = 18}, {2, 3, 1, .end_s = 13}}});
}

static void test_srtf(void **state) {
    (void)state;
    /* At 10, 0 has 90 s left and 1 has 20; at 15, 1 has 15 left and 2 has 16, which waits. */
    check(&(struct fixture){
        .policy = "srtf",
        .gpus = 1,
        .preemptions = 1,
        .jobs = {{0, 100, 1, .end_s = 136}, {10, 20, 1, .end_s = 30}, {15, 16, 1, .end_s = 46}}});
}

static void test_width_counts_in_srsf_only(void **state) {
    (void)state;
    /* At 1, 0 has 9 s on two GPUs left, 1 has 15 s on one: 18 against 15 GPU s. */
    struct fixture fixture = {.policy = "srsf",
                              .gpus = 2,
                              .preemptions = 1,
                              .jobs = {{0, 10, 2, .end_s = 25}, {1, 15, 1, .end_s = 16}}};
    check(&fixture);
    fixture = (struct fixture){
        .policy = "srtf", .gpus = 2, .jobs = {{0, 10, 2, .end_s = 10}, {1, 15, 1, .end_s = 25}}};
    check(&fixture);
}

/* At 1, 0 has 9 GPU s left, and half a GPU for 15 s is 7.5: 1 goes first, and 0 needs all of the GPU. */
static void test_shares_count_in_srsf(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct fixture fixture = {.share_percent = 50,
                              .jobs = {{0, 10, 1, .end_s = 0}, {1, 15, 1, .end_s = 0}}};
    struct gsim_trace trace = make_trace(&fixture, arena);
    ((int64_t *)(uintptr_t)trace.column[GSIM_COL_SHARE_PPM])[0] = GSIM_PPM;
    assert_int_equal(gsim_common_share_unit(&trace), GSIM_PPM / 2);
    struct test_run run = {.trace = &trace, .policy = "srsf"};
    struct gsim_result result = test_run(&run, arena);
    assert_int_equal(result.jobs.end_ns[1], 16 * GSIM_NS_PER_S);
    assert_int_equal(result.jobs.end_ns[0], 25 * GSIM_NS_PER_S);
    ((int64_t *)(uintptr_t)trace.column[GSIM_COL_SHARE_PPM])[0] =
        299999; /* 30 per cent, rounded up */
    assert_int_equal(gsim_common_share_unit(&trace), GSIM_PPM / 10);
    gsim_arena_free(arena);
}

static void test_what_a_victim_leaves_is_used(void **state) {
    (void)state;
    /* At 1 the gang of four gives way to 1, and 2 and 3, which came with it, use what is left.
     * 99 s of 0 are left, and all four GPUs are free again at 21. */
    check(&(struct fixture){.policy = "srtf",
                            .gpus = 4,
                            .preemptions = 1,
                            .jobs = {{0, 100, 4, .end_s = 120},
                                     {1, 5, 1, .end_s = 6},
                                     {1, 10, 1, .end_s = 11},
                                     {1, 20, 2, .end_s = 21}}});
}

static void test_wide_gangs_spare_victims(void **state) {
    (void)state;
    /* Two nodes of 128 GPUs: 0 and 1 on the first, 2 on the second. The gang of 100 gives 1 notice
     * first, which is worst, then 2; it fits where 2 was, so 1 runs on. */
    struct fixture fixture = {.policy = "srtf",
                              .nodes = 2,
                              .gpus = 128,
                              .preemptions = 1,
                              .jobs = {{0, 11, 100, .end_s = 11},
                                       {0, 2000, 1, .end_s = 2000},
                                       {0, 1000, 128, .end_s = 1010},
                                       {1, 10, 100, .end_s = 11}}};
    check(&fixture);
    /* By slices 1 and 2, which began first, are due, and 0 is not. */
    fixture.policy = "gandiva";
    fixture.sets[0] = "slice=10s";
    fixture.sets[1] = "packing=off";
    fixture.sets[2] = "variant=gavel"; /* both nodes are one server */
    fixture.jobs[0] = (struct row){0, 2000, 1, .end_s = 2000};
    fixture.jobs[1] = (struct row){0, 1000, 128, .end_s = 1001};
    fixture.jobs[2] = (struct row){5, 100, 100, .end_s = 105};
    fixture.jobs[3] = (struct row){12, 1, 100, .end_s = 13};
    check(&fixture);
}

/* 70 gangs of 1 to 70 GPUs fill a node; the widest, which have most left to do, give way to a job of 70
 * GPUs: before, gangs past the 64th width were never victims. */
static void test_srsf_takes_victims_of_any_width(void **state) {
    (void)state;
    enum { WIDTHS = 70, GPUS = WIDTHS * (WIDTHS + 1) / 2 };
    struct gsim_arena *arena = gsim_arena_new();
    int64_t *submit = array(arena, WIDTHS + 1, sizeof *submit);
    int64_t *service = array(arena, WIDTHS + 1, sizeof *service);
    uint32_t *gpus = array(arena, WIDTHS + 1, sizeof *gpus);
    for (uint32_t i = 0; i < WIDTHS; i++) {
        service[i] = 1000 * GSIM_NS_PER_S;
        gpus[i] = i + 1;
    }
    submit[WIDTHS] = 1 * GSIM_NS_PER_S;
    service[WIDTHS] = 10 * GSIM_NS_PER_S;
    gpus[WIDTHS] = WIDTHS;
    struct gsim_trace trace = {.path = "by hand",
                               .format = "test",
                               .n_jobs = WIDTHS + 1,
                               .id_text = "job",
                               .id_at = array(arena, WIDTHS + 1, sizeof(uint32_t)),
                               .submit_ns = submit,
                               .service_ns = service,
                               .gpus = gpus};
    struct test_run run = {.trace = &trace, .policy = "srsf", .gpus_per_node = GPUS};
    struct gsim_result result = test_run(&run, arena);
    assert_int_equal(result.summary.preemptions, 1);
    assert_int_equal(result.jobs.preemptions[WIDTHS - 1], 1);
    assert_int_equal(result.jobs.end_ns[WIDTHS], 11 * GSIM_NS_PER_S);
    gsim_arena_free(arena);
}

/* A job that loads cannot be preempted; as soon as it runs it can. On the H200 100 GiB take about
 * 2 s, so the short job, which comes at 1, must start at about 2 and not after 1000 s. */
static void test_preempts_once_it_has_loaded(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct fixture fixture = {.policy = "srtf",
                              .device = "h200",
                              .gpus = 1,
                              .load_gib = 100,
                              .jobs = {{0, 1000, 1, .end_s = 0}, {1, 10, 1, .end_s = 0}}};
    struct gsim_trace trace = make_trace(&fixture, arena);
    struct test_run run = {
        .trace = &trace, .policy = "srtf", .device = fixture.device, .gpus_per_node = 1};
    struct gsim_result result = test_run(&run, arena);
    assert_int_equal(result.summary.preemptions, 1);
    assert_true(result.jobs.end_ns[1] > 11 * GSIM_NS_PER_S);
    assert_true(result.jobs.end_ns[1] < 20 * GSIM_NS_PER_S);
    gsim_arena_free(arena);
}

/* --- least attained service ------------------------------------------------------------------- */

static void test_las_quantum(void **state) {
    (void)state;
    /* 0 is a quantum ahead of 1 at 10, 1 of 0 at 30 (20 against 10), and 0 has all its 30 at 50. */
    check(&(struct fixture){.policy = "las",
                            .sets = {"quantum=10s"},
                            .gpus = 1,
                            .preemptions = 2,
                            .jobs = {{0, 30, 1, .end_s = 50}, {5, 30, 1, .end_s = 60}}});
}

static void test_las_shares(void **state) {
    (void)state;
    /* At 10, 0 has had 10 s; 1 runs alone until it has as much, at 20. Then they share: 1 has its
     * 20 s at 40, and 0, with 20 of 30, is alone until 50. */
    check(&(struct fixture){.policy = "las",
                            .sets = {"quantum=share"},
                            .gpus = 1,
                            .preemptions = 1,
                            .jobs = {{0, 30, 1, .end_s = 50}, {10, 20, 1, .end_s = 40}}});
}

/* --- tiresias --------------------------------------------------------------------------------- */

static void test_tiresias_falls_by_gpu_time(void **state) {
    (void)state;
    /* Two GPUs for 3 s are 6 GPU s: 0 falls at 3 and gives way to 1, which came at 1; 2 takes the
     * other GPU. 0 has 7 s left at 6. In seconds it falls at 6 only, and 2 waits behind 1. */
    struct fixture fixture = {
        .policy = "tiresias",
        .sets = {"queues=6,100"},
        .gpus = 2,
        .preemptions = 1,
        .jobs = {{0, 10, 2, .end_s = 13}, {1, 3, 1, .end_s = 6}, {4, 2, 1, .end_s = 6}}};
    check(&fixture);
    fixture.sets[1] = "unit=seconds";
    fixture.jobs[0].end_s = 13;
    fixture.jobs[1].end_s = 9;
    fixture.jobs[2].end_s = 8;
    check(&fixture);
}

static void test_tiresias_counts_shares(void **state) {
    (void)state;
    /* Halves of a GPU: 0 has had 6 GPU s at 12, and gives way to 2, which came at 8. */
    check(&(struct fixture){
        .policy = "tiresias",
        .sets = {"queues=6,100"},
        .gpus = 1,
        .share_percent = 50,
        .preemptions = 1,
        .jobs = {{0, 20, 1, .end_s = 25}, {1, 20, 1, .end_s = 21}, {8, 5, 1, .end_s = 17}}});
}

static void test_tiresias_promotes(void **state) {
    (void)state;
    /* 0 falls at 5 and waits; at 10 it has waited as long as it ran and is in the first queue again,
     * behind 2, which waits there, and before 3, which comes later. It runs 15-20, falls and waits,
     * and has the rest from 25 on. */
    check(&(struct fixture){.policy = "tiresias",
                            .sets = {"queues=5,100", "knob=1"},
                            .gpus = 1,
                            .preemptions = 2,
                            .jobs = {{0, 20, 1, .end_s = 35},
                                     {1, 5, 1, .end_s = 10},
                                     {2, 5, 1, .end_s = 15},
                                     {12, 5, 1, .end_s = 25}}});
    check(&(struct fixture){.policy = "tiresias",
                            .sets = {"queues=5,100"},
                            .gpus = 1,
                            .preemptions = 1,
                            .jobs = {{0, 20, 1, .end_s = 35},
                                     {1, 5, 1, .end_s = 10},
                                     {2, 5, 1, .end_s = 15},
                                     {12, 5, 1, .end_s = 20}}});
}

static void test_tiresias_learns(void **state) {
    (void)state;
    /* One limit, at 4 s. 0 ends at 1: from then on the past says that jobs take about 1 s. 1 falls
     * at 5 and gives way to 2, which falls at 9, and both are older than all that is known: 1
     * started first. 3 comes at 6 and preempts nobody of its queue; it runs 9 to 11. */
    check(&(struct fixture){.policy = "tiresias",
                            .sets = {"queues=4", "index=gittins"},
                            .gpus = 1,
                            .preemptions = 2,
                            .jobs = {{0, 1, 1, .end_s = 1},
                                     {1, 8, 1, .end_s = 15},
                                     {2, 8, 1, .end_s = 19},
                                     {6, 2, 1, .end_s = 11}}});
}

/* --- gang-rr ----------------------------------------------------------------------------------- */

/* While one that has half a GPU still loaded, another half was placed beside it: a share has it all. */
static void test_gang_rr_gives_whole_gpus(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct fixture fixture = {.share_percent = 50, .jobs = {{0, 10, 1, .end_s = 0}}};
    struct gsim_trace trace = make_trace(&fixture, arena);
    struct test_run run = {.trace = &trace, .policy = "gang-rr"};
    assert_true(test_run(&run, arena).summary.gpu_busy == 1.0);
    gsim_arena_free(arena);
}

/* --- gandiva ---------------------------------------------------------------------------------- */

static void test_gandiva_takes_turns(void **state) {
    (void)state;
    /* 0 runs 0-10 and 20-25, 1 10-20 and 35-40, 2, which waits from 12 on, 25-35 and 40-45. */
    check(&(struct fixture){
        .policy = "gandiva",
        .sets = {"slice=10s", "packing=off"},
        .gpus = 1,
        .preemptions = 3,
        .jobs = {{0, 15, 1, .end_s = 25}, {0, 15, 1, .end_s = 40}, {12, 15, 1, .end_s = 45}}});
}

static void test_gandiva_undoes_packing(void **state) {
    (void)state;
    /* On the ideal device suspending is free, so two on a GPU get done no more than one: no pair is
     * kept. 0 runs 0-10 and 1 10-20, alone, and are profiled; at 20, when 0 pushes 1 out, they are
     * packed, 20-30, by turns of 1 ms, and have 10 s left each. 2 runs alone 30-40; at 40 0 pushes it
     * out and is packed with it, since 1 is no partner any more: 2 has its last 5 s by 49.999. 1 has
     * its last 10 s 50-60, 0 its last 5 s 60-65. */
    check(&(struct fixture){
        .policy = "gandiva",
        .sets = {"slice=10s", "packing=on"},
        .gpus = 1,
        .preemptions = 6,
        .jobs = {{0, 25, 1, .end_s = 65}, {0, 25, 1, .end_s = 60}, {12, 15, 1, .end_s = 49.999}}});
}

/* Shorter jobs, but packing=on is not said: what cannot pay is not tried, and the three take turns. */
static void test_gandiva_leaves_hopeless_pairs(void **state) {
    (void)state;
    check(&(struct fixture){
        .policy = "gandiva",
        .sets = {"slice=10s"},
        .gpus = 1,
        .preemptions = 3,
        .jobs = {{0, 15, 1, .end_s = 25}, {0, 15, 1, .end_s = 40}, {12, 15, 1, .end_s = 45}}});
}

static void test_gandiva_keeps_what_pays(void **state) {
    (void)state;
    /* On the H200 a slice of 10 s comes with a restart, so sharing pays: at 12 the pair gives way to
     * 2, and comes back together each time: 0 and 1 end within a turn of each other. */
    struct gsim_arena *arena = gsim_arena_new();
    struct fixture fixture = {
        .policy = "gandiva",
        .gpus = 1,
        .jobs = {{0, 15, 1, .end_s = 0}, {0, 15, 1, .end_s = 0}, {12, 25, 1, .end_s = 0}}};
    struct gsim_trace trace = make_trace(&fixture, arena);
    const char *sets[] = {"slice=10s", NULL};
    struct test_run run = {
        .trace = &trace, .policy = "gandiva", .device = "h200", .sets = sets, .gpus_per_node = 1};
    struct gsim_result result = test_run(&run, arena);
    assert_true(result.jobs.preemptions[0] >= 1);
    assert_int_equal(result.jobs.preemptions[0], result.jobs.preemptions[1]);
    int64_t apart_ns = result.jobs.end_ns[0] - result.jobs.end_ns[1];
    assert_true(apart_ns > -5 * GSIM_NS_PER_MS && apart_ns < 5 * GSIM_NS_PER_MS);
    gsim_arena_free(arena);
}

static void test_gandiva_gathers(void **state) {
    (void)state;
    /* Two nodes of two GPUs: 0 and 1 take one GPU each, on the same node (affinity), 2 and 3 the
     * other node; 0 and 2 end at 5, so the gang 4 has one GPU of each, and at 8, when 1 ends, it is
     * gathered on the first node. */
    struct gsim_arena *arena = gsim_arena_new();
    struct fixture fixture = {.policy = "gandiva",
                              .gpus = 2,
                              .jobs = {{0, 5, 1, .end_s = 5},
                                       {0, 8, 1, .end_s = 8},
                                       {0, 5, 1, .end_s = 5},
                                       {0, 50, 1, .end_s = 50},
                                       {1, 20, 2, .end_s = 25}}};
    struct gsim_trace trace = make_trace(&fixture, arena);
    const char *sets[] = {"packing=off", NULL};
    struct test_run run = {
        .trace = &trace, .policy = "gandiva", .sets = sets, .nodes = 2, .gpus_per_node = 2};
    struct gsim_result result = test_run(&run, arena);
    for (uint32_t i = 0; i < trace.n_jobs; i++)
        assert_int_equal(result.jobs.end_ns[i], (int64_t)(fixture.jobs[i].end_s * 1e9));
    assert_int_equal(result.summary.migrations, 1);
    assert_int_equal(result.jobs.migrations[4], 1);
    gsim_arena_free(arena);
}

/* As the simulator of Tiresias has it: no gang is scattered. The same as above, but 4 waits until 8 for
 * two GPUs of one node, and nothing has to be gathered. */
static void test_gandiva_of_tiresias_waits_for_a_node(void **state) {
    (void)state;
    check(&(struct fixture){.policy = "gandiva",
                            .sets = {"variant=tiresias"},
                            .nodes = 2,
                            .gpus = 2,
                            .jobs = {{0, 5, 1, .end_s = 5},
                                     {0, 8, 1, .end_s = 8},
                                     {0, 5, 1, .end_s = 5},
                                     {0, 50, 1, .end_s = 50},
                                     {1, 20, 2, .end_s = 28}}});
}

/* As that of Gavel: rounds of six minutes. 0 runs 0-360 and 720-760, 1 360-720 and 760-800. */
static void test_gandiva_of_gavel_has_long_rounds(void **state) {
    (void)state;
    check(&(struct fixture){.policy = "gandiva",
                            .sets = {"variant=gavel", "packing=off"},
                            .gpus = 1,
                            .preemptions = 2,
                            .jobs = {{0, 400, 1, .end_s = 760}, {0, 400, 1, .end_s = 800}}});
}

/* Alone on four GPUs 0 has done 20 s after 20 s, grows to two and at once to four. When 1 comes at 30,
 * it has done 60; it goes back to one, 1 has two until 40. Nobody comes for 20 s, and from 50 on, when
 * 80 are done, it has four again: until 55. */
static void test_gandiva_grows_and_shrinks(void **state) {
    (void)state;
    check(&(struct fixture){.policy = "gandiva",
                            .sets = {"grow=on", "grow_after=20s"},
                            .gpus = 4,
                            .jobs = {{0, 100, 1, .end_s = 55}, {30, 10, 2, .end_s = 40}}});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_head_blocks),
        cmocka_unit_test(test_backfill_starves_the_wide),
        cmocka_unit_test(test_exclusive_gives_whole_gpus),
        cmocka_unit_test(test_easy_within_one_instant),
        cmocka_unit_test(test_easy_lets_pass_what_the_head_can_spare),
        cmocka_unit_test(test_easy_tries_one_of_each_width),
        cmocka_unit_test(test_easy_believes_limits_and_kills_nobody),
        cmocka_unit_test(test_easy_past_the_limit),
        cmocka_unit_test(test_kill_at_the_limit),
        cmocka_unit_test(test_true_durations_are_told),
        cmocka_unit_test(test_easy_while_a_job_loads),
        cmocka_unit_test(test_easy_goes_on_while_a_node_is_down),
        cmocka_unit_test(test_fairshare_forgets),
        cmocka_unit_test(test_fairshare_counts_what_runs),
        cmocka_unit_test(test_fairshare_backfill),
        cmocka_unit_test(test_sjf),
        cmocka_unit_test(test_srtf),
        cmocka_unit_test(test_width_counts_in_srsf_only),
        cmocka_unit_test(test_shares_count_in_srsf),
        cmocka_unit_test(test_what_a_victim_leaves_is_used),
        cmocka_unit_test(test_wide_gangs_spare_victims),
        cmocka_unit_test(test_srsf_takes_victims_of_any_width),
        cmocka_unit_test(test_preempts_once_it_has_loaded),
        cmocka_unit_test(test_las_quantum),
        cmocka_unit_test(test_las_shares),
        cmocka_unit_test(test_tiresias_falls_by_gpu_time),
        cmocka_unit_test(test_tiresias_counts_shares),
        cmocka_unit_test(test_tiresias_promotes),
        cmocka_unit_test(test_tiresias_learns),
        cmocka_unit_test(test_gang_rr_gives_whole_gpus),
        cmocka_unit_test(test_gandiva_takes_turns),
        cmocka_unit_test(test_gandiva_undoes_packing),
        cmocka_unit_test(test_gandiva_leaves_hopeless_pairs),
        cmocka_unit_test(test_gandiva_keeps_what_pays),
        cmocka_unit_test(test_gandiva_gathers),
        cmocka_unit_test(test_gandiva_of_tiresias_waits_for_a_node),
        cmocka_unit_test(test_gandiva_of_gavel_has_long_rounds),
        cmocka_unit_test(test_gandiva_grows_and_shrinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
