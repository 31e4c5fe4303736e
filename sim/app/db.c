/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables as in the schema below; the columns of `run` are the fields of a result. Rollback journal
 * (the default): a database that was being written when the machine stopped is whole when it is
 * next opened. Indexes are made after the first load. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/app/cli.h"
#include "sim/app/db_private.h"

enum { APPLICATION_ID = 0x6773696D /* "gsim" */, SCHEMA_VERSION = 6 };

/* Whoever reads holds up a commit, and a report of a large database takes a while: a sweep should
 * not end by it. */
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
    static const char before[] =
        "CREATE TABLE run (run_id INTEGER PRIMARY KEY, config TEXT NOT NULL UNIQUE"
        " CHECK (length(config) = 64), version TEXT NOT NULL, argv TEXT NOT NULL,"
        " replication INTEGER NOT NULL CHECK (replication >= 0), status TEXT NOT NULL CHECK "
        "(status IN ('done', 'interrupted'))";
    static const char after[] =
        ");"
        "CREATE TABLE job (run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
        " job INTEGER NOT NULL CHECK (job >= 0), job_id TEXT NOT NULL, submit_ns INTEGER NOT NULL"
        " CHECK (submit_ns >= 0), start_ns INTEGER, end_ns INTEGER, wait_ns INTEGER NOT NULL CHECK"
        " (wait_ns >= 0), service_ns INTEGER NOT NULL, gpus_ppm INTEGER NOT NULL, preemptions"
        " INTEGER NOT NULL, migrations INTEGER NOT NULL, faults INTEGER NOT NULL, bytes_in INTEGER"
        " NOT NULL, bytes_out INTEGER NOT NULL, stall_ns INTEGER NOT NULL);"
        "CREATE TABLE request (run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
        " job INTEGER NOT NULL, request INTEGER NOT NULL, arrive_ns INTEGER NOT NULL,"
        " latency_ns INTEGER NOT NULL CHECK (latency_ns >= 0), PRIMARY KEY (run_id, job, request))"
        " WITHOUT ROWID;"
        "CREATE TABLE sample (run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
        " time_ns INTEGER NOT NULL, name TEXT NOT NULL, value REAL NOT NULL, PRIMARY KEY (run_id,"
        " name, time_ns)) WITHOUT ROWID;"
        "CREATE TABLE gpu (run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
        " gpu INTEGER NOT NULL, node INTEGER NOT NULL, device TEXT NOT NULL,"
        " busy_ns INTEGER NOT NULL, PRIMARY KEY (run_id, gpu)) WITHOUT ROWID;"
        "CREATE TABLE run_perf (run_id INTEGER PRIMARY KEY REFERENCES run ON DELETE CASCADE,"
        " wall_s REAL, events INTEGER NOT NULL);"
        "CREATE TABLE setting (run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
        " key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (run_id, key)) WITHOUT ROWID;"
        "CREATE TABLE sweep (sweep TEXT NOT NULL PRIMARY KEY CHECK (length(sweep) = 64),"
        " grid TEXT NOT NULL, runs INTEGER NOT NULL CHECK (runs > 0)) WITHOUT ROWID;"
        "CREATE TABLE sweep_run (sweep TEXT NOT NULL REFERENCES sweep, position INTEGER NOT NULL"
        " CHECK (position > 0), run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
        " PRIMARY KEY (sweep, position)) WITHOUT ROWID;"
        "CREATE INDEX sweep_of_run ON sweep_run (run_id);"
        "COMMIT;";
    char columns[4096] = "";
    size_t n = 0;
#define COLUMN(name, type)                                                                         \
    n += (size_t)snprintf(columns + n, sizeof columns - n, ", " #name " " type);
#define GSIM_FIELD_TEXT(name, help) COLUMN(name, "TEXT NOT NULL")
#define GSIM_FIELD_INT(name, help) COLUMN(name, "INTEGER NOT NULL")
#define GSIM_FIELD_REAL(name, help) COLUMN(name, "REAL")
#define GSIM_FIELD_BOOL(name, help) COLUMN(name, "INTEGER NOT NULL CHECK (" #name " IN (0, 1))")
#include "sim/api/fields.def"
#undef COLUMN
    char *sql = gsim_arena_printf(db->arena,
                                  "BEGIN IMMEDIATE;"
                                  "PRAGMA application_id = %d; PRAGMA user_version = %d;%s%s%s",
                                  APPLICATION_ID, SCHEMA_VERSION, before, columns, after);
    return sql ? gsim_db_execute(db, sql, log) : gsim_no_memory(log, "creating a database");
}

/* SQLite looks into a file when it is first asked something. */
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
    if (version != SCHEMA_VERSION)
        return gsim_fail(log, GSIM_BAD_INPUT, db->path, 0,
                         "it was written with schema %lld, by %s gsim; this one reads and writes "
                         "schema %d: name another file",
                         (long long)version, version < SCHEMA_VERSION ? "an older" : "a newer",
                         SCHEMA_VERSION);
    return GSIM_OK;
}

