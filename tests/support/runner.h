/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One call from a trace to a result, for tests. */
#ifndef GSIM_TESTS_SUPPORT_RUNNER_H
#define GSIM_TESTS_SUPPORT_RUNNER_H

#include "gsim/run.h"

/* The divisors of the number of repetitions, for a test that repeats a case with other random numbers.
 * The build that users get (gcc) repeats whatever has a bound that depends on how often. Builds with
 * sanitizers are many times slower, and clang's are there for what a compiler does differently: a tenth
 * of the cases shows that. Where cases are drawn to find a crash or a broken rule, of engines that take
 * most of the time, fewer do; `make check CASES=all` draws all of them. */
#if defined GSIM_SANITIZED || defined __clang__
enum { TEST_FEWER = 10 };
#else
enum { TEST_FEWER = 1 };
#endif
#ifdef GSIM_ALL_CASES
enum { TEST_FEWER_DRAWN = TEST_FEWER };
#else
enum { TEST_FEWER_DRAWN = TEST_FEWER > 1 ? 20 : 6 };
#endif
/* Where random numbers are repeated only for a narrower bound, or for more cases of a comparison that each
 * case makes whole, a quarter of them is played, and a bound that follows from their number is wider by
 * its root; CASES=all plays all. */
#ifdef GSIM_ALL_CASES
enum { TEST_FEWER_REPEATED = TEST_FEWER };
#else
enum { TEST_FEWER_REPEATED = TEST_FEWER > 1 ? TEST_FEWER : 4 };
#endif
/* Whether long runs are held to numbers. In a plain check the build that users get does that; what the
 * runs reach, the slow build reaches by shorter ones. */
enum { TEST_HOLDS_LONG_RUNS = TEST_FEWER_DRAWN <= 10 };

struct test_run {
    const struct gsim_trace *trace;
    const char *policy;
    const struct gsim_policy *custom; /* NULL: the listed policy of that name */
    const char *device; /* NULL: the device ideal */
    const char *const *device_sets; /* "key=value" of the device, NULL-terminated; may be NULL */
    int64_t hbm_bytes; /* memory of a GPU; 0: the device's */
    const char *const *sets; /* "key=value" of the policy, NULL-terminated; may be NULL */
    enum gsim_reference reference;
    uint32_t nodes, gpus_per_node; /* 0 means 1 */
    const struct gsim_node_group *groups; /* replaces these two; all groups have the one device */
    uint32_t n_groups;
    bool is_pool, pauses_in_place;
    int64_t pool_cpus_milli;
    int64_t seed;
    int64_t mtbf_ns, mttr_ns, checkpoint_ns; /* failures of nodes */
    int64_t until_ns; /* 0: until the last job ends */
    const struct gsim_observer *observer; /* may be NULL */
    int n_threads; /* 0: one */
    void (*progress)(void *arg, uint32_t n_done, uint32_t n_jobs); /* may be NULL */
    void *progress_arg;
};

/* Makes a run, with all memory from the arena, and asserts that it succeeds. */
struct gsim_result test_run(const struct test_run *run, struct gsim_arena *arena);
/* As test_run, but returns the status. */
enum gsim_status test_try(const struct test_run *run, struct gsim_arena *arena,
                          struct gsim_result *result, struct gsim_log *log);
/* A trace with these columns and no others; all jobs have one name. */
struct gsim_trace test_trace(uint32_t n, const int64_t *submit_ns, const int64_t *service_ns,
                             const uint32_t *gpus, struct gsim_arena *arena);
struct gsim_trace test_read(const char *path, struct gsim_arena *arena);
/* The policy of that name, or of that symbol in policies/list.def. */
const struct gsim_policy *test_policy(const char *name);
/* Whether the policy has this parameter. */
bool test_knows(const char *policy, const char *param);
/* "../shared/NAME"; NULL, and a message, if there is no such file. */
const char *test_shared(const char *name, struct gsim_arena *arena);

#endif
