/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces of each format, alone or joined with a table. A trace that was read is written as
 * `gsim import` does; what was written is read again, and has equal cells. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gsim/trace.h"
#include "gsim/units.h"
#include "tests/fuzz/parts.h"
#include "traces/cells.h"

struct written {
    char *text;
    size_t n;
};

static struct written write_trace(const struct gsim_trace *trace) {
    struct written w = {NULL, 0};
    FILE *out = open_memstream(&w.text, &w.n);
    if (!out)
        abort();
    gsim_trace_write(trace, out);
    (void)fclose(out);
    return w;
}

/* Ids and texts have other positions in another trace. */
static bool is_same_cell(const struct gsim_trace *a, uint32_t job_a, const struct gsim_trace *b,
                         uint32_t job_b, enum gsim_column column) {
    char text_a[GSIM_MAX_FIELD_BYTES + 1], text_b[GSIM_MAX_FIELD_BYTES + 1];
    int64_t cell = gsim_trace_get(a, column, job_a), again = gsim_trace_get(b, column, job_b);
    if (column == GSIM_COL_AFTER && cell >= 0 && !gsim_trace_is_writable(a, (uint32_t)cell))
        cell = -1;
    if (!gsim_cell_is_text(column) && column != GSIM_COL_AFTER)
        return cell == again;
    gsim_cell_format(a, column, cell, text_a, sizeof text_a);
    gsim_cell_format(b, column, again, text_b, sizeof text_b);
    return strcmp(text_a, text_b) == 0;
}

static void compare_job(struct fuzz_in *in, const struct gsim_trace *a, uint32_t job_a,
                        const struct gsim_trace *b, uint32_t job_b) {
    const char *id = gsim_trace_id(a, job_a);
    if (strcmp(id, gsim_trace_id(b, job_b)) != 0)
        fuzz_wrong(in, "job '%.200s' is '%.200s' where it is read again", id,
                   gsim_trace_id(b, job_b));
    if (a->submit_ns[job_a] != b->submit_ns[job_b] ||
        a->service_ns[job_a] != b->service_ns[job_b] ||
        gsim_trace_gpus(a, job_a) != gsim_trace_gpus(b, job_b) ||
        gsim_trace_share(a, job_a) != gsim_trace_share(b, job_b))
        fuzz_wrong(in, "job '%.200s' has other times or GPUs where it is read again", id);
    for (int c = 0; c < GSIM_COL_COUNT; c++)
        if (c != GSIM_COL_SHARE_PPM && !is_same_cell(a, job_a, b, job_b, (enum gsim_column)c))
            fuzz_wrong(in, "job '%.200s' has another %s where it is read again", id,
                       gsim_columns[c].name);
}

static void read_again(struct fuzz_in *in, const struct gsim_trace *trace) {
    static struct gsim_log log;
    struct written w = write_trace(trace);
    struct gsim_trace_options options = {.bytes = w.text, .n_bytes = w.n};
    struct gsim_trace again = {0};
    uint32_t n = 0;
    log.n_errors = log.n_warnings = 0;
    if (gsim_trace_read("written.csv", "native", &options, in->arena, &again, &log) != GSIM_OK)
        fuzz_wrong(in, "a trace that was written is not read: %s", log.errors[0].text);
    for (uint32_t job = 0; !in->wrong && job < trace->n_jobs; job++)
        if (gsim_trace_is_writable(trace, job) && n++ < again.n_jobs)
            compare_job(in, trace, job, &again, n - 1);
    if (!in->wrong && n != again.n_jobs)
        fuzz_wrong(in, "%u jobs were written, and %u are read", n, again.n_jobs);
    free(w.text);
}

static void check_jobs(struct fuzz_in *in, const struct gsim_trace *trace) {
    for (uint32_t nth = 0; nth < trace->n_jobs; nth++) {
        uint32_t job = gsim_trace_arrival(trace, nth);
        if (job >= trace->n_jobs || !*gsim_trace_id(trace, job))
            fuzz_wrong(in, "job %u is none, or has no name", job);
        else if (trace->submit_ns[job] < 0 || trace->submit_ns[job] > GSIM_TIME_MAX ||
                 trace->service_ns[job] < 0 || trace->service_ns[job] > GSIM_TIME_MAX)
            fuzz_wrong(in, "job %u has times below 0 or beyond the last", job);
        else if (nth > 0 &&
                 trace->submit_ns[gsim_trace_arrival(trace, nth - 1)] > trace->submit_ns[job])
            fuzz_wrong(in, "job %u is not in the order of arrivals", job);
        else if (gsim_trace_gpus(trace, job) < 1 || gsim_trace_gpus(trace, job) > GSIM_MAX_GANG)
            fuzz_wrong(in, "job %u has %u GPUs", job, gsim_trace_gpus(trace, job));
    }
}

static enum gsim_status read_and_check(struct fuzz_in *in, const char *format,
                                       struct gsim_trace_options *options) {
    struct gsim_trace trace = {0};
    options->bytes = in->bytes;
    options->n_bytes = in->n;
    options->is_lenient = true;
    enum gsim_status status =
        gsim_trace_read("trace.csv", format, options, in->arena, &trace, in->log);
    if (status != GSIM_OK)
        return status;
    check_jobs(in, &trace);
    bool is_writable = false;
    for (uint32_t job = 0; job < trace.n_jobs; job++)
        is_writable |= gsim_trace_is_writable(&trace, job);
    if (!in->wrong && is_writable)
        read_again(in, &trace);
    return status;
}

enum gsim_status fuzz_trace(struct fuzz_in *in) {
    struct gsim_trace_options options = {.by_model = fuzz_table(in)};
    return read_and_check(in, in->argument, &options);
}

enum gsim_status fuzz_joined(struct fuzz_in *in) {
    const char *which = in->argument, *table = fuzz_table(in);
    struct gsim_trace_options options = {.rates = strcmp(which, "rates") == 0 ? table : NULL,
                                         .goodput = strcmp(which, "goodput") == 0 ? table : NULL,
                                         .by_model = strcmp(which, "by_model") == 0 ? table : NULL,
                                         .gpu_mem = strcmp(which, "gpu_mem") == 0 ? table : NULL,
                                         .table = strcmp(which, "table") == 0 ? table : NULL};
    return read_and_check(in, strcmp(which, "table") == 0 ? "pai" : NULL, &options);
}
