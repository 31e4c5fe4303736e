/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The SQLite sink: a run is written in one transaction, so that an interrupted one leaves no
 * row. */
#ifndef GSIM_APP_DB_H
#define GSIM_APP_DB_H

#include "gsim/result.h"
#include "sim/app/identity/config.h"

struct gsim_db;

/* An option of a run, as a grid would name it: "nodes" = "8", "set.las.quantum" = "3s". */
struct gsim_setting {
    const char *key, *value;
};

/* What is written about a run besides its result. */
struct gsim_db_run {
    const struct gsim_identity *identity;
    const char *argv; /* the command line that repeats it */
    uint64_t replication;
    const struct gsim_trace *trace; /* as it was read or drawn */
    bool is_summary; /* without its jobs, requests and samples */
    const struct gsim_setting *settings; /* ends with a NULL key; NULL: none */
    const char *sweep; /* of which it is part; NULL: of none */
    int64_t position; /* in the sweep, from 1; also its run_id where that is free */
    int64_t asked; /* its place in what was last looked up, from 1: what stands in its way there is
                      replaced; 0: nothing is */
};

/* Opens or creates; a file that is something else is refused. */
enum gsim_status gsim_db_open(const char *path, struct gsim_arena *arena, struct gsim_db **out,
                              struct gsim_log *log);
/* The same, but a file that is not there is an error (GSIM_BAD_INPUT). */
enum gsim_status gsim_db_open_existing(const char *path, struct gsim_arena *arena,
                                       struct gsim_db **out, struct gsim_log *log);
void gsim_db_close(struct gsim_db *db);

/* --- what is there ---------------------------------------------------------------------------- */

enum gsim_db_state {
    GSIM_DB_MISSING = 0,
    GSIM_DB_THERE,
    GSIM_DB_OLD, /* another build made it */
    GSIM_DB_CHANGED, /* missing, but its command line was run with other contents of its files */
};

/* A run that is looked for. */
struct gsim_db_asked {
    const char *config, *build, *inputs, *argv;
    bool is_passed_over; /* another shard's: only noted */
    enum gsim_db_state state; /* filled in, and what follows */
    bool is_summary; /* what is there has no jobs */
    int64_t run_id; /* of what is there; the latest */
};
enum gsim_status gsim_db_look_up(struct gsim_db *db, struct gsim_db_asked *asked, int64_t n,
                                 struct gsim_log *log);
/* "policies/las.c and sim/core": in what the build of a run that is there differs from this program. */
const char *gsim_db_build_differs(struct gsim_db *db, int64_t run_id);
/* "d.txt": the files of a run that is there which have other contents now. */
const char *gsim_db_inputs_differ(struct gsim_db *db, int64_t run_id);

/* --- adding ----------------------------------------------------------------------------------- */

/* What is added until gsim_db_commit is one transaction: the disk is waited for once. An error in
 * between takes back all of it. */
enum gsim_status gsim_db_begin(struct gsim_db *db, struct gsim_log *log);
enum gsim_status gsim_db_commit(struct gsim_db *db, struct gsim_log *log);
/* Adds a run, in place of one of the same configuration (see also gsim_db_run.asked). */
enum gsim_status gsim_db_add(struct gsim_db *db, const struct gsim_db_run *run,
                             const struct gsim_result *result, struct gsim_log *log);
/* After runs were replaced: what no run refers to any more goes. */
enum gsim_status gsim_db_tidy(struct gsim_db *db, struct gsim_log *log);

/* --- sweeps ----------------------------------------------------------------------------------- */

struct gsim_db_sweep {
    const char *id; /* 64 hexadecimal digits over the configurations of all its runs, in order */
    const char *grid; /* the file, for people */
    const struct gsim_content *content; /* of the grid */
    int64_t n_runs; /* different ones */
    const struct gsim_db_asked *asked; /* by position - 1, as looked up */
};

/* Notes the sweep, and which of its runs are there already. */
enum gsim_status gsim_db_begin_sweep(struct gsim_db *db, const struct gsim_db_sweep *sweep,
                                     struct gsim_log *log);
/* Takes over every run of the database at path that db does not have (db_merge.c). A run that both
 * have with different results is an error, as are, unless keeps_old, runs that another build made,
 * or from other contents of the files of a sweep or a command line: nothing of that database is
 * then taken over. */
enum gsim_status gsim_db_merge(struct gsim_db *db, const char *path, bool keeps_old, int64_t *n_new,
                               struct gsim_log *log);
/* A warning for each policy whose runs several builds made. */
enum gsim_status gsim_db_warn_of_builds(struct gsim_db *db, const char *runs, struct gsim_log *log);
/* An error for each sweep of which runs are missing. */
enum gsim_status gsim_db_check_sweeps(struct gsim_db *db, struct gsim_log *log);

#endif
