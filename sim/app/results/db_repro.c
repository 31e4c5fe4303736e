/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/results/db_repro.h"

#include <math.h>
#include <string.h>

#include "sim/app/results/db_schema.h"
#include "sim/study/output.h"

static const char *column(struct gsim_db *db, sqlite3_stmt *statement, int at) {
    const char *text = (const char *)sqlite3_column_text(statement, at);
    return gsim_arena_strdup(db->arena, text ? text : "");
}

static sqlite3_stmt *of_run(struct gsim_db *db, const char *sql, int64_t run_id) {
    sqlite3_stmt *statement = NULL;
    (void)sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL);
    (void)sqlite3_bind_int64(statement, 1, run_id);
    return statement;
}

/* Finalizes a statement, and reports its last error if there was one. */
static enum gsim_status finalize(struct gsim_db *db, sqlite3_stmt *statement,
                                 struct gsim_log *log) {
    return statement && sqlite3_finalize(statement) == SQLITE_OK ? GSIM_OK : gsim_db_fail(db, log);
}

/* --- finding ---------------------------------------------------------------------------------- */

enum { LEAST_DIGITS = 6, MOST_DIGITS_OF_ID = 9 };

static bool is_number(const char *name) {
    size_t n = strspn(name, "0123456789");
    return n > 0 && !name[n] && n <= MOST_DIGITS_OF_ID;
}

static enum gsim_status find(struct gsim_db *db, const char *name, int64_t *run_id,
                             struct gsim_log *log) {
    sqlite3_stmt *statement = NULL;
    int n = 0;
    bool is_id = is_number(name);
    if (!is_id && (strlen(name) < LEAST_DIGITS || name[strspn(name, "0123456789abcdef")]))
        return gsim_fail(log, GSIM_USAGE, NULL, 0,
                         "'%s' is neither a run_id nor the beginning of a config, six hexadecimal "
                         "digits at least",
                         name);
    (void)sqlite3_prepare_v2(db->handle,
                             is_id ? "SELECT run_id FROM run WHERE run_id = ?"
                                   : "SELECT run_id FROM run WHERE config GLOB ? || '*' LIMIT 2",
                             -1, &statement, NULL);
    (void)sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    for (; sqlite3_step(statement) == SQLITE_ROW; n++)
        *run_id = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    if (n == 1)
        return GSIM_OK;
    return gsim_fail(
        log, GSIM_USAGE, db->path, 0,
        n ? "several runs have a config that begins with %s: give more digits"
          : "the database has no run %s; sqlite3 shows them: select run_id, argv from run",
        name);
}

static enum gsim_status take_settings(struct gsim_db *db, struct gsim_db_stored *out,
                                      struct gsim_log *log) {
    int64_t n = 0, at = 0;
    enum gsim_status status = gsim_db_number(db, "SELECT count(*) FROM setting", &n, log);
    struct gsim_setting *settings = gsim_arena_array(db->arena, (size_t)n + 1, sizeof *settings);
    if (status != GSIM_OK || !settings)
        return status != GSIM_OK ? status : gsim_no_memory(log, "reading a run");
    sqlite3_stmt *statement =
        of_run(db, "SELECT key, value FROM setting WHERE run_id = ?", out->run_id);
    while (at < n && sqlite3_step(statement) == SQLITE_ROW)
        settings[at++] = (struct gsim_setting){column(db, statement, 0), column(db, statement, 1)};
    out->settings = settings;
    return finalize(db, statement, log);
}

