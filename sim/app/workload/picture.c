/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes what plots/describe.gp draws: for each view a block of points for each trace. */
#include "sim/app/workload/picture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gsim/units.h"
#include "sim/app/figures/sheet.h"
#include "sim/base/sort.h"
#include "sim/study/facts.h"

enum { POINTS = 200, LAGS = 100, DAY_HOURS = 24, WEEK_DAYS = 7, NAME = 40, LEAST_JOBS = 3 };
static const double height_in = 3.6, DAY_S = 86400, PICTURE_HOUR_S = 3600;

/* A trace in the order of arrival. */
struct jobs {
    size_t n;
    double *since_s; /* the first submission */
    double *duration_s, *width;
};

static bool take(const struct gsim_trace *trace, struct gsim_arena *arena, struct jobs *out) {
    out->n = trace->n_jobs;
    out->since_s = gsim_arena_array(arena, out->n, sizeof(double));
    out->duration_s = gsim_arena_array(arena, out->n, sizeof(double));
    out->width = gsim_arena_array(arena, out->n, sizeof(double));
    if (!out->since_s || !out->duration_s || !out->width)
        return false;
    int64_t first_ns = trace->submit_ns[gsim_trace_arrival(trace, 0)];
    for (uint32_t i = 0; i < out->n; i++) {
        uint32_t job = gsim_trace_arrival(trace, i);
        out->since_s[i] = (double)(trace->submit_ns[job] - first_ns) / 1e9;
        out->duration_s[i] = (double)trace->service_ns[job] / 1e9;
        out->width[i] =
            gsim_trace_gpus(trace, job) * ((double)gsim_trace_share(trace, job) / GSIM_PPM);
    }
    return true;
}

typedef bool put_view(const struct jobs *jobs, struct gsim_arena *arena, FILE *out);

/* Points of a distribution function. Values below the least that is shown lie on its edge. */
static bool put_distribution(const double *from, size_t n, double least, struct gsim_arena *arena,
                             FILE *out) {
    double *value = gsim_arena_array(arena, n, sizeof *value);
    if (!value)
        return false;
    memcpy(value, from, n * sizeof *value);
    if (!gsim_sort_f64(value, n))
        return false;
    for (int p = 0; p <= POINTS; p++) {
        double x = value[(size_t)((double)(n - 1) * p / POINTS)];
        fprintf(out, "%.9g\t%.9g\n", fmax(x, least), 100.0 * p / POINTS);
    }
    return true;
}

static bool put_durations(const struct jobs *jobs, struct gsim_arena *arena, FILE *out) {
    return put_distribution(jobs->duration_s, jobs->n, 1, arena, out);
}

static bool draw_widths(const struct jobs *jobs, struct gsim_arena *arena, FILE *out) {
    double *value = gsim_arena_array(arena, jobs->n, sizeof *value);
    if (!value)
        return false;
    memcpy(value, jobs->width, jobs->n * sizeof *value);
    if (!gsim_sort_f64(value, jobs->n))
        return false;
    for (size_t i = 0; i < jobs->n; i++)
        if (i + 1 == jobs->n || value[i + 1] > value[i])
            fprintf(out, "%.9g\t%.9g\n", value[i], 100.0 * (double)(i + 1) / (double)jobs->n);
    return true;
}

/* A part of a day at the end, after whole ones, would look like a fall. */
static bool put_days(const struct jobs *jobs, struct gsim_arena *arena, FILE *out) {
    size_t n_days = (size_t)(jobs->since_s[jobs->n - 1] / DAY_S), day = 0;
    (void)arena;
    for (size_t i = 0; day == 0 || day < n_days; day++) {
        size_t first = i;
        while (i < jobs->n && jobs->since_s[i] < (double)(day + 1) * DAY_S)
            i++;
        fprintf(out, "%zu\t%zu\n", day, i - first);
    }
    return true;
}

/* Jobs in each part of a cycle over the mean of those parts that the trace has. */
static void put_cycle(const struct jobs *jobs, double part_s, size_t n_parts, FILE *out) {
    double rate[DAY_HOURS], sum = 0, n = 0;
    gsim_cycle_rates(jobs->since_s, jobs->n, part_s, n_parts, rate);
    for (size_t k = 0; k < n_parts; k++) {
        sum += isnan(rate[k]) ? 0 : rate[k];
        n += !isnan(rate[k]);
    }
    for (size_t k = 0; k < n_parts; k++) {
        double share = rate[k] * n / sum;
        if (isnan(share))
            fprintf(out, "%zu\tNaN\n", k);
        else
            fprintf(out, "%zu\t%.9g\n%zu\t%.9g\n", k, share, k + 1, share);
    }
}

