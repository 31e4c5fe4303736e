/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/results/db_figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/app/results/db_schema.h"
#include "sim/base/text.h"

enum { MAX_COLUMNS = 2000 }; /* of a table, by SQLite (SQLITE_MAX_COLUMN) */

/* --- the choice ------------------------------------------------------------------------------- */

/* Leaves older runs out of the choice. One command line may have been run with several contents of
 * its files, or by several builds: the latest run counts. Figures that pooled such runs as
 * replications would describe none of them. */
static enum gsim_status leave_out_older(struct gsim_db *db, struct gsim_log *log) {
    int64_t n = 0;
    enum gsim_status status = gsim_db_execute(
        db,
        "DELETE FROM temp.chosen WHERE run_id IN (SELECT run_id FROM (SELECT run_id, row_number() "
        "OVER (PARTITION BY argv ORDER BY started_at DESC, run_id DESC) AS place FROM temp.chosen "
        "LEFT JOIN main.run_perf USING (run_id)) WHERE place > 1)",
        log);
    if (status == GSIM_OK)
        status = gsim_db_number(db, "SELECT changes()", &n, log);
    if (n > 0)
        gsim_warn(log, db->path, 0,
                  "%lld runs are left out: their command lines were run again since, with other "
                  "contents of their files or by another build; --where can choose them",
                  (long long)n);
    return status;
}

/* The command line of a replication is that of the original with `--replication N` in it. */
static enum gsim_status set_changed_apart(struct gsim_db *db, bool keeps_changed,
                                          struct gsim_log *log) {
    enum gsim_status status = gsim_db_execute(
        db,
        "CREATE TEMP TABLE changed AS SELECT c.*, o.run_id AS original FROM chosen AS c "
        "JOIN chosen AS o ON o.replication = 0 AND o.argv = "
        "replace(c.argv, ' --replication ' || c.replication, '') WHERE c.replication > 0 AND "
        "c.run_id IN (SELECT run_id FROM main.setting WHERE key IN ('shake', 'resample'))",
        log);
    if (status != GSIM_OK || keeps_changed)
        return status;
    return gsim_db_execute(
        db, "DELETE FROM temp.chosen WHERE run_id IN (SELECT run_id FROM temp.changed)", log);
}

static enum gsim_status make_chosen(struct gsim_db *db, const struct gsim_db_choice *choice,
                                    struct gsim_log *log) {
    const char *where = choice->where, *configs = choice->configs;
    sqlite3_stmt *statement = NULL;
    const char *tail = "";
    const char *sql = gsim_arena_printf(
        db->arena,
        "CREATE TEMP TABLE chosen AS SELECT * FROM main.run WHERE (%s\n)%s%s%s ORDER BY run_id",
        where ? where : "1", configs ? " AND config IN (" : "", configs ? configs : "",
        configs ? ")" : "");
    if (!sql)
        return gsim_no_memory(log, "choosing runs");
    int code = sqlite3_prepare_v2(db->handle, sql, -1, &statement, &tail);
    if (code == SQLITE_OK && !*tail)
        code = sqlite3_step(statement);
    enum gsim_status status = GSIM_OK;
    if (code == SQLITE_NOMEM)
        status = gsim_no_memory(log, "choosing runs");
    else if (*tail || code != SQLITE_DONE)
        status = gsim_fail(log, GSIM_USAGE, NULL, 0,
                           "--where: '%.200s' is no condition on runs (%s); such as \"policy = "
                           "'srtf' AND gpus >= 64\"",
                           where ? where : "",
                           *tail ? "more than one statement" : sqlite3_errmsg(db->handle));
    (void)sqlite3_finalize(statement);
    if (status == GSIM_OK)
        status = leave_out_older(db, log);
    if (status == GSIM_OK)
        status = set_changed_apart(db, choice->keeps_changed, log);
    return status == GSIM_OK ? gsim_db_warn_of_builds(db, "temp.chosen", log) : status;
}

