/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/report.h"

#include "sim/app/config.h"
#include "sim/app/invocation.h"
#include "sim/base/text.h"

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
