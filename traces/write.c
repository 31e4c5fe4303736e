/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace as native CSV: exact decimals, only the columns that are there. */
#include "traces/read.h"

#include <string.h>

#include "traces/cells.h"

static void put_text(const char *text, FILE *out) {
    bool is_quoted = strpbrk(text, ",\"\r\n") || *text == '#' || *text == ' ' ||
                     (*text && text[strlen(text) - 1] == ' ');
    if (!is_quoted) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void put_decimal(int64_t value, int64_t scale, FILE *out) {
    char buffer[64];
    gsim_cell_decimal(buffer, value, scale);
    fputs(buffer, out);
}

/* A job that is described by iterations needs no duration: it would be a second copy. */
static bool has_durations(const struct gsim_trace *trace) {
    return !(trace->column[GSIM_COL_ITERATIONS] && trace->column[GSIM_COL_GPU_NS]);
}

static void put_row(const struct gsim_trace *trace, uint32_t job, FILE *out) {
    char cell[GSIM_MAX_FIELD_BYTES + 1];
    put_text(gsim_trace_id(trace, job), out);
    fputc(',', out);
    put_decimal(trace->submit_ns[job], GSIM_NS_PER_S, out);
    if (has_durations(trace)) {
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
        gsim_cell_format(trace, (enum gsim_column)c, trace->column[c][job], cell, sizeof cell);
        fputc(',', out);
        put_text(cell, out);
    }
    fputc('\n', out);
}

void gsim_trace_write(const struct gsim_trace *trace, FILE *out) {
    fputs(has_durations(trace) ? "job_id,submit_s,duration_s,gpus" : "job_id,submit_s,gpus", out);
    for (int c = 0; c < GSIM_COL_COUNT; c++)
        if (trace->column[c] && c != GSIM_COL_SHARE_PPM)
            fprintf(out, ",%s", gsim_columns[c].name);
    fputc('\n', out);
    for (uint32_t job = 0; job < trace->n_jobs; job++)
        put_row(trace, job, out);
}
