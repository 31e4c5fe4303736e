/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs on real GPUs in a database: the run when it begins, and each of its jobs as soon as it has
 * ended, those that end together in one transaction. */
#ifndef GSIM_APP_DB_REAL_H
#define GSIM_APP_DB_REAL_H

#include "sim/app/drive/driven.h"
#include "sim/app/results/db.h"

#define GSIM_DRY_DEVICE "dry run"

struct gsim_db_real {
    const char *policy, *argv, *trace; /* texts; the trace's path */
    const char *settings; /* its --set, one a line */
    const char *gpus; /* their numbers on the machine: "0,1" */
    const char *device; /* their product, or GSIM_DRY_DEVICE */
    int64_t speed_up;
    bool is_dry;
};

/* From now on rows are appended to a log beside the database: they outlive a crash of this process
 * as soon as they are added, and one of the machine from the next sync on. */
void gsim_db_real_append(struct gsim_db *db);
/* Brings rows to the disk, which takes some ms. */
void gsim_db_real_sync(struct gsim_db *db);
/* No more rows come: the database is one file again. */
void gsim_db_real_settle(struct gsim_db *db);
/* Adds the run; *id is its number, and its status is 'running'. */
enum gsim_status gsim_db_real_begin(struct gsim_db *db, const struct gsim_db_real *run, int64_t *id,
                                    struct gsim_log *log);
/* Adds jobs that have ended, all or none. */
enum gsim_status gsim_db_real_add(struct gsim_db *db, int64_t id, const struct gsim_trace *trace,
                                  const struct gsim_driven *ended, uint32_t n,
                                  struct gsim_log *log);
/* Adds notes to the run's record, all or none. */
enum gsim_status gsim_db_real_note(struct gsim_db *db, int64_t id, const struct gsim_note *notes,
                                   uint32_t n, struct gsim_log *log);
/* The run is the one of that config in `run`. */
enum gsim_status gsim_db_real_link(struct gsim_db *db, int64_t id, const char *config,
                                   struct gsim_log *log);
/* Whether that run of `run` was driven. */
enum gsim_status gsim_db_real_is_of(struct gsim_db *db, int64_t run_id, bool *is_driven,
                                    struct gsim_log *log);
/* how: 'done', 'interrupted' or 'failed'. */
enum gsim_status gsim_db_real_end(struct gsim_db *db, int64_t id, const char *how,
                                  struct gsim_log *log);

/* --- reading ---------------------------------------------------------------------------------- */

struct gsim_db_real_found {
    int64_t id;
    const char *policy, *argv, *gpus, *device, *started_at;
    char *settings; /* its --set, one a line */
};

/* The latest run that came to its end, of this policy or of any (NULL). */
enum gsim_status gsim_db_real_find(struct gsim_db *db, const char *policy,
                                   struct gsim_db_real_found *out, struct gsim_log *log);

/* The product of its GPUs; NULL: it was dry. */
const char *gsim_db_real_product(const struct gsim_db_real_found *run);

struct gsim_db_real_job {
    const char *id; /* NULL: the run has no such job */
    int64_t submit_ns, begin_ns, end_ns, ran_ns, stall_ns, stops, exit_code, starts;
};

/* The notes of its record, in order. */
enum gsim_status gsim_db_real_notes(struct gsim_db *db, int64_t id, struct gsim_note **out,
                                    uint32_t *n, struct gsim_log *log);

/* Its jobs, by their places in a trace of n jobs. */
enum gsim_status gsim_db_real_jobs(struct gsim_db *db, int64_t id, struct gsim_db_real_job *jobs,
                                   uint32_t n, struct gsim_log *log);

#endif