static enum gsim_status take_files(struct gsim_db *db, struct gsim_db_stored *out,
                                   struct gsim_log *log) {
    static const char sql[] =
        "SELECT kind, path, i.sha256, text, size FROM run JOIN input_list AS i USING (inputs) LEFT "
        "JOIN input_text USING (sha256) WHERE run_id = ? ORDER BY position";
    sqlite3_stmt *statement = of_run(db, sql, out->run_id);
    int capacity = 0;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        if (out->n_files == capacity) {
            capacity = capacity ? 2 * capacity : 8;
            struct gsim_db_file *grown =
                gsim_arena_array(db->arena, (size_t)capacity, sizeof *grown);
            if (!grown)
                break;
            if (out->n_files)
                memcpy(grown, out->file, (size_t)out->n_files * sizeof *grown);
            out->file = grown;
        }
        struct gsim_db_file *file = &out->file[out->n_files++];
        *file = (struct gsim_db_file){.kind = column(db, statement, 0),
                                      .path = column(db, statement, 1),
                                      .sha256 = column(db, statement, 2)};
        if (sqlite3_column_type(statement, 3) == SQLITE_NULL)
            continue;
        const void *bytes = sqlite3_column_blob(statement, 3);
        file->size = sqlite3_column_bytes(statement, 3);
        char *copy = gsim_arena_alloc(db->arena, (size_t)file->size + 1);
        if (copy && bytes)
            memcpy(copy, bytes, (size_t)file->size);
        file->bytes = copy;
    }
    return finalize(db, statement, log);
}

enum gsim_status gsim_db_find_run(struct gsim_db *db, const char *name, struct gsim_db_stored *out,
                                  struct gsim_log *log) {
    *out = (struct gsim_db_stored){0};
    enum gsim_status status = find(db, name, &out->run_id, log);
    if (status != GSIM_OK)
        return status;
    sqlite3_stmt *statement = of_run(
        db, "SELECT config, build, argv, version, kept FROM run WHERE run_id = ?", out->run_id);
    if (sqlite3_step(statement) == SQLITE_ROW) {
        out->config = column(db, statement, 0);
        out->build = column(db, statement, 1);
        out->argv = column(db, statement, 2);
        out->version = column(db, statement, 3);
        out->is_summary = strcmp(column(db, statement, 4), "summary") == 0;
    }
    status = finalize(db, statement, log);
    if (status == GSIM_OK)
        status = take_settings(db, out, log);
    return status == GSIM_OK ? take_files(db, out, log) : status;
}

/* --- resolved values -------------------------------------------------------------------------- */

static const char *value_now(const struct gsim_resolved_list *list, const char *owner,
                             const char *key) {
    for (int i = 0; i < list->n; i++)
        if (strcmp(list->value[i].owner, owner) == 0 && strcmp(list->value[i].key, key) == 0)
            return list->value[i].value;
    return NULL;
}

void gsim_db_put_resolved(struct gsim_db *db, int64_t run_id, const struct gsim_identity *now,
                          FILE *out) {
    sqlite3_stmt *statement =
        of_run(db, "SELECT owner, key, value FROM parameter WHERE run_id = ?", run_id);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        const char *owner = (const char *)sqlite3_column_text(statement, 0);
        const char *key = (const char *)sqlite3_column_text(statement, 1);
        const char *was = (const char *)sqlite3_column_text(statement, 2);
        const char *is = value_now(&now->parameters, owner, key);
        is = is ? is : value_now(&now->devices, owner, key);
        if (!is || strcmp(is, was) != 0)
            fprintf(out, "  %s.%s: %s then, %s now\n", owner, key, was, is ? is : "none");
    }
    (void)sqlite3_finalize(statement);
}

/* --- results ---------------------------------------------------------------------------------- */

struct comparing {
    sqlite3_stmt *row;
    FILE *out;
    int64_t n;
};

static void differ(struct comparing *c, int at, const char *now) {
    const char *was = (const char *)sqlite3_column_text(c->row, at);
    c->n++;
    fprintf(c->out, "  %s: %s then, %s now\n", sqlite3_column_name(c->row, at), was ? was : "null",
            now);
}

static void compare_text(struct comparing *c, int at, const char *now) {
    const char *was = (const char *)sqlite3_column_text(c->row, at);
    if (!was || strcmp(was, now) != 0)
        differ(c, at, now);
}

static void compare_int(struct comparing *c, int at, int64_t now) {
    char text[32];
    if (sqlite3_column_type(c->row, at) == SQLITE_INTEGER &&
        sqlite3_column_int64(c->row, at) == now)
        return;
    (void)snprintf(text, sizeof text, "%lld", (long long)now);
    differ(c, at, text);
}

