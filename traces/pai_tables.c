/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job is submitted at its start_time in pai_job_table, and runs from the first start to the last
 * end of its tasks. Its gang is all GPUs of all instances: plan_gpu is the per cent of a GPU that
 * each instance asks for; 50 is half a GPU, 200 two whole GPUs, 150 two GPUs of 75 % each. Failed
 * jobs are kept: they held their GPUs. gpu_type is the type of the GPUs received, of a job with
 * several types that of its first task. plan_mem is host memory and not used. */
#include "traces/pai_tables.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/text.h"
#include "sim/base/units.h"
#include "traces/cells.h"
#include "traces/lines.h"
#include "traces/rows.h"

static const char task_columns[] =
    "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type";
static const char job_columns[] = "job_name,inst_id,user,status,start_time,end_time";
enum {
    TASK_JOB,
    TASK_NAME,
    TASK_INSTANCES,
    TASK_STATUS,
    TASK_START,
    TASK_END,
    TASK_CPU,
    TASK_MEM,
    TASK_GPU,
    TASK_TYPE,
    TASK_FIELDS
};
enum { JOB_NAME, JOB_ID, JOB_USER, JOB_STATUS, JOB_START, JOB_END, JOB_FIELDS };
enum { MAX_INSTANCES = 1000000 };

struct job {
    int64_t submit_ns, first_ns, last_ns; /* -1: not known */
    int64_t user, gpu_type; /* positions in the builder's names; -1: empty */
    int64_t gpus, part_ppm; /* parts of GPUs, and the size of a part */
    int64_t cpus_milli;
    uint32_t n_tasks, line;
    bool is_mixed, is_endless, has_types;
};

struct pai {
    struct gsim_builder *b;
    struct gsim_builder *names; /* only for its table of names: jobs, as USER */
    const char *path; /* of the table under way */
    const char *columns;
    struct job *job; /* by name; in the order of pai_job_table */
    uint32_t n_jobs, capacity;
    struct job next; /* the row under way */
    int64_t name, instances, gpu_ppm;
    const char *bad; /* the expected form of a bad cell */
    uint32_t bad_column;
    char bad_text[64];
    uint32_t n_orphans; /* tasks of jobs that pai_job_table lacks */
    enum gsim_status status;
};

/* --- cells ------------------------------------------------------------------------------------ */

static bool take_time(const char *text, size_t length, int64_t *out) {
    return length == 0 || (gsim_cell_seconds(text, length, out) == GSIM_PARSE_OK && *out >= 0 &&
                           *out <= GSIM_TIME_MAX / 2);
}

/* Parses per cent as parts per million; an empty cell asks for nothing. */
static bool take_percent(const char *text, size_t length, int64_t *ppm) {
    return length == 0 || (gsim_parse_decimal(text, length, GSIM_PPM / 100, ppm) == GSIM_PARSE_OK &&
                           *ppm >= 0 && *ppm <= (int64_t)GSIM_MAX_GANG * GSIM_PPM);
}

/* Parses "2.0": the table has decimals everywhere. */
static bool take_instances(const char *text, size_t length, int64_t *out) {
    int64_t milli = 1000;
    bool is_ok = length == 0 || gsim_parse_decimal(text, length, 1000, &milli) == GSIM_PARSE_OK;
    *out = milli / 1000;
    return is_ok && milli % 1000 == 0 && *out >= 0 && *out <= MAX_INSTANCES;
}

static bool take_name(struct pai *p, struct gsim_builder *names, enum gsim_column column,
                      const char *text, size_t length, int64_t *out) {
    *out = gsim_build_intern(names, column, text, length);
    if (*out < 0)
        p->status = gsim_no_memory(p->b->log, "reading a trace");
    return *out >= 0;
}

