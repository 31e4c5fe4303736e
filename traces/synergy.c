/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Synergy's replay traces: id, model, arrival, iterations, GPUs, without a header. The length of an
 * iteration is not in them: --by-model FILE.csv gives it. */
#include <string.h>

#include "traces/mapped.h"
#include "traces/format.h"

static const struct gsim_mapping mappings[] = {
    {"job_id", true, "an id", gsim_take_id, -1},
    {"model", true, "a name", NULL, GSIM_COL_MODEL},
    {"arrival_time", true, GSIM_FORM_SECONDS, gsim_take_submit, -1},
    {"num_iters", true, "a number of iterations", NULL, GSIM_COL_ITERATIONS},
    {"gpu_demand", true, GSIM_FORM_GPUS, gsim_take_gpus, -1},
    {0},
};

static const struct gsim_lines_form lines = {
    .separator = ',', .names = "job_id,model,arrival_time,num_iters,gpu_demand"};

static enum gsim_status read_synergy(struct gsim_input *input,
                                     const struct gsim_trace_options *options,
                                     struct gsim_arena *arena, struct gsim_trace *out,
                                     struct gsim_log *log) {
    static const struct gsim_mapped_form form = {
        .name = "synergy",
        .mappings = mappings,
        .lines = &lines,
        .no_times = "has iterations, not the length of an iteration"};
    return gsim_mapped_read(input, &form, options, arena, out, log);
}

/* A number, a name, three numbers. */
static int sniff_synergy(const char *line) {
    static const char digits[] = "0123456789";
    size_t id = strspn(line, digits);
    const char *model = line + id + (line[id] == ',');
    size_t name = strcspn(model, ",");
    const char *rest = model + name;
    return id > 0 && line[id] == ',' && name > 0 && strspn(model, "0123456789.") < name &&
                   gsim_lines_count(line, ',') == 5 && strspn(rest, "0123456789.,") == strlen(rest)
               ? 2
               : 0;
}

const struct gsim_trace_format gsim_format_synergy = {
    .name = "synergy",
    .summary = "Synergy's replay traces, no header: id,model,arrival,iterations,GPUs",
    .source = "github.com/msr-fiddle/synergy, simulator/deploy_trace",
    .notes = "its jobs have iterations but no times, which a table gives: --by-model models.csv "
             "(model,gpus,gpu_ms)\n",
    .sniff = sniff_synergy,
    .read = read_synergy,
};
