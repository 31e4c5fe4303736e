/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/results/db_comparison.h"

#include <math.h>

#include "sim/app/results/db_private.h"

static const char *join_lines(struct gsim_arena *arena, const char *const *lines) {
    const char *text = "";
    for (; lines && *lines && text; lines++)
        text = gsim_arena_printf(arena, "%s%s%s", text, *text ? "\n" : "", *lines);
    return text;
}

static void bind_known(sqlite3_stmt *statement, int at, double value) {
    if (isnan(value) || isinf(value))
        (void)sqlite3_bind_null(statement, at);
    else
        (void)sqlite3_bind_double(statement, at, value);
}

static int bind_interval(sqlite3_stmt *statement, int at, const struct gsim_interval *interval) {
    bind_known(statement, at++, interval->mean);
    bind_known(statement, at++, interval->low);
    bind_known(statement, at++, interval->high);
    return at;
}

/* Without a row where the database has no such run. */
static int add_compared(sqlite3_stmt *statement, const char *name,
                        const struct gsim_db_compared *run) {
    int at = 1;
    (void)sqlite3_bind_text(statement, at++, name, -1, SQLITE_STATIC);
    at = bind_interval(statement, at, &run->mean_s);
    at = bind_interval(statement, at, &run->difference_s);
    at = bind_interval(statement, at, &run->ratio);
    bind_known(statement, at++, run->p);
    if (run->n_below < 0)
        (void)sqlite3_bind_null(statement, at++);
    else
        (void)sqlite3_bind_int64(statement, at++, run->n_below);
    (void)sqlite3_bind_text(statement, at, run->config, -1, SQLITE_STATIC);
    return gsim_db_finish(statement);
}

static bool add_all(struct gsim_db *db, const struct gsim_db_comparison *about, const char *name) {
    sqlite3_stmt *statement = gsim_db_prepared(db, GSIM_DB_ADD_COMPARISON);
    const char *texts[] = {name,
                           about->argv,
                           about->first,
                           about->over,
                           join_lines(db->arena, about->verdict),
                           join_lines(db->arena, about->advice)};
    enum { N_TEXTS = sizeof texts / sizeof *texts };
    for (int i = 0; i < N_TEXTS; i++)
        (void)sqlite3_bind_text(statement, i + 1, texts[i], -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(statement, N_TEXTS + 1, about->n_runs);
    int code = gsim_db_finish(statement);
    statement = gsim_db_prepared(db, GSIM_DB_ADD_COMPARED);
    for (int64_t i = 0; i < about->n_runs && code == SQLITE_DONE; i++)
        code = add_compared(statement, name, &about->run[i]);
    return code == SQLITE_DONE;
}

enum gsim_status gsim_db_add_comparison(struct gsim_db *db, const struct gsim_db_comparison *about,
                                        struct gsim_log *log) {
    char name[65];
    const char **configs = gsim_arena_array(db->arena, (size_t)about->n_runs, sizeof *configs);
    if (!configs)
        return gsim_no_memory(log, "writing a database");
    for (int64_t i = 0; i < about->n_runs; i++)
        configs[i] = about->run[i].config;
    gsim_config_combine(configs, about->n_runs, name);
    enum gsim_status status = gsim_db_begin(db, log);
    if (status != GSIM_OK)
        return status;
    if (add_all(db, about, name))
        return gsim_db_commit(db, log);
    status = gsim_db_fail(db, log);
    (void)sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
    return status;
}
