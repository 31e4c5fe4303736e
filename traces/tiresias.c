/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Tiresias simulator's job files: whole seconds, a row per job. `iterations` and `interval` are
 * there for its own bookkeeping and are not used: the duration says how long a job runs. */
#include <string.h>

#include "traces/mapped.h"
#include "traces/format.h"

/* The simulator of the trace goes by durations, and so does gsim. */
static bool take_nothing(struct gsim_builder *builder, const char *text, size_t length) {
    (void)builder;
    (void)text;
    (void)length;
    return true;
}

static const struct gsim_mapping mappings[] = {
    {"job_id", true, "an id", gsim_take_id, -1},
    {"num_gpu", true, GSIM_FORM_GPUS, gsim_take_gpus, -1},
    {"submit_time", true, GSIM_FORM_SECONDS, gsim_take_submit, -1},
    {"duration", true, GSIM_FORM_SECONDS, gsim_take_duration, -1},
    {"model_name", false, "a name", NULL, GSIM_COL_MODEL},
    {"iterations", false, "a number", take_nothing, -1},
    {0},
};

static enum gsim_status read_tiresias(struct gsim_input *input,
                                      const struct gsim_trace_options *options,
                                      struct gsim_arena *arena, struct gsim_trace *out,
                                      struct gsim_log *log) {
    static const struct gsim_mapped_form form = {.name = "tiresias", .mappings = mappings};
    return gsim_mapped_read(input, &form, options, arena, out, log);
}

static int sniff_tiresias(const char *header) {
    return strstr(header, "num_gpu") && strstr(header, "submit_time") &&
                   strstr(header, "duration") && !strstr(header, "num_gpu_pct") &&
                   !strstr(header, "num_cpu") && !strstr(header, "resource_time")
               ? 2
               : 0;
}

const struct gsim_trace_format gsim_format_tiresias = {
    .name = "tiresias",
    .summary = "job files of the Tiresias simulator: job_id,num_gpu,submit_time,...,duration",
    .source = "github.com/SymbioticLab/Tiresias, simulator/*_job.csv",
    .sniff = sniff_tiresias,
    .read = read_tiresias,
};