/* NULL, or the expected form of the cell. */
static const char *take_task(struct pai *p, uint32_t column, const char *text, size_t length) {
    struct job *next = &p->next;
    switch (column) {
    case TASK_JOB:
        return length > 0 && take_name(p, p->names, GSIM_COL_USER, text, length, &p->name)
                   ? NULL
                   : "a name";
    case TASK_INSTANCES:
        return take_instances(text, length, &p->instances) ? NULL : "a number of instances";
    case TASK_STATUS:
        next->is_endless = gsim_text_choice(text, "Running|Waiting") >= 0;
        return NULL;
    case TASK_START:
        return take_time(text, length, &next->first_ns) ? NULL : "a time in seconds";
    case TASK_END:
        return take_time(text, length, &next->last_ns) ? NULL : "a time in seconds";
    case TASK_CPU:
        return take_percent(text, length, &next->cpus_milli) ? NULL : "a per cent of CPUs";
    case TASK_GPU:
        return take_percent(text, length, &p->gpu_ppm) ? NULL : "a per cent of GPUs";
    case TASK_TYPE:
        return length == 0 || take_name(p, p->b, GSIM_COL_GPU_TYPE, text, length, &next->gpu_type)
                   ? NULL
                   : "a name";
    default:
        return NULL;
    }
}

static const char *take_job(struct pai *p, uint32_t column, const char *text, size_t length) {
    switch (column) {
    case JOB_NAME:
        return length > 0 && take_name(p, p->names, GSIM_COL_USER, text, length, &p->name)
                   ? NULL
                   : "a name";
    case JOB_USER:
        return length == 0 || take_name(p, p->b, GSIM_COL_USER, text, length, &p->next.user)
                   ? NULL
                   : "a name";
    case JOB_START:
        return take_time(text, length, &p->next.submit_ns) ? NULL : "a time in seconds";
    default:
        return NULL;
    }
}

static void on_field(void *arg, uint32_t column, const char *text, size_t length) {
    struct pai *p = arg;
    const char *form = p->columns == task_columns ? take_task(p, column, text, length)
                                                  : take_job(p, column, text, length);
    if (!form || p->bad)
        return;
    p->bad = form;
    p->bad_column = column;
    (void)snprintf(p->bad_text, sizeof p->bad_text, "%.40s", text);
}

/* --- rows ------------------------------------------------------------------------------------- */

static const struct job unknown = {
    .submit_ns = -1, .first_ns = -1, .last_ns = -1, .user = -1, .gpu_type = -1};

static void clear_row(struct pai *p) {
    p->next = unknown;
    p->instances = 1;
    p->gpu_ppm = 0;
    p->bad = NULL;
}

static void refuse_row(struct pai *p, int64_t line) {
    const char *name = p->columns;
    for (uint32_t i = 0; i < p->bad_column; i++)
        name = strchr(name, ',') + 1;
    (void)gsim_fail(p->b->log, GSIM_BAD_INPUT, p->path, line, "column '%.*s': '%s' is not %s",
                    (int)strcspn(name, ","), name, p->bad_text, p->bad);
}

static enum gsim_status add_job(struct pai *p, int64_t line) {
    if (p->name < p->n_jobs)
        return gsim_fail(p->b->log, GSIM_BAD_INPUT, p->path, line,
                         "job_name '%.64s' stands there already",
                         p->names->names[GSIM_COL_USER].name[p->name]);
    if (p->n_jobs == p->capacity) {
        uint32_t capacity = p->capacity ? p->capacity * 2 : 1024;
        struct job *job = capacity <= GSIM_MAX_JOBS
                              ? gsim_arena_grow_raw(p->b->arena, p->job, capacity * sizeof *job)
                              : NULL;
        if (!job)
            return gsim_no_memory(p->b->log, "reading a trace");
        p->job = job;
        p->capacity = capacity;
    }
    p->next.line = (uint32_t)line;
    p->job[p->n_jobs++] = p->next;
    return GSIM_OK;
}

/* Adds whole GPUs, or equal parts that make up the amount: 150 % are two parts of 75 %. */
static void add_gpus(struct job *job, int64_t instances, int64_t ppm) {
    int64_t each = (ppm + GSIM_PPM - 1) / GSIM_PPM;
    if (instances == 0 || ppm == 0)
        return;
    int64_t part_ppm = ppm / each;
    job->is_mixed |= part_ppm * each != ppm || (job->gpus > 0 && job->part_ppm != part_ppm);
    job->gpus += instances * each;
    job->part_ppm = part_ppm;
}

