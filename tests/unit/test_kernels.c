/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Application profiles from profilers: an iteration costs what was measured, and the profile that
 * is written is one that can be read. */
#define _POSIX_C_SOURCE 200809L
#include "sim/base/wide.h"
#include "tests/support/trace_file.h"
#include "traces/apps.h"
#include "traces/overlap.h"
#include "traces/profiler.h"

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
        gsim_profiler_read(f->path, find(profiler), &iterations, f->arena, &kernels, &f->log);
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
    expect_error(f, " the profile does not say how many iterations it covers; give --iterations N");
}

#define EVENT(cat, name, dur) EVENT_AT("5.5", cat, name, dur)
#define EVENT_AT(ts, cat, name, dur)                                                               \
    "{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name "\", \"ts\": " ts ", \"dur\": " dur  \
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
    static const char events[] = "[" EVENT_AT("0", "kernel", "gemm", "600") ", " EVENT_AT(
        "1000", "kernel", "gemm",
        "600.000") ",\n" EVENT_AT("700", "kernel", "relu",
                                  "100") ", " EVENT_AT("1600", "kernel", "relu",
                                                       "100") ", " EVENT("gpu_memcpy",
                                                                         "Memcpy HtoD",
                                                                         "3") ", " EVENT("cpu_op",
                                                                                         "aten::mm",
                                                                                         "9") ","
                                                                                              " " STEPS
                                                                                              "]";
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
    assert_int_equal(app.gap_ns, 150000); /* (2000 - 1400) us / 4 */
}

/* A step of 1000 us. gemm runs from 0 to 400 us, nccl beside it from 100 to 700 us, a second nccl from
 * 200 to 300 us, and relu from 800 to 900 us: the GPU is busy for 800 us. From 100 to 200 and from 300
 * to 400 us two run, from 200 to 300 us three: gemm is charged 100 + 50 + 33.3 + 50 us, nccl the 300 us
 * that it is alone, 50 + 50 us of two thirds, and 2 x 33.3 us, 466.7 us in two launches. */
#define STREAMS                                                                                    \
    EVENT_AT("700000000000800", "kernel", "relu", "100")                                           \
    ", " EVENT_AT("700000000000000", "kernel", "gemm", "400") ", " EVENT_AT(                       \
        "700000000000100", "kernel", "nccl", "600") ", " EVENT_AT("700000000000200", "kernel",     \
                                                                  "nccl", "100")
static void test_streams_that_overlap(void **state) {
    struct fixture *f = *state;
    struct gsim_app app;
    static const char with_step[] =
        "[" STREAMS ", " EVENT("user_annotation", "ProfilerStep#1", "1000") "]";
    assert_int_equal(convert(f, "kineto", with_step, 0, &app), GSIM_OK);
    assert_int_equal(app.n_kernels, 3);
    expect_kernel(&app, 0, "nccl", 2,
                  233334); /* of one launch: 466667 ns, with what rounding left */
    expect_kernel(&app, 1, "gemm", 1, 233333);
    expect_kernel(&app, 2, "relu", 1, 100000);
    assert_int_equal(app.gap_ns, 200000);
    assert_non_null(strstr(f->log.warnings[0].text, "3 of 4 kernels ran beside others"));
    assert_non_null(strstr(f->log.warnings[0].text, "for 0.3 ms of the 0.8 ms"));
    /* Without a step: from 0 to 900 us the GPU has nothing to do for 100 us. */
    assert_int_equal(convert(f, "kineto", "[" STREAMS "]", 1, &app), GSIM_OK);
    assert_int_equal(app.gap_ns, 100000);
    assert_non_null(strstr(f->log.warnings[1].text, "the profile has no steps"));
    /* Kernels outside of the steps. */
    assert_int_equal(convert(f, "kineto",
                             "[" STREAMS ", " EVENT("user_annotation", "ProfilerStep#1", "9") "]",
                             0, &app),
                     GSIM_OK);
    assert_int_equal(app.gap_ns, 0);
    assert_non_null(strstr(f->log.warnings[1].text, "some ran outside of them"));
}

