/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The timeline writer on its own: the cap, names that are not JSON, rows for spans that overlap.
 * tests/cli/timeline.sh has whole runs. */
#define _POSIX_C_SOURCE 200809L
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/study/timeline.h"

enum { N_JOBS = 4, MOST_BYTES = 1 << 16 };

struct fixture {
    char path[64];
    struct gsim_arena *arena;
    struct gsim_log log;
    struct gsim_run_timeline *timeline;
    const struct gsim_observer *observer;
    struct gsim_trace trace;
    char text[MOST_BYTES];
};

static const char ids[] = "a\0\"\\\n\0\xff\xc3\xa4\xed\xa0\x80\0d";
static const uint32_t id_at[N_JOBS] = {0, 2, 6, 13};
static const int64_t submit_ns[N_JOBS] = {0, 0, 0, 0};
static const uint32_t node_of_gpu[2] = {0, 0};

static int open_fixture(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    *state = f;
    if (!f)
        return -1;
    f->arena = gsim_arena_new();
    (void)snprintf(f->path, sizeof f->path, "/tmp/gsim_timeline_XXXXXX");
    int file = mkstemp(f->path);
    if (file < 0 || close(file) != 0 || !f->arena)
        return -1;
    f->trace = (struct gsim_trace){
        .n_jobs = N_JOBS, .id_text = ids, .id_at = id_at, .submit_ns = submit_ns};
    return 0;
}

static int close_fixture(void **state) {
    struct fixture *f = *state;
    gsim_arena_free(f->arena);
    (void)unlink(f->path);
    free(f);
    return 0;
}

static void begin(struct fixture *f, int64_t most) {
    struct gsim_timeline_options options = {
        .path = f->path, .to_ns = GSIM_NEVER, .most = most, .has_kernels = true};
    struct gsim_scene scene = {.trace = &f->trace, .n_gpus = 2, .node_of_gpu = node_of_gpu};
    assert_int_equal(gsim_timeline_open(&options, f->arena, &f->timeline, &f->log), GSIM_OK);
    f->observer = gsim_timeline_observer(f->timeline, NULL);
    f->observer->begin(f->observer->arg, &scene);
}

static void tell(struct fixture *f, int64_t now_ns, uint32_t job, enum gsim_state from,
                 enum gsim_state to, const struct gsim_unit *units, uint32_t n_units) {
    struct gsim_change change = {.now_ns = now_ns,
                                 .job = job,
                                 .from = from,
                                 .to = to,
                                 .was_on = from == GSIM_RUNNING,
                                 .is_on = to == GSIM_RUNNING,
                                 .gpus = n_units,
                                 .share_ppm = (uint32_t)GSIM_PPM,
                                 .units = units,
                                 .n_units = n_units};
    f->observer->change(f->observer->arg, &change);
}

static void finish(struct fixture *f, int64_t now_ns) {
    f->observer->end(f->observer->arg, now_ns);
    assert_int_equal(gsim_timeline_close(f->timeline, &f->log), GSIM_OK);
    FILE *file = fopen(f->path, "rb");
    assert_non_null(file);
    size_t n = fread(f->text, 1, sizeof f->text - 1, file);
    f->text[n] = '\0';
    assert_int_equal(fclose(file), 0);
}

static void expect(const struct fixture *f, const char *part) {
    if (!strstr(f->text, part))
        assert_string_equal(f->text, part);
}

static void test_one_job(void **state) {
    struct fixture *f = *state;
    struct gsim_unit unit = {.gpu = 0};
    begin(f, GSIM_TIMELINE_MOST);
    tell(f, 1000, 0, GSIM_FREE, GSIM_QUEUED, NULL, 0);
    tell(f, 2500, 0, GSIM_QUEUED, GSIM_RUNNING, &unit, 1);
    tell(f, 5001, 0, GSIM_RUNNING, GSIM_DONE, &unit, 1);
    finish(f, 5001);
    expect(f, "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1.000,\"dur\":1.500,\"name\":\"queued a\"");
    expect(f, "{\"ph\":\"X\",\"pid\":10,\"tid\":1,\"ts\":2.500,\"dur\":2.501,\"name\":\"a\"");
    expect(f, "\"name\":\"busy GPUs\",\"ts\":2.500,\"args\":{\"value\":1}");
    expect(f, "\"name\":\"busy GPUs\",\"ts\":5.001,\"args\":{\"value\":0}");
    expect(f, "\"name\":\"process_name\",\"args\":{\"name\":\"GPU 0 (node 0)\"}");
    assert_int_equal(f->log.n_warnings, 0);
}

