/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes what plots/real.gp draws: a row for each job, from the top in the order of the trace, and
 * one for the mean; and for each part of the error the boxes of all rows, which stand side by side
 * from 0 on, to the right where reality was longer. */
#include <math.h>

#include "sim/app/compare/real.h"
#include "sim/app/figures/sheet.h"

/* More rows than these are no longer told apart on a page: the jobs that are furthest off stay. */
enum { MOST_JOBS = 40, NAME = 18 };
/* Of a panel, in inches: a row, and the key, the axis and its name. */
static const double row_in = 0.135, around_in = 0.92;

struct rows {
    const struct gsim_real *r;
    uint32_t *job; /* of the trace */
    uint32_t n, n_all;
};

static double off_s(const struct gsim_beside *b) {
    return fabs(b->simulated_s - b->real_s);
}

/* Whether fewer than MOST_JOBS others are further off; of equals the first in the trace. */
static bool is_among_the_furthest(const struct gsim_real *r, uint32_t job) {
    uint32_t n = 0, n_jobs = r->setup->trace.n_jobs;
    for (uint32_t other = 0; other < n_jobs && n < MOST_JOBS; other++) {
        double more_s = off_s(&r->beside[other]) - off_s(&r->beside[job]);
        n += gsim_real_finished(r, other) && (more_s > 0 || (more_s >= 0 && other < job));
    }
    return n < MOST_JOBS;
}

static bool choose_rows(struct rows *rows) {
    const struct gsim_real *r = rows->r;
    rows->job = gsim_arena_array(r->cli->arena, MOST_JOBS, sizeof *rows->job);
    rows->n_all = r->n_beside;
    for (uint32_t job = 0; job < r->setup->trace.n_jobs && rows->job; job++)
        if (gsim_real_finished(r, job) && is_among_the_furthest(r, job))
            rows->job[rows->n++] = job;
    return rows->job != NULL;
}

/* The number below the last job is that of the mean. */
static const struct gsim_beside *beside_of(const struct rows *rows, uint32_t row) {
    return row < rows->n ? &rows->r->beside[rows->job[row]] : &rows->r->mean;
}

static void put_name(const struct rows *rows, uint32_t row, enum gsim_figure_format format,
                     FILE *out) {
    bool is_job = row < rows->n;
    gsim_figure_put(is_job ? gsim_trace_id(&rows->r->setup->trace, rows->job[row]) : "mean", NAME,
                    format, out);
}

static void put_jobs(const struct rows *rows, enum gsim_figure_format format, FILE *out) {
    fputs("$jobs << EOD\n", out);
    for (uint32_t row = 0; row <= rows->n; row++) {
        const struct gsim_lengths *l = &rows->r->lengths;
        const struct gsim_lengths_job *range = row < rows->n ? &l->job[rows->job[row]] : &l->mean;
        const struct gsim_beside *b = beside_of(rows, row);
        fprintf(out, "%u\t", row + 1);
        put_name(rows, row, format, out);
        fprintf(out, "\t%.9g\t%.9g\t%.9g\t%.9g\n", b->real_s, b->simulated_s, range->least_s,
                range->most_s);
    }
    fputs("EOD\n", out);
}

/* Where the box of a part begins: behind the parts before it that have its sign. */
static double from_s(const struct gsim_beside *b, int part) {
    double s = 0;
    for (int p = 0; p < part; p++)
        s += (b->part_s[p] > 0) == (b->part_s[part] > 0) ? b->part_s[p] : 0;
    return s;
}

static void put_part(const struct rows *rows, int part, FILE *out) {
    fprintf(out, "\"%s\"\n", gsim_real_part_names[part]);
    for (uint32_t row = 0; row <= rows->n; row++) {
        const struct gsim_beside *b = beside_of(rows, row);
        double from = from_s(b, part);
        fprintf(out, "%u\t%.9g\t%.9g\n", row + 1, from, from + b->part_s[part]);
    }
}

static void put_parts(const struct rows *rows, FILE *out) {
    int n = 0;
    fputs("$parts << EOD\n", out);
    for (int part = 0; part < GSIM_REAL_PARTS; part++) {
        if (!gsim_real_has(rows->r, (enum gsim_real_part)part))
            continue;
        fputs(n++ > 0 ? "\n\n" : "", out);
        put_part(rows, part, out);
    }
    fprintf(out, "EOD\nparts = %d\n", n);
}

static bool put_rows(void *arg, enum gsim_figure_format format, FILE *out) {
    const struct rows *rows = arg;
    put_jobs(rows, format, out);
    put_parts(rows, out);
    fprintf(out, "rows = %u\njobs = %u\noff = %.4g\n", rows->n, rows->n_all,
            (double)rows->r->lengths.off_ppm / 1e4);
    return true;
}

enum gsim_status gsim_real_draw(struct gsim_real *r) {
    struct rows rows = {.r = r};
    if (!choose_rows(&rows))
        return gsim_no_memory(r->cli->log, "drawing");
    bool is_double = gsim_option_is_on(r->cli, GSIM_OPT_DOUBLE);
    double panel_in = around_in + row_in * (rows.n + 1);
    const struct gsim_sheet sheet = {.drawing = "real.gp",
                                     .height_in = is_double ? panel_in : 2 * panel_in,
                                     .is_double = is_double,
                                     .put = put_rows,
                                     .arg = &rows};
    return gsim_sheet_draw(r->cli, &sheet);
}
