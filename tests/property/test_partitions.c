/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Partitions and types of GPU, against a plain simulator of fifo, backfill and easy-backfill that
 * looks at every node: every job's start exact. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "tests/support/runner.h"
#include "sim/base/wide.h"

#define S GSIM_NS_PER_S
enum { JOBS = 120, NODES = 9, RUNS = 300 / TEST_FEWER };
#define HBM (INT64_C(80) << 30)

/* Nodes 0..2 are V100s of partition a, 3..4 A100s of a and b, 5..6 A100s of b, 7..8 of none. */
static const struct gsim_node_group groups[] = {
    {.count = 3,
     .gpus_per_node = 4,
     .hbm_bytes = HBM,
     .device_name = "ideal",
     .partitions = "a",
     .gpu_type = "V100"},
    {.count = 2,
     .gpus_per_node = 4,
     .hbm_bytes = HBM,
     .device_name = "ideal",
     .partitions = "a,b",
     .gpu_type = "A100"},
    {.count = 2,
     .gpus_per_node = 8,
     .hbm_bytes = HBM,
     .device_name = "ideal",
     .partitions = "b",
     .gpu_type = "A100"},
    {.count = 2, .gpus_per_node = 6, .hbm_bytes = HBM, .device_name = "ideal", .gpu_type = "A100"},
};
static const uint32_t first_of[] = {0, 3, 5, 7, 9};

static const char *const partitions[] = {"a", "b", "a,b"};
static const char *const types[] = {"v100", "A100", "V100|a100"};

/* What each name means, written out by hand. */
static const bool in_partition[3][4] = {{true, true}, {false, true, true}, {true, true, true}};
static const bool of_type[3][4] = {{true}, {false, true, true, true}, {true, true, true, true}};

struct problem {
    int64_t submit[JOBS], service[JOBS], partition[JOBS], type[JOBS], start[JOBS], end[JOBS];
    uint32_t gpus[JOBS], node[JOBS];
    uint32_t idle[NODES];
    bool is_done[JOBS];
};

enum way { FIFO, SKIP, EASY, WAYS };

static int group_of(uint32_t node) {
    int g = 0;
    while (node >= first_of[g + 1])
        g++;
    return g;
}

static bool may_use(const struct problem *p, int job, uint32_t node) {
    int g = group_of(node);
    return (p->partition[job] < 0 || in_partition[p->partition[job]][g]) &&
           (p->type[job] < 0 || of_type[p->type[job]][g]);
}

/* The node with the fewest idle GPUs that are enough; the first of them. */
static bool place(struct problem *p, int job, int64_t now) {
    uint32_t best = NODES;
    for (uint32_t node = 0; node < NODES; node++)
        if (may_use(p, job, node) && p->idle[node] >= p->gpus[job] &&
            (best == NODES || p->idle[node] < p->idle[best]))
            best = node;
    if (best == NODES)
        return false;
    p->idle[best] -= p->gpus[job];
    p->node[job] = best;
    p->start[job] = now;
    p->end[job] = now + p->service[job];
    return true;
}

static void take_back(struct problem *p, int job) {
    p->idle[p->node[job]] += p->gpus[job];
    p->start[job] = p->end[job] = -1;
}

/* Whether the job could begin once all have ended that end by then. */
static bool fits_then(const struct problem *p, int job, int64_t then) {
    uint32_t idle[NODES];
    memcpy(idle, p->idle, sizeof idle);
    for (int other = 0; other < JOBS; other++)
        if (p->start[other] >= 0 && !p->is_done[other] && p->end[other] <= then)
            idle[p->node[other]] += p->gpus[other];
    for (uint32_t node = 0; node < NODES; node++)
        if (may_use(p, job, node) && idle[node] >= p->gpus[job])
            return true;
    return false;
}

static int64_t reserve(const struct problem *p, int head) {
    int64_t first = INT64_MAX;
    for (int job = 0; job < JOBS; job++)
        if (p->start[job] >= 0 && !p->is_done[job] && p->end[job] < first &&
            fits_then(p, head, p->end[job]))
            first = p->end[job];
    return first;
}

/* Jobs in order of arrival; the first that does not fit holds up those behind it (FIFO), none
 * (SKIP), or those that would delay it (EASY). */
static void pass(struct problem *p, enum way way, int64_t now) {
    int head = -1;
    int64_t reserved = INT64_MAX;
    for (int job = 0; job < JOBS; job++) {
        if (p->submit[job] > now || p->start[job] >= 0)
            continue;
        bool is_placed = place(p, job, now);
        if (!is_placed && way == FIFO)
            return;
        if (!is_placed && way == EASY && head < 0) {
            head = job;
            reserved = reserve(p, head);
        } else if (is_placed && head >= 0 && p->end[job] > reserved &&
                   !fits_then(p, head, reserved)) {
            take_back(p, job);
        }
    }
}