/* What is cut short ends with the run. */
static void test_cut(void **state) {
    struct fixture *f = *state;
    struct gsim_unit units[2] = {{.gpu = 0}, {.gpu = 1}};
    begin(f, GSIM_TIMELINE_MOST);
    tell(f, 0, 3, GSIM_FREE, GSIM_QUEUED, NULL, 0);
    tell(f, 0, 3, GSIM_QUEUED, GSIM_RUNNING, units, 2);
    finish(f, 7000);
    expect(f, "\"pid\":11,\"tid\":1,\"ts\":0.000,\"dur\":7.000,\"name\":\"d\"");
    expect(f, "\"pid\":1,\"tid\":1,\"ts\":0.000,\"dur\":7.000,\"name\":\"running d\"");
}

static void test_names(void **state) {
    struct fixture *f = *state;
    begin(f, GSIM_TIMELINE_MOST);
    tell(f, 0, 1, GSIM_FREE, GSIM_QUEUED, NULL, 0);
    tell(f, 0, 2, GSIM_FREE, GSIM_QUEUED, NULL, 0);
    finish(f, 1000);
    expect(f, "\"name\":\"queued \\\"\\\\\\u000a\"");
    expect(f, "\"name\":\"queued \\u00ff\xc3\xa4\\u00ed\\u00a0\\u0080\"");
}

/* Two jobs at a time: two counters at the start, and one span; the rest is counted. */
static void test_cap(void **state) {
    struct fixture *f = *state;
    begin(f, 3);
    tell(f, 0, 0, GSIM_FREE, GSIM_QUEUED, NULL, 0);
    tell(f, 0, 3, GSIM_FREE, GSIM_QUEUED, NULL, 0);
    finish(f, 9000);
    expect(f, "queued a");
    assert_null(strstr(f->text, "queued d"));
    expect(f, "\n],\"otherData\":{\"events_left_out\":1,\"from_ns\":9000}}\n");
    assert_int_equal(f->log.n_warnings, 1);
    assert_non_null(strstr(f->log.warnings[0].text, "3 events and no more: 1 that ended from 9us"));
}

/* A gang's end is there on all of its GPUs, or not at all: two counters and its waiting fit, its end on
 * two GPUs does not. */
static void test_full_between_gangs(void **state) {
    struct fixture *f = *state;
    struct gsim_unit units[2] = {{.gpu = 0}, {.gpu = 1}};
    begin(f, 6);
    tell(f, 0, 3, GSIM_FREE, GSIM_QUEUED, NULL, 0);
    tell(f, 1000, 3, GSIM_QUEUED, GSIM_RUNNING, units, 2);
    tell(f, 2000, 3, GSIM_RUNNING, GSIM_DONE, units, 2);
    finish(f, 3000);
    expect(f, "\"name\":\"queued d\"");
    assert_null(strstr(f->text, "\"pid\":10,\"tid\":1,\"ts\""));
    assert_null(strstr(f->text, "\"pid\":11,\"tid\":1,\"ts\""));
    expect(f, "\"events_left_out\"");
}

