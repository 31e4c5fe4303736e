/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists that many runs share are written once and named by their sums: the program's parts, the
 * files, the resolved parameters, the jobs of a trace. A sum depends on the contents alone, so
 * neither the order in which runs end nor shards change a database. */
#include <string.h>

#include "sim/app/results/db_private.h"
#include "sim/base/text.h"

static void bind_own(sqlite3_stmt *statement, int at, const char *text) {
    (void)sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

/* Whether the statement finds no row of that name. After an error the answer is false, and so is
 * *is_fine. */
static bool is_missing(struct gsim_db *db, enum gsim_db_statement find, const char *name,
                       bool *is_fine) {
    sqlite3_stmt *statement = gsim_db_prepared(db, find);
    bind_own(statement, 1, name);
    int code = gsim_db_finish(statement);
    *is_fine = code == SQLITE_ROW || code == SQLITE_DONE;
    return code == SQLITE_DONE;
}

static bool add_build(struct gsim_db *db, const struct gsim_identity *identity) {
    bool is_fine;
    if (!is_missing(db, GSIM_DB_FIND_BUILD, identity->build, &is_fine))
        return is_fine;
    sqlite3_stmt *statement = gsim_db_prepared(db, GSIM_DB_ADD_PART);
    for (int i = 0; i < identity->n_parts && is_fine; i++) {
        bind_own(statement, 1, identity->build);
        bind_own(statement, 2, identity->part[i].name);
        bind_own(statement, 3, identity->part[i].sha256);
        is_fine = gsim_db_finish(statement) == SQLITE_DONE;
    }
    return is_fine;
}

/* Binds the content as text, or as a blob where it is none: with NUL bytes, as a compressed trace
 * has, or in another code than UTF-8, which readers of SQLite refuse in a text. */
static void bind_content(sqlite3_stmt *statement, int at, const struct gsim_file_content *content) {
    if (!content->bytes)
        (void)sqlite3_bind_null(statement, at);
    else if (memchr(content->bytes, 0, (size_t)content->size) ||
             !gsim_text_is_utf8(content->bytes, (size_t)content->size))
        (void)sqlite3_bind_blob64(statement, at, content->bytes, (sqlite3_uint64)content->size,
                                  SQLITE_STATIC);
    else
        (void)sqlite3_bind_text64(statement, at, content->bytes, (sqlite3_uint64)content->size,
                                  SQLITE_STATIC, SQLITE_UTF8);
}

/* Adds a file's text. A file that was only hashed before gets its text if the text is kept now. */
bool gsim_db_add_text(struct gsim_db *db, const struct gsim_file_content *content) {
    bool is_fine;
    (void)sqlite3_bind_int(gsim_db_prepared(db, GSIM_DB_FIND_TEXT), 2, content->bytes == NULL);
    if (!is_missing(db, GSIM_DB_FIND_TEXT, content->sha256, &is_fine))
        return is_fine;
    sqlite3_stmt *statement = gsim_db_prepared(db, GSIM_DB_ADD_TEXT);
    bind_own(statement, 1, content->sha256);
    (void)sqlite3_bind_int64(statement, 2, content->size);
    bind_content(statement, 3, content);
    return gsim_db_finish(statement) == SQLITE_DONE;
}

static bool add_inputs(struct gsim_db *db, const struct gsim_identity *identity) {
    bool is_fine;
    if (!is_missing(db, GSIM_DB_FIND_INPUTS, identity->inputs, &is_fine))
        return is_fine;
    sqlite3_stmt *statement = gsim_db_prepared(db, GSIM_DB_ADD_INPUT);
    int64_t position = 0;
    for (int i = 0; i < identity->n_inputs && is_fine; i++) {
        const struct gsim_named_file *file = &identity->input[i];
        if (file->is_built_in)
            continue;
        bind_own(statement, 1, identity->inputs);
        (void)sqlite3_bind_int64(statement, 2, ++position);
        bind_own(statement, 3, file->kind);
        bind_own(statement, 4, file->content->path);
        bind_own(statement, 5, file->content->sha256);
        is_fine = gsim_db_finish(statement) == SQLITE_DONE;
    }
    return is_fine;
}

static bool add_texts(struct gsim_db *db, const struct gsim_identity *identity) {
    bool is_fine = true;
    for (int i = 0; i < identity->n_inputs && is_fine; i++)
        is_fine = gsim_db_add_text(db, identity->input[i].content);
    return is_fine;
}

static bool add_parameters(struct gsim_db *db, const struct gsim_resolved_list *list) {
    bool is_fine;
    if (!is_missing(db, GSIM_DB_FIND_PARAMETERS, list->name, &is_fine))
        return is_fine;
    sqlite3_stmt *statement = gsim_db_prepared(db, GSIM_DB_ADD_PARAMETER);
    for (int i = 0; i < list->n && is_fine; i++) {
        bind_own(statement, 1, list->name);
        bind_own(statement, 2, list->value[i].owner);
        bind_own(statement, 3, list->value[i].key);
        bind_own(statement, 4, list->value[i].value);
        bind_own(statement, 5, list->value[i].tag);
        is_fine = gsim_db_finish(statement) == SQLITE_DONE;
    }
    return is_fine;
}

/* Whether the trace has columns besides a job's name, times and GPUs, which are in `job`. */
static bool says_more(const struct gsim_trace *trace) {
    for (int c = 0; c < GSIM_COL_COUNT; c++)
        if (trace->column[c] && c != GSIM_COL_SHARE_PPM)
            return true;
    return false;
}

static bool add_trace_jobs(struct gsim_db *db, const struct gsim_db_run *run) {
    bool is_fine = true;
    if (run->is_summary || !run->trace || !says_more(run->trace) ||
        !is_missing(db, GSIM_DB_FIND_TRACE_JOBS, run->identity->trace_jobs, &is_fine))
        return is_fine;
    db->adding_trace = run->trace;
    db->adding_name = run->identity->trace_jobs;
    is_fine = gsim_db_finish(gsim_db_prepared(db, GSIM_DB_ADD_TRACE_JOBS)) == SQLITE_DONE;
    db->adding_trace = NULL;
    return is_fine;
}

/* Whether the run before had this list: neighbours in a grid share most lists. */
static bool is_last(const char *name, const char *last) {
    return strcmp(name, last) == 0;
}

bool gsim_db_add_lists(struct gsim_db *db, const struct gsim_db_run *run) {
    const struct gsim_identity *now = run->identity, *last = &db->last;
    bool has_build = is_last(now->build, last->build);
    bool has_inputs = is_last(now->inputs, last->inputs);
    bool is_fine =
        (has_build || add_build(db, now)) && (has_inputs || add_inputs(db, now)) &&
        ((has_build && has_inputs) || add_texts(db, now)) &&
        (is_last(now->parameters.name, last->parameters.name) ||
         add_parameters(db, &now->parameters)) &&
        (is_last(now->devices.name, last->devices.name) || add_parameters(db, &now->devices)) &&
        (is_last(now->trace_jobs, last->trace_jobs) || add_trace_jobs(db, run));
    if (is_fine)
        db->last = *now; /* the names are copied; the lists that it points to end with the run */
    return is_fine;
}

enum gsim_status gsim_db_tidy(struct gsim_db *db, struct gsim_log *log) {
    static const char sql[] =
        "BEGIN IMMEDIATE;"
        "DELETE FROM build WHERE build NOT IN (SELECT build FROM run);"
        "DELETE FROM input_list WHERE inputs NOT IN (SELECT inputs FROM run);"
        "DELETE FROM parameter_list WHERE list NOT IN (SELECT parameters FROM run UNION SELECT "
        "devices FROM run);"
        "DELETE FROM trace_job WHERE trace_jobs NOT IN (SELECT trace_jobs FROM run);"
        "DELETE FROM sweep WHERE sweep NOT IN (SELECT sweep FROM sweep_run);"
        "DELETE FROM comparison WHERE comparison NOT IN (SELECT comparison FROM compared);"
        "DELETE FROM input_text WHERE sha256 NOT IN (SELECT sha256 FROM input_list UNION SELECT "
        "sha256 FROM build UNION SELECT sha256 FROM sweep);"
        "COMMIT";
    if (!db->has_replaced)
        return GSIM_OK;
    db->has_replaced = false;
    db->last = (struct gsim_identity){0};
    enum gsim_status status = gsim_db_execute(db, sql, log);
    if (status != GSIM_OK)
        (void)sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
    return status;
}
