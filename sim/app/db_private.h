/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the SQLite sink share. Nobody else includes it, or sqlite3.h. */
#ifndef GSIM_APP_DB_PRIVATE_H
#define GSIM_APP_DB_PRIVATE_H

#include <sqlite3.h>
#include <stdio.h>

#include "sim/app/db.h"

enum { GSIM_DB_FILLED = 4 /* job, request, sample, gpu */ };

/* One thread at a time. */
struct gsim_db {
    sqlite3 *handle;
    const char *path;
    struct gsim_arena *arena;
    sqlite3_stmt *fill[GSIM_DB_FILLED]; /* prepared when first needed */
    const struct gsim_result *adding; /* whose rows are being written, and its run_id */
    int64_t adding_id;
};

/* Records SQLite's last error. */
enum gsim_status gsim_db_fail(const struct gsim_db *db, struct gsim_log *log);
enum gsim_status gsim_db_execute(struct gsim_db *db, const char *sql, struct gsim_log *log);
/* The first column of the first row, which must be there. */
enum gsim_status gsim_db_number(struct gsim_db *db, const char *sql, int64_t *out,
                                struct gsim_log *log);
/* Writes the rows of a run's jobs, requests, samples and GPUs (db_rows.c). */
bool gsim_db_fill(struct gsim_db *db, int64_t run_id, const struct gsim_result *result);
void gsim_db_forget_fill(struct gsim_db *db);

#endif
