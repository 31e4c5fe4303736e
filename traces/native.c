/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The native trace: a CSV with a header, columns in any order.
 *
 * Service time is `duration_s`, or
 *     iterations * (one iteration + host_gap_ms) + host_tail_s
 * where one iteration is gpu_ms, or the larger of gpu_ms and host_ms when the host waits for each
 * iteration (sync = iteration) or launches without end (none), or both together when it waits for
 * each kernel (sync = kernel). */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "sim/base/hints.h"
#include "sim/base/text.h"
#include "traces/cells.h"
#include "traces/csv.h"
#include "traces/rows.h"
#include "sim/base/units.h"
#include "traces/format.h"

/* The target of a field of the file: an optional column (0 and up), or one of these. */
enum target { TO_ID = -1, TO_SUBMIT = -2, TO_DURATION = -3, TO_GPUS = -4, TO_NOTHING = -5 };

struct native {
    struct gsim_builder *b;
    const struct gsim_trace_options *options;
    int target[GSIM_MAX_FIELD_COLUMNS];
    bool has_id, has_submit, has_duration;
    bool is_bad_row;
    int64_t n_bad;
    struct {
        uint32_t column;
        char text[64];
    } bad[8];
    int n_pending;
    struct gsim_rows rows;
};

/* --- the header ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int target;
} required[] = {
    {"job_id", TO_ID}, {"submit_s", TO_SUBMIT}, {"duration_s", TO_DURATION}, {"gpus", TO_GPUS}};

static int find_target(const char *name) {
    for (size_t i = 0; i < sizeof required / sizeof *required; i++)
        if (strcmp(name, required[i].name) == 0)
            return required[i].target;
    for (int c = 0; c < GSIM_COL_COUNT; c++)
        if (strcmp(name, gsim_columns[c].name) == 0)
            return c;
    return TO_NOTHING;
}

/* Names that other formats and tools give these columns: a trace with such a name would run without
 * the column. */
static const struct {
    const char *theirs, *ours;
} synonyms[] = {
    {"num_gpus", "gpus"},        {"num_gpu", "gpus"},
    {"gpu_num", "gpus"},         {"gpu_count", "gpus"},
    {"n_gpus", "gpus"},          {"ngpus", "gpus"},
    {"memory", "mem_gib"},       {"memory_gib", "mem_gib"},
    {"gpu_memory", "mem_gib"},   {"mem_gb", "mem_gib"},
    {"vram", "mem_gib"},         {"gpu_mem", "mem_gib"},
    {"gpu_mem_gib", "mem_gib"},  {"gpu_mem_gb", "mem_gib"},
    {"priorities", "priority"},  {"user_id", "user"},
    {"username", "user"},        {"vc_name", "vc"},
    {"iters", "iterations"},     {"num_iterations", "iterations"},
    {"num_steps", "iterations"}, {"time_limit", "limit_s"},
    {"timelimit", "limit_s"},    {"walltime", "limit_s"},
    {"num_cpus", "cpus"},        {"cpu_num", "cpus"},
    {"batch_size", "batch"},     {"deadline", "deadline_s"},
    {"id", "job_id"},            {"arrival_s", "submit_s"},
    {"submit", "submit_s"},      {"arrival_time", "submit_s"},
    {"runtime", "duration_s"},   {"run_time", "duration_s"},
};

static const char *synonym_of(const char *name) {
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (strcasecmp(name, synonyms[i].theirs) == 0)
            return synonyms[i].ours;
    return NULL;
}

/* The column that is meant, in the words of another tool or by a typing error; NULL: none. */
static const char *meant_by(const char *name, const char *const *names, int count) {
    const char *synonym = synonym_of(name);
    int near = synonym ? -1 : gsim_text_near_miss(name, names, count);
    return near >= 0 ? names[near] : synonym;
}

/* An unknown column is the user's own and is reported as skipped, unless its name is close to a
 * known column that the trace lacks: then all jobs would silently get that column's default. */
static enum gsim_status pass_over(struct native *n, const char *const *all, uint32_t n_all,
                                  int64_t line, const char *name) {
    static const char own[] = "x_";
    const char *names[GSIM_COL_COUNT + 4];
    int count = 0;
    if (strncmp(name, own, sizeof own - 1) == 0)
        return GSIM_OK;
    for (size_t i = 0; i < sizeof required / sizeof *required; i++)
        names[count++] = required[i].name;
    for (int c = 0; c < GSIM_COL_COUNT; c++)
        names[count++] = gsim_columns[c].name;
    const char *meant = meant_by(name, names, count);
    bool is_there = false;
    for (uint32_t i = 0; i < n_all && meant; i++)
        is_there |= strcmp(all[i], meant) == 0;
    if (meant && !is_there)
        return gsim_fail(n->b->log, GSIM_BAD_INPUT, n->b->path, line,
                         "unknown column '%.64s'; did you mean '%s'? A column of your own that is "
                         "to be passed over has a name that begins with x_",
                         name, meant);
    int close = gsim_text_suggest(name, names, count);
    gsim_warn(n->b->log, n->b->path, line, "unknown column '%.64s' is ignored%s%s%s", name,
              close >= 0 ? "; did you mean '" : "", close >= 0 ? names[close] : "",
              close >= 0 ? "'?" : "");
    return GSIM_OK;
}