static void simulate(struct problem *p, enum way way) {
    int64_t now = 0;
    int n_done = 0;
    bool *is_done = p->is_done;
    memset(is_done, 0, sizeof p->is_done);
    for (uint32_t node = 0; node < NODES; node++)
        p->idle[node] = groups[group_of(node)].gpus_per_node;
    for (int job = 0; job < JOBS; job++)
        p->start[job] = p->end[job] = -1;
    while (n_done < JOBS) {
        int64_t next = INT64_MAX;
        for (int job = 0; job < JOBS; job++)
            if (!is_done[job] && p->end[job] == now) {
                is_done[job] = true;
                n_done++;
                p->idle[p->node[job]] += p->gpus[job];
            }
        pass(p, way, now);
        for (int job = 0; job < JOBS; job++) {
            if (p->submit[job] > now && p->submit[job] < next)
                next = p->submit[job];
            if (p->end[job] > now && p->end[job] < next)
                next = p->end[job];
        }
        now = next;
    }
}

/* Jobs ask for what fits a node of each kind that they may use. */
static void draw(struct problem *p, uint64_t seed) {
    uint64_t random = seed;
    int64_t at = 0;
    for (int job = 0; job < JOBS; job++) {
        at += (int64_t)(gsim_mix_next(&random) % 40) * S;
        p->submit[job] = at;
        p->service[job] = (int64_t)(1 + gsim_mix_next(&random) % 900) * S;
        p->gpus[job] = (uint32_t)(1 + gsim_mix_next(&random) % 4);
        p->partition[job] = (int64_t)(gsim_mix_next(&random) % 4) - 1;
        p->type[job] = (int64_t)(gsim_mix_next(&random) % 4) - 1;
        if (p->partition[job] == 1 && p->type[job] == 0)
            p->type[job] = -1; /* b has no V100 */
    }
}

static struct gsim_trace trace_of(const struct problem *p, struct gsim_arena *arena) {
    struct gsim_trace trace = test_trace(JOBS, p->submit, p->service, p->gpus, arena);
    trace.column[GSIM_COL_PARTITION] = p->partition;
    trace.column[GSIM_COL_GPU_TYPE] = p->type;
    trace.names[GSIM_COL_PARTITION] = (struct gsim_names){3, (const char **)partitions};
    trace.names[GSIM_COL_GPU_TYPE] = (struct gsim_names){3, (const char **)types};
    return trace;
}

static void test_every_start(void **state) {
    (void)state;
    static const char *const policies[] = {"fifo", "backfill", "easy-backfill"};
    static struct problem p;
    for (uint64_t seed = 1; seed <= RUNS; seed++)
        for (int way = 0; way < WAYS; way++) {
            struct gsim_arena *arena = gsim_arena_new();
            draw(&p, seed);
            simulate(&p, (enum way)way);
            struct gsim_trace trace = trace_of(&p, arena);
            struct test_run how = {.trace = &trace,
                                   .policy = policies[way],
                                   .groups = groups,
                                   .n_groups = sizeof groups / sizeof *groups};
            struct gsim_result result = test_run(&how, arena);
            for (int job = 0; job < JOBS; job++)
                assert_int_equal(result.jobs.start_ns[job], p.start[job]);
            gsim_arena_free(arena);
        }
}

/* Policies that preempt, reserve or move find their way with sets of nodes as well; those that
 * share GPUs refuse them. */
static void test_every_policy(void **state) {
    (void)state;
    static const char *const policies[] = {
#define GSIM_POLICY(symbol) #symbol,
#include "policies/list.def"
#undef GSIM_POLICY
    };
    static struct problem p;
    int n_refused = 0, n_ran = 0;
    double fifo_s = 0;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        struct gsim_arena *arena = gsim_arena_new();
        draw(&p, 7);
        struct gsim_trace trace = trace_of(&p, arena);
        struct test_run how = {.trace = &trace,
                               .policy = policies[i],
                               .groups = groups,
                               .n_groups = sizeof groups / sizeof *groups};
        struct gsim_result result;
        struct gsim_log log = {0};
        enum gsim_status status = test_try(&how, arena, &result, &log);
        if (status == GSIM_OK) {
            assert_int_equal(result.summary.completed, JOBS);
            if (i == 0)
                fifo_s = result.summary.jct_mean_s;
            assert_true(result.summary.jct_mean_s <= fifo_s); /* nobody stops jobs for nothing */
            n_ran++;
        } else {
            if (!strstr(log.errors[0].text, "partition"))
                fail_msg("%s: %s", policies[i], log.errors[0].text);
            n_refused++;
        }
        gsim_arena_free(arena);
    }
    /* all that give jobs GPUs of their own, but adaptdl, elasticflow, gang-rr, gavel, pollux,
     * shockwave, sia, synergy and themis */
    assert_int_equal(n_ran, 14);
    assert_int_equal(n_ran + n_refused, sizeof policies / sizeof *policies);
}

static void test_a_job_that_no_node_may_run(void **state) {
    (void)state;
    static struct problem p;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_log log = {0};
    struct gsim_result result;
    draw(&p, 1);
    p.partition[3] = 1;
    p.type[3] = 0;
    struct gsim_trace trace = trace_of(&p, arena);
    struct test_run how = {.trace = &trace,
                           .policy = "fifo",
                           .groups = groups,
                           .n_groups = sizeof groups / sizeof *groups};
    assert_int_equal(test_try(&how, arena, &result, &log), GSIM_BAD_INPUT);
    assert_non_null(strstr(log.errors[0].text, "of partition b of type v100; the cluster has 0"));
    gsim_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_start),
        cmocka_unit_test(test_every_policy),
        cmocka_unit_test(test_a_job_that_no_node_may_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
