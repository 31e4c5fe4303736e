/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Merging: SQLite does the work, on the other database attached as `shard`, in one transaction. A
 * run keeps its run_id where that is free, so that the shards of a sweep come together as one
 * process would have written them. */
#include <string.h>

#include "sim/app/db_private.h"

/* Fields that do not depend on where the run was made: neither the trace's path nor wall time. */
#define IS_SHARED(name) (strcmp(#name, "trace") != 0 && strcmp(#name, "wall_s") != 0)

#define JOB_COLUMNS                                                                                \
    "job, job_id, submit_ns, start_ns, end_ns, wait_ns, service_ns, gpus_ppm, preemptions, "       \
    "migrations, faults, bytes_in, bytes_out, stall_ns"

/* Runs of both that differ, in a field or in a job. */
static const char *conflict_query(struct gsim_db *db) {
    char fields[8192] = "";
    size_t n = 0;
#define FIELD(name, help)                                                                          \
    if (IS_SHARED(name))                                                                           \
        n += (size_t)snprintf(fields + n, sizeof fields - n, " OR m." #name " IS NOT s." #name);
#define GSIM_FIELD_TEXT FIELD
#define GSIM_FIELD_INT FIELD
#define GSIM_FIELD_REAL FIELD
#define GSIM_FIELD_BOOL FIELD
#include "sim/api/fields.def"
#undef FIELD
    static const char jobs[] =
        " OR EXISTS (SELECT " JOB_COLUMNS " FROM main.job WHERE run_id = m.run_id EXCEPT"
        " SELECT " JOB_COLUMNS " FROM shard.job WHERE run_id = s.run_id)"
        " OR EXISTS (SELECT " JOB_COLUMNS " FROM shard.job WHERE run_id = s.run_id EXCEPT"
        " SELECT " JOB_COLUMNS " FROM main.job WHERE run_id = m.run_id)";
    return gsim_arena_printf(db->arena,
                             "SELECT m.argv FROM main.run m JOIN shard.run s ON m.config = "
                             "s.config WHERE 0%s%s LIMIT 1",
                             fields, jobs);
}

static enum gsim_status check_conflicts(struct gsim_db *db, const char *path,
                                        struct gsim_log *log) {
    sqlite3_stmt *statement = NULL;
    const char *sql = conflict_query(db);
    if (!sql)
        return gsim_no_memory(log, "merging");
    int code = sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    enum gsim_status status = GSIM_OK;
    if (code == SQLITE_ROW)
        status = gsim_fail(log, GSIM_FAILED, path, 0,
                           "it has other results than %s for '%.200s'; nothing of it was taken "
                           "over",
                           db->path, (const char *)sqlite3_column_text(statement, 0));
    else if (code != SQLITE_DONE)
        status = gsim_db_fail(db, log);
    (void)sqlite3_finalize(statement);
    return status;
}

static const char *copy_runs(struct gsim_db *db) {
    char fields[4096] = "";
    size_t n = 0;
#define FIELD(name, help) n += (size_t)snprintf(fields + n, sizeof fields - n, ", s." #name);
#define GSIM_FIELD_TEXT FIELD
#define GSIM_FIELD_INT FIELD
#define GSIM_FIELD_REAL FIELD
#define GSIM_FIELD_BOOL FIELD
#include "sim/api/fields.def"
#undef FIELD
    return gsim_arena_printf(
        db->arena,
        "CREATE TEMP TABLE fresh AS SELECT run_id AS old, config, run_id NOT IN (SELECT run_id FROM"
        " main.run) AS is_free FROM shard.run WHERE config NOT IN (SELECT config FROM main.run);"
        "INSERT INTO main.run SELECT s.run_id, s.config, s.version, s.argv, s.replication, "
        "s.status%s FROM shard.run s JOIN fresh ON old = s.run_id AND is_free ORDER BY s.run_id;"
        "INSERT INTO main.run SELECT NULL, s.config, s.version, s.argv, s.replication, "
        "s.status%s FROM shard.run s JOIN fresh ON old = s.run_id AND NOT is_free ORDER BY "
        "s.run_id;",
        fields, fields);
}

/* The rows of a table for the runs that are new. */
#define COPY_ROWS(table, columns, order)                                                           \
    "INSERT INTO main." table " SELECT new, " columns " FROM moved JOIN shard." table              \
    " ON run_id = old ORDER BY new" order

static const char *const copy_rows[] = {
    "CREATE TEMP TABLE moved AS SELECT old, run_id AS new FROM fresh JOIN main.run USING (config)",
    COPY_ROWS("job", JOB_COLUMNS, ", job"),
    COPY_ROWS("request", "job, request, arrive_ns, latency_ns", ""),
    COPY_ROWS("sample", "time_ns, name, value", ""),
    COPY_ROWS("gpu", "gpu, node, device, busy_ns", ""),
    COPY_ROWS("run_perf", "wall_s, events", ""),
    COPY_ROWS("setting", "key, value", ""),
    "INSERT OR IGNORE INTO main.sweep SELECT * FROM shard.sweep",
    "INSERT OR REPLACE INTO main.sweep_run SELECT t.sweep, t.position, m.run_id FROM "
    "shard.sweep_run t JOIN shard.run s ON s.run_id = t.run_id JOIN main.run m ON m.config = "
    "s.config",
    "CREATE INDEX IF NOT EXISTS main.job_of_run ON job (run_id, job)",
    "DROP TABLE fresh; DROP TABLE moved; COMMIT",
    NULL};

static enum gsim_status take_over(struct gsim_db *db, const char *path, int64_t *n_new,
                                  struct gsim_log *log) {
    const char *runs = copy_runs(db);
    if (!runs)
        return gsim_no_memory(log, "merging");
    enum gsim_status status = gsim_db_execute(db, "BEGIN IMMEDIATE", log);
    if (status != GSIM_OK)
        return status;
    status = check_conflicts(db, path, log);
    if (status == GSIM_OK)
        status = gsim_db_execute(db, runs, log);
    if (status == GSIM_OK)
        status = gsim_db_number(db, "SELECT count(*) FROM fresh", n_new, log);
    for (const char *const *sql = copy_rows; *sql && status == GSIM_OK; sql++)
        status = gsim_db_execute(db, *sql, log);
    if (status != GSIM_OK)
        (void)sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

enum gsim_status gsim_db_merge(struct gsim_db *db, const char *path, int64_t *n_new,
                               struct gsim_log *log) {
    struct gsim_db *shard;
    sqlite3_stmt *statement = NULL;
    *n_new = 0;
    enum gsim_status status = gsim_db_open_existing(path, db->arena, &shard, log);
    gsim_db_close(shard); /* it is one of ours, and whole */
    if (status != GSIM_OK)
        return status;
    int code = sqlite3_prepare_v2(db->handle, "ATTACH ? AS shard", -1, &statement, NULL);
    if (code == SQLITE_OK) {
        (void)sqlite3_bind_text(statement, 1, path, -1, SQLITE_STATIC);
        code = sqlite3_step(statement);
    }
    (void)sqlite3_finalize(statement);
    if (code != SQLITE_DONE)
        return gsim_db_fail(db, log);
    status = take_over(db, path, n_new, log);
    (void)sqlite3_exec(db->handle, "DETACH shard", NULL, NULL, NULL);
    return status;
}
