/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Merges databases in SQL, with the other database attached as `shard`, in one transaction. A run
 * keeps its run_id if that is free, so that merged shards of a sweep equal the database that one
 * process would have written. */
#include <string.h>

#include "sim/app/results/db_schema.h"

/* Whether a field is independent of the place where the run was made: all but the trace's path and
 * wall time. */
#define IS_SHARED(name) (strcmp(#name, "trace") != 0 && strcmp(#name, "wall_s") != 0)

#define JOB_COLUMNS "0" GSIM_DB_JOB_COLUMNS(GSIM_DB_NAME)

/* Selects the runs of both databases that differ in a field or in a job. */
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
#include "gsim/fields.def"
#undef FIELD
    static const char jobs[] =
        " OR (m.kept = 'jobs' AND s.kept = 'jobs' AND (EXISTS (SELECT " JOB_COLUMNS
        " FROM main.job WHERE run_id = m.run_id EXCEPT"
        " SELECT " JOB_COLUMNS " FROM shard.job WHERE run_id = s.run_id)"
        " OR EXISTS (SELECT " JOB_COLUMNS " FROM shard.job WHERE run_id = s.run_id EXCEPT"
        " SELECT " JOB_COLUMNS " FROM main.job WHERE run_id = m.run_id)))";
    return gsim_arena_printf(
        db->arena,
        "SELECT m.argv, m.build <> s.build FROM main.run m JOIN shard.run s ON m.config = "
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
        status = gsim_fail(
            log, GSIM_FAILED, path, 0,
            "the database has other results than %s for '%.200s'%s; none of its runs was taken "
            "over",
            db->path, (const char *)sqlite3_column_text(statement, 0),
            sqlite3_column_int(statement, 1) ? ", made by another build" : "");
    else if (code != SQLITE_DONE)
        status = gsim_db_fail(db, log);
    (void)sqlite3_finalize(statement);
    return status;
}

/* Selects the parts of programs that have other contents in the builds of runs here than in the
 * builds of new runs there. */
static const char parts_that_differ[] =
    "SELECT DISTINCT m.part FROM main.build m JOIN shard.build s ON s.part = m.part AND s.sha256 "
    "<> "
    "m.sha256 WHERE m.build IN (SELECT build FROM main.run) AND s.build IN (SELECT build FROM "
    "shard.run WHERE config NOT IN (SELECT config FROM main.run)) ORDER BY m.part";

/* Selects the files that had other contents for runs of a grid, or of a command line, here than
 * there. */
static const char files_that_differ[] =
    "SELECT DISTINCT m.path FROM main.input_list m JOIN shard.input_list s ON s.kind = m.kind AND "
    "s.path = m.path AND s.sha256 <> m.sha256 WHERE EXISTS (SELECT 1 FROM main.run a JOIN "
    "shard.run "
    "b ON a.argv = b.argv WHERE a.inputs = m.inputs AND b.inputs = s.inputs) OR EXISTS (SELECT 1 "
    "FROM main.sweep a JOIN shard.sweep b ON a.sha256 = b.sha256 WHERE EXISTS (SELECT 1 FROM "
    "main.sweep_run JOIN main.run USING (run_id) WHERE sweep = a.sweep AND inputs = m.inputs) AND "
    "EXISTS (SELECT 1 FROM shard.sweep_run JOIN shard.run USING (run_id) WHERE sweep = b.sweep AND "
    "inputs = s.inputs)) ORDER BY m.path";

/* Joins the first column of the rows, "a, b, c and 2 more"; *list is NULL if there are no rows. */
static enum gsim_status name_rows(struct gsim_db *db, const char *sql, const char **list,
                                  struct gsim_log *log) {
    enum { NAMED = 3 };
    sqlite3_stmt *statement = NULL;
    int n = 0, code = sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL);
    *list = NULL;
    for (; code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW; n++)
        if (n < NAMED)
            *list = gsim_arena_printf(db->arena, "%s%s%s", *list ? *list : "", *list ? ", " : "",
                                      (const char *)sqlite3_column_text(statement, 0));
    if (n > NAMED)
        *list = gsim_arena_printf(db->arena, "%s and %d more", *list, n - NAMED);
    int ended = sqlite3_finalize(statement);
    if (n > 0 && !*list)
        return gsim_no_memory(log, "merging");
    return code == SQLITE_OK && ended == SQLITE_OK ? GSIM_OK : gsim_db_fail(db, log);
}

