/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The jobs CSV and the JSON summary of a run. Where the rows of its jobs are known already, a jobs
 * CSV has to say what they say. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/app/check/written.h"
#include "sim/base/units.h"
#include "traces/csv.h"
#include "traces/json.h"

/* --- jobs.csv --------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum gsim_written_column column;
    int64_t scale;
} columns[] = {{"submit_s", GSIM_WRITTEN_SUBMIT, GSIM_NS_PER_S},
               {"start_s", GSIM_WRITTEN_START, GSIM_NS_PER_S},
               {"end_s", GSIM_WRITTEN_END, GSIM_NS_PER_S},
               {"jct_s", GSIM_WRITTEN_JCT, GSIM_NS_PER_S},
               {"wait_s", GSIM_WRITTEN_WAIT, GSIM_NS_PER_S},
               {"service_s", GSIM_WRITTEN_SERVICE, GSIM_NS_PER_S},
               {"gpus", GSIM_WRITTEN_GPUS_PPM, GSIM_PPM},
               {"preemptions", GSIM_WRITTEN_PREEMPTIONS, 1},
               {"migrations", GSIM_WRITTEN_MIGRATIONS, 1},
               {"faults", GSIM_WRITTEN_FAULTS, 1},
               {"bytes_in", GSIM_WRITTEN_BYTES_IN, 1},
               {"bytes_out", GSIM_WRITTEN_BYTES_OUT, 1},
               {"stall_s", GSIM_WRITTEN_STALL, GSIM_NS_PER_S},
               {"declined", GSIM_WRITTEN_DECLINED, 1},
               {"held_s", GSIM_WRITTEN_HELD, GSIM_NS_PER_S}};
enum { N_COLUMNS = sizeof columns / sizeof *columns, NO_COLUMN = -1, ID_COLUMN = -2 };
/* A file has the first where a job was declined; those of older programs lack the other. */
enum { N_ALWAYS = N_COLUMNS - 2 };

struct csv {
    struct gsim_written *w;
    int meaning[GSIM_MAX_FIELD_COLUMNS]; /* index into columns, or one of the two above */
    struct gsim_written_job row;
    char id[GSIM_MAX_FIELD_BYTES + 1];
    uint32_t n; /* rows read */
    bool was_known; /* the rows are those of another file */
    const char *bad; /* the column of a cell that is no number */
};

static enum gsim_status take_header(void *arg, const char *const *names, uint32_t n, int64_t line) {
    struct csv *csv = arg;
    uint32_t n_found = 0;
    for (uint32_t i = 0; i < n; i++) {
        csv->meaning[i] = strcmp(names[i], "job_id") == 0 ? ID_COLUMN : NO_COLUMN;
        for (int c = 0; c < N_COLUMNS; c++)
            if (strcmp(names[i], columns[c].name) == 0)
                csv->meaning[i] = c;
        n_found += csv->meaning[i] < N_ALWAYS && csv->meaning[i] != NO_COLUMN;
    }
    return n_found == 1 + N_ALWAYS /* the job's id, and these */
               ? GSIM_OK
               : gsim_fail(csv->w->log, GSIM_BAD_INPUT, csv->w->path, line,
                           "not the jobs of a run (--jobs-csv): columns are missing");
}

static void take_field(void *arg, uint32_t column, const char *text, size_t length) {
    struct csv *csv = arg;
    int c = csv->meaning[column];
    if (c == ID_COLUMN)
        memcpy(csv->id, text, length + 1);
    if (c < 0)
        return;
    int64_t *value = &csv->row.value[columns[c].column];
    *value = -1;
    if (length > 0 && gsim_parse_decimal(text, length, columns[c].scale, value) != GSIM_PARSE_OK)
        csv->bad = columns[c].name;
}

static enum gsim_status compare_row(struct csv *csv, int64_t line) {
    struct gsim_written *w = csv->w;
    if (csv->n >= w->n_jobs)
        return gsim_written_broken(w, "the file has more jobs than the file before it, %u",
                                   w->n_jobs);
    const struct gsim_written_job *known = &w->jobs[csv->n];
    for (int c = 0; c < N_COLUMNS; c++) {
        enum gsim_written_column at = columns[c].column;
        bool is_given =
            at != GSIM_WRITTEN_JCT &&
            (at != GSIM_WRITTEN_HELD || (csv->row.value[at] >= 0 && known->value[at] >= 0));
        if (is_given && csv->row.value[at] != known->value[at])
            return gsim_written_broken(w,
                                       "line %lld: %s of job '%s' is %lld, and %lld in the file "
                                       "before it",
                                       (long long)line, columns[c].name, csv->id,
                                       (long long)csv->row.value[at], (long long)known->value[at]);
    }
    return strcmp(known->id, csv->id) == 0
               ? GSIM_OK
               : gsim_written_broken(w, "line %lld: job '%s' is '%s' in the file before it",
                                     (long long)line, csv->id, known->id);
}

