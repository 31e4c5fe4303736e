/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens and writes databases with the tables of db_tables.def. The journal is SQLite's default, a
 * rollback journal: if the machine stops during a write, the database is whole when it is next
 * opened. Indexes are made after the first load. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sim/app/cli/cli.h"
#include "sim/app/results/db_schema.h"
#include "sim/app/identity/program.h"

enum { APPLICATION_ID = 0x6773696D /* "gsim" */, SCHEMA_VERSION = 8 };

/* The time to wait for a lock. A program that reads holds up a commit, and a report of a large
 * database takes a while: a sweep should not fail because of it. */
enum { PATIENCE_MS = 60000 };

enum gsim_status gsim_db_fail(const struct gsim_db *db, struct gsim_log *log) {
    bool is_busy = db->handle && sqlite3_errcode(db->handle) == SQLITE_BUSY;
    return gsim_fail(log, GSIM_FAILED, db->path, 0, "%s%s%s",
                     db->handle ? sqlite3_errmsg(db->handle) : "no memory",
                     is_busy ? " (another program is using it)" : "",
                     db->is_written ? "; nothing of it was written, earlier runs are untouched"
                                    : "");
}

enum gsim_status gsim_db_execute(struct gsim_db *db, const char *sql, struct gsim_log *log) {
    return sqlite3_exec(db->handle, sql, NULL, NULL, NULL) == SQLITE_OK ? GSIM_OK
                                                                        : gsim_db_fail(db, log);
}

enum gsim_status gsim_db_number(struct gsim_db *db, const char *sql, int64_t *out,
                                struct gsim_log *log) {
    sqlite3_stmt *statement = NULL;
    *out = 0;
    int code = sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        *out = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return code == SQLITE_ROW ? GSIM_OK : gsim_db_fail(db, log);
}

static enum gsim_status create(struct gsim_db *db, struct gsim_log *log) {
    const char *schema = gsim_db_schema(db->arena);
    const char *sql = schema
                          ? gsim_arena_printf(db->arena,
                                              "BEGIN IMMEDIATE;"
                                              "PRAGMA application_id = %d; PRAGMA user_version = "
                                              "%d;%sCOMMIT;",
                                              APPLICATION_ID, SCHEMA_VERSION, schema)
                          : NULL;
    return sql ? gsim_db_execute(db, sql, log) : gsim_no_memory(log, "creating a database");
}

/* Refuses a file that is no database. SQLite reads a file only at the first statement. */
static enum gsim_status check_kind(struct gsim_db *db, struct gsim_log *log) {
    int code = sqlite3_exec(db->handle, "PRAGMA application_id", NULL, NULL, NULL);
    if (code == SQLITE_NOTADB)
        return gsim_fail(log, GSIM_BAD_INPUT, db->path, 0,
                         "it is not a database, and was left as it is; name another file");
    return code == SQLITE_OK ? GSIM_OK : gsim_db_fail(db, log);
}

static enum gsim_status check_file(struct gsim_db *db, struct gsim_log *log) {
    int64_t application, version, tables;
    enum gsim_status status = check_kind(db, log);
    if (status == GSIM_OK)
        status = gsim_db_number(db, "PRAGMA application_id", &application, log);
    if (status == GSIM_OK)
        status = gsim_db_number(db, "PRAGMA user_version", &version, log);
    if (status == GSIM_OK)
        status = gsim_db_number(db, "SELECT count(*) FROM sqlite_master", &tables, log);
    if (status != GSIM_OK)
        return status;
    if (application == 0 && tables == 0)
        return create(db, log);
    if (application != APPLICATION_ID)
        return gsim_fail(log, GSIM_BAD_INPUT, db->path, 0,
                         "it is a database, but not one of gsim's; name another file");
    if (version < SCHEMA_VERSION)
        return gsim_fail(log, GSIM_BAD_INPUT, db->path, 0,
                         "it was written with schema %lld, by an older gsim, and lacks data that "
                         "this version stores with a run; this one reads and writes schema %d: "
                         "name another file, into which the same command runs them again",
                         (long long)version, SCHEMA_VERSION);
    if (version > SCHEMA_VERSION)
        return gsim_fail(log, GSIM_BAD_INPUT, db->path, 0,
                         "it was written with schema %lld, by a newer gsim; this one reads and "
                         "writes schema %d: name another file",
                         (long long)version, SCHEMA_VERSION);
    return GSIM_OK;
}

/* The system's reason for a failed open; SQLite's own message does not contain it. */
static const char *why_not_opened(const struct gsim_db *db) {
    struct stat file;
    int error = db->handle ? sqlite3_system_errno(db->handle) : ENOMEM;
    if (stat(db->path, &file) == 0 && S_ISDIR(file.st_mode))
        error = EISDIR;
    return error ? strerror(error) : sqlite3_errmsg(db->handle);
}

static enum gsim_status open_file(const char *path, int flags, struct gsim_arena *arena,
                                  struct gsim_db **out, struct gsim_log *log) {
    struct gsim_db *db = gsim_arena_alloc(arena, sizeof *db);
    *out = db;
    if (!db)
        return gsim_no_memory(log, "opening a database");
    db->path = path;
    db->arena = arena;
    db->is_written = flags & SQLITE_OPEN_CREATE;
    flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX; /* a connection serves one thread */
    if (sqlite3_open_v2(path, &db->handle, flags, NULL) != SQLITE_OK)
        return gsim_fail(log, db->is_written ? GSIM_FAILED : GSIM_BAD_INPUT, path, 0,
                         "cannot open it: %s", why_not_opened(db));
    (void)sqlite3_busy_timeout(db->handle, PATIENCE_MS);
    /* Foreign keys are not checked: a check costs a tenth of the time of writing a row, and the run
     * that the row refers to was written just before. */
    return gsim_db_show_rows(db) ? check_file(db, log) : gsim_db_fail(db, log);
}

