/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adds a run to a database, or puts it in the place of the runs that it replaces. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <time.h>
#include <unistd.h>

#include "sim/app/identity/program.h"
#include "sim/app/results/db_schema.h"

static void bind_real(sqlite3_stmt *statement, int at, double value) {
    if (isnan(value))
        (void)sqlite3_bind_null(statement, at);
    else
        (void)sqlite3_bind_double(statement, at, value);
}

static void bind_text(sqlite3_stmt *statement, int at, const char *text) {
    (void)sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

static int bind_fields(sqlite3_stmt *statement, int at, const struct gsim_summary *s) {
#define GSIM_FIELD_TEXT(name, help) bind_text(statement, at++, s->name);
#define GSIM_FIELD_INT(name, help) (void)sqlite3_bind_int64(statement, at++, s->name);
#define GSIM_FIELD_REAL(name, help)                                                                \
    if (gsim_db_keeps_field(#name))                                                                \
        bind_real(statement, at++, s->name);
#define GSIM_FIELD_BOOL(name, help) (void)sqlite3_bind_int(statement, at++, s->name);
#include "gsim/fields.def"
    return at;
}

static int add_run(struct gsim_db *db, int64_t run_id, const struct gsim_db_run *run,
                   const struct gsim_result *result) {
    sqlite3_stmt *statement = gsim_db_prepared(db, GSIM_DB_ADD_RUN);
    const struct gsim_identity *identity = run->identity;
    int at = 1;
    if (run_id > 0)
        (void)sqlite3_bind_int64(statement, at++, run_id);
    else /* SQLite picks the next free run_id */
        (void)sqlite3_bind_null(statement, at++);
    bind_text(statement, at++, identity->config);
    bind_text(statement, at++, identity->build);
    bind_text(statement, at++, GSIM_VERSION);
    bind_text(statement, at++, run->argv);
    (void)sqlite3_bind_int64(statement, at++, (int64_t)run->replication);
    bind_text(statement, at++, run->is_summary ? "summary" : "jobs");
    bind_text(statement, at++, identity->inputs);
    bind_text(statement, at++, identity->parameters.name);
    bind_text(statement, at++, identity->devices.name);
    bind_text(statement, at++, identity->trace_jobs);
    bind_text(statement, at++, "done");
    bind_real(statement, at++, result->computing_s);
    (void)bind_fields(statement, at, &result->summary);
    return gsim_db_finish(statement);
}

static int add_settings(struct gsim_db *db, int64_t run_id, const struct gsim_setting *settings) {
    sqlite3_stmt *statement = gsim_db_prepared(db, GSIM_DB_ADD_SETTING);
    int code = SQLITE_DONE;
    for (; settings && settings->key && code == SQLITE_DONE; settings++) {
        (void)sqlite3_bind_int64(statement, 1, run_id);
        (void)sqlite3_bind_text(statement, 2, settings->key, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(statement, 3, settings->value, -1, SQLITE_STATIC);
        code = gsim_db_finish(statement);
    }
    return code;
}

/* Writes the begin of the run as "2026-11-22T12:00:00Z". */
static void format_begin(char text[32], double wall_s) {
    time_t began = time(NULL) - (time_t)(isnan(wall_s) ? 0 : wall_s);
    struct tm parts;
    if (!gmtime_r(&began, &parts) || strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        *text = '\0';
}

/* Adds the row of `run_perf`, with the values that depend on the machine. */
static int add_perf(struct gsim_db *db, int64_t run_id, const struct gsim_summary *summary) {
    sqlite3_stmt *statement = gsim_db_prepared(db, GSIM_DB_ADD_PERF);
    char began[32], host[256] = "", program[64];
    format_begin(began, summary->wall_s);
    (void)gethostname(host, sizeof host - 1);
    gsim_program_name(program);
    (void)sqlite3_bind_int64(statement, 1, run_id);
    bind_real(statement, 2, summary->wall_s);
    (void)sqlite3_bind_int64(statement, 3, summary->events);
    bind_text(statement, 4, began);
    bind_text(statement, 5, host);
    bind_text(statement, 6, program);
    bind_text(statement, 7, gsim_program_compiler());
    return gsim_db_finish(statement);
}

/* Fills the tables with many rows. */
static bool add_rows(struct gsim_db *db, int64_t run_id, const struct gsim_db_run *run,
                     const struct gsim_result *result) {
    bool is_done = true;
    db->adding = result;
    db->adding_id = run_id;
    for (int at = run->is_summary ? GSIM_DB_ADD_GPUS : GSIM_DB_ADD_JOBS;
         at <= GSIM_DB_ADD_GPUS && is_done; at++)
        is_done = gsim_db_finish(gsim_db_prepared(db, (enum gsim_db_statement)at)) == SQLITE_DONE;
    db->adding = NULL;
    return is_done;
}

static enum gsim_status roll_back(struct gsim_db *db, struct gsim_log *log) {
    enum gsim_status status = gsim_db_fail(db, log);
    (void)sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
    db->last = (struct gsim_identity){0};
    return status;
}

/* Takes the position in the sweep as the run_id, so that run_ids do not depend on the order in
 * which runs end. *id is 0 if another run has that run_id. */
static int find_id(struct gsim_db *db, const struct gsim_db_run *run, int64_t *id) {
    *id = 0;
    if (!run->sweep)
        return SQLITE_DONE;
    sqlite3_stmt *statement = gsim_db_prepared(db, GSIM_DB_FIND_ID);
    (void)sqlite3_bind_int64(statement, 1, run->position);
    int code = sqlite3_step(statement);
    *id = code == SQLITE_DONE ? run->position : 0;
    (void)sqlite3_reset(statement);
    return code == SQLITE_ROW ? SQLITE_DONE : code;
}

static int add_membership(struct gsim_db *db, int64_t run_id, const struct gsim_db_run *run) {
    if (!run->sweep)
        return SQLITE_DONE;
    sqlite3_stmt *statement = gsim_db_prepared(db, GSIM_DB_ADD_MEMBER);
    (void)sqlite3_bind_text(statement, 1, run->sweep, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(statement, 2, run->position);
    (void)sqlite3_bind_int64(statement, 3, run_id);
    return gsim_db_finish(statement);
}

/* Deletes a run and the rows that refer to it. */
static int delete_run(struct gsim_db *db, int64_t run_id) {
    static const char *const tables[] = {"job",     "request",   "sample",   "gpu", "run_perf",
                                         "setting", "sweep_run", "compared", "run"};
    int code = SQLITE_OK;
    db->has_replaced = true;
    for (size_t t = 0; t < sizeof tables / sizeof *tables && code == SQLITE_OK; t++) {
        char sql[80];
        (void)snprintf(sql, sizeof sql, "DELETE FROM %s WHERE run_id = %lld", tables[t],
                       (long long)run_id);
        code = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
    }
    return code == SQLITE_OK ? SQLITE_DONE : code;
}

/* Deletes each run that the statement finds. */
static int delete_found(struct gsim_db *db, sqlite3_stmt *find) {
    int code;
    while ((code = sqlite3_step(find)) == SQLITE_ROW) {
        int64_t run_id = sqlite3_column_int64(find, 0);
        (void)sqlite3_reset(find); /* the bound parameters stay */
        code = delete_run(db, run_id);
        if (code != SQLITE_DONE)
            break;
    }
    (void)sqlite3_reset(find);
    return code;
}

/* Deletes the run with this configuration, if there is one, and the runs that this run replaces. */
static bool make_way(struct gsim_db *db, const struct gsim_db_run *run) {
    sqlite3_stmt *find = gsim_db_prepared(db, GSIM_DB_FIND_RUN);
    bind_text(find, 1, run->identity->config);
    if (delete_found(db, find) != SQLITE_DONE)
        return false;
    if (!run->asked)
        return true;
    find = gsim_db_prepared(db, GSIM_DB_FIND_REPLACED);
    (void)sqlite3_bind_int64(find, 1, run->asked);
    return delete_found(db, find) == SQLITE_DONE;
}

static bool write_run(struct gsim_db *db, const struct gsim_db_run *run,
                      const struct gsim_result *result) {
    int64_t wanted;
    if (!make_way(db, run) || find_id(db, run, &wanted) != SQLITE_DONE ||
        add_run(db, wanted, run, result) != SQLITE_DONE)
        return false;
    int64_t run_id = sqlite3_last_insert_rowid(db->handle);
    return add_rows(db, run_id, run, result) && gsim_db_add_lists(db, run) &&
           add_perf(db, run_id, &result->summary) == SQLITE_DONE &&
           add_settings(db, run_id, run->settings) == SQLITE_DONE &&
           add_membership(db, run_id, run) == SQLITE_DONE &&
           gsim_db_finish(gsim_db_prepared(db, GSIM_DB_INDEX_JOBS)) == SQLITE_DONE;
}

enum gsim_status gsim_db_begin(struct gsim_db *db, struct gsim_log *log) {
    return gsim_db_execute(db, "BEGIN IMMEDIATE", log);
}

enum gsim_status gsim_db_commit(struct gsim_db *db, struct gsim_log *log) {
    if (sqlite3_exec(db->handle, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        return roll_back(db, log);
    return GSIM_OK;
}

enum gsim_status gsim_db_add(struct gsim_db *db, const struct gsim_db_run *run,
                             const struct gsim_result *result, struct gsim_log *log) {
    bool is_alone = sqlite3_get_autocommit(db->handle) != 0;
    enum gsim_status status = is_alone ? gsim_db_begin(db, log) : GSIM_OK;
    if (status != GSIM_OK)
        return status;
    if (!write_run(db, run, result))
        return roll_back(db, log);
    return is_alone ? gsim_db_commit(db, log) : GSIM_OK;
}
