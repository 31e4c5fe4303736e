/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A device profile with the arena and the log that it needs, for tests of profiles. */
#ifndef GSIM_TESTS_SUPPORT_PROFILE_FIXTURE_H
#define GSIM_TESTS_SUPPORT_PROFILE_FIXTURE_H

#include <stdlib.h>

#include "models/hardware/profile.h"

struct fixture {
    struct gsim_arena *arena;
    struct gsim_log log;
    struct gsim_profile profile;
};

static inline int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    if (!f)
        return -1;
    f->arena = gsim_arena_new();
    *state = f;
    return f->arena ? 0 : -1;
}

static inline int teardown(void **state) {
    struct fixture *f = *state;
    gsim_arena_free(f->arena);
    free(f);
    return 0;
}

static inline enum gsim_status load(struct fixture *f, const char *name) {
    f->log = (struct gsim_log){0};
    return gsim_profile_load(name, f->arena, &f->profile, &f->log);
}

#endif
