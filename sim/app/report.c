/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/report.h"

#include <string.h>

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

/* Each of a result's list "key=value (device), column=value" on a line, with what the key is. */
static void name_assumed(FILE *err, const char *policy, const char *list) {
    for (const char *at = list; *at;) {
        const char *comma = strstr(at, ", ");
        size_t length = comma ? (size_t)(comma - at) : strlen(at);
        enum gsim_key key = gsim_key_called(at, strcspn(at, "="));
        fprintf(err, "gsim: %s: assumed, not known: %.*s%s%s\n", policy, (int)length, at,
                key < GSIM_KEY_COUNT ? ": " : "", key < GSIM_KEY_COUNT ? gsim_key_help(key) : "");
        at += length + (comma ? 2 : 0);
    }
}

/* How many, with --verbose which. */
static void note_assumed(const struct gsim_cli *cli, const struct gsim_summary *const *summaries,
                         int n) {
    FILE *err = cli->io->err;
    bool is_verbose = gsim_option_is_on(cli, GSIM_OPT_VERBOSE);
    const char *before = "gsim: assumed, not known:";
    for (int i = 0; i < n; i++) {
        int64_t n_assumed = gsim_count_listed(summaries[i]->assumed);
        if (n_assumed == 0)
            continue;
        if (is_verbose)
            name_assumed(err, summaries[i]->policy, summaries[i]->assumed);
        else
            fprintf(err, "%s %lld value%s of %s", before, (long long)n_assumed,
                    n_assumed == 1 ? "" : "s", summaries[i]->policy);
        before = ",";
    }
    if (!is_verbose && *before == ',')
        fputs(" (--verbose names them)\n", err);
}

/* Policies that are outside for the same reason share a line. */
static void note_outside(FILE *err, const struct gsim_summary *const *summaries, int n) {
    for (int i = 0; i < n; i++) {
        const char *why = summaries[i]->outside_validated;
        bool is_said = *why == '\0';
        for (int k = 0; k < i; k++)
            is_said |= strcmp(summaries[k]->outside_validated, why) == 0;
        if (is_said)
            continue;
        fprintf(err, "gsim: outside what was validated: %s", summaries[i]->policy);
        for (int k = i + 1; k < n; k++)
            if (strcmp(summaries[k]->outside_validated, why) == 0)
                fprintf(err, ", %s", summaries[k]->policy);
        fprintf(err, ": %s\n", why);
    }
}

void gsim_report_notes(const struct gsim_cli *cli, const struct gsim_summary *const *summaries,
                       int n) {
    FILE *err = cli->io->err;
    if (gsim_option_is_on(cli, GSIM_OPT_QUIET))
        return;
    note_assumed(cli, summaries, n);
    note_outside(err, summaries, n);
    for (int i = 0; i < n; i++)
        if (summaries[i]->unfinished)
            fprintf(err,
                    "gsim: %s: %lld of %lld jobs did not finish; means and quantiles are of the "
                    "others\n",
                    summaries[i]->policy, (long long)summaries[i]->unfinished,
                    (long long)summaries[i]->jobs);
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
