/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the runs that a database has, and the builds that made them. SQLite joins all requested
 * runs with the stored runs at once. */
#include <string.h>

#include "sim/app/results/db_private.h"
#include "sim/app/identity/program.h"

/* in_the_way: the stored runs that a requested run replaces when it is written. */
static const char make_tables[] =
    "DROP TABLE IF EXISTS temp.asked; DROP TABLE IF EXISTS temp.in_the_way;"
    "CREATE TEMP TABLE asked (position INTEGER PRIMARY KEY, config TEXT, build TEXT, inputs TEXT,"
    " argv TEXT);"
    "CREATE TEMP TABLE in_the_way (position INTEGER, run_id INTEGER, PRIMARY KEY (position, "
    "run_id))"
    " WITHOUT ROWID";

static enum gsim_status put_asked(struct gsim_db *db, const struct gsim_db_asked *asked, int64_t n,
                                  struct gsim_log *log) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db->handle, "INSERT INTO temp.asked VALUES (?, ?, ?, ?, ?)", -1,
                                  &statement, NULL);
    code = code == SQLITE_OK ? SQLITE_DONE : code;
    for (int64_t i = 0; i < n && code == SQLITE_DONE; i++) {
        const char *const texts[] = {asked[i].config, asked[i].build, asked[i].inputs,
                                     asked[i].argv};
        (void)sqlite3_bind_int64(statement, 1, i + 1);
        for (int t = 0; t < 4; t++)
            (void)sqlite3_bind_text(statement, t + 2, texts[t], -1, SQLITE_STATIC);
        code = gsim_db_finish(statement);
    }
    (void)sqlite3_finalize(statement);
    return code == SQLITE_DONE ? GSIM_OK : gsim_db_fail(db, log);
}

/* Reads rows: position, run_id, state, whether it is a summary. A run that was made later comes
 * later, and overwrites the answer. */
static enum gsim_status take_states(struct gsim_db *db, const char *sql,
                                    struct gsim_db_asked *asked, struct gsim_log *log) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL);
    while (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        struct gsim_db_asked *run = &asked[sqlite3_column_int64(statement, 0) - 1];
        run->run_id = sqlite3_column_int64(statement, 1);
        run->state = (enum gsim_db_state)sqlite3_column_int(statement, 2);
        run->is_summary = sqlite3_column_int(statement, 3) != 0;
    }
    int ended = sqlite3_finalize(statement);
    return code == SQLITE_OK && ended == SQLITE_OK ? GSIM_OK : gsim_db_fail(db, log);
}

enum gsim_status gsim_db_look_up(struct gsim_db *db, struct gsim_db_asked *asked, int64_t n,
                                 struct gsim_log *log) {
    /* The command line is the request in words. A run with an equal command line but another
     * configuration was made from other contents of its files or, if those are equal, by a build
     * with other defaults. Of several such runs the latest counts; runs from equal files take
     * precedence. */
    const char *by_config = gsim_arena_printf(
        db->arena,
        "SELECT position, run_id, CASE WHEN run.build = asked.build THEN %d ELSE %d END,"
        " kept = 'summary' FROM temp.asked JOIN run USING (config)",
        GSIM_DB_THERE, GSIM_DB_OLD);
    const char *by_argv = gsim_arena_printf(
        db->arena,
        "SELECT position, run_id, CASE WHEN run.inputs = asked.inputs THEN %d ELSE %d END, kept ="
        " 'summary' FROM temp.asked JOIN run USING (argv) LEFT JOIN run_perf USING (run_id) WHERE"
        " asked.config NOT IN (SELECT config FROM run) ORDER BY run.inputs = asked.inputs,"
        " started_at, run_id",
        GSIM_DB_OLD, GSIM_DB_CHANGED);
    if (!by_config || !by_argv)
        return gsim_no_memory(log, "looking runs up");
    enum gsim_status status = gsim_db_execute(db, "BEGIN", log);
    if (status != GSIM_OK)
        return status;
    status = gsim_db_execute(db, make_tables, log);
    if (status == GSIM_OK)
        status = put_asked(db, asked, n, log);
    if (status == GSIM_OK)
        status = take_states(db, by_config, asked, log);
    if (status == GSIM_OK)
        status = take_states(db, by_argv, asked, log);
    if (status == GSIM_OK)
        status = gsim_db_execute(db,
                                 "INSERT INTO temp.in_the_way SELECT position, run_id FROM "
                                 "temp.asked JOIN run USING (argv)",
                                 log);
    enum gsim_status ended = gsim_db_execute(db, "COMMIT", log);
    return status == GSIM_OK ? ended : status;
}

/* --- differences ------------------------------------------------------------------------------ */

/* A list of names: "a, b and 3 more". */
struct naming {
    struct gsim_db *db;
    const char *text;
    int n, most;
};

static void name_one(struct naming *names, const char *name) {
    if (names->n++ < names->most)
        names->text = gsim_arena_printf(names->db->arena, "%s%s%s", names->text ? names->text : "",
                                        names->n > 1 ? ", " : "", name);
}

static const char *named(const struct naming *names, const char *nothing) {
    const char *text = names->text ? names->text : nothing;
    if (names->n > names->most)
        text = gsim_arena_printf(names->db->arena, "%s and %d more", text, names->n - names->most);
    return text ? text : nothing;
}

/* The sum of a part of this program; NULL: it has no such part. */
static const char *sum_of_part(struct gsim_contents *contents, const char *part) {
    for (const struct gsim_source *source = gsim_sources; *source->owner; source++)
        if (strcmp(source->part, part) == 0)
            return source->sha256;
    const struct gsim_file_content *content = gsim_contents_built_in(contents, part);
    return content ? content->sha256 : NULL;
}

const char *gsim_db_build_differs(struct gsim_db *db, int64_t run_id) {
    static const char sql[] =
        "SELECT part, build.sha256 FROM run JOIN build USING (build) WHERE run_id = ?";
    struct naming names = {.db = db, .most = 3};
    sqlite3_stmt *statement = NULL;
    struct gsim_contents *contents = gsim_contents_new(0);
    (void)sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL);
    (void)sqlite3_bind_int64(statement, 1, run_id);
    while (contents && sqlite3_step(statement) == SQLITE_ROW) {
        const char *part = (const char *)sqlite3_column_text(statement, 0);
        const char *now = sum_of_part(contents, part);
        if (!now || strcmp(now, (const char *)sqlite3_column_text(statement, 1)) != 0)
            name_one(&names, part);
    }
    (void)sqlite3_finalize(statement);
    gsim_contents_free(contents);
    return named(&names, "its parts");
}

const char *gsim_db_inputs_differ(struct gsim_db *db, int64_t run_id) {
    static const char sql[] =
        "SELECT path, sha256 FROM run JOIN input_list USING (inputs) WHERE run_id = ? ORDER BY "
        "position";
    struct naming names = {.db = db, .most = 3};
    sqlite3_stmt *statement = NULL;
    struct gsim_log *log = gsim_arena_alloc(db->arena, sizeof *log);
    (void)sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL);
    (void)sqlite3_bind_int64(statement, 1, run_id);
    while (log && sqlite3_step(statement) == SQLITE_ROW) {
        const char *path = (const char *)sqlite3_column_text(statement, 0);
        struct gsim_file_content now;
        if (gsim_content_read(path, -1, db->arena, &now, log) != GSIM_OK ||
            strcmp(now.sha256, (const char *)sqlite3_column_text(statement, 1)) != 0)
            name_one(&names, path);
    }
    (void)sqlite3_finalize(statement);
    return named(&names, "the files that it names");
}
