/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/profiler.h"

#include <string.h>

#include "traces/input.h"
#include "traces/overlap.h"

#define GSIM_PROFILER(symbol) extern const struct gsim_profiler gsim_profiler_##symbol;
#include "traces/profilers.def"
#undef GSIM_PROFILER

const struct gsim_profiler *const gsim_profilers[] = {
#define GSIM_PROFILER(symbol) &gsim_profiler_##symbol,
#include "traces/profilers.def"
#undef GSIM_PROFILER
    NULL};

static enum gsim_status check(const struct gsim_kernels *kernels, int64_t *iterations,
                              struct gsim_log *log) {
    if (gsim_kernels_n(kernels) == 0)
        return gsim_fail(log, GSIM_BAD_INPUT, kernels->path, 0, "no kernel ran on a GPU");
    if (kernels->total_ns == 0)
        return gsim_fail(
            log, GSIM_BAD_INPUT, kernels->path, kernels->first_line,
            "this kernel and all others last 0 ns, so an iteration would take no time; "
            "a profile has the kernels' durations");
    if (*iterations == 0)
        *iterations = kernels->n_steps;
    if (*iterations > 0)
        return GSIM_OK;
    return gsim_fail(log, GSIM_BAD_INPUT, kernels->path, 0,
                     "the profile does not say how many iterations it covers; give --iterations N");
}

static bool ends_with(const char *text, const char *ending) {
    size_t n = strlen(text), length = strlen(ending);
    return n >= length && strcmp(text + n - length, ending) == 0;
}

/* Refuses Nsight Systems' own files: their tools make a table of them. */
static enum gsim_status refuse_nsight(struct gsim_input *input, struct gsim_log *log) {
    static const char magic[] = "SQLite format 3";
    const char *path = gsim_input_path(input), *bytes;
    size_t n;
    enum gsim_status status = gsim_input_peek(input, &bytes, &n, log);
    if (status != GSIM_OK)
        return status;
    bool is_sqlite = n >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
    if (!is_sqlite && !ends_with(path, ".nsys-rep") && !ends_with(path, ".qdrep"))
        return GSIM_OK;
    return gsim_fail(
        log, GSIM_BAD_INPUT, path, 0,
        "%s; gsim reads its summary: nsys stats --quiet --report cuda_gpu_kern_sum --format csv %s "
        ">kernels.csv && gsim import nsys kernels.csv --device NAME --iterations N -o app.csv",
        is_sqlite ? "a database, as Nsight Systems exports it" : "a report of Nsight Systems",
        path);
}

enum gsim_status gsim_profiler_read(const char *path, const struct gsim_profiler *profiler,
                                    int64_t *iterations, struct gsim_arena *arena,
                                    struct gsim_kernels *out, struct gsim_log *log) {
    struct gsim_builder *names = gsim_arena_alloc(arena, sizeof *names);
    struct gsim_input *input = NULL;
    if (!names)
        return gsim_no_memory(log, "reading a profile");
    gsim_build_init(names, path, arena, log);
    *out = (struct gsim_kernels){.names = names, .path = path};
    enum gsim_status status = gsim_input_open(path, arena, &input, log);
    if (status == GSIM_OK)
        status = refuse_nsight(input, log);
    if (status == GSIM_OK)
        status = profiler->read(input, out, arena, log);
    gsim_input_close(input);
    if (status == GSIM_OK)
        status = gsim_overlap_charge(out, log);
    return status == GSIM_OK ? check(out, iterations, log) : status;
}