static enum gsim_status take_row(void *arg, int64_t line) {
    struct csv *csv = arg;
    if (csv->bad)
        return gsim_written_broken(csv->w, "line %lld: %s is no number", (long long)line, csv->bad);
    if (csv->was_known) {
        enum gsim_status status = compare_row(csv, line);
        csv->n++;
        return status;
    }
    struct gsim_written_job *job = gsim_written_add(csv->w, csv->id);
    if (!job)
        return gsim_no_memory(csv->w->log, "checking");
    memcpy(job->value, csv->row.value, sizeof job->value);
    csv->n++;
    return GSIM_OK;
}

enum gsim_status gsim_written_read_csv(struct gsim_written *w, const char *path) {
    struct csv *csv = gsim_arena_alloc(w->arena, sizeof *csv);
    if (!csv)
        return gsim_no_memory(w->log, "checking");
    w->path = path;
    csv->w = w;
    csv->row.value[GSIM_WRITTEN_HELD] = -1; /* where no column has it */
    csv->was_known = w->has_jobs;
    struct gsim_csv_user user = {csv, take_header, take_field, take_row, NULL};
    enum gsim_status status = gsim_csv_read_file(path, &user, w->arena, w->log);
    if (status == GSIM_OK && csv->n < w->n_jobs)
        return gsim_written_broken(w, "the file has %u jobs, and the file before it %u", csv->n,
                                   w->n_jobs);
    w->has_jobs = true;
    return status;
}

/* --- run.json --------------------------------------------------------------------------------- */

struct summary {
    struct gsim_written *w;
    int depth;
    bool was_known;
};

static enum gsim_status open_value(void *arg, enum gsim_json_kind kind, const char *key,
                                   int64_t line) {
    struct summary *s = arg;
    (void)kind, (void)key, (void)line;
    s->depth++;
    return GSIM_OK;
}

static enum gsim_status close_value(void *arg, int64_t line) {
    (void)line;
    ((struct summary *)arg)->depth--;
    return GSIM_OK;
}

static int find_field(const char *key) {
    for (int f = 0; f < GSIM_WRITTEN_FIELDS; f++)
        if (strcmp(key, gsim_written_fields[f]) == 0)
            return f;
    return -1;
}

/* Two files of one run may differ in the time that its making took, and in nothing else. */
static enum gsim_status take_value(void *arg, enum gsim_json_kind kind, const char *key,
                                   const char *text, size_t length, int64_t line) {
    struct summary *s = arg;
    struct gsim_written *w = s->w;
    int f = find_field(key);
    (void)length, (void)line;
    if (s->depth != 1 || f < 0)
        return GSIM_OK;
    if (f == GSIM_WRITTEN_policy && !w->has_policy)
        gsim_written_policy(w, text);
    if (kind != GSIM_JSON_NUMBER)
        return GSIM_OK;
    double number = strtod(text, NULL);
    if (s->was_known && f != GSIM_WRITTEN_wall_s && !isnan(w->number[f]) &&
        fabs(number - w->number[f]) > 0)
        return gsim_written_broken(w, "%s is %.12g, and %.12g in the file before it", key, number,
                                   w->number[f]);
    w->number[f] = number;
    return GSIM_OK;
}

enum gsim_status gsim_written_read_json(struct gsim_written *w, const char *path) {
    struct summary s = {.w = w, .was_known = w->has_summary};
    struct gsim_json_user user = {&s, open_value, close_value, take_value, true};
    struct gsim_input *input;
    w->path = path;
    enum gsim_status status = gsim_input_open(path, w->arena, &input, w->log);
    if (status != GSIM_OK)
        return status;
    status = gsim_json_read(input, &user, w->arena, w->log);
    gsim_input_close(input);
    w->has_summary = true;
    return status;
}