/* Random launches: what kernels are charged is the length of the union of their intervals, which is
 * counted instant by instant. */
static void test_charges_are_the_union(void **state) {
    struct fixture *f = *state;
    enum { LENGTH = 2000, N = 60 };
    uint64_t seed = 7;
    for (int trial = 0; trial < 50; trial++) {
        struct gsim_builder *names = gsim_arena_alloc(f->arena, sizeof *names);
        bool is_busy[LENGTH] = {false};
        int64_t sum = 0, n_busy = 0;
        assert_non_null(names);
        f->log = (struct gsim_log){0};
        gsim_build_init(names, "x", f->arena, &f->log);
        struct gsim_kernels kernels = {.names = names, .path = "x"};
        for (int i = 0; i < N; i++) {
            int64_t begin = (int64_t)(gsim_mix_next(&seed) % (LENGTH - 100));
            int64_t length = (int64_t)(gsim_mix_next(&seed) % 100);
            char name[2] = {(char)('a' + i % 7), '\0'};
            assert_int_equal(gsim_overlap_add(&kernels, name, 1, begin, length, 1), GSIM_OK);
            for (int64_t t = begin; t < begin + length; t++)
                is_busy[t] = true;
        }
        assert_int_equal(gsim_overlap_charge(&kernels, &f->log), GSIM_OK);
        for (int t = 0; t < LENGTH; t++)
            n_busy += is_busy[t];
        for (uint32_t k = 0; k < gsim_kernels_n(&kernels); k++)
            sum += kernels.sum[k].total_ns;
        assert_int_equal(kernels.total_ns, n_busy);
        assert_int_equal(sum, n_busy);
    }
}

/* The name of the GPU: by the number that kernels say, or the only one. */
static void test_the_gpu_of_a_kineto(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *devices, *gpu;
    } cases[] = {
        {"[{\"id\": 1, \"name\": \"B\"}, {\"id\": 0, \"name\": \"A\"}]", "A"},
        {"[{\"name\": \"C\", \"x\": [1, {\"name\": \"D\"}]}]", "C"},
        {"[]", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gsim_kernels kernels;
        char text[1000];
        int64_t iterations = 1;
        (void)snprintf(text, sizeof text, "{\"deviceProperties\": %s, \"traceEvents\": [%s]}",
                       cases[i].devices, EVENT("kernel", "k", "5"));
        put(f, text, strlen(text));
        assert_int_equal(
            gsim_profiler_read(f->path, find("kineto"), &iterations, f->arena, &kernels, &f->log),
            GSIM_OK);
        if (cases[i].gpu)
            assert_string_equal(kernels.gpu, cases[i].gpu);
        else
            assert_null(kernels.gpu);
    }
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
        {"kineto", "[{\"cat\": \"kernel\", \"name\": \"k\", \"ts\": \"x\", \"dur\": 1}]",
         "1: key 'ts': 'x'"},
        {"kineto", "[{\"cat\": \"kernel\", \"name\": \"k\", \"ts\": 9e15, \"dur\": 1}]",
         "1: kernel 'k': the time lies past the end of the clock"},
        {"kineto",
         "[\n{\"cat\": \"kernel\", \"name\": \"k\", \"ts\": 1, \"dur\": 0},\n"
         "{\"cat\": \"kernel\", \"name\": \"l\", \"ts\": 1, \"dur\": 0}]",
         "2: this kernel and all others last 0 ns"},
        {"kineto",
         "[{\"cat\": \"kernel\", \"name\": \"k\", \"dur\": 1, \"args\": {\"device\": 0}},\n"
         "{\"cat\": \"kernel\", \"name\": \"k\", \"dur\": 1, \"args\": {\"device\": 3}}]",
         "2: a kernel of GPU 3 after kernels of GPU 0"},
        {"nsys", "Name,Instances,Total Time (ns)\nk,1,0\nl,2,0\n",
         "2: this kernel and all others last 0 ns"},
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
        TEST(test_streams_that_overlap),
        TEST(test_charges_are_the_union),
        TEST(test_the_gpu_of_a_kineto),
        TEST(test_profiles_that_do_not_do),
        TEST(test_long_texts_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
