/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes that share one GPU by the driver's time slices, against what was measured on an H200
 * (../shared/validation/h200): the solo times of the tables are the input, the device profile is
 * everything else. Each row is printed with its error. */
#define _XOPEN_SOURCE 700
#include "tests/support/trace_file.h"

#include <math.h>

#include "tests/support/runner.h"

enum { MOST_JOBS = 8 };

/* The jobs of one case, which stand on consecutive lines of a table. */
struct sharing_case {
    char name[96];
    char rows[MOST_JOBS * 128]; /* of a native trace */
    double measured_s[MOST_JOBS];
    char job[MOST_JOBS][32];
    int n;
};

struct errors {
    double sum, worst;
    int n;
};

static FILE *open_table(const char *name, struct gsim_arena *arena) {
    const char *path = test_shared(gsim_arena_printf(arena, "validation/h200/%s", name), arena);
    FILE *file = path ? fopen(path, "r") : NULL;
    char header[512];
    if (file)
        assert_non_null(fgets(header, sizeof header, file));
    return file;
}

static void compare(struct errors *errors, const char *what, double simulated, double measured) {
    double percent = 100 * (simulated / measured - 1);
    print_message("# %-46s %9.4f simulated %9.4f measured %+6.2f %%\n", what, simulated, measured,
                  percent);
    errors->sum += fabs(percent);
    errors->worst = fmax(errors->worst, fabs(percent));
    errors->n++;
}

static struct gsim_result run_on_h200(const struct fixture *f) {
    struct test_run run = {.trace = &f->trace, .policy = "timeslice", .device = "h200"};
    return test_run(&run, f->arena);
}

static void finish(struct fixture *f, struct sharing_case *one, struct errors *errors) {
    char text[2048], what[160];
    if (one->n == 0)
        return;
    (void)snprintf(text, sizeof text,
                   "job_id,submit_s,iterations,gpu_ms,host_ms,host_gap_ms,kernels,mem_gib\n%s",
                   one->rows);
    if (read_text(f, text) != GSIM_OK)
        fail_msg("%s", f->log.errors[0].text);
    struct gsim_result result = run_on_h200(f);
    for (int i = 0; i < one->n; i++) {
        int64_t jct_ns = result.jobs.end_ns[i] - f->trace.submit_ns[i];
        (void)snprintf(what, sizeof what, "%s: %s", one->name, one->job[i]);
        compare(errors, what, (double)jct_ns / 1e9, one->measured_s[i]);
    }
    *one = (struct sharing_case){0};
}

__attribute__((format(printf, 5, 6))) static void add(struct sharing_case *one, const char *name,
                                                      const char *job, double measured_s,
                                                      const char *row, ...) {
    size_t used = strlen(one->rows);
    va_list arguments;
    (void)snprintf(one->name, sizeof one->name, "%s", name);
    (void)snprintf(one->job[one->n], sizeof one->job[0], "%s", job);
    one->measured_s[one->n++] = measured_s;
    va_start(arguments, row);
    (void)vsnprintf(one->rows + used, sizeof one->rows - used, row, arguments);
    va_end(arguments);
}

static void check_errors(const struct errors *errors, double mean, double worst) {
    print_message("# mean %.2f %%, worst %.2f %%\n", errors->sum / errors->n, errors->worst);
    assert_true(errors->n > 0);
    assert_true(errors->sum / errors->n <= mean);
    assert_true(errors->worst <= worst);
}

static void test_kernels_under_time_slices(void **state) {
    struct fixture *f = *state;
    struct sharing_case one = {0};
    struct errors errors = {0};
    char name[64], job[32], kind[16];
    double arrive, nominal, gap, solo, shared;
    int iterations;
    FILE *file = open_table("timeslice.csv", f->arena);
    if (!file)
        skip();
    while (fscanf(file, " %63[^,],%31[^,],%15[^,],%lf,%lf,%d,%lf,%lf,%lf", name, job, kind, &arrive,
                  &nominal, &iterations, &gap, &solo, &shared) == 9) {
        if (strcmp(name, one.name) != 0)
            finish(f, &one, &errors);
        add(&one, name, job, shared, "%s,%.3f,%d,%.6f,0,%.3f,1,\n", job, arrive, iterations,
            1e3 * solo / iterations - gap, gap);
    }
    finish(f, &one, &errors);
    (void)fclose(file);
    check_errors(&errors, 1.5, 3);
}

/* --- real training and inference -------------------------------------------------------------- */

struct solo {
    char job[32];
    int mib, iterations, kernels;
    double jct_s, busy_ms;
};

