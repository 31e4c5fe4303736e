/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sweeps in the database: the run at each position of a grid. All shards of a sweep have the
 * sweep's id, so that a merged database knows which runs it lacks. */
#include <string.h>

#include "sim/app/results/db_private.h"

static enum gsim_status note_sweep(struct gsim_db *db, const struct gsim_db_sweep *sweep,
                                   struct gsim_log *log) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db->handle, "INSERT OR IGNORE INTO sweep VALUES (?, ?, ?, ?)", -1,
                                  &statement, NULL);
    if (code == SQLITE_OK) {
        (void)sqlite3_bind_text(statement, 1, sweep->id, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(statement, 2, sweep->grid, -1, SQLITE_STATIC);
        (void)sqlite3_bind_int64(statement, 3, sweep->n_runs);
        (void)sqlite3_bind_text(statement, 4, sweep->content->sha256, -1, SQLITE_STATIC);
        code = sqlite3_step(statement);
    }
    (void)sqlite3_finalize(statement);
    return code == SQLITE_DONE && gsim_db_add_text(db, sweep->content) ? GSIM_OK
                                                                       : gsim_db_fail(db, log);
}

/* Adds the runs that another command has written before to the sweep. */
static enum gsim_status note_runs(struct gsim_db *db, const struct gsim_db_sweep *sweep,
                                  struct gsim_log *log) {
    static const char sql[] = "INSERT OR REPLACE INTO sweep_run VALUES (?, ?, ?)";
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL);
    code = code == SQLITE_OK ? SQLITE_DONE : code;
    for (int64_t i = 0; i < sweep->n_runs && code == SQLITE_DONE; i++) {
        if (sweep->asked[i].state != GSIM_DB_THERE && sweep->asked[i].state != GSIM_DB_OLD)
            continue;
        (void)sqlite3_bind_text(statement, 1, sweep->id, -1, SQLITE_STATIC);
        (void)sqlite3_bind_int64(statement, 2, i + 1);
        (void)sqlite3_bind_int64(statement, 3, sweep->asked[i].run_id);
        code = gsim_db_finish(statement);
    }
    (void)sqlite3_finalize(statement);
    return code == SQLITE_DONE ? GSIM_OK : gsim_db_fail(db, log);
}

enum gsim_status gsim_db_begin_sweep(struct gsim_db *db, const struct gsim_db_sweep *sweep,
                                     struct gsim_log *log) {
    enum gsim_status status = gsim_db_execute(db, "BEGIN IMMEDIATE", log);
    if (status != GSIM_OK)
        return status;
    status = note_sweep(db, sweep, log);
    if (status == GSIM_OK)
        status = note_runs(db, sweep, log);
    if (status == GSIM_OK)
        status = gsim_db_execute(db, "COMMIT", log);
    if (status != GSIM_OK)
        (void)sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

/* --- missing runs ----------------------------------------------------------------------------- */

/* The missing positions as text: "3, 7-9, 12 ...". */
struct gaps {
    char text[120];
    size_t length;
    int64_t n, next; /* next: the position that should come next */
};

static void skip_to(struct gaps *gaps, int64_t position) {
    int64_t first = gaps->next, last = position - 1;
    gaps->next = position + 1;
    if (last < first)
        return;
    gaps->n += last - first + 1;
    size_t room = sizeof gaps->text - gaps->length;
    if (room < 48) {
        if (gaps->text[gaps->length - 1] != '.')
            gaps->length += (size_t)snprintf(gaps->text + gaps->length, room, ", ...");
        return;
    }
    gaps->length += (size_t)snprintf(gaps->text + gaps->length, room, "%s%lld",
                                     gaps->length ? ", " : "", (long long)first);
    if (last > first)
        gaps->length += (size_t)snprintf(
            gaps->text + gaps->length, sizeof gaps->text - gaps->length, "-%lld", (long long)last);
}

static enum gsim_status check_sweep(struct gsim_db *db, const char *sweep, const char *grid,
                                    int64_t n_runs, struct gsim_log *log) {
    static const char sql[] = "SELECT position FROM sweep_run WHERE sweep = ? ORDER BY position";
    struct gaps gaps = {.next = 1};
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL);
    if (code != SQLITE_OK)
        return gsim_db_fail(db, log);
    (void)sqlite3_bind_text(statement, 1, sweep, -1, SQLITE_STATIC);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        skip_to(&gaps, sqlite3_column_int64(statement, 0));
    (void)sqlite3_finalize(statement);
    if (code != SQLITE_DONE)
        return gsim_db_fail(db, log);
    skip_to(&gaps, n_runs + 1);
    if (gaps.n == 0)
        return GSIM_OK;
    return gsim_fail(log, GSIM_INCOMPLETE, db->path, 0,
                     "%lld of the %lld runs of %s are missing: %s; gsim sweep %s -o %s runs them",
                     (long long)gaps.n, (long long)n_runs, grid, gaps.text, grid, db->path);
}

enum gsim_status gsim_db_check_sweeps(struct gsim_db *db, struct gsim_log *log) {
    sqlite3_stmt *statement = NULL;
    enum gsim_status worst = GSIM_OK;
    int code = sqlite3_prepare_v2(db->handle, "SELECT sweep, grid, runs FROM sweep ORDER BY grid",
                                  -1, &statement, NULL);
    if (code != SQLITE_OK)
        return gsim_db_fail(db, log);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        enum gsim_status status = check_sweep(db, (const char *)sqlite3_column_text(statement, 0),
                                              (const char *)sqlite3_column_text(statement, 1),
                                              sqlite3_column_int64(statement, 2), log);
        worst = status != GSIM_OK ? status : worst;
    }
    (void)sqlite3_finalize(statement);
    return code == SQLITE_DONE ? worst : gsim_db_fail(db, log);
}