/* SQLite itself says no more than that it cannot. */
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
    flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX; /* one thread has it */
    if (sqlite3_open_v2(path, &db->handle, flags, NULL) != SQLITE_OK)
        return gsim_fail(log, db->is_written ? GSIM_FAILED : GSIM_BAD_INPUT, path, 0,
                         "cannot open it: %s", why_not_opened(db));
    (void)sqlite3_busy_timeout(db->handle, PATIENCE_MS);
    /* Foreign keys are not checked: it takes a tenth of writing a row whose run was written just
     * before. */
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

enum gsim_status gsim_db_has(struct gsim_db *db, const char *config, bool *has,
                             struct gsim_log *log) {
    char sql[160];
    int64_t n;
    (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM run WHERE config = '%.64s'", config);
    enum gsim_status status = gsim_db_number(db, sql, &n, log);
    *has = n > 0;
    return status;
}

/* --- adding ----------------------------------------------------------------------------------- */

static const char *const statements[GSIM_DB_STATEMENTS] = {
    [GSIM_DB_FIND_RUN] = "SELECT run_id FROM run WHERE config = ?",
    [GSIM_DB_FIND_ID] = "SELECT 1 FROM run WHERE run_id = ?",
#define MARK(name, help) ", ?"
#define GSIM_FIELD_TEXT MARK
#define GSIM_FIELD_INT MARK
#define GSIM_FIELD_REAL MARK
#define GSIM_FIELD_BOOL MARK
    [GSIM_DB_ADD_RUN] = "INSERT INTO run VALUES (?, ?, ?, ?, ?, ?"
#include "sim/api/fields.def"
                        ")",
    [GSIM_DB_ADD_JOBS] = "INSERT INTO job (" GSIM_DB_NAMES(JOB) ") SELECT * FROM new_job",
    [GSIM_DB_ADD_REQUESTS] =
        "INSERT INTO request (" GSIM_DB_NAMES(REQUEST) ") SELECT * FROM new_request",
    [GSIM_DB_ADD_SAMPLES] =
        "INSERT INTO sample (" GSIM_DB_NAMES(SAMPLE) ") SELECT * FROM new_sample",
    [GSIM_DB_ADD_GPUS] = "INSERT INTO gpu (" GSIM_DB_NAMES(GPU) ") SELECT * FROM new_gpu",
    [GSIM_DB_ADD_PERF] = "INSERT INTO run_perf VALUES (?, ?, ?)",
    [GSIM_DB_ADD_SETTING] = "INSERT INTO setting VALUES (?, ?, ?)",
    [GSIM_DB_ADD_MEMBER] = "INSERT OR REPLACE INTO sweep_run VALUES (?, ?, ?)",
    [GSIM_DB_INDEX_JOBS] = "CREATE INDEX IF NOT EXISTS job_of_run ON job (run_id, job)",
};

/* NULL when it cannot be prepared; SQLite keeps the error, and lets NULL be bound to and stepped. */
static sqlite3_stmt *prepared(struct gsim_db *db, enum gsim_db_statement at) {
    if (!db->prepared[at])
        (void)sqlite3_prepare_v3(db->handle, statements[at], -1, SQLITE_PREPARE_PERSISTENT,
                                 &db->prepared[at], NULL);
    return db->prepared[at];
}

/* SQLITE_DONE, or the error. */
static int finish(sqlite3_stmt *statement) {
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

static int bind_fields(sqlite3_stmt *statement, int at, const struct gsim_summary *s) {
#define GSIM_FIELD_TEXT(name, help) sqlite3_bind_text(statement, at++, s->name, -1, SQLITE_STATIC);
#define GSIM_FIELD_INT(name, help) sqlite3_bind_int64(statement, at++, s->name);
#define GSIM_FIELD_REAL(name, help) bind_real(statement, at++, s->name);
#define GSIM_FIELD_BOOL(name, help) sqlite3_bind_int(statement, at++, s->name);
#include "sim/api/fields.def"
    return at;
}

static int add_run(struct gsim_db *db, int64_t run_id, const struct gsim_db_run *run,
                   const struct gsim_result *result) {
    sqlite3_stmt *statement = prepared(db, GSIM_DB_ADD_RUN);
    /* Wall time depends on the machine: it is kept in run_perf, outside the identity. */
    struct gsim_summary summary = result->summary;
    summary.wall_s = (double)NAN;
    if (run_id > 0)
        (void)sqlite3_bind_int64(statement, 1, run_id);
    else /* the next free one */
        (void)sqlite3_bind_null(statement, 1);
    (void)sqlite3_bind_text(statement, 2, run->config, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(statement, 3, GSIM_VERSION, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(statement, 4, run->argv, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(statement, 5, (int64_t)run->replication);
    (void)sqlite3_bind_text(statement, 6, "done", -1, SQLITE_STATIC);
    (void)bind_fields(statement, 7, &summary);
    return finish(statement);
}

static int add_settings(struct gsim_db *db, int64_t run_id, const struct gsim_setting *settings) {
    sqlite3_stmt *statement = prepared(db, GSIM_DB_ADD_SETTING);
    int code = SQLITE_DONE;
    for (; settings && settings->key && code == SQLITE_DONE; settings++) {
        (void)sqlite3_bind_int64(statement, 1, run_id);
        (void)sqlite3_bind_text(statement, 2, settings->key, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(statement, 3, settings->value, -1, SQLITE_STATIC);
        code = finish(statement);
    }
    return code;
}

static int add_perf(struct gsim_db *db, int64_t run_id, const struct gsim_summary *summary) {
    sqlite3_stmt *statement = prepared(db, GSIM_DB_ADD_PERF);
    (void)sqlite3_bind_int64(statement, 1, run_id);
    bind_real(statement, 2, summary->wall_s);
    (void)sqlite3_bind_int64(statement, 3, summary->events);
    return finish(statement);
}

/* The tables with many rows. */
static bool add_rows(struct gsim_db *db, int64_t run_id, const struct gsim_result *result) {
    bool is_done = true;
    db->adding = result;
    db->adding_id = run_id;
    for (int at = GSIM_DB_ADD_JOBS; at <= GSIM_DB_ADD_GPUS && is_done; at++)
        is_done = finish(prepared(db, (enum gsim_db_statement)at)) == SQLITE_DONE;
    db->adding = NULL;
    return is_done;
}

static enum gsim_status roll_back(struct gsim_db *db, struct gsim_log *log) {
    enum gsim_status status = gsim_db_fail(db, log);
    (void)sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

/* The position in the sweep as run_id, so that the order in which runs end cannot show: 0 when
 * another run has it. */
static int find_id(struct gsim_db *db, const struct gsim_db_run *run, int64_t *id) {
    *id = 0;
    if (!run->sweep)
        return SQLITE_DONE;
    sqlite3_stmt *statement = prepared(db, GSIM_DB_FIND_ID);
    (void)sqlite3_bind_int64(statement, 1, run->position);
    int code = sqlite3_step(statement);
    *id = code == SQLITE_DONE ? run->position : 0;
    (void)sqlite3_reset(statement);
    return code == SQLITE_ROW ? SQLITE_DONE : code;
}

static int add_membership(struct gsim_db *db, int64_t run_id, const struct gsim_db_run *run) {
    if (!run->sweep)
        return SQLITE_DONE;
    sqlite3_stmt *statement = prepared(db, GSIM_DB_ADD_MEMBER);
    (void)sqlite3_bind_text(statement, 1, run->sweep, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(statement, 2, run->position);
    (void)sqlite3_bind_int64(statement, 3, run_id);
    return finish(statement);
}

/* The run of this configuration, if there is one, and what hangs on it. */
static int delete_run(struct gsim_db *db, const char *config) {
    static const char *const tables[] = {"job",      "request", "sample",    "gpu",
                                         "run_perf", "setting", "sweep_run", "run"};
    sqlite3_stmt *statement = prepared(db, GSIM_DB_FIND_RUN);
    (void)sqlite3_bind_text(statement, 1, config, -1, SQLITE_STATIC);
    int code = sqlite3_step(statement);
    int64_t run_id = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    (void)sqlite3_reset(statement);
    if (code != SQLITE_ROW)
        return code;
    code = SQLITE_OK;
    for (size_t t = 0; t < sizeof tables / sizeof *tables && code == SQLITE_OK; t++) {
        char sql[80];
        (void)snprintf(sql, sizeof sql, "DELETE FROM %s WHERE run_id = %lld", tables[t],
                       (long long)run_id);
        code = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
    }
    return code == SQLITE_OK ? SQLITE_DONE : code;
}

static bool write_run(struct gsim_db *db, const struct gsim_db_run *run,
                      const struct gsim_result *result) {
    int64_t wanted;
    if (delete_run(db, run->config) != SQLITE_DONE || find_id(db, run, &wanted) != SQLITE_DONE ||
        add_run(db, wanted, run, result) != SQLITE_DONE)
        return false;
    int64_t run_id = sqlite3_last_insert_rowid(db->handle);
    return add_rows(db, run_id, result) && add_perf(db, run_id, &result->summary) == SQLITE_DONE &&
           add_settings(db, run_id, run->settings) == SQLITE_DONE &&
           add_membership(db, run_id, run) == SQLITE_DONE &&
           finish(prepared(db, GSIM_DB_INDEX_JOBS)) == SQLITE_DONE;
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
