/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --by: results broken down by a column of the trace, a row for each value and policy, over the
 * jobs of all replications. */
#include <math.h>
#include <string.h>

#include "sim/app/figures/report.h"
#include "sim/base/text.h"
#include "sim/core/stats.h"

static const char *const class_names[] = {"batch", "production", "opportunistic", "realtime"};

static int by_column(const struct gsim_cli *cli) {
    static const enum gsim_column columns[] = {GSIM_COL_CLASS, GSIM_COL_USER, GSIM_COL_VC,
                                               GSIM_COL_MODEL};
    int choice = gsim_text_choice(cli->value[GSIM_OPT_BY], "class|user|vc|model");
    return choice < 0 ? -1 : (int)columns[choice];
}

enum gsim_status gsim_report_check_by(struct gsim_cli *cli, const struct gsim_setup *setup) {
    const char *by = cli->value[GSIM_OPT_BY];
    if (!by)
        return GSIM_OK;
    int column = by_column(cli);
    if (column < 0)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "--by: '%s' is not one of class, user, vc, model", by);
    if (!setup->trace.column[column])
        return gsim_fail(cli->log, GSIM_BAD_INPUT, setup->trace_path, 0,
                         "--by %s: the trace has no column '%s'", by, by);
    return GSIM_OK;
}

/* The number of a value of the column in this trace, -1 if it has no such value. Replications
 * number their names separately. */
static int64_t value_called(const struct gsim_trace *trace, int column, const char *name,
                            uint32_t likely) {
    if (column == GSIM_COL_CLASS)
        return likely;
    const struct gsim_names *names = &trace->names[column];
    if (likely < names->n && strcmp(names->name[likely], name) == 0)
        return likely;
    for (uint32_t i = 0; i < names->n; i++)
        if (strcmp(names->name[i], name) == 0)
            return i;
    return -1;
}

struct groups {
    const char **name;
    uint32_t n;
};

static bool has_group(const struct groups *groups, const char *name, uint32_t likely) {
    if (likely < groups->n && strcmp(groups->name[likely], name) == 0)
        return true;
    for (uint32_t i = 0; i < groups->n; i++)
        if (strcmp(groups->name[i], name) == 0)
            return true;
    return false;
}

/* Collects the names of all replications, in the order of the first replication that has each. */
static bool take_groups(const struct gsim_results *all, int column, struct gsim_arena *arena,
                        struct groups *out) {
    *out = (struct groups){.name = (const char **)(uintptr_t)class_names, .n = GSIM_CLASS_COUNT};
    if (column == GSIM_COL_CLASS)
        return true;
    size_t most = 0;
    for (int r = 0; r < all->n_reps; r++)
        most += all->result[r].trace->names[column].n;
    *out = (struct groups){.name = gsim_arena_array(arena, most, sizeof *out->name)};
    for (int r = 0; r < all->n_reps && out->name; r++) {
        const struct gsim_names *names = &all->result[r].trace->names[column];
        for (uint32_t i = 0; i < names->n; i++)
            if (!has_group(out, names->name[i], i))
                out->name[out->n++] = names->name[i];
    }
    return out->name;
}

struct slice {
    double *jct, *wait;
    size_t n;
    double sum, wait_sum;
    int64_t n_jobs;
};

static void take_slice(const struct gsim_result *result, const struct gsim_window *window,
                       int column, int64_t value, struct slice *slice) {
    struct gsim_window_jobs jobs = gsim_window_find(window, result->trace);
    for (uint32_t i = jobs.first; i < jobs.end; i++) {
        uint32_t job = gsim_trace_arrival(result->trace, i);
        if (result->trace->column[column][job] != value)
            continue;
        slice->n_jobs++;
        if (result->jobs.end_ns[job] < 0)
            continue;
        int64_t jct_ns = result->jobs.end_ns[job] - result->trace->submit_ns[job];
        slice->wait[slice->n] = (double)result->jobs.wait_ns[job] / 1e9;
        slice->wait_sum += slice->wait[slice->n];
        slice->jct[slice->n++] = (double)jct_ns / 1e9;
        slice->sum += (double)jct_ns / 1e9;
    }
}

