/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim validate: results of this build beside measured, published or proved values. */
#include <stdlib.h>

#include "sim/app/cli/output_file.h"
#include "sim/study/outfile.h"
#include "sim/app/sweep/parallel.h"
#include "sim/app/figures/report.h"
#include "sim/app/validate/validate.h"

static enum gsim_status make_folder(struct gsim_validation *v) {
    const char *parent = getenv("TMPDIR");
    const char *beside =
        gsim_arena_printf(v->cli->arena, "%s/validate", parent && *parent ? parent : "/tmp");
    return beside ? gsim_folder_open(&v->folder, beside, v->cli->arena, v->cli->log)
                  : gsim_no_memory(v->cli->log, "starting");
}

static enum gsim_status say_what_missed(const struct gsim_validation *v) {
    int n_missed = 0, n_bound = 0;
    for (int t = 0; t < v->n_tables; t++)
        for (int r = 0; r < v->table[t].n_rows; r++) {
            enum gsim_row_verdict verdict = v->table[t].row[r].verdict;
            n_missed += verdict == GSIM_ROW_MISSED;
            n_bound += verdict == GSIM_ROW_MISSED || verdict == GSIM_ROW_WITHIN;
        }
    for (int t = 0; t < v->n_tables; t++)
        if (!gsim_validate_mean_is_within(&v->table[t]))
            (void)gsim_fail(v->cli->log, GSIM_FAILED, v->table[t].csv, 0,
                            "the mean error is above %s%%", v->table[t].mean_bound);
    if (n_missed == 0)
        return v->cli->log->n_errors ? GSIM_FAILED : GSIM_OK;
    return gsim_fail(v->cli->log, GSIM_FAILED, NULL, 0, "%d of %d rows miss their bound", n_missed,
                     n_bound);
}

static enum gsim_status open_rows(struct gsim_validation *v, struct gsim_outfile *rows) {
    const char *path = v->cli->value[GSIM_OPT_ROWS_CSV];
    if (!path)
        return GSIM_OK;
    enum gsim_status status = gsim_output_file_check_own(v->cli, path, GSIM_ROWS_CSV_BEGINS);
    return status == GSIM_OK ? gsim_outfile_open(rows, path, v->cli->arena, v->cli->log) : status;
}

static enum gsim_status close_rows(const struct gsim_validation *v, struct gsim_outfile *rows) {
    if (!rows->path)
        return GSIM_OK;
    gsim_validate_print_csv(v, rows->file);
    return gsim_outfile_close(rows, v->cli->log);
}

static enum gsim_status run_tables(struct gsim_validation *v, int n_threads,
                                   enum gsim_output_format format) {
    struct gsim_outfile rows = {0};
    enum gsim_status status = gsim_validate_load(v);
    if (status == GSIM_OK)
        status = open_rows(v, &rows);
    if (status == GSIM_OK)
        status = gsim_validate_run(v, n_threads);
    if (status == GSIM_OK)
        status = close_rows(v, &rows);
    else if (rows.path)
        gsim_outfile_abandon(&rows);
    if (status == GSIM_OK)
        gsim_validate_print(v, format);
    return status;
}

static enum gsim_status validate(struct gsim_validation *v) {
    int64_t n_threads;
    enum gsim_output_format format;
    enum gsim_status status = gsim_report_format(v->cli, &format);
    if (status == GSIM_OK)
        status =
            gsim_option_int(v->cli, GSIM_OPT_JOBS, gsim_cores(), 1, GSIM_MAX_THREADS, &n_threads);
    if (status == GSIM_OK)
        status = make_folder(v);
    if (status == GSIM_OK)
        status = run_tables(v, (int)n_threads, format);
    return status == GSIM_OK ? say_what_missed(v) : status;
}

enum gsim_status gsim_command_validate(struct gsim_cli *cli) {
    struct gsim_validation v = {.cli = cli};
    enum gsim_status status = validate(&v);
    gsim_folder_close(&v.folder);
    return status;
}
