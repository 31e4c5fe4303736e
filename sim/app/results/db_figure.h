/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What figures and reports ask a database: SQL over the runs that were chosen. */
#ifndef GSIM_APP_DB_FIGURE_H
#define GSIM_APP_DB_FIGURE_H

#include <signal.h>

#include "sim/app/results/db.h"

struct gsim_db_value {
    const char *name; /* of the column */
    bool is_null, is_text;
    double number;
    const char *text; /* valid until the next row */
};

/* Called for each row; n columns. */
typedef void gsim_db_row(void *arg, const struct gsim_db_value *values, int n);

/* The user's words; any may be NULL. */
struct gsim_db_choice {
    const char *where; /* an SQL expression over the columns of `run` */
    const char *x, *y, *value; /* settings or columns of `run`, for the axes of a figure */
};

/* Makes `chosen`, `attribute` and `asked` (see plots/common.sql) on this connection. A wrong
 * expression or key is a usage error; so is a choice of no run. */
enum gsim_status gsim_db_choose(struct gsim_db *db, const struct gsim_db_choice *choice,
                                struct gsim_log *log);
/* Runs the first statement of *sql and moves *sql past it, and past what is blank behind it. */
enum gsim_status gsim_db_query(struct gsim_db *db, const char **sql, gsim_db_row *row, void *arg,
                               struct gsim_log *log);
/* Statements end as GSIM_INCOMPLETE when stop (may be NULL) becomes true. */
void gsim_db_heed(struct gsim_db *db, const volatile sig_atomic_t *stop);
/* The name of the first column that its first statement returns; empty when that returns none. */
void gsim_db_first_column(struct gsim_db *db, const char *sql, char *out, size_t size);

#endif
