/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The SQLite output: a run is written in one transaction, so that an interrupted write leaves no
 * row. */
#ifndef GSIM_APP_DB_H
#define GSIM_APP_DB_H

#include "gsim/result.h"
#include "sim/app/identity/config.h"

struct gsim_db;

/* An option of a run, as a grid would write it: "nodes" = "8", "set.las.quantum" = "3s". */
struct gsim_setting {
    const char *key, *value;
};

/* The description of a run that is written beside its result. */
struct gsim_db_run {
    const struct gsim_identity *identity;
    const char *argv; /* the command line that repeats the run */
    uint64_t replication;
    const struct gsim_trace *trace; /* the trace as it was read or drawn */
    bool is_summary; /* jobs, requests and samples are not kept */
    const struct gsim_setting *settings; /* ends with a NULL key; NULL: no settings */
    const char *sweep; /* id of the run's sweep; NULL: no sweep */
    int64_t position; /* position in the sweep, from 1; becomes the run_id if that is free */
    /* the run's place in the last gsim_db_look_up, from 1: the run replaces the older runs found
     * there; 0: it replaces none */
    int64_t asked;
};

/* Opens or creates a database; a file of another kind is refused. */
enum gsim_status gsim_db_open(const char *path, struct gsim_arena *arena, struct gsim_db **out,
                              struct gsim_log *log);
/* As gsim_db_open, but a missing or an empty file is an error (GSIM_BAD_INPUT). */
enum gsim_status gsim_db_open_existing(const char *path, struct gsim_arena *arena,
                                       struct gsim_db **out, struct gsim_log *log);
void gsim_db_close(struct gsim_db *db);

/* --- looking runs up -------------------------------------------------------------------------- */

enum gsim_db_state {
    GSIM_DB_MISSING = 0,
    GSIM_DB_THERE,
    GSIM_DB_OLD, /* another build made the run */
    GSIM_DB_CHANGED, /* missing, but its command line was run with other contents of its files */
};

/* A run to look up, and the answer. */
struct gsim_db_asked {
    const char *config, *build, *inputs, *argv;
    bool is_passed_over; /* a run of another shard, which is looked up only */
    enum gsim_db_state state; /* this field and those below are the answer */
    bool is_summary; /* the run found was kept without its jobs */
    int64_t run_id; /* the run found; the latest, if there are several */
};
enum gsim_status gsim_db_look_up(struct gsim_db *db, struct gsim_db_asked *asked, int64_t n,
                                 struct gsim_log *log);
/* The parts in which the build of a stored run differs from this program: "policies/las.c and
 * sim/core". */
const char *gsim_db_build_differs(struct gsim_db *db, int64_t run_id);
/* The files of a stored run that have other contents today: "d.txt". */
const char *gsim_db_inputs_differ(struct gsim_db *db, int64_t run_id);

/* --- adding ----------------------------------------------------------------------------------- */

/* Begins one transaction, up to gsim_db_commit, for which the disk is waited for once. An error in
 * between takes all of it back. */
enum gsim_status gsim_db_begin(struct gsim_db *db, struct gsim_log *log);
enum gsim_status gsim_db_commit(struct gsim_db *db, struct gsim_log *log);
/* Adds a run, in place of a run with an equal configuration (see also gsim_db_run.asked). */
enum gsim_status gsim_db_add(struct gsim_db *db, const struct gsim_db_run *run,
                             const struct gsim_result *result, struct gsim_log *log);
/* Deletes the rows to which no run refers any more. To be called after runs were replaced. */
enum gsim_status gsim_db_tidy(struct gsim_db *db, struct gsim_log *log);

/* --- sweeps ----------------------------------------------------------------------------------- */

struct gsim_db_sweep {
    /* 64 hexadecimal digits: the hash of the configurations of all its runs, in order */
    const char *id;
    const char *grid; /* the path of the grid, for users to read */
    const struct gsim_file_content *content; /* contents of the grid */
    int64_t n_runs; /* number of different runs */
    const struct gsim_db_asked *asked; /* by position - 1, as gsim_db_look_up left them */
};

/* Writes the sweep, and those of its runs that the database has already. */
enum gsim_status gsim_db_begin_sweep(struct gsim_db *db, const struct gsim_db_sweep *sweep,
                                     struct gsim_log *log);
/* Copies every run that the database at `path` has and `db` lacks (db_merge.c). A run that both
 * have with different results is an error. Unless keeps_old, so are runs that another build made,
 * and runs made from other contents of the files of a sweep or a command line. After an error no
 * run is copied. */
enum gsim_status gsim_db_merge(struct gsim_db *db, const char *path, bool keeps_old, int64_t *n_new,
                               struct gsim_log *log);
/* Warns of each policy with runs that several builds made. */
enum gsim_status gsim_db_warn_of_builds(struct gsim_db *db, const char *runs, struct gsim_log *log);
/* Reports an error for each sweep that lacks runs. */
enum gsim_status gsim_db_check_sweeps(struct gsim_db *db, struct gsim_log *log);

#endif
