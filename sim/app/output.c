/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "sim/app/output.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- numbers and text
 * ------------------------------------------------------------------------------ */

int gsim_format_real(char *buffer, double value) {
    if (isnan(value) || isinf(value))
        return sprintf(buffer, "null");
    for (int digits = 15; digits < 17; digits++) {
        int n = snprintf(buffer, 32, "%.*g", digits, value);
        if (strtod(buffer, NULL) == value)
            return n;
    }
    return snprintf(buffer, 32, "%.17g", value);
}

int gsim_format_humane(char *buffer, double seconds) {
    static const struct {
        double size;
        const char *name;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}, {1e-3, "ms"}, {1e-6, "us"}};
    if (isnan(seconds))
        return snprintf(buffer, 32, "-");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (fabs(seconds) >= units[i].size || i + 1 == sizeof units / sizeof *units)
            return snprintf(buffer, 32, "%.3g %s", seconds / units[i].size, units[i].name);
    return 0;
}

void gsim_put_json_text(FILE *out, const char *text) {
    fputc('"', out);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else if (*p < 32)
            fprintf(out, "\\u%04x", *p);
        else
            fputc(*p, out);
    }
    fputc('"', out);
}

void gsim_put_csv_text(FILE *out, const char *text) {
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++)
        fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
    fputc('"', out);
}

void gsim_put_real(FILE *out, double value, bool is_json) {
    char buffer[40];
    gsim_format_real(buffer, value);
    fputs(!is_json && (isnan(value) || isinf(value)) ? "" : buffer, out);
}

/* --- the summary
 * ------------------------------------------------------------------------------------- */

