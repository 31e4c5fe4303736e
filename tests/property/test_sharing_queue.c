/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The queue of policies that share GPUs. Gangs have whole GPUs there, so that a trace of gangs runs
 * as under the policy of the queue's name, fifo, backfill, easy-backfill or fairshare by usage
 * alone: every start exact. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/runner.h"
#include "sim/base/units.h"
#include "sim/base/wide.h"

#define S GSIM_NS_PER_S
enum { JOBS = 60, RUNS = 20 / TEST_FEWER_REPEATED + 1 };

/* Behind the first eleven come those that manage memory of gangs as well, whose times then differ
 * from those alone, and those with rules of their own on who shares. */
static const char *const sharing[] = {
    "timeslice", "mps",    "mig", "vgpu",   "chimera", "reef",  "xsched", "orion", "gpreempt",
    "tally",     "lithos", "uvm", "msched", "nvshare", "salus", "green",  "tgs",   "antman"};
#define N_RESIDENT 11
#define N_SHARING (sizeof sharing / sizeof *sharing)

static struct gsim_result run(const char *policy, const char *placement, const char *set,
                              const struct gsim_trace *trace, struct gsim_arena *arena) {
    const char *const sets[] = {placement, set, NULL};
    struct test_run how = {.trace = trace,
                           .policy = policy,
                           .sets = sets,
                           .device = "h200",
                           .nodes = 3,
                           .gpus_per_node = 4};
    return test_run(&how, arena);
}

#define ANY "placement=any" /* a reservation keeps GPUs, on no nodes in particular */
static const struct queue {
    const char *set, *policy;
    bool plans;
    const char *sets[5]; /* of the policy */
} queues[] = {
    {"queue=fifo", "fifo", false, {"placement=consolidate", NULL}},
    {"queue=fifo", "fifo", false, {"placement=spread", NULL}},
    {"queue=backfill", "backfill", false, {"placement=consolidate", NULL}},
    {"queue=backfill", "backfill", false, {ANY, NULL}},
    {"queue=easy", "easy-backfill", true, {ANY, NULL}},
    {"queue=fairshare", "fairshare", true, {ANY, "weight_age=0", "weight_fairshare=1", NULL}}};

/* Jobs of one GPU begin and end with switches of contexts, a few hundred us each; no two jobs end so
 * close together that this decides which GPUs are idle first. mig does not take back what it does
 * with whole GPUs, so that there a gang passes the head only if it is over by then; jobs of one GPU
 * have a part of it under mig and vgpu, even alone. */
static void assert_alike(const struct queue *queue, uint32_t narrowest,
                         const struct gsim_trace *trace, struct gsim_arena *arena) {
    const int64_t slack_ns = narrowest == 1 ? 100 * GSIM_NS_PER_MS : 0;
    struct test_run how = {.trace = trace,
                           .policy = queue->policy,
                           .sets = queue->sets,
                           .device = "h200",
                           .nodes = 3,
                           .gpus_per_node = 4};
    struct gsim_result alone = test_run(&how, arena);
    for (size_t p = 0; p < N_RESIDENT; p++) {
        bool is_cut = strcmp(sharing[p], "mig") == 0 || strcmp(sharing[p], "vgpu") == 0;
        if (is_cut && (queue->plans || narrowest == 1))
            continue;
        struct gsim_result shared = run(sharing[p], queue->sets[0], queue->set, trace, arena);
        for (int job = 0; job < JOBS; job++)
            assert_in_range(shared.jobs.start_ns[job] - alone.jobs.start_ns[job] + slack_ns, 0,
                            2 * slack_ns);
    }
}