enum gsim_status gsim_db_open(const char *path, struct gsim_arena *arena, struct gsim_db **out,
                              struct gsim_log *log) {
    return open_file(path, SQLITE_OPEN_CREATE, arena, out, log);
}

enum gsim_status gsim_db_open_existing(const char *path, struct gsim_arena *arena,
                                       struct gsim_db **out, struct gsim_log *log) {
    return open_file(path, 0, arena, out, log);
}

void gsim_db_close(struct gsim_db *db) {
    if (!db)
        return;
    for (int at = 0; at < GSIM_DB_STATEMENTS; at++)
        (void)sqlite3_finalize(db->prepared[at]);
    (void)sqlite3_close(db->handle);
}

/* --- adding ----------------------------------------------------------------------------------- */

static const char *const statements[GSIM_DB_STATEMENTS] = {
    [GSIM_DB_FIND_RUN] = "SELECT run_id FROM run WHERE config = ?",
    [GSIM_DB_FIND_ID] = "SELECT 1 FROM run WHERE run_id = ?",
    [GSIM_DB_ADD_JOBS] = "INSERT INTO job (" GSIM_DB_NAMES(JOB) ") SELECT * FROM new_job",
    [GSIM_DB_ADD_REQUESTS] =
        "INSERT INTO request (" GSIM_DB_NAMES(REQUEST) ") SELECT * FROM new_request",
    [GSIM_DB_ADD_SAMPLES] =
        "INSERT INTO sample (" GSIM_DB_NAMES(SAMPLE) ") SELECT * FROM new_sample",
    [GSIM_DB_ADD_GPUS] = "INSERT INTO gpu (" GSIM_DB_NAMES(GPU) ") SELECT * FROM new_gpu",
    [GSIM_DB_ADD_TRACE_JOBS] = "INSERT INTO trace_job SELECT * FROM new_trace_job",
    [GSIM_DB_ADD_PERF] = "INSERT INTO run_perf VALUES (?, ?, ?, ?, ?, ?, ?)",
    [GSIM_DB_ADD_SETTING] = "INSERT INTO setting VALUES (?, ?, ?)",
    [GSIM_DB_ADD_MEMBER] = "INSERT OR REPLACE INTO sweep_run VALUES (?, ?, ?)",
    [GSIM_DB_INDEX_JOBS] = "CREATE INDEX IF NOT EXISTS job_of_run ON job (run_id, job)",
    [GSIM_DB_FIND_BUILD] = "SELECT 1 FROM build WHERE build = ?",
    [GSIM_DB_ADD_PART] = "INSERT OR IGNORE INTO build VALUES (?, ?, ?)",
    [GSIM_DB_FIND_INPUTS] = "SELECT 1 FROM input_list WHERE inputs = ?",
    [GSIM_DB_ADD_INPUT] = "INSERT INTO input_list VALUES (?, ?, ?, ?, ?)",
    [GSIM_DB_FIND_TEXT] = "SELECT 1 FROM input_text WHERE sha256 = ? AND (text NOT NULL OR ?)",
    [GSIM_DB_ADD_TEXT] = "INSERT OR REPLACE INTO input_text VALUES (?, ?, ?)",
    [GSIM_DB_FIND_PARAMETERS] = "SELECT 1 FROM parameter_list WHERE list = ?",
    [GSIM_DB_ADD_PARAMETER] = "INSERT OR IGNORE INTO parameter_list VALUES (?, ?, ?, ?, ?)",
    [GSIM_DB_FIND_TRACE_JOBS] = "SELECT 1 FROM trace_job WHERE trace_jobs = ?",
    [GSIM_DB_FIND_REPLACED] =
        "SELECT run_id FROM temp.in_the_way JOIN run USING (run_id) WHERE position = ?",
};

/* The statement with one value for each column of `run`. */
static const char *add_run_statement(struct gsim_db *db) {
    const char *columns = gsim_db_columns(db->arena, "run", ""), *marks = "?";
    for (const char *comma = columns; comma && (comma = strchr(comma, ',')) && marks; comma++)
        marks = gsim_arena_printf(db->arena, "%s, ?", marks);
    return columns && marks
               ? gsim_arena_printf(db->arena, "INSERT INTO run (%s) VALUES (%s)", columns, marks)
               : NULL;
}

sqlite3_stmt *gsim_db_prepared(struct gsim_db *db, enum gsim_db_statement at) {
    if (!db->prepared[at]) {
        const char *sql = at == GSIM_DB_ADD_RUN ? add_run_statement(db) : statements[at];
        if (sql)
            (void)sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                     &db->prepared[at], NULL);
    }
    return db->prepared[at];
}

int gsim_db_finish(sqlite3_stmt *statement) {
    int code = sqlite3_step(statement);
    (void)sqlite3_reset(statement);
    return code;
}

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
    static const char *const tables[] = {"job",      "request", "sample",    "gpu",
                                         "run_perf", "setting", "sweep_run", "run"};
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
