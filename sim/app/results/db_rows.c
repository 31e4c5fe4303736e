/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fills the tables with a row per job, request, sample and GPU by INSERT ... SELECT from virtual
 * tables over the result, from which SQLite reads each cell when it needs it. A row costs half of
 * what binding its cells to a statement costs (7 000 instructions instead of 15 000), and many
 * short runs wait for the thread that writes. */
#include <string.h>

#include "sim/app/results/db_schema.h"
#include "traces/cells.h"

/* A table of rows. Rows come in parts (the log of each open-loop job); most tables have one part.
 * Column 0 is the run_id, or the name of the trace, and equal in all rows. */
struct gsim_db_rows {
    const char *table, *columns; /* columns NULL: the columns of the schema */
    int64_t (*count)(const struct gsim_result *result, uint32_t part); /* < 0: no such part */
    void (*cell)(sqlite3_context *out, const struct gsim_result *result, uint32_t part, int64_t row,
                 int column);
};

/* --- the tables ------------------------------------------------------------------------------- */

/* The numbers of columns for SQLite, as in_TABLE_NAME. */
#define COLUMN_NUMBER(table, name) in_##table##_##name,
enum { in_job_run_id = 0, GSIM_DB_JOB_COLUMNS(COLUMN_NUMBER) };
enum { in_request_run_id = 0, GSIM_DB_REQUEST_COLUMNS(COLUMN_NUMBER) };
enum { in_sample_run_id = 0, GSIM_DB_SAMPLE_COLUMNS(COLUMN_NUMBER) };
enum { in_gpu_run_id = 0, GSIM_DB_GPU_COLUMNS(COLUMN_NUMBER) };

static void put_text(sqlite3_context *out, const char *text) {
    sqlite3_result_text(out, text ? text : "", -1, SQLITE_STATIC);
}

static void put_time(sqlite3_context *out, int64_t time_ns) {
    if (time_ns >= 0) /* a negative time is NULL */
        sqlite3_result_int64(out, time_ns);
}

static void put_i64(sqlite3_context *out, const int64_t *cells, int64_t row) {
    sqlite3_result_int64(out, cells ? cells[row] : 0);
}

static void put_u32(sqlite3_context *out, const uint32_t *cells, int64_t row) {
    sqlite3_result_int64(out, cells ? cells[row] : 0);
}

static int64_t count_jobs(const struct gsim_result *result, uint32_t part) {
    return part == 0 ? (int64_t)result->jobs.n : -1;
}

/* Writes a cell of `job` that comes from the trace. */
static void put_row_of_trace(sqlite3_context *out, const struct gsim_trace *trace, uint32_t job,
                             int column) {
    switch (column) {
    case in_job_job:
        sqlite3_result_int64(out, job);
        break;
    case in_job_job_id:
        put_text(out, gsim_trace_id(trace, job));
        break;
    case in_job_submit_ns:
        put_time(out, trace->submit_ns[job]);
        break;
    case in_job_service_ns:
        sqlite3_result_int64(out, trace->service_ns[job]);
        break;
    case in_job_gpus_ppm:
        sqlite3_result_int64(out,
                             (int64_t)gsim_trace_gpus(trace, job) * gsim_trace_share(trace, job));
        break;
    default:
        break;
    }
}

static void put_job(sqlite3_context *out, const struct gsim_result *result, uint32_t part,
                    int64_t row, int column) {
    const struct gsim_job_results *r = &result->jobs;
    (void)part;
    switch (column) {
    case in_job_start_ns:
        put_time(out, r->start_ns[row]);
        break;
    case in_job_end_ns:
        put_time(out, r->end_ns[row]);
        break;
    case in_job_wait_ns:
        sqlite3_result_int64(out, r->wait_ns[row]);
        break;
    case in_job_preemptions:
        put_u32(out, r->preemptions, row);
        break;
    case in_job_migrations:
        put_u32(out, r->migrations, row);
        break;
    case in_job_faults:
        put_i64(out, r->faults, row);
        break;
    case in_job_bytes_in:
        put_i64(out, r->bytes_in, row);
        break;
    case in_job_bytes_out:
        put_i64(out, r->bytes_out, row);
        break;
    case in_job_stall_ns:
        put_i64(out, r->stall_ns, row);
        break;
    case in_job_held_ns:
        put_i64(out, r->held_ns, row);
        break;
    case in_job_declined:
        sqlite3_result_int(out, r->declined ? r->declined[row] : 0);
        break;
    default:
        put_row_of_trace(out, result->trace, (uint32_t)row, column);
        break;
    }
}

/* Counts the requests that were served. */
static int64_t count_requests(const struct gsim_result *result, uint32_t part) {
    return part < result->n_request_logs ? result->requests[part].n_served : -1;
}

