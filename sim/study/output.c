/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "sim/study/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/api/model.h"
#include "sim/base/text.h"

/* --- numbers and text ------------------------------------------------------------------------- */

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

static const struct {
    double size;
    const char *name;
} time_units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}, {1e-3, "ms"}, {1e-6, "us"}};

static size_t time_unit(double seconds) {
    size_t i = 0;
    while (i + 1 < sizeof time_units / sizeof *time_units && fabs(seconds) < time_units[i].size)
        i++;
    return i;
}

int gsim_format_humane(char *buffer, double seconds) {
    size_t unit = time_unit(seconds);
    if (isnan(seconds))
        return snprintf(buffer, 32, "-");
    return snprintf(buffer, 32, "%.3g %s", seconds / time_units[unit].size, time_units[unit].name);
}

int gsim_format_between(char *buffer, double seconds, double low, double high) {
    size_t unit = time_unit(fmax(fabs(low), fabs(high)));
    if (isnan(low) || isnan(high))
        return gsim_format_humane(buffer, seconds);
    double size = time_units[unit].size;
    return snprintf(buffer, 64, "%.3g [%.3g, %.3g] %s", seconds / size, low / size, high / size,
                    time_units[unit].name);
}

void gsim_put_json_text(FILE *out, const char *text) {
    fputc('"', out);
    char piece[8];
    while (*text) {
        text += gsim_text_json(text, piece);
        fputs(piece, out);
    }
    fputc('"', out);
}

/* Bytes of the control character at the start of text; 0: there is none. U+0080 to U+009F are
 * orders as well, U+009B the one that ESC [ is. */
static int control_length(const unsigned char *text) {
    if (*text == 0xC2 && text[1] >= 0x80 && text[1] <= 0x9F)
        return 2;
    return *text < ' ' || *text == 127;
}

