/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Application profiles from profilers: an iteration costs what was measured, and the profile that
 * is written is one that can be read. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/trace_file.h"
#include "traces/apps.h"
#include "traces/kernels.h"

static const struct gsim_profiler *find(const char *name) {
    for (int i = 0; gsim_profilers[i]; i++)
        if (strcmp(gsim_profilers[i]->name, name) == 0)
            return gsim_profilers[i];
    fail_msg("no profiler is called %s", name);
    return NULL;
}

/* Reads text as what a profiler wrote, writes the profile in its place, and reads that. */
static enum gsim_status convert(struct fixture *f, const char *profiler, const char *text,
                                int64_t iterations, struct gsim_app *app) {
    struct gsim_kernels kernels;
    struct gsim_input *input;
    put(f, text, strlen(text));
    f->log = (struct gsim_log){0};
    enum gsim_status status =
        gsim_kernels_read(f->path, find(profiler), &iterations, f->arena, &kernels, &f->log);
    if (status != GSIM_OK)
        return status;
    FILE *file = fopen(f->path, "wb");
    assert_non_null(file);
    status = gsim_kernels_write(&kernels, "h200", iterations, file, &f->log);
    assert_int_equal(fclose(file), 0);
    if (status != GSIM_OK)
        return status;
    assert_int_equal(gsim_input_open(f->path, f->arena, &input, &f->log), GSIM_OK);
    status = gsim_app_read(input, f->arena, app, &f->log);
    gsim_input_close(input);
    return status;
}

static void expect_kernel(const struct gsim_app *app, uint32_t k, const char *name, int64_t count,
                          int64_t time_ns) {
    assert_true(k < app->n_kernels);
    assert_string_equal(app->kernels[k].name, name);
    assert_int_equal(app->kernels[k].count, count);
    assert_int_equal(app->kernels[k].time_ns, time_ns);
    assert_string_equal(app->kernels[k].device, "h200");
}

/* 10 iterations: gemm runs 4 times each, 40 in 8 ms, 200 us a launch. Of relu's 25 launches in 50 us
 * each iteration has 2.5: written as 3, which take 50 us / 10 / 3 = 1.667 us each. init runs once in
 * all, 10 us: an iteration bears a tenth of it, 1 us. */
static void test_nsys(void **state) {
    struct fixture *f = *state;
    struct gsim_app app;
    static const char text[] = "Time (%),Total Time (ns),Instances,Avg (ns),Name\n"
                               "0.1,10000,1,10000.0,init\n"
                               "99.3,8000000,40,200000.0,\"gemm<float, 4>(\"\"x\"\")\"\n"
                               "0.6,50000,25,2000.0,relu\n";
    assert_int_equal(convert(f, "nsys", text, 10, &app), GSIM_OK);
    assert_int_equal(app.n_kernels, 3);
    expect_kernel(&app, 0, "gemm<float, 4>(\"x\")", 4, 200000);
    expect_kernel(&app, 1, "relu", 3, 1667);
    expect_kernel(&app, 2, "init", 1, 1000);
    assert_int_equal(app.gap_ns, 0);
    assert_non_null(strstr(f->log.warnings[0].text, "2 of 3 kernels do not run a whole number"));
    assert_int_equal(convert(f, "nsys", text, 0, &app), GSIM_BAD_INPUT);
    expect_error(f, " it does not say how many iterations it covers; give --iterations N");
}

#define EVENT(cat, name, dur)                                                                      \
    "{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name "\", \"ts\": 5.5, \"dur\": " dur     \
    ", \"args\": {\"device\": 0, \"name\": \"no\", \"dims\": [[1, 2], []]}}"
#define STEPS                                                                                      \
    EVENT("user_annotation", "ProfilerStep#3", "1000.5")                                           \
    ", " EVENT("user_annotation", "ProfilerStep#4",                                                \
               "999.5") ", " EVENT("gpu_user_annotation", "ProfilerStep#4",                        \
                                   "700") ", " EVENT("user_annotation", "Optimizer", "7")

