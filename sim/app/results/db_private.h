/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Declarations that the files of the SQLite output share. No other file includes this header. */
#ifndef GSIM_APP_DB_PRIVATE_H
#define GSIM_APP_DB_PRIVATE_H

#include <sqlite3.h>
#include <stdio.h>

#include "sim/app/results/db.h"

/* The statements that add a run, prepared once for a connection. */
enum gsim_db_statement {
    GSIM_DB_FIND_RUN,
    GSIM_DB_FIND_ID,
    GSIM_DB_ADD_RUN,
    GSIM_DB_ADD_JOBS,
    GSIM_DB_ADD_REQUESTS,
    GSIM_DB_ADD_SAMPLES,
    GSIM_DB_ADD_GPUS,
    GSIM_DB_ADD_TRACE_JOBS,
    GSIM_DB_ADD_PERF,
    GSIM_DB_ADD_SETTING,
    GSIM_DB_ADD_MEMBER,
    GSIM_DB_INDEX_JOBS,
    GSIM_DB_FIND_BUILD,
    GSIM_DB_ADD_PART,
    GSIM_DB_FIND_INPUTS,
    GSIM_DB_ADD_INPUT,
    GSIM_DB_FIND_TEXT,
    GSIM_DB_ADD_TEXT,
    GSIM_DB_FIND_PARAMETERS,
    GSIM_DB_ADD_PARAMETER,
    GSIM_DB_FIND_TRACE_JOBS,
    GSIM_DB_ADD_COMPARISON,
    GSIM_DB_ADD_COMPARED,
    GSIM_DB_FIND_REPLACED,
    GSIM_DB_STATEMENTS
};

/* An open database, for one thread at a time. */
struct gsim_db {
    sqlite3 *handle;
    const char *path;
    struct gsim_arena *arena;
    bool is_written; /* opened for writing */
    bool is_driven; /* a run of gsim drive writes its jobs as they end */
    sqlite3_stmt *prepared[GSIM_DB_STATEMENTS]; /* NULL: not prepared yet */
    /* the result that the tables of db_rows.c show, and its run_id */
    const struct gsim_result *adding;
    int64_t adding_id;
    const struct gsim_trace *adding_trace; /* the trace that new_trace_job shows, and its name */
    const char *adding_name;
    struct gsim_identity last; /* lists of the run that was added before, which the database has */
    bool has_replaced; /* runs were replaced: rows that only those runs referred to may be left */
};

/* Records SQLite's last error. */
enum gsim_status gsim_db_fail(const struct gsim_db *db, struct gsim_log *log);
enum gsim_status gsim_db_execute(struct gsim_db *db, const char *sql, struct gsim_log *log);
/* Reads the first column of the first row, which must exist. */
enum gsim_status gsim_db_number(struct gsim_db *db, const char *sql, int64_t *out,
                                struct gsim_log *log);
/* The prepared statement; NULL if it cannot be prepared. SQLite keeps the error, and accepts NULL
 * in its bind and step calls. */
sqlite3_stmt *gsim_db_prepared(struct gsim_db *db, enum gsim_db_statement at);
/* Steps and resets a statement. Returns SQLITE_DONE, SQLITE_ROW, or the error. */
int gsim_db_finish(sqlite3_stmt *statement);
/* Makes new_job, new_request, new_sample, new_gpu and new_trace_job: the rows of db->adding and
 * db->adding_trace (db_rows.c). */
bool gsim_db_show_rows(struct gsim_db *db);
/* Adds the aggregates that group rows themselves (db_groups.c). */
bool gsim_db_add_groups(struct gsim_db *db);
/* Adds the lists that the run refers to, unless the database has them (db_lists.c). */
bool gsim_db_add_lists(struct gsim_db *db, const struct gsim_db_run *run);
bool gsim_db_add_text(struct gsim_db *db, const struct gsim_file_content *content);

/* Columns behind the run_id, in order: COLUMN(table, name). Statements that fill a table name these
 * columns, so that their order in the schema does not matter. */
/* clang-format off */
#define GSIM_DB_JOB_COLUMNS(COLUMN) \
    COLUMN(job, job) COLUMN(job, job_id) COLUMN(job, submit_ns) COLUMN(job, start_ns) \
    COLUMN(job, end_ns) COLUMN(job, wait_ns) COLUMN(job, service_ns) COLUMN(job, gpus_ppm) \
    COLUMN(job, preemptions) COLUMN(job, migrations) COLUMN(job, faults) COLUMN(job, bytes_in) \
    COLUMN(job, bytes_out) COLUMN(job, stall_ns) COLUMN(job, held_ns) \
    COLUMN(job, declined)
#define GSIM_DB_REQUEST_COLUMNS(COLUMN) \
    COLUMN(request, job) COLUMN(request, request) COLUMN(request, arrive_ns) \
    COLUMN(request, latency_ns)
#define GSIM_DB_SAMPLE_COLUMNS(COLUMN) \
    COLUMN(sample, time_ns) COLUMN(sample, name) COLUMN(sample, value)
#define GSIM_DB_GPU_COLUMNS(COLUMN) \
    COLUMN(gpu, gpu) COLUMN(gpu, node) COLUMN(gpu, device) COLUMN(gpu, busy_ns) \
    COLUMN(gpu, computing_ns) COLUMN(gpu, down_ns)
/* clang-format on */
#define GSIM_DB_NAME(table, name) ", " #name
#define GSIM_DB_NAMES(TABLE) "run_id" GSIM_DB_##TABLE##_COLUMNS(GSIM_DB_NAME)

#endif