/* Only tasks with GPUs have received a type of GPU. */
static void add_type(struct job *job, const struct job *task, int64_t gpu_ppm) {
    if (gpu_ppm == 0 || task->gpu_type < 0)
        return;
    job->has_types |= job->gpu_type >= 0 && job->gpu_type != task->gpu_type;
    if (job->gpu_type < 0)
        job->gpu_type = task->gpu_type;
}

static void add_task(struct pai *p) {
    if (p->name >= p->n_jobs) {
        p->n_orphans++;
        return;
    }
    struct job *job = &p->job[p->name];
    const struct job *task = &p->next;
    job->n_tasks++;
    job->is_endless |= task->is_endless || task->first_ns < 0 || task->last_ns < task->first_ns;
    if (job->first_ns < 0 || task->first_ns < job->first_ns)
        job->first_ns = task->first_ns;
    if (task->last_ns > job->last_ns)
        job->last_ns = task->last_ns;
    add_gpus(job, p->instances, p->gpu_ppm);
    add_type(job, task, p->gpu_ppm);
    /* a per cent is 10 thousandths: ppm / 1000 */
    job->cpus_milli += p->instances * (task->cpus_milli / (GSIM_PPM / 1000));
}

static enum gsim_status on_row(void *arg, int64_t line) {
    struct pai *p = arg;
    enum gsim_status status = p->status;
    if (p->bad)
        refuse_row(p, line);
    else if (status == GSIM_OK && p->columns == job_columns)
        status = add_job(p, line);
    else if (status == GSIM_OK)
        add_task(p);
    clear_row(p);
    return status;
}

/* --- tables ----------------------------------------------------------------------------------- */

static enum gsim_status on_header(void *arg, const char *const *names, uint32_t n, int64_t line) {
    struct pai *p = arg;
    const char *expected = p->columns;
    for (uint32_t i = 0; i < n; i++) {
        size_t length = strcspn(expected, ",");
        if (strlen(names[i]) != length || strncmp(names[i], expected, length) != 0)
            return gsim_fail(p->b->log, GSIM_BAD_INPUT, p->path, line,
                             "column '%.64s' stands where the published table has '%.*s'", names[i],
                             (int)length, expected);
        expected += length + (expected[length] == ',');
    }
    return *expected ? gsim_fail(p->b->log, GSIM_BAD_INPUT, p->path, line,
                                 "%u columns; the published table has %s", n, p->columns)
                     : GSIM_OK;
}

/* Reads a table with the published header in front, or without. */
static enum gsim_status read_table(struct pai *p, struct gsim_input *input, const char *columns) {
    const char *line;
    struct gsim_csv_user user = {p, on_header, on_field, on_row, NULL};
    enum gsim_status status = gsim_input_peek_line(input, &line, p->b->log);
    if (status != GSIM_OK)
        return status;
    const struct gsim_lines_form form = {
        .separator = ',', .names = strncmp(line, "job_name,", 9) == 0 ? NULL : columns};
    p->path = gsim_input_path(input);
    p->columns = columns;
    clear_row(p);
    return gsim_lines_read(input, &form, &user, p->b->arena, p->b->log);
}

static enum gsim_status read_jobs(struct pai *p, const char *path) {
    struct gsim_input *input = NULL;
    if (!path)
        return gsim_fail(
            p->b->log, GSIM_BAD_INPUT, p->b->path, 0,
            "pai_task_table has neither the user nor the time of a job's submission; give "
            "pai_job_table as well: gsim import pai pai_task_table.csv pai_job_table.csv");
    enum gsim_status status = gsim_input_open(path, p->b->arena, &input, p->b->log);
    if (status == GSIM_OK)
        status = read_table(p, input, job_columns);
    gsim_input_close(input);
    return status;
}

bool gsim_pai_is_task_table(const char *line) {
    return strcmp(line, task_columns) == 0 ||
           (gsim_lines_count(line, ',') == TASK_FIELDS &&
            (strstr(line, ",Terminated,") || strstr(line, ",Failed,") ||
             strstr(line, ",Running,") || strstr(line, ",Waiting,")));
}