static int read_solos(FILE *file, struct solo *solos, int most) {
    double unprofiled;
    int n = 0;
    while (n < most && fscanf(file, " %31[^,],%d,%d,%lf,%lf,%lf,%d", solos[n].job, &solos[n].mib,
                              &solos[n].iterations, &unprofiled, &solos[n].jct_s, &solos[n].busy_ms,
                              &solos[n].kernels) == 7)
        n++;
    return n;
}

/* The host launches all the time that an iteration takes alone, and the GPU is busy as measured. */
static void add_solo(struct sharing_case *one, const char *name, const struct solo *solo, int index,
                     double arrive_s, double measured_s) {
    double pace_ms = 1e3 * solo->jct_s / solo->iterations;
    add(one, name, solo->job, measured_s, "%d,%.3f,%d,%.6f,%.6f,0,%d,%.4f\n", index, arrive_s,
        solo->iterations, solo->busy_ms, pace_ms, solo->kernels, solo->mib / 1024.0);
}

static void test_deep_learning_under_time_slices(void **state) {
    struct fixture *f = *state;
    struct sharing_case one = {0};
    struct errors errors = {0};
    struct solo solos[16];
    char name[96], job[32];
    double arrive, jct;
    FILE *file = open_table("dl_solo.csv", f->arena);
    if (!file)
        skip();
    int n = read_solos(file, solos, 16);
    (void)fclose(file);
    file = open_table("dl_shared.csv", f->arena);
    assert_non_null(file);
    while (fscanf(file, " %95[^,],%31[^,],%lf,%lf", name, job, &arrive, &jct) == 4) {
        if (strcmp(name, one.name) != 0)
            finish(f, &one, &errors);
        for (int i = 0; i < n; i++)
            if (strcmp(solos[i].job, job) == 0)
                add_solo(&one, name, &solos[i], one.n, arrive, jct);
    }
    finish(f, &one, &errors);
    (void)fclose(file);
    check_errors(&errors, 6, 15);
}

/* --- a small kernel among long ones ----------------------------------------------------------- */

/* Batches of 8 kernels and a synchronisation, all the while; small kernels at random instants. */
static void write_realtime(struct fixture *f, int n_others, double other_us, double kernel_us,
                           double period_ms) {
    char text[2048];
    int used = snprintf(text, sizeof text,
                        "job_id,submit_s,iterations,gpu_ms,kernels,requests,period_ms,arrival\n"
                        "small,0,,%.4f,1,4000,%.3f,uniform:0.5:1.5\n",
                        kernel_us / 1e3, period_ms);
    for (int i = 0; i < n_others; i++)
        used +=
            snprintf(text + used, sizeof text - (size_t)used, "other%d,0,%d,%.4f,8,,,\n", i,
                     (int)(4000 * period_ms / (8 * other_us / 1e3) / n_others), 8 * other_us / 1e3);
    if (read_text(f, text) != GSIM_OK)
        fail_msg("%s", f->log.errors[0].text);
}

static void compare_latencies(struct fixture *f, int n_others, const double *us) {
    struct gsim_result result = run_on_h200(f);
    struct errors errors = {0}, tail = {0};
    char what[64];
    (void)snprintf(what, sizeof what, "a small kernel among %d others, us", n_others);
    compare(&errors, what, 1e6 * result.summary.latency_mean_s, us[0]);
    compare(&errors, "  median", 1e6 * result.summary.latency_p50_s, us[1]);
    compare(&errors, "  90 %", 1e6 * result.summary.latency_p90_s, us[2]);
    compare(&tail, "  99 %", 1e6 * result.summary.latency_p99_s, us[3]);
    check_errors(&errors, 10, 10);
    check_errors(&tail, 20, n_others == 1 ? 10 : 20);
}

static void test_latencies_under_time_slices(void **state) {
    struct fixture *f = *state;
    char line[512], mechanism[32], run[16];
    int n_others, requests, n_rows = 0;
    double other_us, kernel_us, period_ms, us[4];
    FILE *file = open_table("realtime_latency.csv", f->arena);
    if (!file)
        skip();
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%31[^,],%d,%lf,%lf,%lf,%15[^,],%d,%lf,%lf,%lf,%lf", mechanism, &n_others,
                   &other_us, &kernel_us, &period_ms, run, &requests, &us[0], &us[1], &us[2],
                   &us[3]) != 11 ||
            strcmp(run, "shared") != 0)
            continue;
        write_realtime(f, n_others, other_us, kernel_us, period_ms);
        compare_latencies(f, n_others, us);
        n_rows++;
    }
    (void)fclose(file);
    assert_int_equal(n_rows, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_kernels_under_time_slices),
        TEST(test_deep_learning_under_time_slices),
        TEST(test_latencies_under_time_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
