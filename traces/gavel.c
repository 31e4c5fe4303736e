/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gavel's traces: a line per job, fields separated by tabs, no header; newer traces have the
 * working directory, the weight and the SLO as well. They give the number of a job's steps, but not
 * the length of a step: that depends on model, GPU and gang, and comes with --by-model. A step is
 * an iteration here; the model is the job type, batch size included. */
#include <string.h>

#include "traces/cells.h"
#include "traces/mapped.h"
#include "traces/format.h"

static bool take_weight(struct gsim_builder *builder, const char *text, size_t length) {
    return gsim_cell_parse(builder, GSIM_COL_WEIGHT_MILLI, text, length,
                           &builder->row.cell[GSIM_COL_WEIGHT_MILLI]);
}

static const struct gsim_mapping mappings[] = {
    {"job_type", true, "a name", gsim_take_model, GSIM_COL_MODEL},
    {"total_steps", true, "a number of steps", gsim_take_iterations, GSIM_COL_ITERATIONS},
    {"scale_factor", true, GSIM_FORM_GPUS, gsim_take_gpus, -1},
    {"arrival_time", true, GSIM_FORM_SECONDS, gsim_take_submit, -1},
    {"priority_weight", false, "a weight", take_weight, GSIM_COL_WEIGHT_MILLI},
    {0},
};

enum { OLD_FIELDS = 7, NEW_FIELDS = 10 };

static const struct gsim_lines_form old_lines = {
    .separator = '\t',
    .names = "job_type,command,steps_flag,needs_data_dir,total_steps,arrival_time,scale_factor"};
static const struct gsim_lines_form new_lines = {
    .separator = '\t',
    .names = "job_type,command,directory,steps_flag,needs_data_dir,total_steps,scale_factor,"
             "priority_weight,slo,arrival_time"};

static enum gsim_status read_gavel(struct gsim_input *input,
                                   const struct gsim_trace_options *options,
                                   struct gsim_arena *arena, struct gsim_trace *out,
                                   struct gsim_log *log) {
    const char *line;
    enum gsim_status status = gsim_input_peek_line(input, &line, log);
    if (status != GSIM_OK)
        return status;
    const struct gsim_mapped_form form = {
        .name = "gavel",
        .mappings = mappings,
        .no_times = "has steps, not the length of a step",
        .lines = gsim_lines_count(line, '\t') == OLD_FIELDS ? &old_lines : &new_lines,
    };
    return gsim_mapped_read(input, &form, options, arena, out, log);
}

static int sniff_gavel(const char *line) {
    uint32_t n = gsim_lines_count(line, '\t');
    return (n == OLD_FIELDS || n == NEW_FIELDS) && strstr(line, "\t-") ? 2 : 0;
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