/* A cell of CSV; empty where the value is not known. */
static void put_known(FILE *out, double value) {
    fputc(',', out);
    if (!isnan(value))
        fprintf(out, "%.9f", value);
}

static void put_time(FILE *out, double seconds, bool is_csv) {
    char text[40];
    (void)gsim_format_humane(text, seconds);
    if (is_csv)
        put_known(out, seconds);
    else
        fprintf(out, " %10s", text);
}

/* Times of the jobs of a slice that ended; NaN if there are none. */
struct slice_times {
    double jct_mean_s, jct_s[3], wait_mean_s, wait_p95_s; /* jct_s: quantiles of 50, 95 and 99 % */
};

static bool times_of(const struct slice *slice, struct slice_times *out) {
    static const double p[] = {0.50, 0.95, 0.99};
    double n = slice->n ? (double)slice->n : (double)NAN;
    out->jct_mean_s = slice->sum / n;
    out->wait_mean_s = slice->wait_sum / n;
    return gsim_quantiles(slice->jct, slice->n, p, out->jct_s, 3) &&
           gsim_quantiles(slice->wait, slice->n, &p[1], &out->wait_p95_s, 1);
}

/* Prints a row, with the ratio to the first policy's mean if there are several policies. */
static bool slice_row(FILE *out, const struct gsim_results *all, int policy, const char *name,
                      const struct slice *slice, double *first_mean, bool is_csv) {
    struct slice_times times;
    if (!times_of(slice, &times))
        return false;
    *first_mean = policy == 0 ? times.jct_mean_s : *first_mean;
    const char *policy_name = all->result[policy * all->n_reps].summary.policy;
    if (is_csv) {
        gsim_put_csv_text(out, policy_name);
        fputc(',', out);
        gsim_put_csv_text(out, name);
        fprintf(out, ",%lld,%zu", (long long)slice->n_jobs, slice->n);
    } else {
        fprintf(out, "%-14s ", policy_name);
        gsim_put_plain(out, 20, name);
        fprintf(out, " %8lld %8zu", (long long)slice->n_jobs, slice->n);
    }
    put_time(out, times.jct_mean_s, is_csv);
    for (int i = 0; i < 3; i++)
        put_time(out, times.jct_s[i], is_csv);
    double ratio = times.jct_mean_s / *first_mean;
    if (all->n > 1 && is_csv)
        put_known(out, ratio);
    else if (all->n > 1)
        gsim_put_cell(out, 7, 3, ratio);
    put_time(out, times.wait_mean_s, is_csv);
    put_time(out, times.wait_p95_s, is_csv);
    fputc('\n', out);
    return true;
}

/* Prints the rows of one group, one for each policy that has jobs in it. */
static bool slice_rows(FILE *out, const struct gsim_results *all, int column, const char *name,
                       uint32_t likely, struct slice *slice, bool is_csv) {
    double first_mean = (double)NAN;
    for (int i = 0; i < all->n; i++) {
        *slice = (struct slice){.jct = slice->jct, .wait = slice->wait};
        for (int r = 0; r < all->n_reps; r++) {
            const struct gsim_result *result = &all->result[i * all->n_reps + r];
            take_slice(result, all->window, column,
                       value_called(result->trace, column, name, likely), slice);
        }
        if (slice->n_jobs && !slice_row(out, all, i, name, slice, &first_mean, is_csv))
            return false;
    }
    return true;
}

static void slice_head(FILE *out, const char *by, const struct gsim_results *all, bool is_csv) {
    if (!is_csv && all->n_reps > 1)
        fprintf(out, "\njobs of all %d replications together:", all->n_reps);
    fprintf(out,
            is_csv ? "policy,%s,jobs,completed,jct_mean_s,jct_p50_s,jct_p95_s,jct_p99_s%s,"
                     "wait_mean_s,wait_p95_s\n"
                   : "\npolicy         %-20s     jobs     done   JCT mean     median        p95"
                     "        p99%s  wait mean   wait p95\n",
            by,
            all->n == 1 ? ""
            : is_csv    ? ",ratio"
                        : "   ratio");
}

