/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim run: one policy on one trace. */
#include "sim/app/figures/report.h"
#include "sim/study/outfile.h"
#include "sim/app/figures/run_output.h"
#include "sim/app/sweep/parallel.h"

static enum gsim_status finish(struct gsim_cli *cli, const struct gsim_setup *setup,
                               const struct gsim_result *result, struct gsim_outfile *jobs,
                               enum gsim_status ran) {
    gsim_report_notes(cli, (const struct gsim_summary *[]){&result->summary}, 1);
    gsim_report_requests(cli, result);
    enum gsim_status status = gsim_run_output_write(cli, setup, result);
    enum gsim_status written = gsim_run_output_jobs(cli, result, jobs);
    status = status == GSIM_OK ? written : status;
    if (ran == GSIM_INCOMPLETE && status == GSIM_OK)
        return gsim_fail(cli->log, GSIM_INCOMPLETE, NULL, 0,
                         "interrupted: the result above covers the time until then%s",
                         cli->value[GSIM_OPT_DB] ? "; that result was not put into the database"
                                                 : "");
    return status == GSIM_OK
               ? gsim_report_db(cli, setup, 0, setup->replication, &setup->trace, result)
               : status;
}

/* Results do not depend on the number of threads, so all cores are taken. */
static enum gsim_status choose_threads(struct gsim_cli *cli, struct gsim_setup *setup) {
    int64_t n = 1;
    enum gsim_status status =
        gsim_option_int(cli, GSIM_OPT_JOBS, gsim_cores(), 1, GSIM_MAX_THREADS, &n);
    setup->n_threads = (int)n;
    return status;
}

enum gsim_status gsim_command_run(struct gsim_cli *cli) {
    struct gsim_setup *setup = gsim_arena_alloc(cli->arena, sizeof *setup);
    struct gsim_result result;
    enum gsim_output_format format;
    bool is_known = false;
    if (!setup)
        return gsim_no_memory(cli->log, "starting");
    if (!cli->value[GSIM_OPT_POLICY])
        return gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                         "which policy? gsim --policy NAME trace.csv; 'gsim list policies' shows "
                         "them");
    enum gsim_status status = gsim_report_format(cli, &format);
    if (status == GSIM_OK)
        status = gsim_setup_load(cli, cli->value[GSIM_OPT_POLICY], setup);
    if (status == GSIM_OK && setup->n_contenders > 1)
        status = gsim_fail(cli->log, GSIM_USAGE, NULL, 0,
                           "--policy takes one policy; gsim compare --policies %s ...",
                           cli->value[GSIM_OPT_POLICY]);
    if (status == GSIM_OK)
        status = choose_threads(cli, setup);
    if (status == GSIM_OK)
        status = gsim_report_check_by(cli, setup);
    if (status == GSIM_OK)
        status = gsim_report_is_known(cli, setup, &is_known);
    if (status == GSIM_OK && is_known) {
        fprintf(cli->io->err, "gsim: %s has this run already; --force repeats it\n",
                cli->value[GSIM_OPT_DB]);
        return GSIM_OK;
    }
    struct gsim_outfile jobs = {0};
    if (status == GSIM_OK)
        status = gsim_run_output_open(cli, &jobs);
    if (status != GSIM_OK)
        return status;
    status = gsim_run_output_make(cli, setup, &result);
    if (status == GSIM_OK || status == GSIM_INCOMPLETE)
        return finish(cli, setup, &result, &jobs, status);
    if (jobs.path)
        gsim_outfile_abandon(&jobs);
    return status;
}