static enum gsim_status check_origins(struct gsim_db *db, const char *path, struct gsim_log *log) {
    const char *parts, *files;
    enum gsim_status status = name_rows(db, parts_that_differ, &parts, log);
    if (status == GSIM_OK)
        status = name_rows(db, files_that_differ, &files, log);
    if (status != GSIM_OK)
        return status;
    if (parts)
        return gsim_fail(
            log, GSIM_USAGE, path, 0,
            "the runs of the database were made by another build of gsim than those of %s, which "
            "differs in %s: run the sweep again by one build, or --keep-old keeps "
            "them as they are",
            db->path, parts);
    if (files)
        return gsim_fail(log, GSIM_USAGE, path, 0,
                         "the runs of the database were made with other contents of %s than those "
                         "of %s: run the "
                         "sweep again with the same files, or --keep-old keeps them as they are",
                         files, db->path);
    return GSIM_OK;
}

static const char *copy_runs(struct gsim_db *db) {
    const char *all = gsim_db_columns(db->arena, "run", "");
    const char *theirs = gsim_db_columns(db->arena, "run", "s.");
    if (!all || !theirs)
        return NULL;
    const char *rest = strchr(theirs, ','); /* the columns behind the run_id, which comes first */
    return gsim_arena_printf(
        db->arena,
        "CREATE TEMP TABLE fresh AS SELECT run_id AS old, config, run_id NOT IN (SELECT run_id FROM"
        " main.run) AS is_free FROM shard.run WHERE config NOT IN (SELECT config FROM main.run);"
        "INSERT INTO main.run (%s) SELECT %s FROM shard.run s JOIN fresh ON old = s.run_id AND "
        "is_free ORDER BY s.run_id;"
        "INSERT INTO main.run (%s) SELECT NULL%s FROM shard.run s JOIN fresh ON old = s.run_id AND "
        "NOT is_free ORDER BY s.run_id;"
        "CREATE TEMP TABLE moved AS SELECT old, run_id AS new FROM fresh JOIN main.run USING "
        "(config)",
        all, theirs, all, rest);
}

/* Tables with rows of a run, and the columns that sort a run's rows. */
static const struct {
    const char *table, *order;
} of_runs[] = {{"job", ", job"}, {"request", ""},  {"sample", ""},
               {"gpu", ""},      {"run_perf", ""}, {"setting", ""}};

/* Copies the tables of lists, which name rows by their contents, and the text of a file if one side
 * has it. */
static const char copy_lists[] =
    "INSERT OR IGNORE INTO main.build SELECT * FROM shard.build;"
    "INSERT OR IGNORE INTO main.input_list SELECT * FROM shard.input_list;"
    "INSERT OR IGNORE INTO main.parameter_list SELECT * FROM shard.parameter_list;"
    "INSERT OR IGNORE INTO main.trace_job SELECT * FROM shard.trace_job;"
    "INSERT OR REPLACE INTO main.input_text SELECT * FROM shard.input_text WHERE sha256 NOT IN"
    " (SELECT sha256 FROM main.input_text WHERE text NOT NULL)";

static const char copy_sweeps[] =
    "INSERT OR IGNORE INTO main.comparison SELECT * FROM shard.comparison;"
    "INSERT OR IGNORE INTO main.compared SELECT t.comparison, m.run_id, t.mean_s, t.mean_low_s,"
    " t.mean_high_s, t.difference_s, t.difference_low_s, t.difference_high_s, t.ratio, t.ratio_low,"
    " t.ratio_high, t.p, t.below FROM shard.compared t JOIN shard.run s ON s.run_id = t.run_id"
    " JOIN main.run m ON m.config = s.config;"
    "INSERT OR IGNORE INTO main.sweep SELECT * FROM shard.sweep;"
    "INSERT OR REPLACE INTO main.sweep_run SELECT t.sweep, t.position, m.run_id FROM "
    "shard.sweep_run t JOIN shard.run s ON s.run_id = t.run_id JOIN main.run m ON m.config = "
    "s.config;"
    "CREATE INDEX IF NOT EXISTS main.job_of_run ON job (run_id, job);"
    "DROP TABLE fresh; DROP TABLE moved; COMMIT";

