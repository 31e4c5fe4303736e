/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Application profiles against what was measured alone on an H200
 * (../shared/validation/h200/dl_solo.csv) and published for an RTX 5080. The profiles are fitted to
 * these numbers (efficiency to GPU time, host time to the rest), so this says that the files hold
 * what they say, not that they predict anything. */
#define _XOPEN_SOURCE 700
#include "tests/support/trace_file.h"

#include <math.h>

#include "sim/app/setup/apps.h"
#include "tests/support/runner.h"

static struct gsim_roofline_cost cost_on(struct fixture *f, const char *app_name,
                                         const char *device) {
    struct gsim_profile profile;
    struct gsim_app app;
    struct gsim_roofline_cost cost;
    assert_int_equal(gsim_profile_load(device, f->arena, &profile, &f->log), GSIM_OK);
    assert_int_equal(gsim_apps_load(app_name, NULL, 0, f->arena, &app, &f->log), GSIM_OK);
    assert_int_equal(gsim_roofline_cost(&app, &profile, &cost, &f->log), GSIM_OK);
    return cost;
}

static double percent(double simulated, double measured) {
    return 100 * (simulated / measured - 1);
}

/* The whole job, by policy fifo on an H200. */
static double simulate_s(struct fixture *f, const char *app, int iterations) {
    char text[256];
    struct gsim_profile profile;
    const struct gsim_profile *profiles[] = {&profile};
    struct gsim_cluster_spec cluster = {.profiles = profiles, .n_profiles = 1};
    const struct gsim_trace *trace;
    (void)snprintf(text, sizeof text, "job_id,submit_s,iterations,app\na,0,%d,%s\n", iterations,
                   app);
    assert_int_equal(read_text(f, text), GSIM_OK);
    assert_int_equal(gsim_profile_load("h200", f->arena, &profile, &f->log), GSIM_OK);
    assert_int_equal(gsim_apps_resolve(&f->trace, &cluster, f->arena, &trace, &f->log), GSIM_OK);
    struct test_run run = {.trace = trace, .policy = "fifo", .device = "h200"};
    return (double)test_run(&run, f->arena).jobs.end_ns[0] / 1e9;
}

static void profiles_of_what_was_measured_alone(void **state) {
    static const char *const apps[][2] = {{"resnet50_train", "resnet50-train"},
                                          {"vgg19_train", "vgg19-train"},
                                          {"densenet201_train", "densenet201-train"},
                                          {"resnet152_infer", "resnet152-infer"},
                                          {"bert_train", "bert-train"},
                                          {"gpt2_small_batch", "gpt2-train"}};
    struct fixture *f = *state;
    const char *path = test_shared("validation/h200/dl_solo.csv", f->arena);
    if (!path)
        skip();
    FILE *file = fopen(path, "r");
    char header[256], job[32];
    int iterations, n = 0;
    double peak_mib, jct_s, later_s, busy_ms, kernels;
    assert_non_null(file);
    assert_non_null(fgets(header, sizeof header, file));
    while (fscanf(file, " %31[^,],%lf,%d,%lf,%lf,%lf,%lf", job, &peak_mib, &iterations, &jct_s,
                  &later_s, &busy_ms, &kernels) == 7)
        for (size_t a = 0; a < sizeof apps / sizeof *apps; a++) {
            if (strcmp(job, apps[a][0]) != 0)
                continue;
            struct gsim_roofline_cost cost = cost_on(f, apps[a][1], "h200");
            double busy = percent((double)cost.gpu_ns / 1e6, busy_ms);
            double whole = percent(simulate_s(f, apps[a][1], iterations), jct_s);
            print_message("# %-18s GPU time of an iteration %+5.2f %%, the job %+5.2f %%\n",
                          apps[a][1], busy, whole);
            assert_true(fabs(busy) <= 1 && fabs(whole) <= 2);
            assert_true(cost.kernels == (int64_t)kernels);
            n++;
        }
    (void)fclose(file);
    assert_int_equal(n, 6);
}

/* MSched (arXiv 2512.24637): 12.7 ms a step alone on an RTX 5080. */
static void a_token_of_llama_on_an_rtx_5080(void **state) {
    struct fixture *f = *state;
    double step_ms = (double)cost_on(f, "llama3-8b-int8-decode", "rtx5080").gpu_ns / 1e6;
    print_message("# llama3-8b-int8-decode on an rtx5080: %.3f ms, published 12.7\n", step_ms);
    assert_true(fabs(percent(step_ms, 12.7)) <= 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(profiles_of_what_was_measured_alone),
        TEST(a_token_of_llama_on_an_rtx_5080),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