/* --- jobs ------------------------------------------------------------------------------------- */

static const char *why_left_out(const struct job *job) {
    if (job->n_tasks == 0)
        return "they have no task in pai_task_table";
    if (job->gpus == 0)
        return "they ask for no GPU";
    if (job->submit_ns < 0)
        return "their submission (start_time in pai_job_table) is not known";
    if (job->is_endless || job->first_ns < 0 || job->last_ns < job->first_ns)
        return "a task of theirs has no start or no end (waiting, running, or not logged)";
    if (job->is_mixed)
        return "their instances ask for different parts of GPUs, which is no gang";
    return job->gpus > GSIM_MAX_GANG ? "they ask for more GPUs than a gang may have" : NULL;
}

static enum gsim_status add_jobs(struct pai *p, struct gsim_rows *rows) {
    enum gsim_status status = GSIM_OK;
    for (uint32_t i = 0; i < p->n_jobs && status == GSIM_OK; i++) {
        const struct job *job = &p->job[i];
        struct gsim_row *row = &p->b->row;
        const char *name = p->names->names[GSIM_COL_USER].name[i];
        row->id_length = strlen(name);
        memcpy(row->id, name, row->id_length);
        row->drop = why_left_out(job);
        row->submit_ns = job->submit_ns;
        row->service_ns = job->last_ns - job->first_ns;
        row->cell[GSIM_COL_LOGGED_START_NS] = job->first_ns;
        row->cell[GSIM_COL_LOGGED_END_NS] = job->last_ns;
        row->gpus = (uint32_t)job->gpus;
        if (job->part_ppm != GSIM_PPM)
            row->cell[GSIM_COL_SHARE_PPM] = job->part_ppm;
        row->cell[GSIM_COL_CPUS_MILLI] = job->cpus_milli;
        row->cell[GSIM_COL_USER] = job->user;
        row->cell[GSIM_COL_GPU_TYPE] = job->gpu_type;
        if (job->has_types)
            row->loss = "their tasks had GPUs of several types, of which the first is kept";
        status = gsim_rows_add(rows, job->line);
    }
    return status;
}

enum gsim_status gsim_pai_tables_read(struct gsim_input *input,
                                      const struct gsim_trace_options *options,
                                      struct gsim_arena *arena, struct gsim_trace *out,
                                      struct gsim_log *log) {
    struct gsim_rows rows = {0};
    struct pai *p = gsim_arena_alloc(arena, sizeof *p);
    struct gsim_builder *b = gsim_arena_alloc(arena, 2 * sizeof *b);
    if (!p || !b)
        return gsim_no_memory(log, "reading a trace");
    const char *job_table = options ? options->table : NULL;
    gsim_build_init(b, gsim_input_path(input), arena, log);
    gsim_build_init(b + 1, b->path, arena, log);
    b->is_absolute = true;
    b->has_column[GSIM_COL_USER] = b->has_column[GSIM_COL_CPUS_MILLI] = true;
    b->has_column[GSIM_COL_SHARE_PPM] = b->has_column[GSIM_COL_GPU_TYPE] = true;
    b->has_column[GSIM_COL_LOGGED_START_NS] = b->has_column[GSIM_COL_LOGGED_END_NS] = true;
    p->b = b;
    p->names = b + 1;
    int64_t errors_before = log->n_errors;
    enum gsim_status status = read_jobs(p, job_table);
    if (status == GSIM_OK)
        status = read_table(p, input, task_columns);
    if (status == GSIM_OK && log->n_errors > errors_before)
        status = GSIM_BAD_INPUT;
    if (status != GSIM_OK)
        return status;
    if (p->n_orphans)
        gsim_warn(log, b->path, 0, "left out %u tasks of jobs that are not in %s", p->n_orphans,
                  job_table);
    b->path = job_table; /* the job's lines are of this file */
    status = gsim_rows_begin(&rows, b, options);
    if (status == GSIM_OK)
        status = add_jobs(p, &rows);
    return status == GSIM_OK ? gsim_rows_finish(&rows, "pai", out) : status;
}
