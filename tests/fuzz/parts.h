/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Readers that take bytes by themselves, in this process and in memory: ten thousands of inputs a
 * second, where a whole command (target.h) is a hundred. */
#ifndef GSIM_TESTS_FUZZ_PARTS_H
#define GSIM_TESTS_FUZZ_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "gsim/arena.h"
#include "gsim/status.h"

struct fuzz_in {
    const char *argument; /* of the table's line */
    const char *bytes; /* the input, up to the line "===" if there is one; ends with a NUL */
    size_t n;
    const char *rest; /* what is behind that line; NULL: there is none */
    size_t n_rest;
    struct gsim_arena *arena;
    struct gsim_log *log;
    const char *wrong; /* a promise that was broken; NULL: none was */
};

struct fuzz_part {
    const char *name;
    enum gsim_status (*read)(struct fuzz_in *in);
    const char *argument;
};

/* The parts of parts.def and of traces/list.def; ends with a NULL name. */
extern const struct fuzz_part fuzz_parts[];

/* To be called once, before fuzz_part_one. */
bool fuzz_parts_begin(void);
/* NULL: fine; else the promise that was broken. */
const char *fuzz_part_one(const struct fuzz_part *part, const uint8_t *bytes, size_t n);
/* The part of that name, or NULL. */
const struct fuzz_part *fuzz_part_find(const char *name);
/* A file of the input's bytes; and one of those behind the line "===", NULL where there is none. */
const char *fuzz_path(const struct fuzz_in *in);
const char *fuzz_table(const struct fuzz_in *in);
/* Keeps a text for in->wrong until the next input. */
__attribute__((format(printf, 2, 3))) void fuzz_wrong(struct fuzz_in *in, const char *format, ...);

#define FUZZ_PART(name, reader, argument) enum gsim_status fuzz_##reader(struct fuzz_in *in);
#include "tests/fuzz/parts.def"
#undef FUZZ_PART
enum gsim_status fuzz_trace(struct fuzz_in *in);

#endif
