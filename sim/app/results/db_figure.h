/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Queries of figures and reports: SQL over the runs that were chosen. */
#ifndef GSIM_APP_DB_FIGURE_H
#define GSIM_APP_DB_FIGURE_H

#include <signal.h>

#include "sim/app/results/db.h"

struct gsim_db_value {
    const char *name; /* name of the column */
    bool is_null, is_text;
    double number;
    const char *text; /* valid until the next row */
};

/* Called for each row, with its n columns. */
typedef void gsim_db_row(void *arg, const struct gsim_db_value *values, int n);

/* The user's options; any may be NULL. */
struct gsim_db_choice {
    const char *where; /* an SQL expression over the columns of `run` */
    const char *x, *y, *value; /* settings or columns of `run`, for the axes of a figure */
    double target; /* a value of `value` to be reached; NaN: none */
    double price; /* of a GPU for an hour; NaN: not given */
    bool is_list; /* value names several, separated by commas */
    /* The table `changed` has the runs of shaken or resampled traces of which the run of the trace
     * as it is was chosen as well. Their means tell of no log, and of no user, so they are not
     * among the chosen runs, unless the query itself tells the two apart. */
    bool keeps_changed;
    const char *configs; /* the only runs to choose: "'CONFIG','CONFIG'"; NULL: all */
    /* the policy to which others are compared; NULL: with takes_first that of the latest comparison
     * of which all runs are chosen, else that of the first run */
    const char *first;
    bool takes_first;
};

/* Makes the tables `chosen`, `attribute` and `asked` (see plots/common.sql) on this connection. A
 * wrong expression or key is a usage error; so is a choice of no run. */
enum gsim_status gsim_db_choose(struct gsim_db *db, const struct gsim_db_choice *choice,
                                struct gsim_log *log);
/* Runs the first statement of *sql, and moves *sql behind it and the blanks that follow. */
enum gsim_status gsim_db_query(struct gsim_db *db, const char **sql, gsim_db_row *row, void *arg,
                               struct gsim_log *log);
/* Makes statements end with GSIM_INCOMPLETE when *stop becomes true; stop may be NULL. */
void gsim_db_heed(struct gsim_db *db, const volatile sig_atomic_t *stop);
/* The name of the first column of the first statement; empty if that statement returns no
 * columns. */
enum gsim_status gsim_db_first_column(struct gsim_db *db, const char *sql, char *out, size_t size,
                                      struct gsim_log *log);

/* db_functions.c: adds to the connection what statements of figures call. */
bool gsim_db_add_functions(struct gsim_db *db);
/* The most that a mean of the field can be: 1 of shares and of Jain's index. Others have no such
 * end, nor have gpu_useful and gpu_work, which jobs beside each other bring above 1: HUGE_VAL. */
double gsim_db_most(const char *field);

#endif
