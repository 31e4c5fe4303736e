/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim repro: compares the program and the files that a run of a database was made from with those
 * of today, file by file; then repeats the run and compares the results. */
#include <stdlib.h>
#include <string.h>

#include "sim/app/results/db_real.h"
#include "sim/app/results/db_repro.h"
#include "sim/app/results/placed.h"

struct repro {
    struct gsim_cli *cli;
    struct gsim_db *db;
    struct gsim_db_stored run;
    struct gsim_placed placed;
    struct gsim_cli again; /* the run's command line, as if it had been parsed */
    struct gsim_setup setup;
    struct gsim_identity identity;
    struct gsim_result result;
};

/* --- files ------------------------------------------------------------------------------------ */

struct files {
    /* n_lost: files that changed or are gone, and that the database did not keep */
    int n_changed, n_gone, n_lost;
    const char *lost;
};

static void check_file(struct repro *r, const struct gsim_db_file *file, struct files *files) {
    FILE *out = r->cli->io->out;
    struct gsim_file_content now;
    struct gsim_log *log = gsim_arena_alloc(r->cli->arena, sizeof *log);
    bool is_there = log && gsim_content_read(file->path, -1, r->cli->arena, &now, log) == GSIM_OK;
    if (is_there && strcmp(now.sha256, file->sha256) == 0) {
        fprintf(out, "  %s %s: as it was\n", file->kind, file->path);
        return;
    }
    if (is_there)
        fprintf(out, "  %s %s: has other contents (SHA-256 %.12s then, %.12s now)\n", file->kind,
                file->path, file->sha256, now.sha256);
    else
        fprintf(out, "  %s %s: cannot be read\n", file->kind, file->path);
    files->n_changed += is_there;
    files->n_gone += !is_there;
    if (!file->bytes && files->n_lost++ == 0)
        files->lost = file->path;
}

/* Decides whether files come from the database: always with --from-database, or if a file is gone.
 * A changed file without that option is an error. */
static enum gsim_status decide(struct repro *r, const struct files *files, bool *is_placed) {
    bool is_asked = gsim_option_is_on(r->cli, GSIM_OPT_FROM_DATABASE);
    *is_placed = is_asked || files->n_gone > 0;
    if (files->n_changed && !is_asked)
        return gsim_fail(
            r->cli->log, GSIM_FAILED, r->cli->operand[0], 0,
            "run %lld was made from other contents of its files, listed above: put them back%s",
            (long long)r->run.run_id,
            files->n_lost ? ""
                          : ", or --from-database runs from those that the database "
                            "keeps");
    if (files->n_lost)
        return gsim_fail(r->cli->log, GSIM_FAILED, r->cli->operand[0], 0,
                         "run %lld was made from a file that is missing now, and the database "
                         "keeps only its SHA-256: %s (--keep-inputs keeps larger files)",
                         (long long)r->run.run_id, files->lost);
    return GSIM_OK;
}

static enum gsim_status check_files(struct repro *r) {
    struct files files = {0};
    bool is_placed;
    for (int i = 0; i < r->run.n_files; i++)
        check_file(r, &r->run.file[i], &files);
    enum gsim_status status = decide(r, &files, &is_placed);
    if (status != GSIM_OK || !is_placed)
        return status;
    fprintf(r->cli->io->out, "  files come from the database\n");
    return gsim_placed_open(&r->placed, r->run.file, r->run.n_files, r->cli->arena, r->cli->log);
}

/* --- the run ---------------------------------------------------------------------------------- */

static bool begins(const char *text, const char *start, const char **rest) {
    size_t n = strlen(start);
    *rest = text + n;
    return strncmp(text, start, n) == 0;
}

static bool add_repeat(struct gsim_cli *cli, enum gsim_option option, const char *key,
                       const char *value) {
    int n = 0;
    while (n < GSIM_MAX_REPEATS && cli->repeats[option][n])
        n++;
    const char *text = gsim_arena_printf(cli->arena, "%s=%s", key, value);
    if (!text || n == GSIM_MAX_REPEATS)
        return false;
    cli->repeats[option][n] = text;
    cli->value[option] = text;
    return true;
}

/* Sets the option that a stored setting names, as a grid would. */
static bool take_setting(struct repro *r, const struct gsim_setting *setting) {
    struct gsim_cli *cli = &r->again;
    const char *value = gsim_placed_name(&r->placed, setting->value), *key;
    if (strcmp(setting->key, "trace") == 0) {
        cli->operand[0] = value;
        cli->n_operands = 1;
        return true;
    }
    for (int o = 0; o < GSIM_OPT_COUNT; o++) {
        const struct gsim_option_def *def = &gsim_option_defs[o];
        if (!(def->commands & GSIM_IN_GRID))
            continue;
        if (def->is_repeatable && begins(setting->key, def->name, &key) && *key == '.')
            return add_repeat(cli, (enum gsim_option)o, key + 1, value);
        if (strcmp(setting->key, def->name) != 0)
            continue;
        cli->value[o] = def->argument ? value : "";
        return true;
    }
    return false;
}