/* Gangs have whole GPUs, jobs of one GPU have one alone where two do not fit its memory. */
static void assert_queues(uint32_t narrowest, int64_t mem_bytes) {
    static int64_t submit[JOBS], service[JOBS], mem[JOBS], limit[JOBS], user[JOBS];
    static uint32_t gpus[JOBS];
    static const char *names[] = {"ann", "bob", "eve"};
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct gsim_arena *arena = gsim_arena_new();
        uint64_t random = seed;
        int64_t at = 0;
        for (int job = 0; job < JOBS; job++) {
            at += (int64_t)(gsim_mix_next(&random) % (60 * S));
            submit[job] = at;
            service[job] = S + (int64_t)(gsim_mix_next(&random) % (300 * S));
            gpus[job] = (uint32_t)(narrowest + gsim_mix_next(&random) % 6);
            mem[job] = mem_bytes;
            limit[job] = service[job] + (int64_t)(gsim_mix_next(&random) % 400) * S;
            user[job] = (int64_t)(gsim_mix_next(&random) % 3);
        }
        struct gsim_trace trace = test_trace(JOBS, submit, service, gpus, arena);
        trace.column[GSIM_COL_MEM_BYTES] = mem;
        trace.column[GSIM_COL_LIMIT_NS] = limit;
        trace.column[GSIM_COL_USER] = user;
        trace.names[GSIM_COL_USER] = (struct gsim_names){.name = names, .n = 3};
        for (size_t q = 0; q < sizeof queues / sizeof *queues; q++)
            assert_alike(&queues[q], narrowest, &trace, arena);
        gsim_arena_free(arena);
    }
}

static void test_gangs(void **state) {
    (void)state;
    assert_queues(2, GSIM_GIB);
}

static void test_jobs_alone(void **state) {
    (void)state;
    assert_queues(1, 100 * GSIM_GIB);
}

/* a has one of two GPUs for 100 s; b needs both; c and d need one each for 10 s. In one strict
 * queue they wait for b; passed over b, they share the GPUs with a, or have the idle one: no later
 * than where all jobs have GPUs of their own, 2 s and 12 s. */
static void test_a_gang_at_the_head(void **state) {
    (void)state;
    static const int64_t submit[] = {0, S, 2 * S, 3 * S};
    static const int64_t service[] = {100 * S, 50 * S, 10 * S, 10 * S};
    static const int64_t mem[] = {GSIM_GIB, GSIM_GIB, GSIM_GIB, GSIM_GIB};
    static const uint32_t gpus[] = {1, 2, 1, 1};
    for (size_t p = 0; p < N_SHARING; p++) {
        struct gsim_arena *arena = gsim_arena_new();
        struct gsim_trace trace = test_trace(4, submit, service, gpus, arena);
        trace.column[GSIM_COL_MEM_BYTES] = mem;
        struct test_run how = {.trace = &trace,
                               .policy = sharing[p],
                               .sets = (const char *const[]){"queue=fifo", NULL},
                               .device = "h200",
                               .gpus_per_node = 2};
        struct gsim_result strict = test_run(&how, arena);
        how.sets = (const char *const[]){"queue=backfill", NULL};
        struct gsim_result loose = test_run(&how, arena);
        assert_true(strict.jobs.start_ns[2] >= strict.jobs.start_ns[1]);
        /* under tgs and antman one job of two that share is a guest, and none is a third */
        bool has_guests = strcmp(sharing[p], "tgs") == 0 || strcmp(sharing[p], "antman") == 0;
        assert_true(loose.jobs.start_ns[2] < 3 * S);
        assert_true(loose.jobs.start_ns[3] < (has_guests ? 13 : 10) * S);
        gsim_arena_free(arena);
    }
}

/* Two nodes of two GPUs. a and b have one node, c and d the other; b and d end at 10 s, so that each
 * node has an idle GPU, and a and c run on to 100 s. e needs a whole node, and is placed on nothing
 * else; f needs one GPU and passes e at once: keeping the two idle GPUs for e would not help it. */
static void test_a_gang_of_one_node(void **state) {
    (void)state;
    static const int64_t submit[] = {0, 0, 0, 0, 11 * S, 12 * S};
    static const int64_t service[] = {100 * S, 10 * S, 100 * S, 10 * S, 50 * S, 10 * S};
    static const int64_t mem[] = {100 * GSIM_GIB, 100 * GSIM_GIB, 100 * GSIM_GIB,
                                  100 * GSIM_GIB, 100 * GSIM_GIB, 100 * GSIM_GIB};
    static const uint32_t gpus[] = {1, 1, 1, 1, 2, 1};
    for (size_t p = 0; p < N_SHARING; p++) {
        if (strcmp(sharing[p], "vgpu") == 0 || strcmp(sharing[p], "green") == 0)
            continue; /* jobs have a part of a GPU there, of its memory or its time */
        struct gsim_arena *arena = gsim_arena_new();
        struct gsim_trace trace = test_trace(6, submit, service, gpus, arena);
        trace.column[GSIM_COL_MEM_BYTES] = mem;
        struct test_run how = {
            .trace = &trace,
            .policy = sharing[p],
            .sets = (const char *const[]){"placement=consolidate", "queue=backfill", NULL},
            .device = "h200",
            .nodes = 2,
            .gpus_per_node = 2};
        struct gsim_result result = test_run(&how, arena);
        assert_in_range(result.jobs.start_ns[5], 12 * S, 12 * S + 100 * GSIM_NS_PER_MS);
        assert_true(result.jobs.start_ns[4] < 110 * S); /* under uvm a and c page their memory in */
        gsim_arena_free(arena);
    }
}