static void test_spans(void **state) {
    struct fixture *f = *state;
    struct gsim_span a = {.kind = GSIM_SPAN_COPY_IN, .gpu = 1, .end_ns = 4000, .bytes = 64};
    struct gsim_span b = a, c = a, d = a;
    b.begin_ns = 2000;
    b.end_ns = 6000;
    c.begin_ns = 4000;
    c.end_ns = 5000;
    d.kind = GSIM_SPAN_FAULT;
    begin(f, GSIM_TIMELINE_MOST);
    gsim_observe_span(NULL, &a);
    gsim_observe_span(f->observer, &a);
    gsim_observe_span(f->observer, &b);
    gsim_observe_span(f->observer, &c);
    gsim_observe_span(f->observer, &d);
    finish(f, 6000);
    /* b overlaps a and has a row of its own; c begins where a ends; faults are rows of their own */
    expect(f, "\"tid\":2000001,\"ts\":0.000,\"dur\":4.000");
    expect(f, "\"tid\":2000002,\"ts\":2.000,\"dur\":4.000");
    expect(f, "\"tid\":2000001,\"ts\":4.000,\"dur\":1.000");
    expect(f, "\"tid\":4000001,\"ts\":0.000,\"dur\":4.000,\"name\":\"a\",\"cat\":\"fault\"");
    expect(f, "\"args\":{\"name\":\"copies in 2\"}");
}

static void tell_kernel(struct fixture *f, int64_t begin_ns, int64_t end_ns, bool is_end) {
    struct gsim_span span = {.kind = GSIM_SPAN_KERNEL,
                             .job = 3,
                             .begin_ns = begin_ns,
                             .end_ns = end_ns,
                             .launch = {.kernel = "sum<\"x\">",
                                        .iteration = 5,
                                        .number = 7,
                                        .stream = 2,
                                        .blocks = 300,
                                        .threads = 128,
                                        .is_end = is_end}};
    gsim_observe_span(f->observer, &span);
}

static void tell_sms(struct fixture *f, int64_t now_ns, int64_t sms, int64_t blocks) {
    struct gsim_span span = {.kind = GSIM_SPAN_SMS,
                             .job = 3,
                             .begin_ns = now_ns,
                             .end_ns = now_ns,
                             .sms = sms,
                             .blocks = blocks};
    gsim_observe_span(f->observer, &span);
}

/* The parts of a kernel make one span; of counters only the last value of an instant counts. */
static void test_kernels(void **state) {
    struct fixture *f = *state;
    struct gsim_unit unit = {.gpu = 0};
    begin(f, GSIM_TIMELINE_MOST);
    tell(f, 0, 3, GSIM_FREE, GSIM_QUEUED, NULL, 0);
    tell(f, 0, 3, GSIM_QUEUED, GSIM_RUNNING, &unit, 1);
    tell_sms(f, 1000, 40, 80);
    tell_kernel(f, 1000, 2000, false);
    tell_sms(f, 2000, 0, 0);
    tell_sms(f, 2000, 132, 264);
    tell_kernel(f, 2000, 2500, true);
    tell_sms(f, 2500, 10, 20);
    tell_kernel(f, 2600, 2700, false);
    tell_kernel(f, 2900, 3000, true);
    tell(f, 4000, 3, GSIM_RUNNING, GSIM_DONE, &unit, 1);
    finish(f, 4000);
    expect(
        f,
        "\"tid\":5000001,\"ts\":1.000,\"dur\":1.500,\"name\":\"sum<\\\"x\\\">\",\"cat\":\"kernel\","
        "\"args\":{\"job\":\"d\",\"iteration\":5,\"launch\":7,\"grid\":300,\"threads\":128,"
        "\"resident\":264}}");
    expect(f, "\"ts\":2.600,\"dur\":0.100,");
    expect(f, "\"resident\":20,\"cut\":true}}");
    expect(f, "\"ts\":2.900,\"dur\":0.100,");
    expect(f, "\"name\":\"SMs: d\",\"ts\":1.000,\"args\":{\"SMs\":40}}");
    expect(f, "\"name\":\"SMs: d\",\"ts\":2.000,\"args\":{\"SMs\":132}}");
    expect(f, "\"name\":\"blocks: d\",\"ts\":4.000,\"args\":{\"blocks\":0}}");
    assert_null(strstr(f->text, "\"ts\":2.000,\"args\":{\"SMs\":0}"));
    expect(f, "\"name\":\"kernels of d, stream 2\"");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_job, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(test_cut, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(test_names, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(test_cap, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(test_full_between_gangs, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(test_spans, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(test_kernels, open_fixture, close_fixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
