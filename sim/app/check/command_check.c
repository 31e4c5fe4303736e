/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim check: what runs wrote, under the laws that hold of any run. Nothing is simulated. */
#include <stdio.h>
#include <string.h>

#include "sim/app/check/written.h"
#include "sim/study/jobs_csv.h"
#include "sim/study/timeline.h"
#include "traces/input.h"

/* SQLite ends its text with a zero byte. */
static const char DATABASE[] = "SQLite format 3", SUMMARY[] = "{\"schema\":\"gsim-result-";

enum kind { KIND_DATABASE, KIND_JOBS, KIND_TIMELINE, KIND_SUMMARY };

/* A file tells its kind by how it begins: the texts with which the program begins it. */
static enum gsim_status tell(struct gsim_cli *cli, const char *path, enum kind *kind) {
    static const struct {
        const char *begins;
        size_t n;
        enum kind kind;
    } kinds[] = {{DATABASE, sizeof DATABASE, KIND_DATABASE},
                 {GSIM_JOBS_CSV_BEGINS, sizeof GSIM_JOBS_CSV_BEGINS - 1, KIND_JOBS},
                 {GSIM_TIMELINE_BEGINS, sizeof GSIM_TIMELINE_BEGINS - 1, KIND_TIMELINE},
                 {SUMMARY, sizeof SUMMARY - 1, KIND_SUMMARY}};
    struct gsim_input *input;
    const char *bytes = "";
    size_t n = 0;
    enum gsim_status status = gsim_input_open(path, cli->arena, &input, cli->log);
    if (status != GSIM_OK)
        return status;
    status = gsim_input_peek(input, &bytes, &n, cli->log);
    bool is_known = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && status == GSIM_OK; i++)
        if (n >= kinds[i].n && memcmp(bytes, kinds[i].begins, kinds[i].n) == 0) {
            *kind = kinds[i].kind;
            is_known = true;
        }
    if (status == GSIM_OK && !is_known)
        status = gsim_fail(cli->log, GSIM_BAD_INPUT, path, 0,
                           "none of a database (--db), the jobs of a run (--jobs-csv), a timeline "
                           "(--timeline) and a summary (--format json)");
    gsim_input_close(input);
    return status;
}

static enum gsim_status check_file(struct gsim_written *w, const char *path, enum kind kind,
                                   int64_t *n_runs) {
    enum gsim_status status;
    if (kind == KIND_DATABASE)
        return gsim_written_check_db(w, path, n_runs);
    if (kind == KIND_TIMELINE)
        return gsim_written_check_timeline(w, path);
    status = kind == KIND_JOBS ? gsim_written_read_csv(w, path) : gsim_written_read_json(w, path);
    return status == GSIM_OK ? gsim_written_hold(w) : status;
}

enum gsim_status gsim_command_check(struct gsim_cli *cli) {
    struct gsim_written w;
    int64_t n_runs = 0;
    enum gsim_status status = GSIM_OK;
    if (cli->n_operands == 0)
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "which files? gsim check results.db, or files of one run: gsim check "
                         "results.db run.json jobs.csv timeline.json");
    gsim_written_begin(&w, cli->arena, cli->log);
    for (int i = 0; i < cli->n_operands && status == GSIM_OK; i++) {
        enum kind kind = KIND_SUMMARY;
        status = tell(cli, cli->operand[i], &kind);
        if (status == GSIM_OK)
            status = check_file(&w, cli->operand[i], kind, &n_runs);
    }
    if (status != GSIM_OK)
        return status;
    fprintf(cli->io->out, "%d file%s", cli->n_operands, cli->n_operands == 1 ? "" : "s");
    if (n_runs > 0)
        fprintf(cli->io->out, ", %lld run%s", (long long)n_runs, n_runs == 1 ? "" : "s");
    if (w.n_spans > 0)
        fprintf(cli->io->out, ", %lld events", (long long)w.n_spans);
    fputs(": nothing that cannot be\n", cli->io->out);
    return GSIM_OK;
}