/* Two steps of 2000 us together; kernels take 600 + 600 + 200 us: a gap of 300 us a step. */
static void test_kineto(void **state) {
    struct fixture *f = *state;
    struct gsim_app app;
    static const char events[] =
        "[" EVENT("kernel", "gemm", "600") ", " EVENT("kernel", "gemm", "600.000") ",\n" EVENT(
            "kernel", "relu",
            "100") ", " EVENT("kernel", "relu",
                              "100") ", " EVENT("gpu_memcpy", "Memcpy HtoD",
                                                "3") ", " EVENT("cpu_op", "aten::mm",
                                                                "9") ", " STEPS "]";
    char text[4096];
    (void)snprintf(text, sizeof text,
                   "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0}],\n"
                   "\"traceEvents\": %s, \"traceName\": \"x\"}",
                   events);
    for (int i = 0; i < 2; i++) { /* the object, and the list alone */
        assert_int_equal(convert(f, "kineto", i == 0 ? text : events, 0, &app), GSIM_OK);
        assert_int_equal(app.n_kernels, 2);
        expect_kernel(&app, 0, "gemm", 1, 600000);
        expect_kernel(&app, 1, "relu", 1, 100000);
        assert_int_equal(app.gap_ns, 300000);
        assert_non_null(strstr(f->log.warnings[0].text, "left out 1 copies and memsets"));
    }
    assert_int_equal(convert(f, "kineto", events, 4, &app), GSIM_OK);
    expect_kernel(&app, 0, "gemm", 1, 300000);
    assert_int_equal(app.gap_ns, 0);
}

/* Older versions have other categories; a mark without a duration is no step. */
static void test_an_old_kineto(void **state) {
    struct fixture *f = *state;
    struct gsim_app app;
    static const char text[] =
        "{\"traceEvents\": [{\"cat\": \"user_annotation\", \"name\": \"ProfilerStep#2\", \"ph\": "
        "\"i\"},\n" EVENT("Operator", "ProfilerStep#1", "400") ", " EVENT("Kernel", "k",
                                                                          "100") "]}";
    assert_int_equal(convert(f, "kineto", text, 0, &app), GSIM_OK);
    expect_kernel(&app, 0, "k", 1, 100000);
    assert_int_equal(app.gap_ns, 300000);
}

static void test_profiles_that_do_not_do(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *profiler, *text, *expected;
    } cases[] = {
        {"nsys", "Name,Instances\nk,1\n", "1: no column 'Total Time (ns)'"},
        {"nsys", "Name,Instances,Total Time (ns)\nk,0,5\n", "2: column 'Instances' is not a whole"},
        {"nsys", "Name,Instances,Total Time (ns)\nk,1,5.5\n", "2: column 'Total Time (ns)' is not"},
        {"nsys", "Name,Instances,Total Time (ns)\n,1,5\n", "2: column 'Name' is not a name"},
        {"nsys", "Name,Instances,Total Time (ns)\n", " no kernel ran on a GPU"},
        {"nsys",
         "Name,Instances,Total Time (ns)\nk,1,4000000000000000000\nl,1,4000000000000000000\n",
         "3: kernel 'l': the time lies past the end of the clock"},
        {"nsys", "Name,Instances,Total Time (ns)\nk,1,99000000000000\n", " an iteration of more"},
        {"kineto", "{\"traceEvents\": [", "1: parse error: premature EOF"},
        {"kineto", "{\"traceEvents\": []}", " no kernel ran on a GPU"},
        {"kineto", "[\n[]]", "2: in the list of events stands a list"},
        {"kineto", "[\n7]", "2: a number where events stand"},
        {"kineto", "[\n{\"cat\": \"kernel\", \"name\": \"k\", \"dur\": -1}]", "2: key 'dur': '-1'"},
        {"kineto", "[\n{\"cat\": \"kernel\", \"name\": \"k\", \"dur\": \"1\"}]",
         "2: key 'dur': '1'"},
        {"kineto", "[\n{\"cat\": \"kernel\", \"name\": \"k\"}]",
         "2: a kernel without a name or a duration"},
        {"kineto", "[{\"cat\": \"kernel\", \"name\": \"k\", \"dur\": 1e99}]",
         "1: key 'dur': '1e99'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gsim_app app;
        assert_int_equal(convert(f, cases[i].profiler, cases[i].text, 1, &app), GSIM_BAD_INPUT);
        expect_error(f, cases[i].expected);
    }
}

/* Call stacks and mangled names may be of any length: they are cut, not refused. */
static void test_long_texts_are_cut(void **state) {
    struct fixture *f = *state;
    struct gsim_app app;
    enum { LENGTH = 100000 };
    char *text = malloc(LENGTH + 200);
    assert_non_null(text);
    int at = snprintf(text, 100, "[{\"cat\": \"kernel\", \"dur\": 2, \"name\": \"");
    memset(text + at, 'k', LENGTH);
    (void)snprintf(text + at + LENGTH, 100, "\", \"x\": 1}]");
    assert_int_equal(convert(f, "kineto", text, 1, &app), GSIM_OK);
    assert_int_equal(strlen(app.kernels[0].name), GSIM_MAX_FIELD_BYTES);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_nsys),
        TEST(test_kineto),
        TEST(test_an_old_kineto),
        TEST(test_profiles_that_do_not_do),
        TEST(test_long_texts_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