/* Every policy that shares GPUs is one of those above, and so takes queue=, or has an order of its
 * own that is no queue: Gandiva's slices, Lucid's and Muri's priorities. */
static void test_no_hidden_queue(void **state) {
    (void)state;
    static const char *const own_order[] = {"gandiva", "lucid", "muri"};
    const size_t n_own = sizeof own_order / sizeof *own_order;
    size_t n_sharing = 0, n_ordering = 0;
    for (size_t p = 0; gsim_policies[p]; p++) {
        const char *name = gsim_policies[p]->name;
        bool has_queue = false;
        for (size_t i = 0; gsim_policies[p]->shares_gpus && i < N_SHARING; i++)
            has_queue |= strcmp(name, sharing[i]) == 0;
        for (size_t i = 0; gsim_policies[p]->shares_gpus && i < n_own; i++)
            n_ordering += strcmp(name, own_order[i]) == 0;
        n_sharing += gsim_policies[p]->shares_gpus;
        n_ordering += has_queue;
    }
    assert_int_equal(n_ordering, n_sharing);
}

/* Two GPUs, on which jobs of 60 GiB share, and limits are what jobs take alone. a and b have a GPU
 * each from 0 and 1 s; c, at 2 s, needs both, and by limits has them when b ends, at 201 s. d at
 * 3 s would run until 303 s, so that it waits; e at 4 s is over at 44 s, so that it passes c, beside
 * a, and b is alone to its end. */
static struct gsim_result five_jobs(const char *policy, const char *const *sets,
                                    struct gsim_arena *arena) {
    static const int64_t submit[] = {0, S, 2 * S, 3 * S, 4 * S};
    static const int64_t service[] = {100 * S, 200 * S, 50 * S, 300 * S, 40 * S};
    static const int64_t mem[] = {60 * GSIM_GIB, 60 * GSIM_GIB, 60 * GSIM_GIB, 60 * GSIM_GIB,
                                  60 * GSIM_GIB};
    static const uint32_t gpus[] = {1, 1, 2, 1, 1};
    struct gsim_trace trace = test_trace(5, submit, service, gpus, arena);
    trace.column[GSIM_COL_MEM_BYTES] = mem;
    trace.column[GSIM_COL_LIMIT_NS] = service;
    struct test_run how = {
        .trace = &trace, .policy = policy, .sets = sets, .device = "h200", .gpus_per_node = 2};
    return test_run(&how, arena);
}

static void test_a_reservation(void **state) {
    (void)state;
    static const char *const policies[] = {"timeslice", "mps", "salus", "xsched"};
    static const char *const sets[] = {"queue=easy", NULL};
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        struct gsim_arena *arena = gsim_arena_new();
        struct gsim_result result = five_jobs(policies[p], sets, arena);
        assert_int_equal(result.jobs.start_ns[4], 4 * S);
        assert_in_range(result.jobs.start_ns[2], 201 * S, 202 * S);
        assert_true(result.jobs.start_ns[3] > result.jobs.start_ns[2]);
        gsim_arena_free(arena);
    }
}

static struct gsim_result by_attained_service(const char *policy, struct gsim_arena *arena) {
    static const char *const sets[] = {"queue=las", "queue_quantum=30s", NULL};
    struct gsim_result result = five_jobs(policy, sets, arena);
    for (int job = 0; job < 5; job++)
        assert_true(result.jobs.end_ns[job] > 0);
    return result;
}

/* All but c share two GPUs from 4 s on. The first job to be 30 s ahead of c, which has run for none,
 * gives way no earlier than at 30 s; c needs both GPUs, and so all four jobs to be ahead. Where four
 * take turns two by two that is after 60 s; c runs when they have saved their state, and long before
 * 201 s, when b would end alone. */