static void put_request(sqlite3_context *out, const struct gsim_result *result, uint32_t part,
                        int64_t row, int column) {
    const struct gsim_request_log *log = &result->requests[part];
    const int64_t cells[] = {log->job, row, log->arrival_ns[row], log->latency_ns[row]};
    sqlite3_result_int64(out, cells[column - in_request_job]);
}

static int64_t count_samples(const struct gsim_result *result, uint32_t part) {
    return part == 0 ? (int64_t)result->n_samples : -1;
}

static void put_sample(sqlite3_context *out, const struct gsim_result *result, uint32_t part,
                       int64_t row, int column) {
    const struct gsim_sample *sample = &result->samples[row];
    (void)part;
    switch (column) {
    case in_sample_time_ns:
        sqlite3_result_int64(out, sample->time_ns);
        break;
    case in_sample_name:
        put_text(out, sample->name);
        break;
    default:
        sqlite3_result_double(out, sample->value);
        break;
    }
}

static int64_t count_gpus(const struct gsim_result *result, uint32_t part) {
    return part == 0 && result->gpus ? result->summary.gpus : -1;
}

static void put_gpu(sqlite3_context *out, const struct gsim_result *result, uint32_t part,
                    int64_t row, int column) {
    const struct gsim_gpu_result *gpu = &result->gpus[row];
    (void)part;
    switch (column) {
    case in_gpu_gpu:
        sqlite3_result_int64(out, row);
        break;
    case in_gpu_node:
        sqlite3_result_int64(out, gpu->node);
        break;
    case in_gpu_device:
        put_text(out, gpu->device);
        break;
    case in_gpu_computing_ns:
        sqlite3_result_int64(out, gpu->computing_ns);
        break;
    case in_gpu_down_ns:
        sqlite3_result_int64(out, gpu->down_ns);
        break;
    default:
        sqlite3_result_int64(out, gpu->busy_ns);
        break;
    }
}

/* Columns of trace_job before the trace's own: its name, the job, the job's GPUs and arrival. */
enum { BEFORE_CELLS = 4 };

static void put_cell(sqlite3_context *out, const struct gsim_trace *trace, enum gsim_column column,
                     uint32_t job) {
    char text[GSIM_MAX_FIELD_BYTES + 1];
    int64_t cell = gsim_trace_get(trace, column, job);
    if (cell < 0 && gsim_columns[column].kind != GSIM_CELL_SIGNED)
        return; /* the cell is NULL */
    if (!trace->column[column])
        return;
    if (gsim_columns[column].kind == GSIM_CELL_NAME) {
        put_text(out, trace->names[column].name[cell]);
    } else if (gsim_cell_is_text(column)) {
        gsim_cell_format(trace, column, cell, text, sizeof text);
        sqlite3_result_text(out, text, -1, SQLITE_TRANSIENT);
    } else {
        sqlite3_result_int64(out, cell);
    }
}

static void put_trace_job(sqlite3_context *out, const struct gsim_trace *trace, int64_t row,
                          int column) {
    if (column == 1)
        sqlite3_result_int64(out, row);
    else if (column == 2)
        sqlite3_result_int64(out, gsim_trace_gpus(trace, (uint32_t)row));
    else if (column == 3)
        sqlite3_result_int64(out, trace->submit_ns[row]);
    else
        put_cell(out, trace, (enum gsim_column)(column - BEFORE_CELLS), (uint32_t)row);
}

static const struct gsim_db_rows filled[] = {
    {"job", GSIM_DB_NAMES(JOB), count_jobs, put_job},
    {"request", GSIM_DB_NAMES(REQUEST), count_requests, put_request},
    {"sample", GSIM_DB_NAMES(SAMPLE), count_samples, put_sample},
    {"gpu", GSIM_DB_NAMES(GPU), count_gpus, put_gpu},
    {"trace_job", NULL, NULL, NULL}, /* rows of db->adding_trace */
};

static int64_t count_page(const struct gsim_db *db, const struct gsim_db_rows *rows,
                          uint32_t part) {
    if (rows->count)
        return rows->count(db->adding, part);
    return part == 0 ? (int64_t)db->adding_trace->n_jobs : -1;
}

/* --- virtual tables --------------------------------------------------------------------------- */

struct rows_table {
    sqlite3_vtab base; /* has to be first: SQLite knows only this member */
    const struct gsim_db *db;
    const struct gsim_db_rows *rows;
};

struct rows_cursor {
    sqlite3_vtab_cursor base;
    int64_t row, n; /* row and number of rows of the part; n < 0: behind the last part */
    uint32_t part;
};