static enum gsim_status missing(struct native *n, int64_t line, const char *what) {
    return gsim_fail(n->b->log, GSIM_BAD_INPUT, n->b->path, line,
                     "no column %s; a trace has job_id, submit_s, and duration_s (or iterations "
                     "and gpu_ms)",
                     what);
}

static enum gsim_status check_header(struct native *n, int64_t line) {
    const bool *has = n->b->has_column;
    if (!n->has_id)
        return missing(n, line, "'job_id'");
    if (!n->has_submit)
        return missing(n, line, "'submit_s'");
    bool is_described = has[GSIM_COL_ITERATIONS] && (has[GSIM_COL_GPU_NS] || has[GSIM_COL_APP]);
    is_described |= has[GSIM_COL_ITERATIONS] && n->rows.rates;
    is_described |= has[GSIM_COL_MODEL] && n->rows.goodput;
    if (!n->has_duration && !is_described && !has[GSIM_COL_REQUESTS])
        return missing(n, line, "'duration_s'");
    return GSIM_OK;
}

static void say_unused(struct native *n, int64_t line, int column) {
    if (column >= 0 && gsim_columns[column].is_to_come)
        gsim_warn(n->b->log, n->b->path, line,
                  "column '%s' is read, but nothing that is built in uses it: results are as "
                  "without it",
                  gsim_columns[column].name);
}

static enum gsim_status take_name(struct native *n, const char *const *names, uint32_t count,
                                  uint32_t i, int64_t line) {
    const char *name = names[i];
    int target = find_target(name);
    for (uint32_t j = 0; j < i && target != TO_NOTHING; j++)
        if (n->target[j] == target)
            return gsim_fail(n->b->log, GSIM_BAD_INPUT, n->b->path, line,
                             "column '%s' stands twice", name);
    n->target[i] = target;
    n->has_id |= target == TO_ID;
    n->has_submit |= target == TO_SUBMIT;
    n->has_duration |= target == TO_DURATION;
    if (target >= 0)
        n->b->has_column[target] = true;
    say_unused(n, line, target);
    if (target == TO_GPUS)
        n->b->has_column[GSIM_COL_SHARE_PPM] = true;
    return target == TO_NOTHING ? pass_over(n, names, count, line, name) : GSIM_OK;
}

/* Spreadsheets of many languages write semicolons, with a decimal comma beside them: such fields
 * are not guessed at. */
static enum gsim_status need_commas(struct native *n, const char *header, int64_t line) {
    bool has_tabs = strchr(header, '\t') != NULL;
    if (!has_tabs && !strchr(header, ';'))
        return GSIM_OK;
    return gsim_fail(n->b->log, GSIM_BAD_INPUT, n->b->path, line,
                     "%s separate the names of the header; fields of a trace are separated by "
                     "commas, and a decimal number has a point",
                     has_tabs ? "tabs" : "semicolons");
}

static enum gsim_status on_header(void *arg, const char *const *names, uint32_t count,
                                  int64_t line) {
    struct native *n = arg;
    enum gsim_status status = count == 1 ? need_commas(n, names[0], line) : GSIM_OK;
    for (uint32_t i = 0; i < count && status == GSIM_OK; i++)
        status = take_name(n, names, count, i, line);
    if (status == GSIM_OK)
        status = gsim_rows_begin(&n->rows, n->b, n->options);
    if (n->rows.rates && n->b->has_column[GSIM_COL_PHASES])
        n->b->has_column[GSIM_COL_ITERATIONS] = true;
    n->b->is_lenient = false; /* a file of gsim's own with errors was damaged */
    return status == GSIM_OK ? check_header(n, line) : status;
}

/* --- rows ------------------------------------------------------------------------------------- */

static bool parse_gpus(struct gsim_row *row, const char *text, size_t length) {
    int64_t gpus = 0;
    bool is_short = length > 0 && length < 8 && gsim_read_digits(text, &gpus) == text + length;
    int64_t ppm;
    if (!is_short) {
        if (gsim_parse_decimal(text, length, GSIM_PPM, &ppm) != GSIM_PARSE_OK || ppm <= 0)
            return false;
        if (ppm < GSIM_PPM) {
            row->gpus = 1;
            row->cell[GSIM_COL_SHARE_PPM] = ppm;
            return true;
        }
        if (ppm % GSIM_PPM != 0 || ppm / GSIM_PPM > GSIM_MAX_GANG)
            return false;
        gpus = ppm / GSIM_PPM;
    }
    row->gpus = (uint32_t)gpus;
    return gpus >= 1 && gpus <= GSIM_MAX_GANG;
}

