/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An application's file, for the tests of applications and programs. */
#ifndef GSIM_TESTS_SUPPORT_APP_FILE_H
#define GSIM_TESTS_SUPPORT_APP_FILE_H

#include "sim/app/setup/apps.h"
#include "tests/support/trace_file.h"
#include "traces/apps.h"

static inline enum gsim_status read_app(struct fixture *f, const char *text, struct gsim_app *app) {
    put(f, text, strlen(text));
    f->log = (struct gsim_log){0};
    return gsim_apps_load(f->path, NULL, 0, f->arena, app, &f->log);
}

static inline void refuse_app(struct fixture *f, const char *text, const char *expected) {
    struct gsim_app app;
    assert_int_equal(read_app(f, text, &app), GSIM_BAD_INPUT);
    expect_error(f, expected);
}

#endif
