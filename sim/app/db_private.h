/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the SQLite sink share. Nobody else includes it, or sqlite3.h. */
#ifndef GSIM_APP_DB_PRIVATE_H
#define GSIM_APP_DB_PRIVATE_H

#include <sqlite3.h>
#include <stdio.h>

#include "sim/app/db.h"

struct gsim_db {
    sqlite3 *handle;
    const char *path;
    struct gsim_arena *arena;
};

/* Records SQLite's last error. */
enum gsim_status gsim_db_fail(const struct gsim_db *db, struct gsim_log *log);
enum gsim_status gsim_db_execute(struct gsim_db *db, const char *sql, struct gsim_log *log);
/* The first column of the first row, which must be there. */
enum gsim_status gsim_db_number(struct gsim_db *db, const char *sql, int64_t *out,
                                struct gsim_log *log);

#endif