/* Compares bit for bit: one program always computes equal doubles. */
static void compare_real(struct comparing *c, int at, double now) {
    char text[40];
    bool was_null = sqlite3_column_type(c->row, at) == SQLITE_NULL;
    if (was_null ? isnan(now) : sqlite3_column_double(c->row, at) == now)
        return;
    (void)gsim_format_real(text, now);
    differ(c, at, text);
}

static void compare_fields(struct comparing *c, const struct gsim_summary *s) {
    int at = 0;
#define GSIM_FIELD_TEXT(name, help) compare_text(c, at++, s->name);
#define GSIM_FIELD_INT(name, help) compare_int(c, at++, s->name);
#define GSIM_FIELD_REAL(name, help)                                                                \
    if (gsim_db_keeps_field(#name))                                                                \
        compare_real(c, at++, s->name);
#define GSIM_FIELD_BOOL(name, help) compare_int(c, at++, s->name);
#include "gsim/fields.def"
}

static const char *field_query(struct gsim_arena *arena) {
    const char *names = "";
#define NAME(name, help)                                                                           \
    if (names && gsim_db_keeps_field(#name))                                                       \
        names = gsim_arena_printf(arena, "%s%s" #name, names, *names ? ", " : "");
#define GSIM_FIELD_TEXT NAME
#define GSIM_FIELD_INT NAME
#define GSIM_FIELD_REAL NAME
#define GSIM_FIELD_BOOL NAME
#include "gsim/fields.def"
#undef NAME
    return names ? gsim_arena_printf(arena, "SELECT %s FROM run WHERE run_id = ?", names) : NULL;
}

/* Counts the rows of a table that only one side has. A changed row is missing on both sides and
 * counts once. */
static enum gsim_status count_rows(struct gsim_db *db, const char *table, int64_t *n,
                                   struct gsim_log *log) {
    const char *columns = gsim_db_columns(db->arena, table, "");
    const char *rest = columns ? strchr(columns, ',') : NULL; /* the columns behind the run_id */
    const char *sql =
        rest
            ? gsim_arena_printf(
                  db->arena,
                  "SELECT max((SELECT count(*) FROM (SELECT 0%s FROM new_%s EXCEPT SELECT 0%s FROM "
                  "%s WHERE run_id = %lld)), (SELECT count(*) FROM (SELECT 0%s FROM %s WHERE "
                  "run_id "
                  "= %lld EXCEPT SELECT 0%s FROM new_%s)))",
                  rest, table, rest, table, (long long)db->adding_id, rest, table,
                  (long long)db->adding_id, rest, table)
            : NULL;
    return sql ? gsim_db_number(db, sql, n, log) : gsim_no_memory(log, "comparing");
}

enum gsim_status gsim_db_compare(struct gsim_db *db, const struct gsim_db_stored *stored,
                                 const struct gsim_result *result, FILE *out,
                                 struct gsim_db_differences *d, struct gsim_log *log) {
    struct comparing c = {.out = out};
    const char *sql = field_query(db->arena);
    *d = (struct gsim_db_differences){0};
    if (!sql)
        return gsim_no_memory(log, "comparing");
    c.row = of_run(db, sql, stored->run_id);
    bool is_there = sqlite3_step(c.row) == SQLITE_ROW;
    if (is_there)
        compare_fields(&c, &result->summary);
    enum gsim_status status = is_there ? GSIM_OK : gsim_db_fail(db, log);
    (void)sqlite3_finalize(c.row);
    d->fields = c.n;
    db->adding = result;
    db->adding_id = stored->run_id;
    if (status == GSIM_OK)
        status = count_rows(db, "gpu", &d->gpus, log);
    if (status == GSIM_OK && !stored->is_summary)
        status = count_rows(db, "job", &d->jobs, log);
    if (status == GSIM_OK && !stored->is_summary)
        status = count_rows(db, "request", &d->requests, log);
    db->adding = NULL;
    return status;
}
