/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/report.h"

#include <math.h>
#include <string.h>

#include "sim/app/config.h"
#include "sim/app/invocation.h"
#include "sim/app/warmup.h"
#include "sim/base/text.h"
#include "sim/core/stats.h"

enum gsim_status gsim_report_format(struct gsim_cli *cli, enum gsim_output_format *out) {
    const char *text = cli->value[GSIM_OPT_FORMAT];
    int choice = text ? gsim_text_choice(text, "table|csv|json") : 0;
    *out = (enum gsim_output_format)choice;
    if (choice >= 0)
        return GSIM_OK;
    return gsim_fail(cli->log, GSIM_USAGE, NULL, 0, "--format: '%s' is not one of table, csv, json",
                     text);
}

void gsim_report_notes(const struct gsim_cli *cli, const struct gsim_summary *s) {
    FILE *err = cli->io->err;
    if (gsim_option_is_on(cli, GSIM_OPT_QUIET))
        return;
    if (*s->assumed)
        fprintf(err, "gsim: %s: assumed, not known: %s\n", s->policy, s->assumed);
    if (*s->outside_validated)
        fprintf(err, "gsim: %s: outside what was validated: %s\n", s->policy, s->outside_validated);
    if (s->unfinished)
        fprintf(err,
                "gsim: %s: %lld of %lld jobs did not finish; means and quantiles are of the "
                "others\n",
                s->policy, (long long)s->unfinished, (long long)s->jobs);
}

/* --- --by
 * --------------------------------------------------------------------------------------------- */

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

struct slice {
    double *jct, *wait;
    size_t n;
    double sum, wait_sum;
    int64_t n_jobs;
};

