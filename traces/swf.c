/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Standard Workload Format of the Parallel Workloads Archive: 18 numbers a line, -1 for an
 * unknown value, ';' for comments. It has processors, not GPUs: each processor is taken for one
 * GPU, and a warning says so. Memory is the hosts', so it is not used. The time limit is the
 * requested time; the virtual cluster is the queue. A job with a preceding job is submitted its
 * think time after that one's end, whatever its own time of submission. */
#include <string.h>

#include "sim/base/units.h"
#include "traces/cells.h"
#include "traces/mapped.h"
#include "traces/format.h"

enum { PROCESSORS, REQUESTED, STATUS, WAIT_NS }; /* row.extra */

static bool take_number(struct gsim_builder *builder, int extra, const char *text, int64_t most) {
    int64_t *value = &builder->row.extra[extra];
    return gsim_parse_int(text, value) == GSIM_PARSE_OK && *value >= -1 && *value <= most;
}

static bool take_processors(struct gsim_builder *builder, const char *text, size_t length) {
    (void)length;
    return take_number(builder, PROCESSORS, text, GSIM_MAX_GANG);
}

static bool take_requested(struct gsim_builder *builder, const char *text, size_t length) {
    (void)length;
    return take_number(builder, REQUESTED, text, GSIM_MAX_GANG);
}

static bool take_status(struct gsim_builder *builder, const char *text, size_t length) {
    (void)length;
    return take_number(builder, STATUS, text, 5);
}

static bool is_unknown(const char *text) {
    return strcmp(text, "-1") == 0;
}

static bool take_run(struct gsim_builder *builder, const char *text, size_t length) {
    return is_unknown(text) || gsim_take_duration(builder, text, length);
}

/* The start follows from it. */
static bool take_wait(struct gsim_builder *builder, const char *text, size_t length) {
    int64_t *wait_ns = &builder->row.extra[WAIT_NS];
    return is_unknown(text) || (gsim_cell_seconds(text, length, wait_ns) == GSIM_PARSE_OK &&
                                *wait_ns >= 0 && *wait_ns <= GSIM_TIME_MAX / 2);
}

static bool take_limit(struct gsim_builder *builder, const char *text, size_t length) {
    return is_unknown(text) || gsim_cell_parse(builder, GSIM_COL_LIMIT_NS, text, length,
                                               &builder->row.cell[GSIM_COL_LIMIT_NS]);
}

static bool take_user(struct gsim_builder *builder, const char *text, size_t length) {
    return is_unknown(text) || gsim_take_cell(builder, GSIM_COL_USER, text, length);
}

static bool take_queue(struct gsim_builder *builder, const char *text, size_t length) {
    return is_unknown(text) || gsim_take_cell(builder, GSIM_COL_VC, text, length);
}

/* Jobs count from 1. */
static bool take_preceding(struct gsim_builder *builder, const char *text, size_t length) {
    return is_unknown(text) || strcmp(text, "0") == 0 ||
           gsim_cell_parse(builder, GSIM_COL_AFTER, text, length,
                           &builder->row.cell[GSIM_COL_AFTER]);
}

static bool take_think(struct gsim_builder *builder, const char *text, size_t length) {
    return is_unknown(text) || gsim_cell_parse(builder, GSIM_COL_THINK_NS, text, length,
                                               &builder->row.cell[GSIM_COL_THINK_NS]);
}

/* Status: 0 failed, 1 completed, 5 cancelled; 2, 3 and 4 are parts of a job that was swapped out,
 * and its line with 0, 1 or 5 is their sum. */
static void finish_job(struct gsim_builder *builder) {
    struct gsim_row *row = &builder->row;
    int64_t processors =
        row->extra[PROCESSORS] > 0 ? row->extra[PROCESSORS] : row->extra[REQUESTED];
    if (row->extra[STATUS] >= 2 && row->extra[STATUS] <= 4)
        row->drop = "they are parts of a job that has a line of its own (status 2 to 4)";
    else if (row->service_ns < 0)
        row->drop = "their run time is not known (-1)";
    else if (row->service_ns == 0 && row->extra[STATUS] == 5)
        row->drop = "they were cancelled before they ran";
    else if (processors <= 0)
        row->drop = "their number of processors is not known (-1)";
    else
        row->gpus = (uint32_t)processors;
    if (row->extra[WAIT_NS] >= 0 && row->service_ns >= 0) {
        row->cell[GSIM_COL_LOGGED_START_NS] = row->submit_ns + row->extra[WAIT_NS];
        row->cell[GSIM_COL_LOGGED_END_NS] = row->cell[GSIM_COL_LOGGED_START_NS] + row->service_ns;
    }
}

static const char whole[] = "a whole number, or -1";
static const struct gsim_mapping mappings[] = {
    {"job", true, "an id", gsim_take_id, -1},
    {"submit", true, GSIM_FORM_SECONDS, gsim_take_submit, GSIM_COL_LOGGED_END_NS},
    {"wait", true, "a time in seconds, or -1", take_wait, GSIM_COL_LOGGED_START_NS},
    {"run_time", true, "a time in seconds, or -1", take_run, -1},
    {"processors", true, whole, take_processors, -1},
    {"requested_processors", true, whole, take_requested, -1},
    {"requested_time", true, "a time in seconds, or -1", take_limit, GSIM_COL_LIMIT_NS},
    {"status", true, "a status, -1 to 5", take_status, -1},
    {"user", true, "a number", take_user, GSIM_COL_USER},
    {"queue", true, "a number", take_queue, GSIM_COL_VC},
    {"preceding_job", true, "a job, or -1", take_preceding, GSIM_COL_AFTER},
    {"think_time", true, "a time in seconds, or -1", take_think, GSIM_COL_THINK_NS},
    {0},
};

enum { FIELDS = 18 };

static const struct gsim_lines_form lines = {
    .separator = ' ',
    .comment = ';',
    .names = "job,submit,wait,run_time,processors,cpu_time,memory,requested_processors,"
             "requested_time,requested_memory,status,user,group,application,queue,partition,"
             "preceding_job,think_time"};

static enum gsim_status read_swf(struct gsim_input *input, const struct gsim_trace_options *options,
                                 struct gsim_arena *arena, struct gsim_trace *out,
                                 struct gsim_log *log) {
    static const struct gsim_mapped_form form = {.name = "swf",
                                                 .mappings = mappings,
                                                 .finish_row = finish_job,
                                                 .lines = &lines,
                                                 .is_absolute = true};
    enum gsim_status status = gsim_mapped_read(input, &form, options, arena, out, log);
    if (status == GSIM_OK)
        gsim_warn(log, gsim_input_path(input), 0,
                  "swf has processors, not GPUs: each is taken for one GPU");
    return status;
}

static int sniff_swf(const char *line) {
    bool is_numbers = strspn(line, "0123456789-. \t") == strlen(line);
    return (*line == ';' || is_numbers) && (*line == ';' || gsim_lines_count(line, ' ') == FIELDS)
               ? 2
               : 0;
}

const struct gsim_trace_format gsim_format_swf = {
    .name = "swf",
    .summary = "the Standard Workload Format: 18 numbers a line, ';' comments",
    .source = "Parallel Workloads Archive, cs.huji.ac.il/labs/parallel/workload",
    .sniff = sniff_swf,
    .read = read_swf,
};
