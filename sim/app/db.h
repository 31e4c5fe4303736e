/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The SQLite sink: a run is written in one transaction, so that an interrupted one leaves no
 * row. */
#ifndef GSIM_APP_DB_H
#define GSIM_APP_DB_H

#include "sim/api/sink.h"

struct gsim_db;

/* An option of a run, as a grid would name it: "nodes" = "8", "set.las.quantum" = "3s". */
struct gsim_setting {
    const char *key, *value;
};

/* What is written about a run besides its result. */
struct gsim_db_run {
    const char *config; /* 64 hexadecimal digits: its identity */
    const char *argv; /* the command line that repeats it */
    uint64_t replication;
    const struct gsim_setting *settings; /* ends with a NULL key; NULL: none */
    const char *sweep; /* of which it is part; NULL: of none */
    int64_t position; /* in the sweep, from 1; also its run_id where that is free */
};

/* Opens or creates; a file that is something else is refused. */
enum gsim_status gsim_db_open(const char *path, struct gsim_arena *arena, struct gsim_db **out,
                              struct gsim_log *log);
/* The same, but a file that is not there is an error (GSIM_BAD_INPUT). */
enum gsim_status gsim_db_open_existing(const char *path, struct gsim_arena *arena,
                                       struct gsim_db **out, struct gsim_log *log);
void gsim_db_close(struct gsim_db *db);
/* Whether the run of this configuration is there. */
enum gsim_status gsim_db_has(struct gsim_db *db, const char *config, bool *has,
                             struct gsim_log *log);
/* What is added until gsim_db_commit is one transaction: the disk is waited for once. An error in
 * between takes back all of it. */
enum gsim_status gsim_db_begin(struct gsim_db *db, struct gsim_log *log);
enum gsim_status gsim_db_commit(struct gsim_db *db, struct gsim_log *log);
/* Adds a run, in place of one of the same configuration. */
enum gsim_status gsim_db_add(struct gsim_db *db, const struct gsim_db_run *run,
                             const struct gsim_result *result, struct gsim_log *log);

/* --- sweeps ----------------------------------------------------------------------------------- */

struct gsim_db_sweep {
    const char *id; /* 64 hexadecimal digits over the configurations of all its runs, in order */
    const char *grid; /* the file, for people */
    int64_t n_runs; /* different ones */
    const char *const *configs; /* by position - 1 */
};

/* Notes the sweep, and which of its runs are there already: is_there[position - 1]. */
enum gsim_status gsim_db_begin_sweep(struct gsim_db *db, const struct gsim_db_sweep *sweep,
                                     bool *is_there, struct gsim_log *log);
/* Takes over every run of the database at path that db does not have (db_merge.c). A run that both
 * have with different results is an error, and nothing of that database is taken over. */
enum gsim_status gsim_db_merge(struct gsim_db *db, const char *path, int64_t *n_new,
                               struct gsim_log *log);
/* An error for each sweep of which runs are missing. */
enum gsim_status gsim_db_check_sweeps(struct gsim_db *db, struct gsim_log *log);

#endif