/* The statement that makes `attribute`: the settings, and each column of `run` as a key. */
static const char *attribute_query(struct gsim_db *db) {
    const char *sql = "CREATE TEMP VIEW attribute AS SELECT run_id, key, value FROM setting";
#define GSIM_FIELD(name, help)                                                                     \
    if (sql && gsim_db_keeps_field(#name))                                                         \
        sql = gsim_arena_printf(                                                                   \
            db->arena, "%s UNION ALL SELECT run_id, '" #name "', " #name " FROM chosen", sql);
#define GSIM_FIELD_TEXT GSIM_FIELD
#define GSIM_FIELD_INT GSIM_FIELD
#define GSIM_FIELD_REAL GSIM_FIELD
#define GSIM_FIELD_BOOL GSIM_FIELD
#include "gsim/fields.def"
#undef GSIM_FIELD
    return sql;
}

static enum gsim_status check_key(struct gsim_db *db, const char *option, const char *key,
                                  struct gsim_log *log) {
    sqlite3_stmt *statement = NULL;
    const char *names[256];
    int n = 0;
    if (!key)
        return GSIM_OK;
    int code = sqlite3_prepare_v2(db->handle,
                                  "SELECT DISTINCT key FROM attribute JOIN chosen USING (run_id)",
                                  -1, &statement, NULL);
    bool is_there = false;
    int step = code;
    while (code == SQLITE_OK && (step = sqlite3_step(statement)) == SQLITE_ROW && n < 256) {
        names[n] = gsim_arena_strdup(db->arena, (const char *)sqlite3_column_text(statement, 0));
        if (!names[n])
            break;
        is_there |= strcmp(names[n++], key) == 0;
    }
    (void)sqlite3_finalize(statement);
    if (is_there)
        return GSIM_OK;
    if (step == SQLITE_NOMEM || gsim_arena_has_failed(db->arena))
        return gsim_no_memory(log, "choosing runs");
    int close = gsim_text_suggest(key, names, n);
    return gsim_fail(log, GSIM_USAGE, NULL, 0,
                     "%s: '%s' is neither a setting nor a result of these runs%s%s%s", option, key,
                     close >= 0 ? "; did you mean '" : "; such as nodes, set.las.quantum, gpu_busy",
                     close >= 0 ? names[close] : "", close >= 0 ? "'?" : "");
}

/* Checks each key of a list "A,B". */
static enum gsim_status check_keys(struct gsim_db *db, const char *list, struct gsim_log *log) {
    enum gsim_status status = GSIM_OK;
    while (list && status == GSIM_OK) {
        size_t n = strcspn(list, ",");
        const char *key = gsim_arena_strndup(db->arena, list, n);
        status = key ? check_key(db, "--value", key, log) : gsim_no_memory(log, "choosing runs");
        list = list[n] ? list + n + 1 : NULL;
    }
    return status;
}

static bool bind_key(sqlite3_stmt *statement, int at, const char *key) {
    return (key ? sqlite3_bind_text(statement, at, key, -1, SQLITE_STATIC)
                : sqlite3_bind_null(statement, at)) == SQLITE_OK;
}

static enum gsim_status make_asked(struct gsim_db *db, const struct gsim_db_choice *choice,
                                   struct gsim_log *log) {
    sqlite3_stmt *statement = NULL;
    enum gsim_status status = gsim_db_execute(
        db,
        "CREATE TEMP TABLE asked (x TEXT, y TEXT, value TEXT, target REAL, price REAL, "
        "first TEXT)",
        log);
    if (status != GSIM_OK)
        return status;
    bool is_done = sqlite3_prepare_v2(db->handle, "INSERT INTO asked VALUES (?, ?, ?, ?, ?, ?)", -1,
                                      &statement, NULL) == SQLITE_OK &&
                   bind_key(statement, 1, choice->x) && bind_key(statement, 2, choice->y) &&
                   bind_key(statement, 3, choice->value) &&
                   sqlite3_bind_double(statement, 4, choice->target) == SQLITE_OK &&
                   sqlite3_bind_double(statement, 5, choice->price) == SQLITE_OK &&
                   bind_key(statement, 6, choice->first) && sqlite3_step(statement) == SQLITE_DONE;
    (void)sqlite3_finalize(statement);
    if (is_done && choice->takes_first && !choice->first)
        return gsim_db_execute(
            db,
            "UPDATE asked SET first = (SELECT first FROM comparison AS c WHERE runs = (SELECT "
            "count(*) FROM compared AS d WHERE d.comparison = c.comparison AND (run_id IN (SELECT "
            "run_id FROM chosen) OR run_id IN (SELECT run_id FROM changed))) ORDER BY c.rowid DESC "
            "LIMIT 1)",
            log);
    return is_done ? GSIM_OK : gsim_db_fail(db, log);
}

enum gsim_status gsim_db_choose(struct gsim_db *db, const struct gsim_db_choice *choice,
                                struct gsim_log *log) {
    int64_t n_runs = 0;
    if (!gsim_db_add_functions(db))
        return gsim_db_fail(db, log);
    enum gsim_status status = make_chosen(db, choice, log);
    if (status == GSIM_OK)
        status = gsim_db_number(db, "SELECT count(*) FROM chosen", &n_runs, log);
    if (status == GSIM_OK && n_runs == 0)
        status =
            gsim_fail(log, choice->where ? GSIM_USAGE : GSIM_BAD_INPUT, db->path, 0,
                      choice->where ? "no run is chosen by --where" : "the database has no run");
    const char *sql = attribute_query(db);
    if (!sql)
        return gsim_no_memory(log, "choosing runs");
    if (status == GSIM_OK)
        status = gsim_db_execute(db, sql, log);
    if (status == GSIM_OK)
        status = check_key(db, "--x", choice->x, log);
    if (status == GSIM_OK)
        status = check_key(db, "--y", choice->y, log);
    if (status == GSIM_OK)
        status = choice->is_list ? check_keys(db, choice->value, log)
                                 : check_key(db, "--value", choice->value, log);
    return status == GSIM_OK ? make_asked(db, choice, log) : status;
}

/* --- rows ------------------------------------------------------------------------------------- */

static void hand_over(sqlite3_stmt *statement, gsim_db_row *row, void *arg) {
    struct gsim_db_value values[MAX_COLUMNS];
    int n = sqlite3_column_count(statement);
    for (int i = 0; i < n && i < MAX_COLUMNS; i++) {
        int type = sqlite3_column_type(statement, i);
        values[i] = (struct gsim_db_value){.name = sqlite3_column_name(statement, i),
                                           .is_null = type == SQLITE_NULL,
                                           .is_text = type == SQLITE_TEXT || type == SQLITE_BLOB,
                                           .number = sqlite3_column_double(statement, i),
                                           .text = (const char *)sqlite3_column_text(statement, i)};
        if (!values[i].text)
            values[i].text = "";
    }
    row(arg, values, n < MAX_COLUMNS ? n : MAX_COLUMNS);
}

/* Skips spaces and comments. */
static const char *skip_blank(const char *sql) {
    for (;;) {
        sql += strspn(sql, " \t\r\n");
        if (strncmp(sql, "--", 2) != 0)
            return sql;
        sql += strcspn(sql, "\n");
    }
}

enum gsim_status gsim_db_query(struct gsim_db *db, const char **sql, gsim_db_row *row, void *arg,
                               struct gsim_log *log) {
    sqlite3_stmt *statement = NULL;
    const char *text = skip_blank(*sql), *tail = text;
    int code = sqlite3_prepare_v2(db->handle, text, -1, &statement, &tail);
    *sql = code == SQLITE_OK ? skip_blank(tail) : tail;
    if (code == SQLITE_OK)
        while ((code = sqlite3_step(statement)) == SQLITE_ROW)
            if (row)
                hand_over(statement, row, arg);
    enum gsim_status status = GSIM_OK;
    if (code == SQLITE_INTERRUPT)
        status = gsim_fail(log, GSIM_INCOMPLETE, NULL, 0, "interrupted: nothing is drawn");
    else if (code != SQLITE_DONE)
        status = gsim_fail(log, GSIM_FAILED, db->path, 0, "the database cannot be read: %s",
                           sqlite3_errmsg(db->handle));
    (void)sqlite3_finalize(statement);
    return status;
}

enum gsim_status gsim_db_first_column(struct gsim_db *db, const char *sql, char *out, size_t size,
                                      struct gsim_log *log) {
    sqlite3_stmt *statement = NULL;
    *out = '\0';
    int code = sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL);
    const char *name = NULL;
    bool has_column = code == SQLITE_OK && statement && sqlite3_column_count(statement) > 0;
    if (has_column && (name = sqlite3_column_name(statement, 0)) != NULL)
        (void)snprintf(out, size, "%s", name);
    (void)sqlite3_finalize(statement);
    return code == SQLITE_NOMEM || (has_column && !name) ? gsim_no_memory(log, "drawing a figure")
                                                         : GSIM_OK;
}

static int is_stopped(void *arg) {
    return *(const volatile sig_atomic_t *)arg != 0;
}

void gsim_db_heed(struct gsim_db *db, const volatile sig_atomic_t *stop) {
    /* instructions of SQLite's machine between two checks: some milliseconds */
    enum { STEPS = 100000 };
    sqlite3_progress_handler(db->handle, stop ? STEPS : 0, is_stopped, (void *)(uintptr_t)stop);
}
