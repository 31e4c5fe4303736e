/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace file in a folder of its own, for the tests of readers and generators. */
#ifndef GSIM_TESTS_SUPPORT_TRACE_FILE_H
#define GSIM_TESTS_SUPPORT_TRACE_FILE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "traces/read.h"

#define S GSIM_NS_PER_S
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

/* One file in a folder of its own, read into an arena. */
struct fixture {
    char folder[64], path[96];
    struct gsim_arena *arena;
    struct gsim_log log;
    struct gsim_trace trace;
};

static inline int open_fixture(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    *state = f;
    if (!f)
        return -1;
    (void)snprintf(f->folder, sizeof f->folder, "/tmp/gsim_test_XXXXXX");
    f->arena = gsim_arena_new();
    if (!f->arena || !mkdtemp(f->folder))
        return -1;
    (void)snprintf(f->path, sizeof f->path, "%s/trace.csv", f->folder);
    return 0;
}

static inline int close_fixture(void **state) {
    struct fixture *f = *state;
    gsim_arena_free(f->arena);
    (void)unlink(f->path);
    (void)rmdir(f->folder);
    free(f);
    return 0;
}

static inline void put(const struct fixture *f, const void *bytes, size_t n) {
    FILE *file = fopen(f->path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

static inline enum gsim_status read_put(struct fixture *f) {
    f->log = (struct gsim_log){0};
    f->trace = (struct gsim_trace){0};
    return gsim_trace_read(f->path, NULL, NULL, f->arena, &f->trace, &f->log);
}

static inline enum gsim_status read_text(struct fixture *f, const char *text) {
    put(f, text, strlen(text));
    return read_put(f);
}

/* Checks that the first error is "FILE:" followed by the expected text, both parts of the
 * message. */
static inline void expect_error(struct fixture *f, const char *expected) {
    assert_true(f->log.n_errors > 0);
    char whole[GSIM_LOG_TEXT];
    (void)snprintf(whole, sizeof whole, "%s:%s", f->path, expected);
    if (strncmp(f->log.errors[0].text, whole, strlen(whole)) != 0)
        assert_string_equal(f->log.errors[0].text, whole);
}

static inline void refuse(struct fixture *f, const char *text, const char *expected) {
    assert_int_equal(read_text(f, text), GSIM_BAD_INPUT);
    expect_error(f, expected);
}

static inline void expect_same(const struct gsim_trace *a, const struct gsim_trace *b) {
    assert_int_equal(a->n_jobs, b->n_jobs);
    for (uint32_t i = 0; i < a->n_jobs; i++) {
        assert_string_equal(gsim_trace_id(a, i), gsim_trace_id(b, i));
        assert_int_equal(a->submit_ns[i], b->submit_ns[i]);
        assert_int_equal(a->service_ns[i], b->service_ns[i]);
        assert_int_equal(gsim_trace_gpus(a, i), gsim_trace_gpus(b, i));
        assert_int_equal(gsim_trace_share(a, i), gsim_trace_share(b, i));
        for (int c = 0; c < GSIM_COL_COUNT; c++) {
            int64_t x = gsim_trace_get(a, (enum gsim_column)c, i);
            int64_t y = gsim_trace_get(b, (enum gsim_column)c, i);
            if (a->names[c].n && x >= 0 && y >= 0)
                assert_string_equal(a->names[c].name[x], b->names[c].name[y]);
            else if (c != GSIM_COL_SHARE_PPM)
                assert_int_equal(x, y);
        }
    }
}

#endif