void gsim_put_plain(FILE *out, int width, const char *text) {
    int n = 0;
    while (*text) {
        int control = width == 0 && *text == '\n' ? 0 : control_length((const unsigned char *)text);
        fputc(control ? '?' : *text, out);
        n += ((unsigned char)*text & 0xC0) != 0x80; /* bytes that begin a character */
        text += control ? control : 1;
    }
    for (; n < width; n++)
        fputc(' ', out);
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

void gsim_put_json_interval(FILE *out, const char *name, const struct gsim_interval *interval) {
    fprintf(out, ",\"%s\":{\"mean\":", name);
    gsim_put_real(out, interval->mean, true);
    fputs(",\"low\":", out);
    gsim_put_real(out, interval->low, true);
    fputs(",\"high\":", out);
    gsim_put_real(out, interval->high, true);
    fputc('}', out);
}

/* --- the summary ------------------------------------------------------------------------------ */

void gsim_write_json_fields(FILE *out, const struct gsim_summary *s) {
    fputs("{\"schema\":\"gsim-result-1\"", out);
#define GSIM_FIELD_TEXT(name, help)                                                                \
    fputs(",\"" #name "\":", out);                                                                 \
    gsim_put_json_text(out, s->name);
#define GSIM_FIELD_INT(name, help) fprintf(out, ",\"" #name "\":%lld", (long long)s->name);
#define GSIM_FIELD_REAL(name, help)                                                                \
    fputs(",\"" #name "\":", out);                                                                 \
    gsim_put_real(out, s->name, true);
#define GSIM_FIELD_BOOL(name, help) fprintf(out, ",\"" #name "\":%s", s->name ? "true" : "false");
#include "gsim/fields.def"
}

void gsim_write_csv_names(FILE *out) {
    const char *comma = "";
#define CSV_NAME(name, help)                                                                       \
    fprintf(out, "%s" #name, comma);                                                               \
    comma = ",";
#define GSIM_FIELD_TEXT CSV_NAME
#define GSIM_FIELD_INT CSV_NAME
#define GSIM_FIELD_REAL CSV_NAME
#define GSIM_FIELD_BOOL CSV_NAME
#include "gsim/fields.def"
}

void gsim_write_csv_fields(FILE *out, const struct gsim_summary *s) {
    const char *comma = "";
#define CSV_COMMA()                                                                                \
    fputs(comma, out);                                                                             \
    comma = ",";
#define GSIM_FIELD_TEXT(name, help) CSV_COMMA() gsim_put_csv_text(out, s->name);
#define GSIM_FIELD_INT(name, help) CSV_COMMA() fprintf(out, "%lld", (long long)s->name);
#define GSIM_FIELD_REAL(name, help) CSV_COMMA() gsim_put_real(out, s->name, false);
#define GSIM_FIELD_BOOL(name, help) CSV_COMMA() fprintf(out, "%d", s->name);
#include "gsim/fields.def"
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

int64_t gsim_count_listed(const char *list) {
    int64_t n = *list != '\0';
    for (const char *comma = list; (comma = strstr(comma, ", ")); comma += 2)
        n++;
    return n;
}

/* The item of a list "a=1, b=2" that has this name; NULL: there is none. */
static const char *item_of(const char *list, const char *name) {
    size_t n = strlen(name);
    for (const char *at = list; at; at = strstr(at, ", ")) {
        at += at == list ? 0 : 2;
        if (strncmp(at, name, n) == 0 && at[n] == '=')
            return at;
    }
    return NULL;
}

bool gsim_takes_durations(const char *assumed) {
    return item_of(assumed, GSIM_ASSUMED_DURATIONS);
}

/* A list of more names than this is printed as a count, unless --verbose is given. */
enum { FEW = 3 };

static void table_list(FILE *out, const char *name, const char *list, bool is_verbose) {
    int64_t n = gsim_count_listed(list);
    if (n > FEW && !is_verbose)
        fprintf(out, "  %s: %lld values (--verbose names them)\n", name, (long long)n);
    else if (n > 0)
        fprintf(out, "  %s: %s\n", name, list);
}

/* Writes the items of a list but for one; the list has more than that. */
static void put_others(FILE *out, const char *list, const char *item) {
    const char *before = "";
    for (const char *at = list; *at;) {
        const char *comma = strstr(at, ", "); /* values have commas without a blank */
        size_t length = comma ? (size_t)(comma - at) : strlen(at);
        if (at != item) {
            fprintf(out, "%s%.*s", before, (int)length, at);
            before = ", ";
        }
        at += length + (comma ? 2 : 0);
    }
}

/* Durations that count as the device's own have a line of their own: they are about the trace, and
 * are not lost where others are only counted. */
static void table_assumed(FILE *out, const char *assumed, bool is_verbose) {
    const char *durations = item_of(assumed, GSIM_ASSUMED_DURATIONS);
    int64_t n = gsim_count_listed(assumed) - (durations != NULL);
    if (n > FEW && !is_verbose) {
        fprintf(out, "  assumed: %lld values (--verbose names them)\n", (long long)n);
    } else if (n > 0) {
        fputs("  assumed: ", out);
        put_others(out, assumed, durations);
        fputc('\n', out);
    }
    if (durations)
        fprintf(out, "  assumed: %.*s\n", (int)strcspn(durations, ","), durations);
}

static void table_hosts(FILE *out, const struct gsim_summary *s) {
    if (s->host_peak_bytes)
        table_number(out, "host memory (GiB)", "%.1f", (double)s->host_peak_bytes / GSIM_GIB);
    if (s->host_waits) {
        table_count(out, "waits for host memory", s->host_waits);
        table_time(out, "  time with such a wait", s->host_wait_s);
    }
    if (s->bytes_stored)
        table_number(out, "  stored instead (GiB)", "%.1f", (double)s->bytes_stored / GSIM_GIB);
}

static void table_failures(FILE *out, const struct gsim_summary *s) {
    if (!s->node_failures)
        return;
    table_count(out, "node failures", s->node_failures);
    table_count(out, "restarted jobs", s->restarts);
    table_time(out, "work lost (GPU time)", s->lost_s);
    table_number(out, "GPUs down (%)", "%.2f", 100 * s->gpu_down);
}

void gsim_write_summary_table(FILE *out, const struct gsim_summary *s, const char *cluster_note,
                              bool is_verbose) {
    fputs(s->policy, out);
    if (*s->deviation)
        fprintf(out, " (%s)", s->deviation);
    fprintf(out, " on %s: %s, device %s\n", s->trace, cluster_note, s->device);
    fprintf(out, "  %-22s %16lld   %lld completed, %lld unfinished\n", "jobs", (long long)s->jobs,
            (long long)s->completed, (long long)s->unfinished);
    if (s->declined)
        fprintf(out, "  %-22s %16lld   by the policy, among the unfinished\n", "declined",
                (long long)s->declined);
    if (s->warmup_jobs + s->cooldown_jobs)
        fprintf(out, "  without the first %lld and the last %lld in JCT, waiting and slowdown\n",
                (long long)s->warmup_jobs, (long long)s->cooldown_jobs);
    table_time(out, "JCT mean", s->jct_mean_s);
    table_time(out, "JCT median", s->jct_p50_s);
    table_time(out, "JCT p95", s->jct_p95_s);
    table_time(out, "JCT p99", s->jct_p99_s);
    table_time(out, "JCT max", s->jct_max_s);
    table_time(out, "wait mean", s->wait_mean_s);
    table_time(out, "wait p95", s->wait_p95_s);
    table_number(out, "slowdown mean", "%.3f", s->slowdown_mean);
    table_number(out, "slowdown p99", "%.3f", s->slowdown_p99);
    table_time(out, "latency mean", s->latency_mean_s);
    table_time(out, "latency median", s->latency_p50_s);
    table_time(out, "latency p90", s->latency_p90_s);
    table_time(out, "latency p99", s->latency_p99_s);
    table_time(out, "makespan", s->makespan_s);
    table_number(out, "throughput (jobs/h)", "%.3f", s->throughput_jobs_per_h);
    table_number(out, "GPUs held (%)", "%.2f", 100 * s->gpu_busy);
    table_number(out, "GPUs useful (%)", "%.2f", 100 * s->gpu_useful);
    table_number(out, "jobs' own time (%)", "%.2f", 100 * s->gpu_work);
    fprintf(out, "  %-22s %16lld%s%s\n", "preemptions", (long long)s->preemptions,
            *s->preempted_by ? "   by " : "", s->preempted_by);
    table_count(out, "migrations", s->migrations);
    table_time(out, "switching (GPU time)", s->switch_s);
    table_number(out, "Jain of slowdowns", "%.4f", s->jain);
    table_number(out, "finish-time fairness", "%.3f", s->rho_mean);
    table_number(out, "  of the worst-off job", "%.3f", s->rho_max);
    table_number(out, "GPUs fragmented (%)", "%.2f", 100 * s->fragmented);
    if (s->killed)
        table_count(out, "jobs ended early", s->killed);
    if (s->deadlines_met + s->deadlines_missed > 0) {
        table_count(out, "deadlines met", s->deadlines_met);
        table_count(out, "deadlines missed", s->deadlines_missed);
    }
    table_hosts(out, s);
    table_failures(out, s);
    table_assumed(out, s->assumed, is_verbose);
    table_list(out, "given by --set", s->given, is_verbose);
    if (*s->outside_validated)
        fprintf(out, "  outside what was validated: %s\n", s->outside_validated);
}

/* --- several results -------------------------------------------------------------------------- */

static void put_times(FILE *out, const double *seconds, int n) {
    for (int i = 0; i < n; i++) {
        char text[40];
        gsim_format_humane(text, seconds[i]);
        fprintf(out, " %8s", text);
    }
}

void gsim_put_cell(FILE *out, int width, int digits, double value) {
    if (isnan(value))
        fprintf(out, " %*s", width, "-");
    else
        fprintf(out, " %*.*f", width, digits, value);
}

int gsim_name_width(const struct gsim_summary *const *summaries, int n) {
    int width = 6;
    for (int i = 0; i < n; i++)
        if ((int)strlen(summaries[i]->policy) > width)
            width = (int)strlen(summaries[i]->policy);
    return width;
}

void gsim_write_comparison(FILE *out, const struct gsim_summary *const *summaries, int n) {
    int width = gsim_name_width(summaries, n);
    fprintf(out, "%-*s %8s %8s %8s %8s %8s %8s %8s %5s %5s %s\n", width, "policy", "JCT mean",
            "median", "p95", "p99", "wait", "slowdown", "makespan", "held", "ratio", "preempted");
    for (int i = 0; i < n; i++) {
        const struct gsim_summary *s = summaries[i];
        const double times[] = {s->jct_mean_s, s->jct_p50_s, s->jct_p95_s, s->jct_p99_s,
                                s->wait_mean_s};
        fprintf(out, "%-*s", width, s->policy);
        put_times(out, times, sizeof times / sizeof *times);
        gsim_put_cell(out, 8, 2, s->slowdown_mean);
        put_times(out, &s->makespan_s, 1);
        gsim_put_cell(out, 4, 0, 100 * s->gpu_busy);
        fputc('%', out);
        gsim_put_cell(out, 5, 3, s->jct_mean_s / summaries[0]->jct_mean_s);
        fprintf(out, " %lld%s%s\n", (long long)s->preemptions, *s->preempted_by ? " " : "",
                s->preempted_by);
    }
}

void gsim_write_latencies(FILE *out, const struct gsim_summary *const *summaries, int n) {
    int width = gsim_name_width(summaries, n);
    bool is_there = false;
    for (int i = 0; i < n; i++)
        is_there |= !isnan(summaries[i]->latency_mean_s);
    if (!is_there)
        return;
    fprintf(out, "\nlatency of requests:\n%-*s %8s %8s %8s %8s %7s\n", width, "policy", "mean",
            "median", "p90", "p99", "ratio");
    for (int i = 0; i < n; i++) {
        const struct gsim_summary *s = summaries[i];
        const double times[] = {s->latency_mean_s, s->latency_p50_s, s->latency_p90_s,
                                s->latency_p99_s};
        fprintf(out, "%-*s", width, s->policy);
        put_times(out, times, sizeof times / sizeof *times);
        gsim_put_cell(out, 7, 3, s->latency_p99_s / summaries[0]->latency_p99_s);
        fputc('\n', out);
    }
}
