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

#include "sim/app/cli/options.h"
#include "sim/app/results/db_schema.h"
#include "sim/app/identity/program.h"

enum { APPLICATION_ID = 0x6773696D /* "gsim" */, SCHEMA_VERSION = 22 };

/* The time to wait for a lock. A program that reads holds up a commit, and a report of a large
 * database takes a while: a sweep should not fail because of it. */
enum { PATIENCE_MS = 60000 };

enum gsim_status gsim_db_fail(const struct gsim_db *db, struct gsim_log *log) {
    bool is_busy = db->handle && sqlite3_errcode(db->handle) == SQLITE_BUSY;
    return gsim_fail(log, GSIM_FAILED, db->path, 0, "%s%s%s",
                     db->handle ? sqlite3_errmsg(db->handle) : "no memory",
                     is_busy ? " (another program is using it)" : "",
                     !db->is_written ? ""
                     : db->is_driven ? "; jobs that ended before are kept"
                                     : "; nothing of it was written, earlier runs are untouched");
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
                         "the file is not a database, and was left as it is; name another file");
    return code == SQLITE_OK ? GSIM_OK : gsim_db_fail(db, log);
}

static enum gsim_status check_version(struct gsim_db *db, struct gsim_log *log) {
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
        return db->is_written ? create(db, log)
                              : gsim_fail(log, GSIM_BAD_INPUT, db->path, 0,
                                          "the file is empty, and no database of gsim");
    if (application != APPLICATION_ID)
        return gsim_fail(log, GSIM_BAD_INPUT, db->path, 0,
                         "the file is a database, but not one of gsim's; name another file");
    if (version < SCHEMA_VERSION)
        return gsim_fail(
            log, GSIM_BAD_INPUT, db->path, 0,
            "the database was written with schema %lld, by an older gsim, and lacks data that "
            "this version stores with a run; this one reads and writes schema %d: "
            "name another file, into which the same command runs them again",
            (long long)version, SCHEMA_VERSION);
    if (version > SCHEMA_VERSION)
        return gsim_fail(
            log, GSIM_BAD_INPUT, db->path, 0,
            "the database was written with schema %lld, by a newer gsim; this one reads and "
            "writes schema %d: name another file",
            (long long)version, SCHEMA_VERSION);
    return GSIM_OK;
}

/* The system's reason for a failed open; SQLite's own message does not contain it. */
static enum gsim_status cannot_open(const struct gsim_db *db, struct gsim_log *log) {
    struct stat file;
    int error = db->handle ? sqlite3_system_errno(db->handle) : ENOMEM;
    if (stat(db->path, &file) == 0 && S_ISDIR(file.st_mode))
        error = EISDIR;
    if (error == ENOMEM)
        return gsim_no_memory(log, "opening a database");
    return gsim_fail(log, db->is_written ? GSIM_FAILED : GSIM_BAD_INPUT, db->path, 0,
                     "the database cannot be opened: %s",
                     error ? strerror(error) : sqlite3_errmsg(db->handle));
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
    /* No memory for twenty pages ahead: each table that a query makes for itself would have it,
     * which was half of what a figure touches. SQLite takes this until it has begun, in all of the
     * process. */
    (void)sqlite3_config(SQLITE_CONFIG_PAGECACHE, (void *)NULL, 0, 0);
    if (sqlite3_open_v2(path, &db->handle, flags, NULL) != SQLITE_OK)
        return cannot_open(db, log);
    (void)sqlite3_busy_timeout(db->handle, PATIENCE_MS);
    /* Foreign keys are not checked: a check costs a tenth of the time of writing a row, and the run
     * that the row refers to was written just before. */
    return gsim_db_show_rows(db) ? check_version(db, log) : gsim_db_fail(db, log);
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
    [GSIM_DB_ADD_COMPARISON] = "INSERT OR REPLACE INTO comparison VALUES (?, ?, ?, ?, ?, ?, ?)",
    [GSIM_DB_ADD_COMPARED] =
        "INSERT OR REPLACE INTO compared SELECT ?1, run_id, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,"
        " ?11, ?12 FROM run WHERE config = ?13",
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
