/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/figures/report.h"

#include <string.h>

#include "sim/app/identity/config.h"
#include "sim/app/cli/invocation.h"
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

/* Prints each item of a result's list "key=value (device), column=value" on a line, with the help
 * of the key. */
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

/* Prints the number of assumed values, or with --verbose their names. */
static void note_assumed(const struct gsim_cli *cli, const struct gsim_summary *const *summaries,
                         int n) {
    FILE *err = cli->io->err;
    bool is_verbose = gsim_option_is_on(cli, GSIM_OPT_VERBOSE);
    const char *before = "gsim: assumed, not known:";
    for (int i = 0; i < n; i++) {
        const char *assumed = summaries[i]->assumed;
        int64_t n_assumed = gsim_count_listed(assumed) - gsim_takes_durations(assumed);
        if (n_assumed == 0)
            continue;
        if (is_verbose)
            name_assumed(err, summaries[i]->policy, assumed);
        else
            fprintf(err, "%s %lld value%s of %s", before, (long long)n_assumed,
                    n_assumed == 1 ? "" : "s", summaries[i]->policy);
        before = ",";
    }
    if (!is_verbose && *before == ',')
        fputs(" (--verbose names them)\n", err);
}

/* A device that the command names may be one that the trace's durations were not measured on. */
static void note_durations(const struct gsim_cli *cli, const struct gsim_summary *summary) {
    if ((cli->value[GSIM_OPT_DEVICE] || cli->value[GSIM_OPT_CLUSTER]) &&
        gsim_takes_durations(summary->assumed))
        fprintf(cli->io->err,
                "gsim: durations are taken as measured on the device that they run on: the trace "
                "names none, and how fast %s is to another device is not known (speed_milli)\n",
                summary->device);
}

/* Prints policies that are outside validation; policies with an equal reason share a line. */
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

static bool shares_gpus(const struct gsim_cli *cli, const char *name) {
    const struct gsim_policy *policy;
    for (int n = 0; (policy = gsim_foreign_known(cli->foreign, n)) != NULL; n++)
        if (strcmp(policy->name, name) == 0)
            return policy->shares_gpus;
    return false;
}

/* Warns of a policy that shares GPUs if GPUs stand idle for a tenth of the time although waiting
 * jobs ask for no more than the idle GPUs: its times then show the effect of its queue as well as
 * that of sharing. */
static void note_idle(const struct gsim_cli *cli, const struct gsim_summary *const *summaries,
                      int n) {
    static const double LEAST = 0.1;
    for (int i = 0; i < n; i++)
        if (summaries[i]->idle_wanted >= LEAST && shares_gpus(cli, summaries[i]->policy))
            fprintf(cli->io->err,
                    "gsim: %s: %.0f %% of the GPU time stood idle while jobs waited that asked for "
                    "no more: the order of its queue, its placement or memory holds them up "
                    "(idle_wanted), and its times show that as well as sharing (a queue= of the "
                    "policy, 'gsim list policies %s', lets jobs pass)\n",
                    summaries[i]->policy, 100 * summaries[i]->idle_wanted, summaries[i]->policy);
}

/* Says where jobs waited for room on a host: fewer jobs then share GPUs than the policy would
 * have. */
static void note_hosts(FILE *err, const struct gsim_summary *const *summaries, int n) {
    for (int i = 0; i < n; i++)
        if (summaries[i]->host_waits)
            fprintf(err,
                    "gsim: %s: jobs waited %lld times for host memory, in all during %.0f %% of "
                    "the makespan (--host-mem, or host_mem of the cluster): its times show that as "
                    "well as the policy\n",
                    summaries[i]->policy, (long long)summaries[i]->host_waits,
                    100 * summaries[i]->host_wait_s / summaries[i]->makespan_s);
}

void gsim_report_notes(const struct gsim_cli *cli, const struct gsim_summary *const *summaries,
                       int n) {
    FILE *err = cli->io->err;
    if (gsim_option_is_on(cli, GSIM_OPT_QUIET))
        return;
    note_assumed(cli, summaries, n);
    note_durations(cli, summaries[0]);
    for (int i = 0; i < n; i++)
        if (*summaries[i]->deviation)
            fprintf(err, "gsim: %s: %s\n", summaries[i]->policy, summaries[i]->deviation);
    note_outside(err, summaries, n);
    note_idle(cli, summaries, n);
    note_hosts(err, summaries, n);
    for (int i = 0; i < n; i++)
        if (summaries[i]->unfinished)
            fprintf(err,
                    "gsim: %s: %lld of %lld jobs did not finish; means and quantiles are of the "
                    "others\n",
                    summaries[i]->policy, (long long)summaries[i]->unfinished,
                    (long long)summaries[i]->jobs);
}

