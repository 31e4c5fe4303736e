/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs on an H200 between whose kernels is no time, for the tests of programs. */
#ifndef GSIM_TESTS_SUPPORT_PROGRAMS_H
#define GSIM_TESTS_SUPPORT_PROGRAMS_H

#include "models/gpu/program_alone.h"
#include "tests/support/app_file.h"

#define US GSIM_NS_PER_US
#define HEAD "kind,name,count,time_us,device,threads,registers,stream,host_us,bytes,touches\n"

static inline struct gsim_profile h200(struct fixture *f) {
    struct gsim_profile profile;
    assert_int_equal(gsim_profile_load("h200", f->arena, &profile, &f->log), GSIM_OK);
    profile.value[GSIM_KEY_LAUNCH_BETWEEN_NS] = 0; /* so that times can be added up */
    return profile;
}

static inline const struct gsim_program *
program_on(struct fixture *f, const struct gsim_profile *profile, const char *text) {
    struct gsim_app *app = gsim_arena_alloc(f->arena, sizeof *app);
    const struct gsim_program *program = NULL;
    assert_int_equal(read_app(f, text, app), GSIM_OK);
    assert_int_equal(gsim_program_of(app, profile, f->arena, &program, &f->log), GSIM_OK);
    return program;
}

#endif
