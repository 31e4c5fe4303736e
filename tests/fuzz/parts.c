/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of parts, and what holds of every one: a status and the log say one thing. Files are in
 * memory (memfd), so that readers which take a path are called as users call them. */
#define _GNU_SOURCE 1 /* memfd_create */
#include "tests/fuzz/parts.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MARK "\n===\n"

const struct fuzz_part fuzz_parts[] = {
#define GSIM_TRACE_FORMAT(symbol) {"trace_" #symbol, fuzz_trace, #symbol},
#include "traces/list.def"
#undef GSIM_TRACE_FORMAT
#define FUZZ_PART(name, reader, argument) {#name, fuzz_##reader, argument},
#include "tests/fuzz/parts.def"
#undef FUZZ_PART
    {NULL, NULL, NULL}};

enum { N_FILES = 2, KEPT_BYTES = 64 << 20 };

static struct {
    int file;
    char path[32];
} files[N_FILES];
static char wrong[512];

bool fuzz_parts_begin(void) {
    /* blocks of a reader's size come from the heap, and not from the kernel each time */
    (void)mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
    (void)mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    for (int i = 0; i < N_FILES; i++) {
        files[i].file = memfd_create("input", MFD_CLOEXEC);
        if (files[i].file < 0)
            return false;
        (void)snprintf(files[i].path, sizeof files[i].path, "/proc/self/fd/%d", files[i].file);
    }
    return true;
}

const struct fuzz_part *fuzz_part_find(const char *name) {
    for (const struct fuzz_part *part = fuzz_parts; name && part->name; part++)
        if (strcmp(part->name, name) == 0)
            return part;
    return NULL;
}

void fuzz_wrong(struct fuzz_in *in, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(wrong, sizeof wrong, format, args);
    va_end(args);
    in->wrong = wrong;
}

static const char *put(int i, const char *bytes, size_t n) {
    if (ftruncate(files[i].file, 0) != 0 || pwrite(files[i].file, bytes, n, 0) != (ssize_t)n)
        abort();
    return files[i].path;
}

const char *fuzz_path(const struct fuzz_in *in) {
    return put(0, in->bytes, in->n);
}

const char *fuzz_table(const struct fuzz_in *in) {
    return in->rest ? put(1, in->rest, in->n_rest) : NULL;
}

static void check_log(struct fuzz_in *in, enum gsim_status status) {
    const struct gsim_log *log = in->log;
    if (status > GSIM_INCOMPLETE)
        fuzz_wrong(in, "status %d, which nothing documents", (int)status);
    else if (status != GSIM_OK && log->n_errors == 0)
        fuzz_wrong(in, "it failed without a word");
    else if (status == GSIM_OK && log->n_errors > 0)
        fuzz_wrong(in, "it went on after: %.400s", log->errors[0].text);
}

const char *fuzz_part_one(const struct fuzz_part *part, const uint8_t *bytes, size_t n) {
    static struct gsim_log log;
    char *text = malloc(n + 1);
    struct fuzz_in in = {.argument = part->argument, .arena = gsim_arena_new(), .log = &log};
    if (!text || !in.arena)
        abort();
    log.status = GSIM_OK;
    log.n_errors = log.n_warnings = 0;
    memcpy(text, bytes, n);
    text[n] = '\0';
    char *mark = strstr(text, MARK);
    in.bytes = text;
    in.n = mark ? (size_t)(mark + 1 - text) : n;
    in.rest = mark ? mark + sizeof MARK - 1 : NULL;
    in.n_rest = mark ? n - in.n - (sizeof MARK - 2) : 0;
    text[in.n] = '\0';
    check_log(&in, part->read(&in));
    gsim_arena_free(in.arena);
    free(text);
    return in.wrong;
}