void gsim_write_json(FILE *out, const struct gsim_summary *s) {
    fputs("{\"schema\":\"gsim-result-1\"", out);
#define GSIM_FIELD_TEXT(name, help)                                                                \
    fputs(",\"" #name "\":", out);                                                                 \
    gsim_put_json_text(out, s->name);
#define GSIM_FIELD_INT(name, help) fprintf(out, ",\"" #name "\":%lld", (long long)s->name);
#define GSIM_FIELD_REAL(name, help)                                                                \
    fputs(",\"" #name "\":", out);                                                                 \
    gsim_put_real(out, s->name, true);
#define GSIM_FIELD_BOOL(name, help) fprintf(out, ",\"" #name "\":%s", s->name ? "true" : "false");
#include "sim/api/fields.def"
    fputc('}', out);
}

void gsim_write_csv_header(FILE *out) {
    const char *comma = "";
#define CSV_NAME(name, help)                                                                       \
    fprintf(out, "%s" #name, comma);                                                               \
    comma = ",";
#define GSIM_FIELD_TEXT CSV_NAME
#define GSIM_FIELD_INT CSV_NAME
#define GSIM_FIELD_REAL CSV_NAME
#define GSIM_FIELD_BOOL CSV_NAME
#include "sim/api/fields.def"
    fputc('\n', out);
}

void gsim_write_csv_row(FILE *out, const struct gsim_summary *s) {
    const char *comma = "";
#define CSV_COMMA()                                                                                \
    fputs(comma, out);                                                                             \
    comma = ",";
#define GSIM_FIELD_TEXT(name, help) CSV_COMMA() gsim_put_csv_text(out, s->name);
#define GSIM_FIELD_INT(name, help) CSV_COMMA() fprintf(out, "%lld", (long long)s->name);
#define GSIM_FIELD_REAL(name, help) CSV_COMMA() gsim_put_real(out, s->name, false);
#define GSIM_FIELD_BOOL(name, help) CSV_COMMA() fprintf(out, "%d", s->name);
#include "sim/api/fields.def"
    fputc('\n', out);
}

static void table_time(FILE *out, const char *name, double seconds) {
    char humane[40];
    if (isnan(seconds))
        return;
    gsim_format_humane(humane, seconds);
    fprintf(out, "  %-22s %16.3f s   %s\n", name, seconds, humane);
}

static void table_number(FILE *out, const char *name, const char *format, double value) {
    char text[40];
    if (isnan(value))
        return;
    (void)snprintf(text, sizeof text, format, value);
    fprintf(out, "  %-22s %16s\n", name, text);
}

static void table_count(FILE *out, const char *name, int64_t value) {
    fprintf(out, "  %-22s %16lld\n", name, (long long)value);
}

void gsim_write_summary_table(FILE *out, const struct gsim_summary *s, const char *cluster_note) {
    fprintf(out, "%s on %s: %s, device %s\n", s->policy, s->trace, cluster_note, s->device);
    fprintf(out, "  %-22s %16lld   %lld completed, %lld unfinished\n", "jobs", (long long)s->jobs,
            (long long)s->completed, (long long)s->unfinished);
    table_time(out, "JCT mean", s->jct_mean_s);
    table_time(out, "JCT median", s->jct_p50_s);
    table_time(out, "JCT p95", s->jct_p95_s);
    table_time(out, "JCT p99", s->jct_p99_s);
    table_time(out, "JCT max", s->jct_max_s);
    table_time(out, "wait mean", s->wait_mean_s);
    table_number(out, "slowdown mean", "%.3f", s->slowdown_mean);
    table_number(out, "slowdown p99", "%.3f", s->slowdown_p99);
    table_time(out, "makespan", s->makespan_s);
    table_number(out, "throughput (jobs/h)", "%.3f", s->throughput_jobs_per_h);
    table_number(out, "GPUs held (%)", "%.2f", 100 * s->gpu_busy);
    table_number(out, "GPUs useful (%)", "%.2f", 100 * s->gpu_useful);
    table_count(out, "preemptions", s->preemptions);
    table_count(out, "migrations", s->migrations);
    table_time(out, "switching (GPU time)", s->switch_s);
    table_number(out, "Jain of slowdowns", "%.4f", s->jain);
    table_number(out, "finish-time fairness", "%.3f", s->rho_mean);
    table_number(out, "  of the worst-off job", "%.3f", s->rho_max);
    table_number(out, "GPUs fragmented (%)", "%.2f", 100 * s->fragmented);
    if (s->host_peak_bytes)
        table_number(out, "host memory (GiB)", "%.1f", (double)s->host_peak_bytes / GSIM_GIB);
    if (s->bytes_stored)
        table_number(out, "  stored instead (GiB)", "%.1f", (double)s->bytes_stored / GSIM_GIB);
    if (s->node_failures) {
        table_count(out, "node failures", s->node_failures);
        table_count(out, "restarted jobs", s->restarts);
        table_time(out, "work lost (GPU time)", s->lost_s);
        table_number(out, "GPUs down (%)", "%.2f", 100 * s->gpu_down);
    }
    if (*s->assumed)
        fprintf(out, "  assumed: %s\n", s->assumed);
    if (*s->outside_validated)
        fprintf(out, "  outside what was validated: %s\n", s->outside_validated);
}

/* --- several results
 * ---------------------------------------------------------------------------------- */

static void comparison_row(FILE *out, const struct gsim_summary *s, double first_mean, int width) {
    char mean[40], p50[40], p95[40], p99[40], wait[40], makespan[40];
    gsim_format_humane(mean, s->jct_mean_s);
    gsim_format_humane(p50, s->jct_p50_s);
    gsim_format_humane(p95, s->jct_p95_s);
    gsim_format_humane(p99, s->jct_p99_s);
    gsim_format_humane(wait, s->wait_mean_s);
    gsim_format_humane(makespan, s->makespan_s);
    fprintf(out, "%-*s %10s %10s %10s %10s %10s %9.2f %10s %6.1f%% %9lld %7.3f\n", width, s->policy,
            mean, p50, p95, p99, wait, s->slowdown_mean, makespan, 100 * s->gpu_busy,
            (long long)s->preemptions, s->jct_mean_s / first_mean);
}

void gsim_write_comparison(FILE *out, const struct gsim_summary *summaries, int n) {
    int width = 6;
    for (int i = 0; i < n; i++)
        if ((int)strlen(summaries[i].policy) > width)
            width = (int)strlen(summaries[i].policy);
    fprintf(out, "%-*s %10s %10s %10s %10s %10s %9s %10s %7s %9s %7s\n", width, "policy",
            "JCT mean", "median", "p95", "p99", "wait mean", "slowdown", "makespan", "held",
            "preempted", "ratio");
    for (int i = 0; i < n; i++)
        comparison_row(out, &summaries[i], summaries[0].jct_mean_s, width);
}

/* --- files
 * -------------------------------------------------------------------------------------------- */

void gsim_outfile_abandon(struct gsim_outfile *out) {
    if (out->file)
        (void)fclose(out->file);
    if (out->beside)
        (void)unlink(out->beside);
    out->file = NULL;
}

static enum gsim_status cannot_write(struct gsim_outfile *out, struct gsim_log *log) {
    int error = errno;
    gsim_outfile_abandon(out);
    return gsim_fail(log, GSIM_FAILED, out->path, 0, "cannot write it: %s",
                     error ? strerror(error) : "not all of it; is the disk full?");
}

enum gsim_status gsim_outfile_open(struct gsim_outfile *out, const char *path,
                                   struct gsim_arena *arena, struct gsim_log *log) {
    *out = (struct gsim_outfile){.path = path};
    if (strcmp(path, "-") == 0)
        return gsim_fail(log, GSIM_USAGE, NULL, 0,
                         "'-' would be standard output, where this does not go; name a file");
    out->beside = gsim_arena_printf(arena, "%s.part", path);
    if (!out->beside)
        return gsim_no_memory(log, "writing a file");
    if (strcmp(path, "/dev/stdout") == 0 || strncmp(path, "/dev/", 5) == 0)
        out->beside = NULL; /* a device cannot be renamed onto */
    errno = 0;
    out->file = fopen(out->beside ? out->beside : path, "wb");
    return out->file ? GSIM_OK : cannot_write(out, log);
}

enum gsim_status gsim_outfile_close(struct gsim_outfile *out, struct gsim_log *log) {
    FILE *file = out->file;
    errno = 0; /* of a write that failed earlier the reason is gone */
    bool is_bad = fflush(file) != 0 || ferror(file);
    if (is_bad)
        return cannot_write(out, log);
    out->file = NULL;
    if (fclose(file) != 0 || (out->beside && rename(out->beside, out->path) != 0))
        return cannot_write(out, log);
    return GSIM_OK;
}

/* --- the per-job CSV
 * ------------------------------------------------------------------------------------ */

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

static void put_job(FILE *out, const struct gsim_result *result, uint32_t job) {
    const struct gsim_trace *trace = result->trace;
    const struct gsim_job_results *r = &result->jobs;
    int64_t submit = trace->submit_ns[job], end = r->end_ns[job], service = trace->service_ns[job];
    gsim_put_csv_text(out, gsim_trace_id(trace, job));
    fputc(',', out);
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
    if (end >= 0 && service > 0) /* slowdown in billionths, rounded down */
        put_seconds(out, gsim_muldiv_floor(end - submit, GSIM_NS_PER_S, service));
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
    fputc('\n', out);
}

enum gsim_status gsim_write_jobs_csv(const char *path, const struct gsim_result *result,
                                     struct gsim_arena *arena, struct gsim_log *log) {
    struct gsim_outfile out;
    enum gsim_status status = gsim_outfile_open(&out, path, arena, log);
    if (status != GSIM_OK)
        return status;
    fputs("job_id,submit_s,start_s,end_s,jct_s,wait_s,service_s,slowdown,gpus,preemptions,"
          "migrations,faults,bytes_in,bytes_out,stall_s\n",
          out.file);
    for (uint32_t job = 0; job < result->jobs.n; job++)
        put_job(out.file, result, job);
    return gsim_outfile_close(&out, log);
}