static bool put_hours(const struct jobs *jobs, struct gsim_arena *arena, FILE *out) {
    (void)arena;
    put_cycle(jobs, PICTURE_HOUR_S, DAY_HOURS, out);
    return true;
}

static bool put_weekdays(const struct jobs *jobs, struct gsim_arena *arena, FILE *out) {
    (void)arena;
    put_cycle(jobs, DAY_S, WEEK_DAYS, out);
    return true;
}

/* The autocorrelation of log durations. */
static bool put_likeness(const struct jobs *jobs, struct gsim_arena *arena, FILE *out) {
    double *x = gsim_arena_array(arena, jobs->n, sizeof *x), at[LAGS];
    size_t n_lags = jobs->n > LAGS ? LAGS : jobs->n - 1;
    for (size_t i = 0; x && i < jobs->n; i++)
        x[i] = log(1 + jobs->duration_s[i]);
    if (!x)
        return false;
    gsim_autocorrelations(x, jobs->n, n_lags, at);
    for (size_t lag = 1; lag <= n_lags; lag++) {
        if (isnan(at[lag - 1]))
            fprintf(out, "%zu\tNaN\n", lag);
        else
            fprintf(out, "%zu\t%.9g\n", lag, at[lag - 1]);
    }
    return true;
}

/* --- the script ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    put_view *put;
} views[] = {{"durations", put_durations}, {"widths", draw_widths},    {"days", put_days},
             {"hours", put_hours},         {"weekdays", put_weekdays}, {"likeness", put_likeness}};

struct picture {
    struct gsim_cli *cli;
    const struct jobs *jobs;
    const char *const *names;
    int n;
};

static bool put_points(const struct picture *picture, size_t v, enum gsim_figure_format format,
                       FILE *out) {
    bool is_fine = true;
    fprintf(out, "$%s << EOD\n", views[v].name);
    for (int t = 0; t < picture->n && is_fine; t++) {
        fputs(t ? "\n\n\"" : "\"", out);
        gsim_figure_put(picture->names[t], NAME, format, out);
        fputs("\"\n", out);
        is_fine = views[v].put(&picture->jobs[t], picture->cli->arena, out);
    }
    fputs("EOD\n", out);
    return is_fine;
}

static bool put_views(void *arg, enum gsim_figure_format format, FILE *out) {
    const struct picture *picture = arg;
    bool is_fine = true;
    fprintf(out, "n = %d\n", picture->n);
    for (size_t v = 0; v < sizeof views / sizeof *views && is_fine; v++)
        is_fine = put_points(picture, v, format, out);
    return is_fine;
}

static enum gsim_status take_all(struct gsim_cli *cli, const struct gsim_trace *traces,
                                 const char *const *names, int n, struct jobs *jobs) {
    for (int t = 0; t < n; t++) {
        if (traces[t].n_jobs < LEAST_JOBS)
            return gsim_fail(cli->log, GSIM_BAD_INPUT, names[t], 0,
                             "%u job%s too few for a picture", traces[t].n_jobs,
                             traces[t].n_jobs == 1 ? " is" : "s are");
        if (!jobs || !take(&traces[t], cli->arena, &jobs[t]))
            return gsim_no_memory(cli->log, "drawing");
    }
    return GSIM_OK;
}

enum gsim_status gsim_picture_draw(struct gsim_cli *cli, const struct gsim_trace *traces,
                                   const char *const *names, int n) {
    struct jobs *jobs = gsim_arena_array(cli->arena, (size_t)n, sizeof *jobs);
    struct picture picture = {cli, jobs, names, n};
    const struct gsim_sheet sheet = {.drawing = "describe.gp",
                                     .height_in = height_in,
                                     .is_double = true,
                                     .put = put_views,
                                     .arg = &picture};
    enum gsim_status status = gsim_sheet_check(cli);
    if (status == GSIM_OK)
        status = take_all(cli, traces, names, n, jobs);
    return status == GSIM_OK ? gsim_sheet_draw(cli, &sheet) : status;
}