static void take_slice(const struct gsim_result *result, uint32_t n_skipped, int column,
                       int64_t value, struct slice *slice) {
    slice->n = 0;
    slice->sum = slice->wait_sum = 0;
    slice->n_jobs = 0;
    for (uint32_t i = n_skipped; i < result->jobs.n; i++) {
        uint32_t job = gsim_arrival(result->trace, i);
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

static double slice_mean(const struct slice *slice, double sum) {
    return slice->n ? sum / (double)slice->n : (double)NAN;
}

/* Quantiles of JCT, then the one of waiting. */
enum { N_QUANTILES = 3 };

static void slice_row(FILE *out, const struct gsim_result *result, const char *name,
                      const struct slice *slice, const double *quantiles, bool is_csv) {
    fprintf(out,
            is_csv ? "%s,%s,%lld,%zu,%.9f,%.9f,%.9f,%.9f"
                   : "%-14s %-20s %8lld %8zu %14.3f %14.3f %14.3f %14.3f",
            result->summary.policy, name, (long long)slice->n_jobs, slice->n,
            slice_mean(slice, slice->sum), quantiles[0], quantiles[1], quantiles[2]);
}

/* One value of the column: a row for each result that has jobs of it. */
static bool slice_rows(FILE *out, const struct gsim_results *all, int column, uint32_t value,
                       struct slice *slice, bool is_csv) {
    static const double p[N_QUANTILES] = {0.50, 0.95, 0.99};
    double quantiles[N_QUANTILES + 1];
    double first_mean = (double)NAN;
    for (int i = 0; i < all->n; i++) {
        const struct gsim_result *result = &all->result[i];
        take_slice(result, all->n_skipped, column, value, slice);
        if (slice->n_jobs == 0)
            continue;
        if (!gsim_quantiles(slice->jct, slice->n, p, quantiles, N_QUANTILES) ||
            !gsim_quantiles(slice->wait, slice->n, &p[1], &quantiles[N_QUANTILES], 1))
            return false;
        slice_row(out, result,
                  column == GSIM_COL_CLASS ? class_names[value]
                                           : result->trace->names[column].name[value],
                  slice, quantiles, is_csv);
        double mean = slice_mean(slice, slice->sum);
        first_mean = i == 0 ? mean : first_mean;
        if (all->n > 1)
            fprintf(out, is_csv ? ",%.9f" : " %7.3f", mean / first_mean);
        fprintf(out, is_csv ? ",%.9f,%.9f\n" : " %14.3f %14.3f\n",
                slice_mean(slice, slice->wait_sum), quantiles[N_QUANTILES]);
    }
    return true;
}

enum gsim_status gsim_report_by(struct gsim_cli *cli, const struct gsim_results *all) {
    const char *by = cli->value[GSIM_OPT_BY];
    enum gsim_output_format format;
    (void)gsim_report_format(cli, &format);
    if (!by || format == GSIM_OUTPUT_JSON)
        return GSIM_OK;
    bool is_csv = format == GSIM_OUTPUT_CSV;
    int column = by_column(cli);
    uint32_t n_values =
        column == GSIM_COL_CLASS ? GSIM_CLASS_COUNT : all->result[0].trace->names[column].n;
    uint32_t n_jobs = all->result[0].jobs.n;
    struct slice slice = {.jct = gsim_arena_array(cli->arena, n_jobs, sizeof(double)),
                          .wait = gsim_arena_array(cli->arena, n_jobs, sizeof(double))};
    if (!slice.jct || !slice.wait)
        return gsim_no_memory(cli->log, "breaking results down");
    fprintf(cli->io->out,
            is_csv ? "policy,%s,jobs,completed,jct_mean_s,jct_p50_s,jct_p95_s,jct_p99_s%s,"
                     "wait_mean_s,wait_p95_s\n"
                   : "\npolicy         %-20s     jobs     done       JCT mean         median"
                     "            p95            p99%s      wait mean       wait p95\n",
            by,
            all->n == 1 ? ""
            : is_csv    ? ",ratio"
                        : "   ratio");
    for (uint32_t value = 0; value < n_values; value++)
        if (!slice_rows(cli->io->out, all, column, value, &slice, is_csv))
            return gsim_no_memory(cli->log, "breaking results down");
    return GSIM_OK;
}

/* --- --db
 * ---------------------------------------------------------------------------------------------- */

enum gsim_status gsim_report_is_known(struct gsim_cli *cli, const struct gsim_setup *setup,
                                      int contender, bool *is_known) {
    const char *path = cli->value[GSIM_OPT_DB];
    struct gsim_db *db;
    char config[65];
    *is_known = false;
    if (!path || gsim_option_is_on(cli, GSIM_OPT_FORCE))
        return GSIM_OK;
    enum gsim_status status = gsim_config_hash(cli, setup, contender, setup->replication, config);
    if (status != GSIM_OK)
        return status;
    status = gsim_db_open(path, cli->arena, &db, cli->log);
    if (status == GSIM_OK)
        status = gsim_db_has(db, config, is_known, cli->log);
    gsim_db_close(db);
    return status;
}

enum gsim_status gsim_report_db(struct gsim_cli *cli, const struct gsim_setup *setup, int contender,
                                uint64_t replication, const struct gsim_result *result) {
    const char *path = cli->value[GSIM_OPT_DB];
    struct gsim_db *db;
    char config[65];
    if (!path)
        return GSIM_OK;
    enum gsim_status status = gsim_config_hash(cli, setup, contender, replication, config);
    if (status != GSIM_OK)
        return status;
    struct gsim_db_run run = {.config = config,
                              .argv = gsim_run_command(cli, setup, contender, replication),
                              .replication = replication,
                              .settings = gsim_run_settings(cli, setup, contender, replication)};
    if (!run.argv || !run.settings)
        return gsim_no_memory(cli->log, "writing a database");
    status = gsim_db_open(path, cli->arena, &db, cli->log);
    if (status == GSIM_OK)
        status = gsim_db_add(db, &run, result, cli->log);
    gsim_db_close(db);
    return status;
}
