/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What profilers write, and the programs that are made of it: a program that was written can be
 * read. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/parts.h"
#include "traces/apps.h"
#include "traces/input.h"
#include "traces/ncu.h"
#include "traces/profiler.h"
#include "traces/timeline.h"

static enum gsim_status read_app(struct fuzz_in *in, const void *bytes, size_t n,
                                 struct gsim_log *log) {
    struct gsim_input *input = NULL;
    struct gsim_app app;
    enum gsim_status status = gsim_input_open_bytes("app.csv", bytes, n, in->arena, &input, log);
    if (status == GSIM_OK)
        status = gsim_app_read(input, in->arena, &app, log);
    gsim_input_close(input);
    return status;
}

enum gsim_status fuzz_app(struct fuzz_in *in) {
    return read_app(in, in->bytes, in->n, in->log);
}

/* What was written is read, if it could be. */
static enum gsim_status read_again(struct fuzz_in *in, enum gsim_status status, char *text,
                                   size_t n) {
    static struct gsim_log log;
    log.n_errors = log.n_warnings = 0;
    if (status == GSIM_OK && read_app(in, text, n, &log) != GSIM_OK)
        fuzz_wrong(in, "a program that was written is not read: %s", log.errors[0].text);
    free(text);
    return status;
}

enum gsim_status fuzz_kineto(struct fuzz_in *in) {
    extern const struct gsim_profiler gsim_profiler_kineto;
    struct gsim_kernels kernels;
    int64_t iterations = 1;
    char *text = NULL;
    size_t n = 0;
    enum gsim_status status = gsim_profiler_read(fuzz_path(in), &gsim_profiler_kineto, &iterations,
                                                 in->arena, &kernels, in->log);
    FILE *out = status == GSIM_OK ? open_memstream(&text, &n) : NULL;
    if (!out)
        return status;
    status = gsim_kernels_write(&kernels, "h200", iterations, out, in->log);
    (void)fclose(out);
    return read_again(in, status, text, n);
}

enum gsim_status fuzz_timeline(struct fuzz_in *in) {
    struct gsim_timeline timeline;
    char *text = NULL;
    size_t n = 0;
    enum gsim_status status =
        gsim_timeline_init(&timeline, fuzz_path(in), NULL, in->arena, in->log);
    timeline.has_phases = in->argument != NULL;
    if (status == GSIM_OK)
        status = gsim_timeline_read(&timeline);
    if (status == GSIM_OK)
        status = gsim_timeline_fold(&timeline);
    FILE *out = status == GSIM_OK ? open_memstream(&text, &n) : NULL;
    if (!out)
        return status;
    status = gsim_timeline_write(&timeline, "h200", 0, NULL, out);
    (void)fclose(out);
    return read_again(in, status, text, n);
}

enum gsim_status fuzz_ncu(struct fuzz_in *in) {
    struct gsim_ncu ncu;
    enum gsim_status status = gsim_ncu_read(fuzz_path(in), in->arena, &ncu, in->log);
    if (status == GSIM_OK)
        (void)gsim_ncu_traffic(&ncu, "void kernel<float>(int)", 1, 1);
    return status;
}