static void test_attained_service(void **state) {
    (void)state;
    static const char *const policies[] = {"timeslice", "mps", "xsched", "reef", "chimera"};
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        struct gsim_arena *arena = gsim_arena_new();
        struct gsim_result result = by_attained_service(policies[p], arena);
        assert_in_range(result.jobs.start_ns[2], 60 * S, 201 * S);
        assert_in_range(result.summary.preemptions, 3, 4); /* e may end first */
        gsim_arena_free(arena);
    }
}

/* Under orion the one kernel of a job keeps its SMs to its end, and jobs that came later wait for
 * room on them: a and b end as if they were alone. Of d and e, behind them, the last is 30 s ahead
 * of c 30 s after the end of b at 201 s, or some seconds sooner, since blocks of b end unevenly. */
static void test_attained_service_of_long_kernels(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_result result = by_attained_service("orion", arena);
    assert_int_equal(result.jobs.end_ns[0], 100 * S);
    assert_int_equal(result.jobs.end_ns[1], 201 * S);
    assert_in_range(result.jobs.start_ns[2], 221 * S, 231 * S);
    assert_int_equal(result.summary.preemptions, 2);
    gsim_arena_free(arena);
}

/* --- what jobs that found no room say of others ----------------------------------------------- */

enum { MIXED = 120 };

/* Of three jobs two ask for one GPU, and the third for two to nine; each for one of six sizes. */
static struct gsim_trace mixed(uint64_t seed, struct gsim_arena *arena) {
    static const int gib[] = {4, 8, 12, 20, 60, 100};
    static int64_t submit[MIXED], service[MIXED], mem[MIXED];
    static uint32_t gpus[MIXED];
    uint64_t random = seed;
    int64_t at = 0;
    for (int job = 0; job < MIXED; job++) {
        at += (int64_t)(gsim_mix_next(&random) % (20 * S));
        submit[job] = at;
        service[job] = S + (int64_t)(gsim_mix_next(&random) % (300 * S));
        gpus[job] = gsim_mix_next(&random) % 3 > 0 ? 1 : 2 + (uint32_t)(gsim_mix_next(&random) % 8);
        mem[job] = gib[gsim_mix_next(&random) % 6] * GSIM_GIB;
    }
    struct gsim_trace trace = test_trace(MIXED, submit, service, gpus, arena);
    trace.column[GSIM_COL_MEM_BYTES] = mem;
    return trace;
}

/* Where jobs ask for CPUs no job speaks for another one, and each is tried. So the columns of a
 * trace of which each node has CPUs enough for all jobs change nothing, to the nanosecond. */
static void test_jobs_passed_over_had_no_room(void **state) {
    (void)state;
    static int64_t cpus[MIXED];
    static const char *const policies[] = {"mig", "mps"};
    static const char *const placements[] = {"placement=consolidate", "placement=any",
                                             "placement=spread", "placement=fullest"};
    const struct gsim_node_group nodes = {.count = 3,
                                          .gpus_per_node = 4,
                                          .hbm_bytes = 140 * GSIM_GIB,
                                          .cpus_milli = INT64_C(1000) * MIXED * 9};
    for (int job = 0; job < MIXED; job++)
        cpus[job] = 1000;
    for (uint64_t seed = 1; seed <= RUNS; seed++)
        for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
            struct gsim_arena *arena = gsim_arena_new();
            struct gsim_trace trace = mixed(seed, arena);
            const char *const sets[] = {"queue=backfill", placements[seed % 4], NULL};
            struct test_run how = {.trace = &trace,
                                   .policy = policies[p],
                                   .sets = sets,
                                   .device = "h200",
                                   .groups = &nodes,
                                   .n_groups = 1};
            struct gsim_result passed = test_run(&how, arena);
            trace.column[GSIM_COL_CPUS_MILLI] = cpus;
            struct gsim_result tried = test_run(&how, arena);
            for (int job = 0; job < MIXED; job++)
                assert_int_equal(passed.jobs.end_ns[job], tried.jobs.end_ns[job]);
            gsim_arena_free(arena);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gangs),
        cmocka_unit_test(test_jobs_alone),
        cmocka_unit_test(test_a_gang_at_the_head),
        cmocka_unit_test(test_a_gang_of_one_node),
        cmocka_unit_test(test_no_hidden_queue),
        cmocka_unit_test(test_a_reservation),
        cmocka_unit_test(test_attained_service),
        cmocka_unit_test(test_attained_service_of_long_kernels),
        cmocka_unit_test(test_jobs_passed_over_had_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