/* --- --db ------------------------------------------------------------------------------------- */

enum gsim_status gsim_report_kept(struct gsim_cli *cli, bool *is_summary) {
    const char *text = cli->value[GSIM_OPT_KEEP_ROWS];
    int choice = text ? gsim_text_choice(text, "jobs|summary") : 0;
    *is_summary = choice == 1;
    if (choice >= 0)
        return GSIM_OK;
    return gsim_fail(
        cli->log, GSIM_USAGE, NULL, 0,
        "--keep: '%s' is not one of summary, jobs; --keep-old keeps the runs of another "
        "build",
        text);
}

struct found {
    int64_t n_old, n_changed, n_without_jobs;
    int64_t old_id, changed_id; /* the first such run of each kind */
};

static struct found count(const struct gsim_db_asked *asked, int64_t n) {
    struct found found = {0};
    for (int64_t i = 0; i < n; i++) {
        if (asked[i].is_passed_over)
            continue;
        if (asked[i].state == GSIM_DB_OLD && found.n_old++ == 0)
            found.old_id = asked[i].run_id;
        if (asked[i].state == GSIM_DB_CHANGED && found.n_changed++ == 0)
            found.changed_id = asked[i].run_id;
        found.n_without_jobs += asked[i].state == GSIM_DB_THERE && asked[i].is_summary;
    }
    return found;
}

bool gsim_report_replaces(const struct gsim_cli *cli, enum gsim_db_state state) {
    bool is_stale = state == GSIM_DB_OLD || state == GSIM_DB_CHANGED;
    return gsim_option_is_on(cli, GSIM_OPT_FORCE) ||
           (is_stale && gsim_option_is_on(cli, GSIM_OPT_REPLACE_OLD));
}

enum gsim_status gsim_report_old(struct gsim_cli *cli, struct gsim_db *db,
                                 const struct gsim_db_asked *asked, int64_t n, const char *path) {
    struct found found = count(asked, n);
    bool is_replaced = gsim_report_replaces(cli, GSIM_DB_OLD), is_summary;
    if (gsim_report_kept(cli, &is_summary) != GSIM_OK)
        return GSIM_USAGE;
    if (is_replaced && gsim_option_is_on(cli, GSIM_OPT_KEEP_OLD))
        return gsim_fail(
            cli->log, GSIM_USAGE, NULL, 0,
            "--force and --replace-old run again what --keep-old would keep: say one of "
            "them");
    if (found.n_old && !is_replaced && !gsim_option_is_on(cli, GSIM_OPT_KEEP_OLD))
        return gsim_fail(cli->log, GSIM_USAGE, path, 0,
                         "%lld of %lld runs were made by another build of gsim, which differs in "
                         "%s: --replace-old runs them again in their place, --force all runs, "
                         "--keep-old keeps them as they are",
                         (long long)found.n_old, (long long)n,
                         gsim_db_build_differs(db, found.old_id));
    if (gsim_option_is_on(cli, GSIM_OPT_QUIET) || is_replaced)
        return GSIM_OK;
    if (found.n_old)
        fprintf(
            cli->io->err,
            "gsim: %s: %lld of %lld runs stay as another build of gsim made them, which differs "
            "in %s\n",
            path, (long long)found.n_old, (long long)n, gsim_db_build_differs(db, found.old_id));
    if (found.n_changed)
        fprintf(cli->io->err,
                "gsim: %s: %lld of %lld runs are there with other contents of %s: they stay beside "
                "the new ones, and figures leave them out; --replace-old replaces them\n",
                path, (long long)found.n_changed, (long long)n,
                gsim_db_inputs_differ(db, found.changed_id));
    if (found.n_without_jobs && !is_summary)
        fprintf(cli->io->err,
                "gsim: %s: of %lld of %lld runs it keeps the summary only; --force runs them again "
                "and keeps their jobs\n",
                path, (long long)found.n_without_jobs, (long long)n);
    return GSIM_OK;
}