/* Reserves space for all jobs of the results, and collects the groups. */
static bool open_slices(struct gsim_cli *cli, const struct gsim_results *all, struct slice *slice,
                        struct groups *groups) {
    size_t n_jobs = 0;
    for (int r = 0; r < all->n_reps; r++)
        n_jobs += all->result[r].jobs.n;
    *slice = (struct slice){.jct = gsim_arena_array(cli->arena, n_jobs, sizeof(double)),
                            .wait = gsim_arena_array(cli->arena, n_jobs, sizeof(double))};
    return slice->jct && slice->wait && take_groups(all, by_column(cli), cli->arena, groups);
}

enum gsim_status gsim_report_by(struct gsim_cli *cli, const struct gsim_results *all) {
    const char *by = cli->value[GSIM_OPT_BY];
    enum gsim_output_format format;
    (void)gsim_report_format(cli, &format);
    if (!by)
        return GSIM_OK;
    bool is_csv = format == GSIM_OUTPUT_CSV;
    struct groups groups;
    struct slice slice;
    if (!open_slices(cli, all, &slice, &groups))
        return gsim_no_memory(cli->log, "breaking results down");
    slice_head(cli->io->out, by, all, is_csv);
    for (uint32_t i = 0; i < groups.n; i++)
        if (!slice_rows(cli->io->out, all, by_column(cli), groups.name[i], i, &slice, is_csv))
            return gsim_no_memory(cli->log, "breaking results down");
    return GSIM_OK;
}

static bool put_json_group(FILE *out, const char *name, const struct slice *slice) {
    struct slice_times times;
    if (!times_of(slice, &times))
        return false;
    const struct {
        const char *name;
        double value;
    } fields[] = {{"jct_mean_s", times.jct_mean_s},   {"jct_p50_s", times.jct_s[0]},
                  {"jct_p95_s", times.jct_s[1]},      {"jct_p99_s", times.jct_s[2]},
                  {"wait_mean_s", times.wait_mean_s}, {"wait_p95_s", times.wait_p95_s}};
    fputs("{\"value\":", out);
    gsim_put_json_text(out, name);
    fprintf(out, ",\"jobs\":%lld,\"completed\":%zu", (long long)slice->n_jobs, slice->n);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        fprintf(out, ",\"%s\":", fields[i].name);
        gsim_put_real(out, fields[i].value, true);
    }
    fputc('}', out);
    return true;
}

enum gsim_status gsim_report_by_json(struct gsim_cli *cli, const struct gsim_window *window,
                                     const struct gsim_result *result) {
    FILE *out = cli->io->out;
    struct gsim_results all = {.result = result, .n = 1, .n_reps = 1, .window = window};
    struct groups groups;
    struct slice slice;
    const char *comma = "";
    if (!cli->value[GSIM_OPT_BY])
        return GSIM_OK;
    if (!open_slices(cli, &all, &slice, &groups))
        return gsim_no_memory(cli->log, "breaking results down");
    fputs(",\"by\":{\"column\":", out);
    gsim_put_json_text(out, cli->value[GSIM_OPT_BY]);
    fputs(",\"groups\":[", out);
    for (uint32_t i = 0; i < groups.n; i++) {
        slice = (struct slice){.jct = slice.jct, .wait = slice.wait};
        take_slice(result, window, by_column(cli),
                   value_called(result->trace, by_column(cli), groups.name[i], i), &slice);
        if (slice.n_jobs == 0)
            continue;
        fputs(comma, out);
        comma = ",";
        if (!put_json_group(out, groups.name[i], &slice))
            return gsim_no_memory(cli->log, "breaking results down");
    }
    fputs("]}", out);
    return GSIM_OK;
}