/* Copies the rows of a table for the new runs. */
static enum gsim_status copy_rows(struct gsim_db *db, const char *table, const char *order,
                                  struct gsim_log *log) {
    const char *columns = gsim_db_columns(db->arena, table, "");
    const char *sql =
        columns ? gsim_arena_printf(
                      db->arena,
                      "INSERT INTO main.%s (%s) SELECT new%s FROM moved JOIN shard.%s ON run_id = "
                      "old ORDER BY new%s",
                      table, columns, strchr(columns, ','), table, order)
                : NULL;
    return sql ? gsim_db_execute(db, sql, log) : gsim_no_memory(log, "merging");
}

static enum gsim_status copy_all(struct gsim_db *db, struct gsim_log *log) {
    enum gsim_status status = GSIM_OK;
    for (size_t t = 0; t < sizeof of_runs / sizeof *of_runs && status == GSIM_OK; t++)
        status = copy_rows(db, of_runs[t].table, of_runs[t].order, log);
    if (status == GSIM_OK)
        status = gsim_db_execute(db, copy_lists, log);
    return status == GSIM_OK ? gsim_db_execute(db, copy_sweeps, log) : status;
}

static enum gsim_status take_over(struct gsim_db *db, const char *path, bool keeps_old,
                                  int64_t *n_new, struct gsim_log *log) {
    const char *runs = copy_runs(db);
    if (!runs)
        return gsim_no_memory(log, "merging");
    enum gsim_status status = gsim_db_execute(db, "BEGIN IMMEDIATE", log);
    if (status != GSIM_OK)
        return status;
    status = check_conflicts(db, path, log);
    if (status == GSIM_OK && !keeps_old)
        status = check_origins(db, path, log);
    if (status == GSIM_OK)
        status = gsim_db_execute(db, runs, log);
    if (status == GSIM_OK)
        status = gsim_db_number(db, "SELECT count(*) FROM fresh", n_new, log);
    if (status == GSIM_OK)
        status = copy_all(db, log);
    if (status != GSIM_OK)
        (void)sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

/* Warns of a policy with runs that several programs made: each run is valid, but comparing them may
 * mislead. A part that only some builds have (a built-in device that only some runs use) is no
 * difference. */
enum gsim_status gsim_db_warn_of_builds(struct gsim_db *db, const char *runs,
                                        struct gsim_log *log) {
    const char *sql = gsim_arena_printf(
        db->arena,
        "SELECT policy, group_concat(part, ', ') FROM (SELECT policy, part FROM (SELECT DISTINCT "
        "policy, build FROM %s) JOIN main.build USING (build) GROUP BY policy, part HAVING "
        "count(DISTINCT sha256) > 1 ORDER BY policy, part) GROUP BY policy ORDER BY policy",
        runs);
    sqlite3_stmt *statement = NULL;
    if (!sql)
        return gsim_no_memory(log, "looking at builds");
    int code = sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL);
    while (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        gsim_warn(log, db->path, 0,
                  "runs of %s were made by several builds of gsim, which differ in %.200s, so that "
                  "their results may differ too: gsim sweep GRID -o FILE --replace-old runs the "
                  "older ones again by this one",
                  (const char *)sqlite3_column_text(statement, 0),
                  (const char *)sqlite3_column_text(statement, 1));
    int ended = sqlite3_finalize(statement);
    return code == SQLITE_OK && ended == SQLITE_OK ? GSIM_OK : gsim_db_fail(db, log);
}

enum gsim_status gsim_db_merge(struct gsim_db *db, const char *path, bool keeps_old, int64_t *n_new,
                               struct gsim_log *log) {
    struct gsim_db *shard;
    sqlite3_stmt *statement = NULL;
    *n_new = 0;
    enum gsim_status status = gsim_db_open_existing(path, db->arena, &shard, log);
    gsim_db_close(shard); /* opened only to check that it is a whole database of gsim */
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
    status = take_over(db, path, keeps_old, n_new, log);
    (void)sqlite3_exec(db->handle, "DETACH shard", NULL, NULL, NULL);
    return status;
}
