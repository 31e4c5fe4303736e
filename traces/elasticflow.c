/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ElasticFlow's traces: ddl is the deadline, in seconds on the clock of submit_time, and a job with
 * best_effort 1 has none that counts: it becomes opportunistic. duration is the job's time on the
 * num_gpu GPUs that it was written with. */
#include <string.h>

#include "sim/base/text.h"
#include "traces/mapped.h"
#include "traces/format.h"

static bool take_best_effort(struct gsim_builder *builder, const char *text, size_t length) {
    int known = gsim_text_choice(text, "0|1");
    if (known == 1)
        builder->row.cell[GSIM_COL_CLASS] = GSIM_CLASS_OPPORTUNISTIC;
    return known >= 0 || length == 0;
}

static const struct gsim_mapping mappings[] = {
    {"job_id", true, "an id", gsim_take_id, -1},
    {"submit_time", true, GSIM_FORM_SECONDS, gsim_take_submit, -1},
    {"iteration", true, "a number of iterations", NULL, GSIM_COL_ITERATIONS},
    {"model_name", true, "a name", NULL, GSIM_COL_MODEL},
    {"ddl", true, GSIM_FORM_SECONDS, NULL, GSIM_COL_DEADLINE_NS},
    {"batch_size", true, "a batch size", NULL, GSIM_COL_BATCH},
    {"num_gpu", true, GSIM_FORM_GPUS, gsim_take_gpus, -1},
    {"duration", true, GSIM_FORM_SECONDS, gsim_take_duration, -1},
    {"best_effort", false, "0 or 1", take_best_effort, GSIM_COL_CLASS},
    {0},
};

static enum gsim_status read_elasticflow(struct gsim_input *input,
                                         const struct gsim_trace_options *options,
                                         struct gsim_arena *arena, struct gsim_trace *out,
                                         struct gsim_log *log) {
    static const struct gsim_mapped_form form = {.name = "elasticflow", .mappings = mappings};
    return gsim_mapped_read(input, &form, options, arena, out, log);
}

static int sniff_elasticflow(const char *header) {
    return strstr(header, ",ddl,") && strstr(header, "submit_time") ? 3 : 0;
}

const struct gsim_trace_format gsim_format_elasticflow = {
    .name = "elasticflow",
    .summary = "ElasticFlow's traces: job_id,submit_time,iteration,model_name,ddl,batch_size,...",
    .source = "github.com/pkusys/ElasticFlow, traces_for_ElasticFlow",
    .sniff = sniff_elasticflow,
    .read = read_elasticflow,
};
