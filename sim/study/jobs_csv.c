/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of a run with a row for each job, as CSV. */
#include "sim/study/jobs_csv.h"
#include "sim/study/output.h"
#include "traces/cells.h"
#include "sim/base/units.h"


static void put_seconds(FILE *out, int64_t time_ns) {
    char buffer[40];
    int n = gsim_format_seconds(buffer, time_ns, 9);
    (void)fwrite(buffer, 1, (size_t)n, out);
}

static void put_int(FILE *out, int64_t value) {
    char digits[24];
    int n = (int)sizeof digits;
    uint64_t left = value < 0 ? (uint64_t)0 - (uint64_t)value : (uint64_t)value;
    do
        digits[--n] = (char)('0' + left % 10);
    while (left /= 10);
    if (value < 0)
        digits[--n] = '-';
    (void)fwrite(digits + n, 1, sizeof digits - (size_t)n, out);
}

static void put_gpus(FILE *out, const struct gsim_trace *trace, uint32_t job) {
    uint32_t share = gsim_trace_share(trace, job);
    int64_t ppm = (int64_t)gsim_trace_gpus(trace, job) * share;
    put_int(out, ppm / GSIM_PPM);
    if (ppm % GSIM_PPM)
        fprintf(out, ".%06lld", (long long)(ppm % GSIM_PPM));
}

/* Columns by which users group jobs; written if the trace has them. */
static const enum gsim_column group_columns[] = {GSIM_COL_USER, GSIM_COL_VC, GSIM_COL_MODEL,
                                                 GSIM_COL_CLASS};
enum { N_GROUP_COLUMNS = sizeof group_columns / sizeof *group_columns };

static void put_group_names(FILE *out, const struct gsim_trace *trace) {
    for (int i = 0; i < N_GROUP_COLUMNS; i++)
        if (trace->column[group_columns[i]])
            fprintf(out, ",%s", gsim_columns[group_columns[i]].name);
}

static void put_groups(FILE *out, const struct gsim_trace *trace, uint32_t job) {
    char text[GSIM_MAX_FIELD_BYTES + 1];
    for (int i = 0; i < N_GROUP_COLUMNS; i++) {
        if (!trace->column[group_columns[i]])
            continue;
        fputc(',', out);
        gsim_cell_format(trace, group_columns[i], gsim_trace_get(trace, group_columns[i], job),
                         text, sizeof text);
        gsim_put_csv_text(out, text);
    }
}

/* In billionths, rounded down. Of a job of a few ns there are more than 64 bits hold. */
static void put_slowdown(FILE *out, int64_t jct_ns, int64_t service_ns) {
    put_int(out, jct_ns / service_ns);
    fprintf(out, ".%09lld",
            (long long)gsim_muldiv_floor(jct_ns % service_ns, GSIM_NS_PER_S, service_ns));
}

static void put_job(FILE *out, const struct gsim_result *result, uint32_t job) {
    const struct gsim_trace *trace = result->trace;
    const struct gsim_job_results *r = &result->jobs;
    int64_t submit = trace->submit_ns[job], end = r->end_ns[job], service = trace->service_ns[job];
    gsim_put_csv_text(out, gsim_trace_id(trace, job));
    fputc(',', out);
    if (submit >= 0) /* a job after one that has not ended is not submitted yet */
        put_seconds(out, submit);
    fputc(',', out);
    if (r->start_ns[job] >= 0)
        put_seconds(out, r->start_ns[job]);
    fputc(',', out);
    if (end >= 0)
        put_seconds(out, end);
    fputc(',', out);
    if (end >= 0)
        put_seconds(out, end - submit);
    fputc(',', out);
    put_seconds(out, r->wait_ns[job]);
    fputc(',', out);
    put_seconds(out, service);
    fputc(',', out);
    if (end >= 0 && service > 0)
        put_slowdown(out, end - submit, service);
    fputc(',', out);
    put_gpus(out, trace, job);
    const struct {
        int64_t value;
    } counts[] = {{r->preemptions ? r->preemptions[job] : 0},
                  {r->migrations ? r->migrations[job] : 0},
                  {r->faults ? r->faults[job] : 0},
                  {r->bytes_in ? r->bytes_in[job] : 0},
                  {r->bytes_out ? r->bytes_out[job] : 0}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        fputc(',', out);
        put_int(out, counts[i].value);
    }
    fputc(',', out);
    put_seconds(out, r->stall_ns ? r->stall_ns[job] : 0);
    put_groups(out, trace, job);
    if (r->declined)
        fputs(r->declined[job] ? ",1" : ",0", out);
    fputc(',', out);
    put_seconds(out, r->held_ns[job]);
    fputc('\n', out);
}

void gsim_write_jobs_csv(FILE *out, const struct gsim_result *result) {
    const struct gsim_trace *trace = result->trace;
    fputs(GSIM_JOBS_CSV_BEGINS "end_s,jct_s,wait_s,service_s,slowdown,gpus,preemptions,"
                               "migrations,faults,bytes_in,bytes_out,stall_s",
          out);
    put_group_names(out, trace);
    /* as the columns before: where the run has something to say in it */
    fputs(result->jobs.declined ? ",declined" : "", out);
    fputs(",held_s\n", out); /* behind all others, which stay where they were */
    for (uint32_t job = 0; job < result->jobs.n; job++)
        put_job(out, result, job);
}
