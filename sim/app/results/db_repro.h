/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run as a database holds it: the data to run it again, and its result. */
#ifndef GSIM_APP_DB_REPRO_H
#define GSIM_APP_DB_REPRO_H

#include <stdio.h>

#include "sim/app/results/db.h"

/* A file that the run read. */
struct gsim_db_file {
    const char *kind, *path, *sha256;
    const void *bytes; /* NULL: the database has only the file's hash */
    int64_t size;
};

struct gsim_db_stored {
    int64_t run_id;
    const char *config, *build, *argv, *version;
    bool is_summary;
    const struct gsim_setting *settings; /* ends with a NULL key */
    struct gsim_db_file *file;
    int n_files;
};

/* Finds a run by its run_id, or by the beginning of its config, of six digits at least. */
enum gsim_status gsim_db_find_run(struct gsim_db *db, const char *name, struct gsim_db_stored *out,
                                  struct gsim_log *log);
/* Prints each resolved value that differs today. */
void gsim_db_put_resolved(struct gsim_db *db, int64_t run_id, const struct gsim_identity *now,
                          FILE *out);
/* The differences between a stored run and a result, without wall time: the number of fields, and
 * of rows. */
struct gsim_db_differences {
    int64_t fields, jobs, requests, gpus;
};
enum gsim_status gsim_db_compare(struct gsim_db *db, const struct gsim_db_stored *stored,
                                 const struct gsim_result *result, FILE *out,
                                 struct gsim_db_differences *differences, struct gsim_log *log);

#endif
