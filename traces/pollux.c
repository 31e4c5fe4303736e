/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pollux' workloads: the time of each submission, with the GPUs and the batch size that the user
 * chose. They have no durations, which Pollux decides: --by-model FILE.csv with duration_s, or
 * iterations and gpu_ms, for each application and num_replicas, gives them. */
#include <string.h>

#include "traces/mapped.h"
#include "traces/format.h"

static const struct gsim_mapping mappings[] = {
    {"name", true, "an id", gsim_take_id, -1},
    {"time", true, GSIM_FORM_SECONDS, gsim_take_submit, -1},
    {"application", true, "a name", NULL, GSIM_COL_MODEL},
    {"num_replicas", true, GSIM_FORM_GPUS, gsim_take_gpus, -1},
    {"batch_size", false, "a batch size", NULL, GSIM_COL_BATCH},
    {0},
};

static enum gsim_status read_pollux(struct gsim_input *input,
                                    const struct gsim_trace_options *options,
                                    struct gsim_arena *arena, struct gsim_trace *out,
                                    struct gsim_log *log) {
    static const struct gsim_mapped_form form = {
        .name = "pollux", .mappings = mappings, .no_times = "has no times"};
    return gsim_mapped_read(input, &form, options, arena, out, log);
}

static int sniff_pollux(const char *header) {
    return strstr(header, "application") && strstr(header, "num_replicas") ? 2 : 0;
}

const struct gsim_trace_format gsim_format_pollux = {
    .name = "pollux",
    .summary = "Pollux' workloads: name,time,application,num_replicas,batch_size",
    .source = "github.com/petuum/adaptdl, branch osdi21-artifact, simulator/workloads",
    .notes = "its jobs have no times: --by-model models.csv (model,gpus,duration_s)\n",
    .sniff = sniff_pollux,
    .read = read_pollux,
};
