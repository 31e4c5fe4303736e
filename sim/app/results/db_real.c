/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "sim/app/results/db_real.h"

#include <stdio.h>
#include <unistd.h>
#include <string.h>

#include "sim/app/identity/program.h"
#include "sim/app/results/db_private.h"

/* With a rollback journal each transaction makes a file, removes it and waits for the disk four
 * times; with SQLite's write-ahead log it appends to a file. Where the file system has no shared
 * memory, SQLite stays with the journal. */
void gsim_db_real_append(struct gsim_db *db) {
    (void)sqlite3_exec(db->handle, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", NULL,
                       NULL, NULL);
}

/* What fails here does so for want of space, which the next row says, or for a program that reads,
 * which is done by a later call. The rows stand in the log until then. */
void gsim_db_real_sync(struct gsim_db *db) {
    (void)sqlite3_wal_checkpoint_v2(db->handle, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

/* A reader holds up the way back: then the database keeps its log, which any program reads. */
void gsim_db_real_settle(struct gsim_db *db) {
    (void)sqlite3_exec(db->handle, "PRAGMA synchronous = FULL", NULL, NULL, NULL);
    (void)sqlite3_busy_timeout(db->handle, 0);
    (void)sqlite3_exec(db->handle, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
}

static void bind_copy(sqlite3_stmt *statement, int at, const char *text) {
    (void)sqlite3_bind_text(statement, at, text, -1, SQLITE_TRANSIENT);
}

static void bind_time(sqlite3_stmt *statement, int at, int64_t time_ns) {
    if (time_ns < 0)
        (void)sqlite3_bind_null(statement, at);
    else
        (void)sqlite3_bind_int64(statement, at, time_ns);
}

static sqlite3_stmt *prepare(struct gsim_db *db, const char *sql) {
    sqlite3_stmt *statement = NULL;
    (void)sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL);
    return statement;
}

/* Each statement is a transaction: what it adds outlives this process when it returns. */
static enum gsim_status finish(struct gsim_db *db, sqlite3_stmt *statement, struct gsim_log *log) {
    int code = statement ? sqlite3_step(statement) : SQLITE_ERROR;
    enum gsim_status status = code == SQLITE_DONE ? GSIM_OK
                                                  : gsim_fail(log, GSIM_FAILED, db->path, 0,
                                                              "%s; jobs that ended before are kept",
                                                              sqlite3_errmsg(db->handle));
    (void)sqlite3_finalize(statement);
    return status;
}

enum gsim_status gsim_db_real_begin(struct gsim_db *db, const struct gsim_db_real *run, int64_t *id,
                                    struct gsim_log *log) {
    sqlite3_stmt *statement =
        prepare(db, "INSERT INTO real_run (started_at, host, program, policy, settings, argv, "
                    "trace, gpus, device, is_dry, speed_up, status) VALUES "
                    "(strftime('%Y-%m-%dT%H:%M:%SZ'), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'running')");
    char host[256] = "", program[64];
    int at = 1;
    (void)gethostname(host, sizeof host - 1);
    gsim_program_name(program);
    bind_copy(statement, at++, host);
    bind_copy(statement, at++, program);
    bind_copy(statement, at++, run->policy);
    bind_copy(statement, at++, run->settings);
    bind_copy(statement, at++, run->argv);
    bind_copy(statement, at++, run->trace);
    bind_copy(statement, at++, run->gpus);
    bind_copy(statement, at++, run->device);
    (void)sqlite3_bind_int(statement, at++, run->is_dry);
    (void)sqlite3_bind_int64(statement, at, run->speed_up);
    enum gsim_status status = finish(db, statement, log);
    *id = sqlite3_last_insert_rowid(db->handle);
    db->is_driven = status == GSIM_OK;
    return status;
}

static const char add_job_text[] =
    "INSERT OR REPLACE INTO real_job (real_run, job, job_id, submit_ns, service_ns, begin_ns, "
    "end_ns, ran_ns, stall_ns, starts, stops, iterations, gpu_ns, exit_code, is_cut, log) VALUES "
    "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

static int add_job(sqlite3_stmt *statement, int64_t id, const struct gsim_trace *trace,
                   const struct gsim_driven *driven) {
    int at = 1;
    (void)sqlite3_bind_int64(statement, at++, id);
    (void)sqlite3_bind_int64(statement, at++, driven->job);
    bind_copy(statement, at++, gsim_trace_id(trace, driven->job));
    (void)sqlite3_bind_int64(statement, at++, driven->submit_ns);
    (void)sqlite3_bind_int64(statement, at++, trace->service_ns[driven->job]);
    bind_time(statement, at++, driven->begin_ns);
    bind_time(statement, at++, driven->end_ns);
    (void)sqlite3_bind_int64(statement, at++, driven->ran_ns);
    (void)sqlite3_bind_int64(statement, at++, driven->stall_ns);
    (void)sqlite3_bind_int64(statement, at++, driven->starts);
    (void)sqlite3_bind_int64(statement, at++, driven->stops);
    bind_time(statement, at++, driven->iterations);
    bind_time(statement, at++, driven->gpu_ns);
    bind_time(statement, at++, driven->exit_code);
    (void)sqlite3_bind_int(statement, at++, driven->is_cut);
    bind_copy(statement, at, driven->log_path);
    return gsim_db_finish(statement);
}

static const char add_note_text[] =
    "INSERT INTO real_note (real_run, note, time_ns, job, what, detail, value) SELECT ?1, "
    "coalesce(max(note), 0) + 1, ?2, ?3, ?4, ?5, ?6 FROM real_note WHERE real_run = ?1";

static int add_note(sqlite3_stmt *statement, int64_t id, const struct gsim_note *note) {
    (void)sqlite3_bind_int64(statement, 1, id);
    (void)sqlite3_bind_int64(statement, 2, note->time_ns);
    bind_time(statement, 3, note->job);
    bind_copy(statement, 4, gsim_note_text(note->kind));
    bind_copy(statement, 5, note->detail);
    (void)sqlite3_bind_int64(statement, 6, note->value);
    return gsim_db_finish(statement);
}

/* Rows that come together are one transaction. NULL: it cannot begin. */
static sqlite3_stmt *begin(struct gsim_db *db, const char *sql) {
    int code = sqlite3_exec(db->handle, "BEGIN", NULL, NULL, NULL);
    return code == SQLITE_OK ? prepare(db, sql) : NULL;
}

/* What the transaction adds outlives this process when it returns. `code`: how its last row
 * went. */
static enum gsim_status commit(struct gsim_db *db, sqlite3_stmt *statement, int code,
                               struct gsim_log *log) {
    (void)sqlite3_finalize(statement);
    if (code == SQLITE_DONE && sqlite3_exec(db->handle, "COMMIT", NULL, NULL, NULL) == SQLITE_OK)
        return GSIM_OK;
    enum gsim_status status =
        gsim_fail(log, GSIM_FAILED, db->path, 0, "%s; jobs that ended before are kept",
                  sqlite3_errmsg(db->handle));
    (void)sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

enum gsim_status gsim_db_real_add(struct gsim_db *db, int64_t id, const struct gsim_trace *trace,
                                  const struct gsim_driven *ended, uint32_t n,
                                  struct gsim_log *log) {
    sqlite3_stmt *statement = begin(db, add_job_text);
    int code = statement ? SQLITE_DONE : SQLITE_ERROR;
    for (uint32_t i = 0; i < n && code == SQLITE_DONE; i++)
        code = add_job(statement, id, trace, &ended[i]);
    return commit(db, statement, code, log);
}

enum gsim_status gsim_db_real_note(struct gsim_db *db, int64_t id, const struct gsim_note *notes,
                                   uint32_t n, struct gsim_log *log) {
    sqlite3_stmt *statement = begin(db, add_note_text);
    int code = statement ? SQLITE_DONE : SQLITE_ERROR;
    for (uint32_t i = 0; i < n && code == SQLITE_DONE; i++)
        code = add_note(statement, id, &notes[i]);
    return commit(db, statement, code, log);
}

enum gsim_status gsim_db_real_end(struct gsim_db *db, int64_t id, const char *how,
                                  struct gsim_log *log) {
    sqlite3_stmt *statement = prepare(db, "UPDATE real_run SET status = ? WHERE real_run = ?");
    bind_copy(statement, 1, how);
    (void)sqlite3_bind_int64(statement, 2, id);
    return finish(db, statement, log);
}

enum gsim_status gsim_db_real_link(struct gsim_db *db, int64_t id, const char *config,
                                   struct gsim_log *log) {
    sqlite3_stmt *statement =
        prepare(db, "UPDATE real_run SET run_id = (SELECT run_id FROM run WHERE config = ?) "
                    "WHERE real_run = ?");
    bind_copy(statement, 1, config);
    (void)sqlite3_bind_int64(statement, 2, id);
    return finish(db, statement, log);
}

enum gsim_status gsim_db_real_is_of(struct gsim_db *db, int64_t run_id, bool *is_driven,
                                    struct gsim_log *log) {
    sqlite3_stmt *statement = prepare(db, "SELECT count(*) FROM real_run WHERE run_id = ?");
    (void)sqlite3_bind_int64(statement, 1, run_id);
    int code = statement ? sqlite3_step(statement) : SQLITE_ERROR;
    *is_driven = code == SQLITE_ROW && sqlite3_column_int64(statement, 0) > 0;
    (void)sqlite3_finalize(statement);
    return code == SQLITE_ROW ? GSIM_OK : gsim_db_fail(db, log);
}

/* --- reading ---------------------------------------------------------------------------------- */

static char *text_of(struct gsim_db *db, sqlite3_stmt *statement, int at) {
    const char *text = (const char *)sqlite3_column_text(statement, at);
    return gsim_arena_strdup(db->arena, text ? text : "");
}

static int64_t number_of(sqlite3_stmt *statement, int at) {
    return sqlite3_column_type(statement, at) == SQLITE_NULL ? -1
                                                             : sqlite3_column_int64(statement, at);
}

enum gsim_status gsim_db_real_find(struct gsim_db *db, const char *policy,
                                   struct gsim_db_real_found *out, struct gsim_log *log) {
    sqlite3_stmt *statement =
        prepare(db, "SELECT real_run, policy, argv, gpus, device, started_at, settings FROM "
                    "real_run WHERE status = 'done' AND (?1 IS NULL OR policy = ?1) ORDER BY "
                    "real_run DESC LIMIT "
                    "1");
    bind_copy(statement, 1, policy);
    int code = statement ? sqlite3_step(statement) : SQLITE_ERROR;
    if (code == SQLITE_ROW)
        *out = (struct gsim_db_real_found){.id = sqlite3_column_int64(statement, 0),
                                           .policy = text_of(db, statement, 1),
                                           .argv = text_of(db, statement, 2),
                                           .gpus = text_of(db, statement, 3),
                                           .device = text_of(db, statement, 4),
                                           .started_at = text_of(db, statement, 5),
                                           .settings = text_of(db, statement, 6)};
    (void)sqlite3_finalize(statement);
    if (code == SQLITE_DONE)
        return gsim_fail(log, GSIM_BAD_INPUT, db->path, 0,
                         "the database has no run of gsim drive that came to its end%s%s",
                         policy ? " under " : "", policy ? policy : "");
    return code == SQLITE_ROW ? GSIM_OK : gsim_db_fail(db, log);
}

static struct gsim_db_real_job read_job(struct gsim_db *db, sqlite3_stmt *statement) {
    return (struct gsim_db_real_job){.id = text_of(db, statement, 1),
                                     .submit_ns = sqlite3_column_int64(statement, 2),
                                     .begin_ns = number_of(statement, 3),
                                     .end_ns = number_of(statement, 4),
                                     .ran_ns = sqlite3_column_int64(statement, 5),
                                     .stall_ns = sqlite3_column_int64(statement, 6),
                                     .stops = sqlite3_column_int64(statement, 7),
                                     .exit_code = number_of(statement, 8),
                                     .starts = sqlite3_column_int64(statement, 9)};
}

enum gsim_status gsim_db_real_jobs(struct gsim_db *db, int64_t id, struct gsim_db_real_job *jobs,
                                   uint32_t n, struct gsim_log *log) {
    sqlite3_stmt *statement = prepare(
        db, "SELECT job, job_id, submit_ns, begin_ns, end_ns, ran_ns, stall_ns, stops, exit_code, "
            "starts FROM real_job WHERE real_run = ? ORDER BY job");
    int code = SQLITE_ERROR;
    (void)sqlite3_bind_int64(statement, 1, id);
    while (statement && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        int64_t job = sqlite3_column_int64(statement, 0);
        if (job >= 0 && job < n)
            jobs[job] = read_job(db, statement);
    }
    (void)sqlite3_finalize(statement);
    return code == SQLITE_DONE ? GSIM_OK : gsim_db_fail(db, log);
}

const char *gsim_db_real_product(const struct gsim_db_real_found *run) {
    return strcmp(run->device, GSIM_DRY_DEVICE) != 0 ? run->device : NULL;
}

static struct gsim_note read_note(sqlite3_stmt *statement) {
    struct gsim_note note = {.time_ns = sqlite3_column_int64(statement, 0),
                             .job = number_of(statement, 1),
                             .value = sqlite3_column_int64(statement, 4)};
    const char *what = (const char *)sqlite3_column_text(statement, 2);
    const char *detail = (const char *)sqlite3_column_text(statement, 3);
    note.kind = gsim_note_kind(what ? what : "");
    (void)snprintf(note.detail, sizeof note.detail, "%s", detail ? detail : "");
    return note;
}

static int64_t count_notes(struct gsim_db *db, int64_t id) {
    sqlite3_stmt *statement = prepare(db, "SELECT count(*) FROM real_note WHERE real_run = ?");
    (void)sqlite3_bind_int64(statement, 1, id);
    int64_t n = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    (void)sqlite3_finalize(statement);
    return n;
}

enum gsim_status gsim_db_real_notes(struct gsim_db *db, int64_t id, struct gsim_note **out,
                                    uint32_t *n, struct gsim_log *log) {
    int64_t most = count_notes(db, id);
    int code = SQLITE_ERROR;
    *n = 0;
    *out = gsim_arena_array(db->arena, (size_t)most + 1, sizeof **out);
    if (!*out)
        return gsim_no_memory(log, "reading a record");
    sqlite3_stmt *statement = prepare(
        db, "SELECT time_ns, job, what, detail, value FROM real_note WHERE real_run = ? ORDER BY "
            "note");
    (void)sqlite3_bind_int64(statement, 1, id);
    while (statement && (code = sqlite3_step(statement)) == SQLITE_ROW && *n < most)
        (*out)[(*n)++] = read_note(statement);
    (void)sqlite3_finalize(statement);
    return code == SQLITE_DONE ? GSIM_OK : gsim_db_fail(db, log);
}