static bool parse_field(struct native *n, int target, const char *text, size_t length) {
    struct gsim_row *row = &n->b->row;
    switch (target) {
    case TO_SUBMIT:
        return gsim_cell_seconds(text, length, &row->submit_ns) == GSIM_PARSE_OK &&
               row->submit_ns >= 0;
    case TO_DURATION:
        return length == 0 || (gsim_cell_seconds(text, length, &row->service_ns) == GSIM_PARSE_OK &&
                               row->service_ns >= 0);
    case TO_GPUS:
        return length == 0 || parse_gpus(row, text, length);
    case TO_ID:
        memcpy(row->id, text, length);
        row->id_length = length;
        return length > 0;
    case TO_NOTHING:
        return true;
    default:
        return length == 0 ||
               gsim_cell_parse(n->b, (enum gsim_column)target, text, length, &row->cell[target]);
    }
}

/* Keeps a bad cell for the end of the row, where its line is known. */
GSIM_COLD static void note_bad(struct native *n, uint32_t column, const char *text) {
    n->is_bad_row = true;
    if (n->n_pending == (int)(sizeof n->bad / sizeof *n->bad))
        return;
    n->bad[n->n_pending].column = column;
    (void)snprintf(n->bad[n->n_pending].text, sizeof n->bad[0].text, "%s", text);
    n->n_pending++;
}

static void on_field(void *arg, uint32_t column, const char *text, size_t length) {
    struct native *n = arg;
    if (gsim_rarely(!parse_field(n, n->target[column], text, length)))
        note_bad(n, column, text);
}

static void refuse_cells(struct native *n, int64_t line) {
    for (int i = 0; i < n->n_pending; i++) {
        int target = n->target[n->bad[i].column];
        const char *name = "job_id", *form = "an id (any text that is not empty)";
        if (target == TO_SUBMIT || target == TO_DURATION) {
            name = target == TO_SUBMIT ? "submit_s" : "duration_s";
            form = gsim_cell_form(GSIM_CELL_SECONDS);
        } else if (target == TO_GPUS) {
            name = "gpus";
            form = gsim_cell_form(GSIM_CELL_SHARE);
        } else if (target >= 0) {
            name = gsim_columns[target].name;
            form = gsim_cell_form(gsim_columns[target].kind);
        }
        (void)gsim_cell_refuse(n->b, line, name, n->bad[i].text, form);
    }
}

/* Reports a bad row and leaves it out, so that the remaining rows are checked as well; reading
 * still ends with an error. Rows that are never added need no memory for their errors. */
static enum gsim_status on_row(void *arg, int64_t line) {
    struct native *n = arg;
    enum gsim_status status = GSIM_OK;
    if (n->is_bad_row) {
        refuse_cells(n, line);
        gsim_build_clear_row(n->b);
    } else {
        status = gsim_rows_add(&n->rows, line);
    }
    n->is_bad_row = false;
    n->n_pending = 0;
    return status;
}

static enum gsim_status read_native(struct gsim_input *input,
                                    const struct gsim_trace_options *options,
                                    struct gsim_arena *arena, struct gsim_trace *out,
                                    struct gsim_log *log) {
    struct native *n = gsim_arena_alloc(arena, sizeof *n);
    struct gsim_builder *b = gsim_arena_alloc(arena, sizeof *b);
    if (!n || !b)
        return gsim_no_memory(log, "reading a trace");
    gsim_build_init(b, gsim_input_path(input), arena, log);
    n->b = b;
    n->options = options;
    struct gsim_csv_user user = {n, on_header, on_field, on_row, NULL};
    enum gsim_status status = gsim_rows_listen(&n->rows, input, arena, log);
    if (status == GSIM_OK)
        status = gsim_csv_read(input, &user, arena, log);
    return status == GSIM_OK ? gsim_rows_finish(&n->rows, "native", out) : status;
}

static int sniff_native(const char *header) {
    if (strstr(header, "submit_s") && strstr(header, "job_id"))
        return 2;
    return strstr(header, "job_id") || strstr(header, "submit_s") || strstr(header, "duration_s")
               ? 1
               : 0;
}

const struct gsim_trace_format gsim_format_native = {
    .name = "native",
    .summary = "gsim's own CSV: job_id, submit_s, duration_s, gpus and optional columns",
    .source = "gsim generate, gsim import",
    .sniff = sniff_native,
    .read = read_native,
};
