/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gavel's traces: a line per job, fields separated by tabs, no header; newer traces have the
 * working directory, the weight and the SLO as well. They give the number of a job's steps, but not
 * the length of a step: that depends on model, GPU and gang, and comes with --by-model. A step is
 * an iteration here; the model is the job type, batch size included. Shockwave's traces have the
 * way in which the batch size changes, which becomes phases (traces/batch_modes.h), and a duration,
 * which is the job's time alone with its first batch. */
#include <string.h>

#include "traces/batch_modes.h"
#include "traces/cells.h"
#include "traces/mapped.h"
#include "traces/format.h"

/* -1: the job has none. */
static bool take_slo(struct gsim_builder *builder, const char *text, size_t length) {
    return text[0] == '-' || gsim_take_cell(builder, GSIM_COL_SLO_MILLI, text, length);
}

/* A job that changes its batch size has phases. */
static void find_phases(struct gsim_builder *builder) {
    builder->has_column[GSIM_COL_PHASES] = builder->has_column[GSIM_COL_BATCH_MODE];
    if (!gsim_batch_modes_fill(builder))
        builder->row.wrong = "no memory is left for its phases";
}

static const struct gsim_mapping mappings[] = {
    {"job_type", true, "a name", NULL, GSIM_COL_MODEL},
    {"total_steps", true, "a number of steps", NULL, GSIM_COL_ITERATIONS},
    {"scale_factor", true, GSIM_FORM_GPUS, gsim_take_gpus, -1},
    {"arrival_time", true, GSIM_FORM_SECONDS, gsim_take_submit, -1},
    {"priority_weight", false, "a weight", NULL, GSIM_COL_WEIGHT_MILLI},
    {"slo", false, "a factor, or -1", take_slo, GSIM_COL_SLO_MILLI},
    {"batch_mode", false, "a name", NULL, GSIM_COL_BATCH_MODE},
    {"duration", false, GSIM_FORM_SECONDS, gsim_take_duration, -1},
    {0},
};

enum { OLD_FIELDS = 7, NEW_FIELDS = 10, SHOCKWAVE_FIELDS = 12 };

static const struct gsim_lines_form old_lines = {
    .separator = '\t',
    .names = "job_type,command,steps_flag,needs_data_dir,total_steps,arrival_time,scale_factor"};
static const struct gsim_lines_form new_lines = {
    .separator = '\t',
    .names = "job_type,command,directory,steps_flag,needs_data_dir,total_steps,scale_factor,"
             "priority_weight,slo,arrival_time"};
static const struct gsim_lines_form shockwave_lines = {
    .separator = '\t',
    .names = "job_type,command,directory,steps_flag,needs_data_dir,total_steps,scale_factor,"
             "batch_mode,priority_weight,slo,duration,arrival_time"};

static const struct gsim_lines_form *form_of(uint32_t n_fields) {
    if (n_fields == SHOCKWAVE_FIELDS)
        return &shockwave_lines;
    return n_fields == OLD_FIELDS ? &old_lines : &new_lines;
}

static enum gsim_status read_gavel(struct gsim_input *input,
                                   const struct gsim_trace_options *options,
                                   struct gsim_arena *arena, struct gsim_trace *out,
                                   struct gsim_log *log) {
    const char *line;
    enum gsim_status status = gsim_input_peek_line(input, &line, log);
    if (status != GSIM_OK)
        return status;
    uint32_t n_fields = gsim_lines_count(line, '\t');
    const struct gsim_mapped_form form = {
        .name = "gavel",
        .mappings = mappings,
        .no_times = n_fields == SHOCKWAVE_FIELDS ? NULL : "has steps, not the length of a step",
        .lines = form_of(n_fields),
        .finish_row = find_phases,
    };
    return gsim_mapped_read(input, &form, options, arena, out, log);
}

static int sniff_gavel(const char *line) {
    uint32_t n = gsim_lines_count(line, '\t');
    return (n == OLD_FIELDS || n == NEW_FIELDS || n == SHOCKWAVE_FIELDS) && strstr(line, "\t-") ? 2
                                                                                                : 0;
}

const struct gsim_trace_format gsim_format_gavel = {
    .name = "gavel",
    .summary = "Gavel's traces: job type, command, ..., steps, GPUs, arrival, parted by tabs",
    .source = "github.com/stanford-futuredata/gavel, scheduler/traces",
    .notes =
        "its jobs have steps, no times: give a table of them, with a row a job type and gang,\n"
        "  gsim import gavel FILE.trace --by-model models.csv -o trace.csv\n"
        "    model,gpus,gpu_ms\n"
        "    ResNet-18 (batch size 16),1,12.5\n"
        "from its published throughputs (steps per second), for one of their devices:\n"
        "  jq -r '[\"model\",\"gpus\",\"gpu_ms\"], (.v100 | to_entries[] | select(.value.null > "
        "0)\n"
        "    | (.key | capture(\"^.{2}(?<m>.*)., (?<n>[0-9]+).$\")) as $k\n"
        "    | [$k.m, ($k.n | tonumber), 1000 / .value.null]) | @csv' FILE.json >models.csv\n",
    .sniff = sniff_gavel,
    .read = read_gavel,
};
