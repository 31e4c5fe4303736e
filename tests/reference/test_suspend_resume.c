/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Real jobs on a real H200 under a real scheduler that suspends them (copy out, free) and resumes
 * them (allocate, copy in): ../shared/validation/h200/suspend_resume.csv. Round robin is gandiva
 * without packing; the slice counts from the end of the copy-in. A real iteration took 0.9955 of
 * its nominal time there (../shared/MODELS.md). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/runner.h"

enum { MOST_JOBS = 16, MOST_ROWS = 64 };
#define WITHIN 0.03

struct row {
    char name[32], policy[16];
    double slice_s;
    int job;
    double arrive_s, mem_gib, iter_ms;
    int iterations;
    double start_s, jct_s;
    int suspends;
};

static int read_rows(const char *path, struct row *rows) {
    char line[256];
    int n = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (n < MOST_ROWS && fgets(line, sizeof line, file)) {
        struct row *r = &rows[n];
        n += sscanf(line, "%31[^,],%15[^,],%lf,%d,%lf,%lf,%lf,%d,%lf,%lf,%d", r->name, r->policy,
                    &r->slice_s, &r->job, &r->arrive_s, &r->mem_gib, &r->iter_ms, &r->iterations,
                    &r->start_s, &r->jct_s, &r->suspends) == 11;
    }
    assert_int_equal(fclose(file), 0);
    return n;
}

static int64_t *column(struct gsim_arena *arena) {
    return gsim_arena_array(arena, MOST_JOBS, sizeof(int64_t));
}

static struct gsim_trace make_trace(const struct row *rows, uint32_t n, struct gsim_arena *arena) {
    int64_t *submit = column(arena), *service = column(arena), *mem = column(arena);
    int64_t *iterations = column(arena);
    for (uint32_t j = 0; j < n; j++) {
        int64_t iteration_ns = (int64_t)(rows[j].iter_ms * 0.9955e6);
        submit[j] = (int64_t)(rows[j].arrive_s * 1e9);
        iterations[j] = rows[j].iterations;
        service[j] = iterations[j] * iteration_ns;
        mem[j] = (int64_t)(rows[j].mem_gib * (double)GSIM_GIB);
    }
    struct gsim_trace trace = {.path = rows[0].name,
                               .n_jobs = n,
                               .id_text = "job",
                               .id_at = gsim_arena_array(arena, MOST_JOBS, sizeof(uint32_t)),
                               .submit_ns = submit,
                               .service_ns = service};
    trace.column[GSIM_COL_ITERATIONS] = iterations;
    trace.column[GSIM_COL_MEM_BYTES] = mem;
    trace.column[GSIM_COL_LOAD_BYTES] = mem; /* the first start copies the state in as well */
    return trace;
}

static double error_of(double simulated, double measured) {
    return measured > 0 ? fabs(simulated / measured - 1) : fabs(simulated);
}

static double check_case(const struct row *rows, uint32_t n) {
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_trace trace = make_trace(rows, n, arena);
    const char *sets[] = {gsim_arena_printf(arena, "slice=%.9fs", rows[0].slice_s), "packing=off",
                          NULL};
    bool is_rr = strcmp(rows[0].policy, "rr") == 0;
    struct test_run run = {.trace = &trace,
                           .policy = is_rr ? "gandiva" : rows[0].policy,
                           .device = "h200",
                           .sets = is_rr ? sets : NULL};
    struct gsim_result result = test_run(&run, arena);
    double worst = 0;
    for (uint32_t j = 0; j < n; j++) {
        double jct_s = (double)(result.jobs.end_ns[j] - trace.submit_ns[j]) / 1e9;
        double start_s = (double)result.jobs.start_ns[j] / 1e9;
        double error = error_of(jct_s, rows[j].jct_s);
        print_message("# %s job %u: start %.3f (measured %.3f), JCT %.4f (%.4f)\n", rows[j].name, j,
                      start_s, rows[j].start_s, jct_s, rows[j].jct_s);
        if (error > WITHIN || error_of(start_s, rows[j].start_s) > WITHIN)
            fail_msg("%s job %u is off by more than 3 %%", rows[j].name, j);
        if (result.jobs.preemptions)
            assert_int_equal(result.jobs.preemptions[j], rows[j].suspends);
        else
            assert_int_equal(rows[j].suspends, 0);
        worst = error > worst ? error : worst;
    }
    gsim_arena_free(arena);
    return worst;
}

static void test_against_the_machine(void **state) {
    (void)state;
    struct gsim_arena *arena = gsim_arena_new();
    static struct row rows[MOST_ROWS];
    const char *path = test_shared("validation/h200/suspend_resume.csv", arena);
    int n_rows = path ? read_rows(path, rows) : 0;
    gsim_arena_free(arena);
    if (!path)
        skip();
    assert_true(n_rows > 0);
    double worst = 0;
    for (int from = 0, to; from < n_rows; from = to) {
        for (to = from; to < n_rows && strcmp(rows[to].name, rows[from].name) == 0; to++)
            ;
        double error = check_case(rows + from, (uint32_t)(to - from));
        worst = error > worst ? error : worst;
    }
    print_message("# worst JCT error %.2f %%\n", worst * 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_the_machine)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