static enum gsim_status ask(struct gsim_cli *cli, const struct gsim_setup *setup, int contender,
                            uint64_t replication, struct gsim_identity *identity,
                            struct gsim_db_asked *asked) {
    enum gsim_status status = gsim_identity_open(cli);
    if (status == GSIM_OK)
        status = gsim_identify(cli, setup, contender, replication, identity);
    if (status != GSIM_OK)
        return status;
    *asked = (struct gsim_db_asked){.config = identity->config,
                                    .build = identity->build,
                                    .inputs = identity->inputs,
                                    .argv = gsim_run_command(cli, setup, contender, replication)};
    return asked->argv ? GSIM_OK : gsim_no_memory(cli->log, "looking runs up");
}

enum gsim_status gsim_report_look_up(struct gsim_cli *cli, const struct gsim_setup *setup,
                                     uint64_t first_replication, int64_t n_replications,
                                     struct gsim_db_asked **out) {
    const char *path = cli->value[GSIM_OPT_DB];
    struct gsim_db *db = NULL;
    int64_t n = n_replications * setup->n_contenders;
    bool is_summary;
    *out = NULL;
    if (!path)
        return GSIM_OK;
    struct gsim_identity *identity = gsim_arena_array(cli->arena, (size_t)n, sizeof *identity);
    struct gsim_db_asked *asked = gsim_arena_array(cli->arena, (size_t)n, sizeof *asked);
    if (!identity || !asked)
        return gsim_no_memory(cli->log, "looking runs up");
    enum gsim_status status = gsim_report_kept(cli, &is_summary);
    for (int64_t i = 0; i < n && status == GSIM_OK; i++)
        status =
            ask(cli, setup, (int)(i % setup->n_contenders),
                first_replication + (uint64_t)(i / setup->n_contenders), &identity[i], &asked[i]);
    if (status == GSIM_OK)
        status = gsim_db_open(path, cli->arena, &db, cli->log);
    if (status == GSIM_OK)
        status = gsim_db_look_up(db, asked, n, cli->log);
    if (status == GSIM_OK)
        status = gsim_report_old(cli, db, asked, n, path);
    gsim_db_close(db);
    *out = asked;
    return status;
}

enum gsim_status gsim_report_is_known(struct gsim_cli *cli, const struct gsim_setup *setup,
                                      bool *is_known) {
    struct gsim_db_asked *asked;
    enum gsim_status status = gsim_report_look_up(cli, setup, setup->replication, 1, &asked);
    *is_known = status == GSIM_OK && asked && !gsim_report_replaces(cli, asked->state) &&
                (asked->state == GSIM_DB_THERE || asked->state == GSIM_DB_OLD);
    return status;
}

/* Writes a run into the database. A run that another build made stays if the look-up before the run
 * let it stay. */
static enum gsim_status write_run(struct gsim_cli *cli, struct gsim_db *db, struct gsim_db_run *run,
                                  const struct gsim_result *result, struct gsim_db_asked *asked) {
    enum gsim_status status = gsim_db_look_up(db, asked, 1, cli->log);
    bool is_replaced = gsim_report_replaces(cli, asked->state);
    if (status != GSIM_OK || (asked->state == GSIM_DB_OLD && !is_replaced))
        return status;
    run->asked = is_replaced;
    status = gsim_db_add(db, run, result, cli->log);
    return status == GSIM_OK ? gsim_db_tidy(db, cli->log) : status;
}

enum gsim_status gsim_report_db(struct gsim_cli *cli, const struct gsim_setup *setup, int contender,
                                uint64_t replication, const struct gsim_trace *trace,
                                const struct gsim_result *result) {
    const char *path = cli->value[GSIM_OPT_DB];
    struct gsim_db *db = NULL;
    struct gsim_identity identity;
    struct gsim_db_asked asked;
    if (!path)
        return GSIM_OK;
    enum gsim_status status = ask(cli, setup, contender, replication, &identity, &asked);
    if (status != GSIM_OK)
        return status;
    struct gsim_db_run run = {.identity = &identity,
                              .argv = asked.argv,
                              .replication = replication,
                              .trace = trace,
                              .settings = gsim_run_settings(cli, setup, contender, replication)};
    if (!run.settings)
        return gsim_no_memory(cli->log, "writing a database");
    status = gsim_report_kept(cli, &run.is_summary);
    if (status == GSIM_OK)
        status = gsim_db_open(path, cli->arena, &db, cli->log);
    if (status == GSIM_OK)
        status = write_run(cli, db, &run, result, &asked);
    gsim_db_close(db);
    return status;
}