static const struct rows_table *table_of(const struct rows_cursor *cursor) {
    return (const struct rows_table *)cursor->base.pVtab;
}

/* Allocates from SQLite, not from an arena, since SQLite frees tables itself on some errors. */
static void *allocate(size_t size) {
    void *memory = sqlite3_malloc64(size);
    return memory ? memset(memory, 0, size) : NULL;
}

static int rows_connect(sqlite3 *handle, void *arg, int argc, const char *const *argv,
                        sqlite3_vtab **out, char **error) {
    struct gsim_db *db = arg;
    struct rows_table *table = allocate(sizeof *table);
    (void)argc, (void)error;
    if (!table)
        return SQLITE_NOMEM;
    *out = &table->base;
    table->db = db;
    table->rows = filled; /* the module is called new_TABLE */
    while (strcmp(argv[0] + strlen("new_"), table->rows->table) != 0)
        table->rows++;
    const char *columns = table->rows->columns ? table->rows->columns
                                               : gsim_db_columns(db->arena, table->rows->table, "");
    const char *sql =
        columns ? gsim_arena_printf(db->arena, "CREATE TABLE rows (%s)", columns) : NULL;
    return sql ? sqlite3_declare_vtab(handle, sql) : SQLITE_NOMEM;
}

static int rows_disconnect(sqlite3_vtab *table) {
    sqlite3_free(table);
    return SQLITE_OK;
}

static int rows_plan(sqlite3_vtab *table, sqlite3_index_info *info) {
    (void)table, (void)info; /* a query always reads all rows, in order */
    return SQLITE_OK;
}

static int rows_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out) {
    struct rows_cursor *cursor = allocate(sizeof *cursor);
    (void)table;
    *out = cursor ? &cursor->base : NULL;
    return cursor ? SQLITE_OK : SQLITE_NOMEM;
}

static int rows_close(sqlite3_vtab_cursor *cursor) {
    sqlite3_free(cursor);
    return SQLITE_OK;
}

/* Moves to the first row of the first part with rows, from this part on. */
static void enter_part(struct rows_cursor *cursor, uint32_t part) {
    const struct rows_table *table = table_of(cursor);
    cursor->row = 0;
    while ((cursor->n = count_page(table->db, table->rows, part)) == 0)
        part++;
    cursor->part = part;
}

static int rows_first(sqlite3_vtab_cursor *base, int plan, const char *name, int argc,
                      sqlite3_value **argv) {
    (void)plan, (void)name, (void)argc, (void)argv;
    enter_part((struct rows_cursor *)base, 0);
    return SQLITE_OK;
}

static int rows_next(sqlite3_vtab_cursor *base) {
    struct rows_cursor *cursor = (struct rows_cursor *)base;
    if (++cursor->row == cursor->n)
        enter_part(cursor, cursor->part + 1);
    return SQLITE_OK;
}

static int rows_is_over(sqlite3_vtab_cursor *base) {
    return ((const struct rows_cursor *)base)->n < 0;
}

static int rows_cell(sqlite3_vtab_cursor *base, sqlite3_context *out, int column) {
    const struct rows_cursor *cursor = (const struct rows_cursor *)base;
    const struct rows_table *table = table_of(cursor);
    if (!table->rows->cell) {
        if (column == 0)
            put_text(out, table->db->adding_name);
        else
            put_trace_job(out, table->db->adding_trace, cursor->row, column);
    } else if (column == 0) {
        sqlite3_result_int64(out, table->db->adding_id);
    } else {
        table->rows->cell(out, table->db->adding, cursor->part, cursor->row, column);
    }
    return SQLITE_OK;
}

static int rows_id(sqlite3_vtab_cursor *base, sqlite3_int64 *out) {
    *out = ((const struct rows_cursor *)base)->row; /* no query asks for row ids */
    return SQLITE_OK;
}

static const sqlite3_module module = {.xConnect = rows_connect,
                                      .xBestIndex = rows_plan,
                                      .xDisconnect = rows_disconnect,
                                      .xOpen = rows_open,
                                      .xClose = rows_close,
                                      .xFilter = rows_first,
                                      .xNext = rows_next,
                                      .xEof = rows_is_over,
                                      .xColumn = rows_cell,
                                      .xRowid = rows_id};

bool gsim_db_show_rows(struct gsim_db *db) {
    for (size_t at = 0; at < sizeof filled / sizeof *filled; at++) {
        const char *name = gsim_arena_printf(db->arena, "new_%s", filled[at].table);
        if (!name || sqlite3_create_module_v2(db->handle, name, &module, db, NULL) != SQLITE_OK)
            return false;
    }
    return true;
}