static enum gsim_status set_up(struct repro *r) {
    struct gsim_cli *cli = r->cli;
    r->again = (struct gsim_cli){
        .io = cli->io, .arena = cli->arena, .log = cli->log, .foreign = cli->foreign};
    for (const struct gsim_setting *setting = r->run.settings; setting->key; setting++)
        if (!take_setting(r, setting))
            return gsim_fail(cli->log, GSIM_FAILED, cli->operand[0], 0,
                             "run %lld was made with an option that this program does not have: %s",
                             (long long)r->run.run_id, setting->key);
    enum gsim_status status =
        gsim_setup_load(&r->again, r->again.value[GSIM_OPT_POLICY], &r->setup);
    if (status == GSIM_OK)
        status = gsim_identity_open(&r->again);
    if (status == GSIM_OK)
        status = gsim_identify(&r->again, &r->setup, 0, r->setup.replication, &r->identity);
    gsim_contents_free(r->again.contents);
    r->again.contents = NULL;
    return status;
}

static void say_program(struct repro *r) {
    FILE *out = r->cli->io->out;
    if (strcmp(r->identity.build, r->run.build) == 0)
        fprintf(out, "  program: as it was\n");
    else
        fprintf(out, "  program: another build, which differs in %s\n",
                gsim_db_build_differs(r->db, r->run.run_id));
    gsim_db_put_resolved(r->db, r->run.run_id, &r->identity, out);
}

/* --- the result ------------------------------------------------------------------------------- */

/* Puts the files' own names into the result's texts, where files were read from a temporary
 * folder. */
static bool restore_names(struct repro *r) {
    struct gsim_summary *s = &r->result.summary;
    bool is_fine = true;
#define GSIM_FIELD_TEXT(name, help)                                                                \
    s->name = gsim_placed_restore(&r->placed, s->name);                                            \
    is_fine = is_fine && s->name;
#define GSIM_FIELD_INT(name, help)
#define GSIM_FIELD_REAL(name, help)
#define GSIM_FIELD_BOOL(name, help)
#include "gsim/fields.def"
    return is_fine;
}

static enum gsim_status compare(struct repro *r) {
    struct gsim_cli *cli = r->cli;
    struct gsim_db_differences d;
    if (!restore_names(r))
        return gsim_no_memory(cli->log, "comparing");
    enum gsim_status status =
        gsim_db_compare(r->db, &r->run, &r->result, cli->io->out, &d, cli->log);
    if (status != GSIM_OK)
        return status;
    if (d.fields || d.jobs || d.requests || d.gpus)
        return gsim_fail(
            cli->log, GSIM_FAILED, cli->operand[0], 0,
            "run %lld is not reproduced: other results in %lld fields, %lld jobs, %lld "
            "requests, %lld GPUs",
            (long long)r->run.run_id, (long long)d.fields, (long long)d.jobs, (long long)d.requests,
            (long long)d.gpus);
    fprintf(cli->io->out, "run %lld is reproduced: each field of its result%s\n",
            (long long)r->run.run_id,
            r->run.is_summary ? "; its jobs were not kept" : ", each job, request and GPU");
    return GSIM_OK;
}

/* What processes did on real GPUs cannot be had again, but for the decisions. */
static enum gsim_status check_driven(const struct repro *r) {
    bool is_driven = false;
    enum gsim_status status = gsim_db_real_is_of(r->db, r->run.run_id, &is_driven, r->cli->log);
    return status == GSIM_OK && is_driven
               ? gsim_fail(r->cli->log, GSIM_USAGE, r->cli->operand[0], 0,
                           "run %lld was driven: its processes have run. gsim drive --replay %s "
                           "--policy NAME TRACE goes through its decisions again",
                           (long long)r->run.run_id, r->cli->operand[0])
               : status;
}

static enum gsim_status repeat(struct repro *r) {
    struct gsim_cli *cli = r->cli;
    fprintf(cli->io->out, "run %lld: %s\n", (long long)r->run.run_id, r->run.argv);
    enum gsim_status status = check_driven(r);
    if (status == GSIM_OK)
        status = check_files(r);
    if (status == GSIM_OK)
        status = set_up(r);
    if (status != GSIM_OK)
        return status;
    say_program(r);
    (void)fflush(cli->io->out);
    struct gsim_progress_bar bar;
    gsim_progress_begin(&bar, cli, "", r->setup.trace.n_jobs);
    status = gsim_setup_run(&r->setup, 0, r->setup.replication, &r->setup.trace, cli->io, &bar,
                            cli->arena, &r->result, cli->log);
    gsim_progress_end(&bar);
    if (status == GSIM_INCOMPLETE)
        return gsim_fail(cli->log, GSIM_INCOMPLETE, NULL, 0, "interrupted: nothing is compared");
    return status == GSIM_OK ? compare(r) : status;
}

enum gsim_status gsim_command_repro(struct gsim_cli *cli) {
    struct repro *r = gsim_arena_alloc(cli->arena, sizeof *r);
    if (!r)
        return gsim_no_memory(cli->log, "starting");
    if (cli->n_operands != 2)
        return gsim_fail(
            cli->log, GSIM_USAGE, NULL, 0,
            "which run of which database? gsim repro results.db RUN, with its run_id or "
            "the beginning of its config");
    r->cli = cli;
    r->placed.here = -1;
    enum gsim_status status = gsim_db_open_existing(cli->operand[0], cli->arena, &r->db, cli->log);
    if (status == GSIM_OK)
        status = gsim_db_find_run(r->db, cli->operand[1], &r->run, cli->log);
    if (status == GSIM_OK)
        status = repeat(r);
    gsim_placed_close(&r->placed);
    gsim_db_close(r->db);
    return status;
}
