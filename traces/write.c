/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a trace as native CSV: exact decimals, only the columns of the trace. */
#include "traces/read.h"

#include <string.h>

#include "traces/cells.h"
#include "traces/csv.h"
#include "traces/rows.h"
#include "traces/service.h"

static void put_decimal(int64_t value, int64_t scale, FILE *out) {
    char buffer[64];
    gsim_cell_decimal(buffer, value, scale);
    fputs(buffer, out);
}

/* The service time that a reader would derive for the row without a duration; -1: none. */
static int64_t service_without_duration(const struct gsim_trace *trace, uint32_t job) {
    int64_t cell[GSIM_COL_COUNT];
    for (int c = 0; c < GSIM_COL_COUNT; c++)
        cell[c] = gsim_trace_get(trace, (enum gsim_column)c, job);
    if (cell[GSIM_COL_APP] >= 0 || cell[GSIM_COL_REQUESTS] >= 0)
        return 0;
    return gsim_service_described(cell);
}

/* Jobs that are described by their iterations need no duration, which would be a second copy. */
static bool has_durations(const struct gsim_trace *trace) {
    bool is_described = (trace->column[GSIM_COL_ITERATIONS] &&
                         (trace->column[GSIM_COL_GPU_NS] || trace->column[GSIM_COL_APP])) ||
                        trace->column[GSIM_COL_REQUESTS];
    for (uint32_t job = 0; job < trace->n_jobs && is_described; job++)
        is_described = service_without_duration(trace, job) == trace->service_ns[job];
    return !is_described;
}

bool gsim_trace_is_writable(const struct gsim_trace *trace, uint32_t job) {
    uint32_t share = gsim_trace_share(trace, job);
    return share == GSIM_PPM || (share > 0 && gsim_trace_gpus(trace, job) == 1);
}

static void put_row(const struct gsim_trace *trace, uint32_t job, bool has_duration, FILE *out) {
    char cell[GSIM_MAX_FIELD_BYTES + 1];
    gsim_csv_put(gsim_trace_id(trace, job), out);
    fputc(',', out);
    put_decimal(trace->submit_ns[job], GSIM_NS_PER_S, out);
    if (has_duration) {
        fputc(',', out);
        put_decimal(trace->service_ns[job], GSIM_NS_PER_S, out);
    }
    fputc(',', out);
    if (gsim_trace_gpus(trace, job) == 1)
        put_decimal(gsim_trace_share(trace, job), GSIM_PPM, out);
    else
        fprintf(out, "%u", gsim_trace_gpus(trace, job));
    for (int c = 0; c < GSIM_COL_COUNT; c++) {
        if (!trace->column[c] || c == GSIM_COL_SHARE_PPM)
            continue;
        int64_t value = trace->column[c][job];
        if (c == GSIM_COL_AFTER && value >= 0 && !gsim_trace_is_writable(trace, (uint32_t)value))
            value = -1; /* that job is left out */
        gsim_cell_format(trace, (enum gsim_column)c, value, cell, sizeof cell);
        fputc(',', out);
        gsim_csv_put(cell, out);
    }
    fputc('\n', out);
}

/* Writes the assumptions, which a run of the file has to report as well. */
static void put_assumed(const struct gsim_trace *trace, FILE *out) {
    for (const char *const *text = trace->assumed; text && *text; text++) {
        fputs(GSIM_TOLD_PREFIX, out);
        for (const char *p = *text; *p; p++)
            fputc(*p == '\n' || *p == '\r' ? '?' : *p, out);
        fputc('\n', out);
    }
}

void gsim_trace_write(const struct gsim_trace *trace, FILE *out) {
    put_assumed(trace, out);
    bool has_duration = has_durations(trace);
    fputs(has_duration ? "job_id,submit_s,duration_s,gpus" : "job_id,submit_s,gpus", out);
    for (int c = 0; c < GSIM_COL_COUNT; c++)
        if (trace->column[c] && c != GSIM_COL_SHARE_PPM)
            fprintf(out, ",%s", gsim_columns[c].name);
    fputc('\n', out);
    for (uint32_t job = 0; job < trace->n_jobs; job++)
        if (gsim_trace_is_writable(trace, job))
            put_row(trace, job, has_duration, out);
}
